//! Consignments and questions as they are received, unknown fields included.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Number;
use serde_json::value::RawValue;

use super::ConsignmentFilter;
use super::questions::levels;
use crate::client::{Account, Client, Connection};
use crate::graphql::Outcome;
use crate::graphql::generated::{consignment, consignments, questions};
use crate::model::{Consignment, ConsignmentId, List, PageInfo, QuestionList, reply_memory};
use crate::send::Call;
use crate::send::pages::Pager;

#[derive(Deserialize)]
struct ReceivedList {
    consignments: Option<ReceivedPage>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReceivedPage {
    total_count: Option<Number>,
    page_info: Option<PageInfo>,
    #[serde(default)]
    edges: List<ReceivedEdge>,
}

#[derive(Deserialize)]
struct ReceivedEdge {
    cursor: Option<String>,
    node: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct ReceivedRecord {
    consignment: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct ReceivedQuestions {
    questions: Option<ReceivedQuestionList>,
}

/// The list of questions as its JSON, and typed.
pub(crate) struct ReceivedQuestionList {
    pub(crate) json: Box<RawValue>,
    pub(crate) list: QuestionList,
}

impl<'de> Deserialize<'de> for ReceivedQuestionList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Box::<RawValue>::deserialize(deserializer)?;
        let list = serde_json::from_str(json.get()).map_err(D::Error::custom)?;
        Ok(Self { json, list })
    }
}

impl Client {
    /// As [`questions`](Self::questions), with the JSON.
    pub(crate) fn received_questions(&self) -> Call<Outcome<ReceivedQuestionList>> {
        let variables = questions::Variables {};
        let read = self.operation_with(questions::QUERY, &variables, |data: ReceivedQuestions| {
            data.questions
        });
        self.all_levels("questions", read, |received: &ReceivedQuestionList| {
            levels(&received.list.items)
        })
    }
}

impl Account {
    /// As [`consignments`](Self::consignments), with each record as its JSON. `requested` is called for each request. The
    /// pager keeps nothing of the records, so it does not notice those that come twice.
    pub(crate) fn received_consignments(
        &self,
        filter: &ConsignmentFilter,
        requested: impl Fn() + Send + Sync + 'static,
    ) -> Pager<Box<RawValue>> {
        let (account, filter) = (self.id().clone(), filter.clone());
        let call = move |client: &Client, after| {
            requested();
            let variables = filter.variables(client, &account, after);
            let page =
                client.operation_with(consignments::QUERY, &variables, |data: ReceivedList| {
                    let page = data.consignments?;
                    let total = page.total_count.as_ref().and_then(Number::as_i64);
                    let split = |edge: ReceivedEdge| (edge.cursor, edge.node);
                    Connection::from_list(total, page.page_info, page.edges, split)
                });
            page.made_of(filter.check())
        };
        self.client().list("consignments", call, |_| None)
    }

    /// As [`consignment`](Self::consignment), as its JSON; null is `None`, beside the errors that explain it.
    pub(crate) fn received_consignment(
        &self,
        id: impl Into<ConsignmentId>,
    ) -> Call<Outcome<Option<Box<RawValue>>>> {
        let variables = consignment::Variables {
            id: id.into(),
            envd_account_id: self.id().clone(),
        };
        let client = self.client();
        let read = client.operation_with(consignment::QUERY, &variables, |data: ReceivedRecord| {
            Some(data.consignment)
        });
        client.all_levels("consignment", read, |record: &Option<Box<RawValue>>| {
            let record = record.as_ref().map_or("null", |record| record.get());
            let record = reply_memory::from_str::<Option<Consignment>>(record)
                .ok()
                .flatten();
            record.map_or(0, |record| levels(&record.questions))
        })
    }
}
