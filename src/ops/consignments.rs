//! Consignments: list, read, save, copy, delete.

use std::borrow::Cow;

use serde::ser::Error as _;
use serde::{Serialize, Serializer};

use super::ConsignmentFilter;
use super::questions::levels;
use crate::client::{AccountClient, Client};
use crate::error::Error;
use crate::graphql::generated::{
    Consignment as ReadConsignment, Consignments, CopyConsignment, CreateOrSaveConsignment,
    DeleteConsignment, consignment, copy_consignment, create_or_save_consignment,
    delete_consignment, full_consignments,
};
use crate::graphql::{OperationDocument, Outcome, TypedOperation};
use crate::model::{
    AccountId, Connection, Consignment, ConsignmentId, ConsignmentInput, ConsignmentNumber,
    ConsignmentStatus, ConsignmentSummary, ConsignmentText, SavedConsignment, WithExtra,
};
use crate::profile::RecordNames;
use crate::send::Call;
use crate::send::pages::Pager;

impl AccountClient {
    /// One page of consignments: the first, or the one after a cursor (`page_info.end_cursor` of the previous page).
    ///
    /// Source: stated, specification 4.1.
    ///
    /// ```
    /// # test_support::example(async {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// use envd_sdk::ops::ConsignmentFilter;
    ///
    /// let filter = ConsignmentFilter::default().page_size(3);
    /// let page = account.consignments_page(&filter, None).await?.value;
    /// assert_eq!(page.edges.len(), 3);
    /// let after = page.page_info.and_then(|info| info.end_cursor);
    /// let next = account.consignments_page(&filter, after.as_deref()).await?.value;
    /// assert_ne!(next.edges, page.edges);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// As [`execute`](crate::Client::execute).
    #[doc(alias = "consignments")]
    pub fn consignments_page(
        &self,
        filter: &ConsignmentFilter,
        after: Option<&str>,
    ) -> Call<Outcome<Connection<ConsignmentSummary>>> {
        let variables = filter.variables(self.client(), self.id(), after.map(str::to_owned));
        self.client()
            .operation::<Consignments, _>(variables, |data| data.consignments)
            .made_of(filter.check())
    }

    /// All consignments that match the filter, page by page or one by one. Nothing is sent until the first page is requested.
    ///
    /// Source: stated, specification 4.1.
    ///
    /// ```
    /// # test_support::example(async {
    /// # use envd_sdk::ops::ConsignmentFilter;
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// let mut consignments = account.consignments(&ConsignmentFilter::default()).items();
    /// while let Some(record) = consignments.next().await {
    ///     println!("{}", record?.number.ok_or("no number")?);
    /// }
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// Those of its pages: see [`next_page`](Pager::next_page).
    #[doc(alias = "list consignments")]
    pub fn consignments(&self, filter: &ConsignmentFilter) -> Pager<ConsignmentSummary> {
        let account = self.id().clone();
        let filter = filter.clone();
        let call = move |client: &Client, after| {
            let variables = filter.variables(client, &account, after);
            let page = client
                .operation::<Consignments, _>(variables, |data| data.consignments?.if_listed());
            page.made_of(filter.check())
        };
        self.client().list("consignments", call, |record| {
            id_or_number(record.id.as_ref(), record.number.as_ref())
        })
    }

    /// As [`consignments`](Self::consignments), with full records: answers, questions and declaration, in one request a page.
    ///
    /// A record with its questions has 15 to 40 kB of JSON, so set a page size of 20 or less. Larger pages take long to arrive, and
    /// a failed page must be requested again in full.
    ///
    /// Source: assumed; the query is stated, specification 4.1, and that a list has all fields of a record is public, not
    /// confirmed.
    ///
    /// ```
    /// # test_support::example(async {
    /// # use envd_sdk::ops::ConsignmentFilter;
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// let filter = ConsignmentFilter::default().page_size(10);
    /// let mut consignments = account.full_consignments(&filter).items();
    /// while let Some(consignment) = consignments.next().await {
    ///     assert!(!consignment?.questions.is_empty());
    /// }
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// Those of its pages: see [`next_page`](Pager::next_page).
    pub fn full_consignments(&self, filter: &ConsignmentFilter) -> Pager<Consignment> {
        let account = self.id().clone();
        let filter = filter.clone();
        let call = move |client: &Client, after| {
            let variables = filter.variables(client, &account, after);
            let read = client.operation_with(
                &full_consignments::DOCUMENT,
                &variables,
                |data: full_consignments::ResponseData| data.full_consignments?.if_listed(),
            );
            client.all_levels(
                "fullConsignments",
                read.made_of(filter.check()),
                |page: &Connection<Consignment>| {
                    let records = page.edges.iter().filter_map(|edge| edge.node.as_ref());
                    records
                        .map(|record| levels(&record.questions))
                        .max()
                        .unwrap_or(0)
                },
            )
        };
        self.client().list("fullConsignments", call, |record| {
            id_or_number(record.id.as_ref(), record.number.as_ref())
        })
    }

    /// One consignment, by its id, or by its number as text.
    ///
    /// Source: stated, specification 4.1; that the number may stand for the id is public, not confirmed.
    ///
    /// ```
    /// # test_support::example(async {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # use envd_sdk::ops::ConsignmentFilter;
    /// # let first = account.consignments(&ConsignmentFilter::default()).items().next().await.ok_or("none")??;
    /// # let number = first.number.ok_or("no number")?;
    /// let consignment = account.consignment(number.as_str()).await?.value;
    /// assert_eq!(consignment.number, Some(number));
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// [`NotFound`](crate::ErrorKind::NotFound); [`Protocol`](crate::ErrorKind::Protocol) if the service answers null without an
    /// error ([`optional`](Call::optional) turns it into `None`), or with another consignment; and as
    /// [`execute`](crate::Client::execute).
    pub fn consignment(&self, id: impl Into<ConsignmentId>) -> Call<Outcome<Consignment>> {
        let id = id.into();
        let variables = consignment::Variables {
            id: id.clone(),
            envd_account_id: self.id().clone(),
        };
        let client = self.client();
        let read = client.operation::<ReadConsignment, _>(variables, |data| data.consignment);
        let read = client.all_levels("consignment", read, |record| levels(&record.questions));
        read.checked(move |outcome| {
            if is_named(&outcome.value, &id) {
                return Ok(());
            }
            let what = "the reply has another consignment than the one that was requested";
            Err(Error::protocol(what).with_operation("consignment"))
        })
    }

    /// Creates a consignment, or updates an existing one. The problems in the outcome are the server's warnings.
    ///
    /// The request is sent again only if it is known not to have arrived. Takes a [`ConsignmentInput`], optionally with further
    /// fields ([`ConsignmentInput::extra`]). The specification does not show how an update names its record: the input's `id` and
    /// `number` are sent, unless the [profile](crate::ClientBuilder::profile) has other names. All fields are sent unchanged. A
    /// signature must be Base64 without the prefix `data:image/png;base64,` (spec 2.3); an input made from a record omits the
    /// prefix.
    ///
    /// Source: stated, specification 4.1.
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::model::{ConsignmentInput, ConsignmentStatus, FormType, PartyInput};
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// let origin = PartyInput::new("QAZZ7777");
    /// let destination = PartyInput::new("QDZZ3333");
    /// let draft = ConsignmentInput::new([FormType::Lpac1], origin, destination)
    ///     .status(ConsignmentStatus::Draft);
    /// let (saved, problems) = account.save_consignment(draft).await?.into_parts();
    /// assert_eq!(saved.status, Some(ConsignmentStatus::Draft));
    /// assert!(!problems.is_empty()); // Answers are missing, but it is saved anyway.
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// [`Rejected`](crate::ErrorKind::Rejected) with the server's reasons;
    /// [`may_have_applied`](crate::Error::may_have_applied) if the reply was lost or unclear, in which case use
    /// [`candidates`](Self::candidates); otherwise as [`execute`](crate::Client::execute).
    #[doc(alias("createOrSaveConsignment", "create", "update"))]
    pub fn save_consignment(
        &self,
        input: impl Into<WithExtra<ConsignmentInput>>,
    ) -> Call<Outcome<SavedConsignment>> {
        self.save_named(&input.into())
    }

    /// As [`save_consignment`](Self::save_consignment), with JSON text that already exists: text that was signed or queued is sent
    /// byte for byte.
    ///
    /// If the [profile](crate::ClientBuilder::profile) names the record by other fields than `id` and `number`, those two are
    /// renamed or removed, and all other bytes are kept. To create a record, save a text without `id` and `number`; to update it,
    /// save the text [with](crate::model::ConsignmentText::with) them.
    ///
    /// Source: as [`save_consignment`](Self::save_consignment).
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::model::{ConsignmentInput, ConsignmentText, FormType, PartyInput};
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// let origin = PartyInput::new("QAZZ7777");
    /// let destination = PartyInput::new("QDZZ3333");
    /// let input = ConsignmentInput::new([FormType::Lpac1], origin, destination);
    /// let signed = ConsignmentText::parse(&serde_json::to_string(&input)?)?;
    /// let id = account.save_consignment_text(&signed).await?.id()?;
    ///
    /// // Save the same declaration again, as an update of that record.
    /// let update = signed.with("id", id.as_str());
    /// assert_eq!(account.save_consignment_text(&update).await?.id()?, id);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// As [`save_consignment`](Self::save_consignment).
    #[doc(alias("signed", "raw"))]
    pub fn save_consignment_text(&self, text: &ConsignmentText) -> Call<Outcome<SavedConsignment>> {
        self.save_named(text)
    }

    fn save_named(&self, input: &impl Serialize) -> Call<Outcome<SavedConsignment>> {
        // profile: updates
        let names = &self.client().given_profile().updates.value;
        self.save::<CreateOrSaveConsignment, _>(
            &create_or_save_consignment::DOCUMENT,
            &NamedInput { input, names },
            |data| data.create_or_save_consignment?.data,
        )
    }

    /// Submits a consignment: saves it with the status SUBMITTED. The server decides whether to accept it.
    ///
    /// Source: assumed; the specification names the flow (4.1) and the status (3.1), not the operation.
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::model::{ConsignmentInput, ConsignmentStatus};
    /// use envd_sdk::ops::ConsignmentFilter;
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// let drafts = ConsignmentFilter::default().status(ConsignmentStatus::Draft);
    /// let draft = account.consignments(&drafts).items().next().await.ok_or("no draft")??;
    /// let draft = account.consignment(draft.id.ok_or("no id")?).await?.value;
    /// let submitted = account.submit_consignment(ConsignmentInput::from(&draft)).await?;
    /// let (submitted, problems) = submitted.into_parts();
    /// assert_eq!(submitted.status, Some(ConsignmentStatus::Submitted));
    /// for problem in &problems {
    ///     println!("submitted all the same, {}: {problem}", problem.code().unwrap_or("no code"));
    /// }
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// As [`save_consignment`](Self::save_consignment).
    #[doc(alias = "lodge")]
    pub fn submit_consignment(
        &self,
        input: impl Into<WithExtra<ConsignmentInput>>,
    ) -> Call<Outcome<SavedConsignment>> {
        let input = input.into();
        self.save_consignment(input.map(|input| input.status(ConsignmentStatus::Submitted)))
    }

    /// Copies a consignment.
    ///
    /// Source: operation stated, specification 4.1; arguments and result assumed.
    ///
    /// ```
    /// # test_support::example(async {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # use envd_sdk::ops::ConsignmentFilter;
    /// # let first = account.consignments(&ConsignmentFilter::default()).items().next().await.ok_or("none")??;
    /// # let number = first.number.ok_or("no number")?;
    /// let (copy, problems) = account.copy_consignment(number.as_str()).await?.into_parts();
    /// assert_ne!(copy.number, Some(number));
    /// assert!(problems.is_empty());
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// As [`save_consignment`](Self::save_consignment).
    pub fn copy_consignment(
        &self,
        id: impl Into<ConsignmentId>,
    ) -> Call<Outcome<SavedConsignment>> {
        let variables = copy_consignment::Variables {
            envd_account_id: self.id().clone(),
            id: id.into(),
        };
        self.client()
            .operation::<CopyConsignment, _>(variables, |data| data.copy_consignment?.data)
    }

    /// Deletes a consignment. The returned record is empty if the server answers only `true`.
    ///
    /// Source: operation stated, specification 4.1; arguments and result assumed.
    ///
    /// ```
    /// # test_support::example(async {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// use envd_sdk::model::ConsignmentStatus;
    /// use envd_sdk::ops::ConsignmentFilter;
    ///
    /// let drafts = ConsignmentFilter::default().status(ConsignmentStatus::Draft);
    /// let draft = account.consignments(&drafts).items().next().await.ok_or("no draft")??;
    /// let (deleted, problems) = account.delete_consignment(draft.id.ok_or("no id")?).await?.into_parts();
    /// assert_eq!(deleted.status, Some(ConsignmentStatus::Deleted));
    /// assert!(problems.is_empty());
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// As [`save_consignment`](Self::save_consignment).
    #[doc(alias = "delete consignment")]
    pub fn delete_consignment(
        &self,
        id: impl Into<ConsignmentId>,
    ) -> Call<Outcome<SavedConsignment>> {
        let variables = delete_consignment::Variables {
            envd_account_id: self.id().clone(),
            id: id.into(),
        };
        self.client()
            .operation::<DeleteConsignment, _>(variables, |data| data.delete_consignment?.data)
    }

    /// Saves an input, possibly with further fields.
    pub(super) fn save<Q: TypedOperation, T: Send + 'static>(
        &self,
        document: &'static OperationDocument,
        input: &impl Serialize,
        part: fn(Q::ResponseData) -> Option<T>,
    ) -> Call<Outcome<T>>
    where
        Q::ResponseData: Send + 'static,
    {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Variables<'a, I> {
            envd_account_id: &'a AccountId,
            input: &'a I,
        }
        let envd_account_id = self.id();
        let variables = Variables {
            envd_account_id,
            input,
        };
        self.client().operation_with(document, &variables, part)
    }
}

/// An input with the profile's field names for id and number. All other fields are written byte for byte.
// profile: updates
struct NamedInput<'a, I> {
    input: &'a I,
    names: &'a RecordNames,
}

impl<I: Serialize> Serialize for NamedInput<'_, I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if *self.names == RecordNames::default() {
            return self.input.serialize(serializer);
        }
        let text = serde_json::to_string(self.input).map_err(S::Error::custom)?;
        let text = ConsignmentText::parse(&text).map_err(S::Error::custom)?;
        let named = named(&text, self.names).map_err(S::Error::custom)?;
        named.serialize(serializer)
    }
}

fn named(text: &ConsignmentText, names: &RecordNames) -> Result<ConsignmentText, String> {
    let known = [
        ("id", names.id.as_deref()),
        ("number", names.number.as_deref()),
    ];
    let has = |name: &str| text.field(name).is_some_and(|value| value != "null");
    let is_update = known.iter().any(|(name, _)| has(name));
    let is_named = known
        .iter()
        .any(|(name, field)| field.is_some() && has(name));
    if is_named || !is_update {
        return text.renamed(&known).map_err(|error| error.to_string());
    }
    let needed = known.iter().filter(|(_, field)| field.is_some());
    let needed: Vec<&str> = needed.map(|(name, _)| *name).collect();
    Err(match needed.as_slice() {
        [] => "the profile names no field that identifies the record to update".to_owned(),
        needed => format!(
            "the profile identifies the record to update by {}, which the input does not have",
            needed.join(" or ")
        ),
    })
}

/// Whether a record has this id or number; a record that shows neither matches any.
fn is_named(record: &Consignment, id: &ConsignmentId) -> bool {
    let number = record.number.as_ref().map(ConsignmentNumber::as_str);
    let names = [record.id.as_ref().map(ConsignmentId::as_str), number];
    let is_same = |name: &str| name.eq_ignore_ascii_case(id.as_str().trim());
    let mut names = names.into_iter().flatten().peekable();
    names.peek().is_none() || names.any(is_same)
}

fn id_or_number<'a>(
    id: Option<&'a ConsignmentId>,
    number: Option<&'a ConsignmentNumber>,
) -> Option<Cow<'a, str>> {
    let number = number.map(ConsignmentNumber::as_str);
    id.map(ConsignmentId::as_str).or(number).map(Cow::Borrowed)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::RawValue;
    use test_support::script::rows;

    use super::*;

    #[test]
    fn an_update_uses_the_names_of_the_profile_and_keeps_all_other_bytes() {
        let names = |id: &str, number: &str| {
            let name = |text: &str| Some(text.to_owned()).filter(|it| it != "-");
            let id = name(id);
            let number = name(number);
            RecordNames { id, number }
        };
        // Columns: the names of id and number, the input, the output.
        for row in rows(
            r#"
            consignmentId | -      | {"id":"1","number":"C-1","weight":1.50} | {"consignmentId":"1","weight":1.50}
            -             | number | {"id":"1","number":"C-1","weight":1.50} | {"number":"C-1","weight":1.50}
            id | consignmentNumber | {"id":"1","number":"C-1","weight":1.50} | {"id":"1","consignmentNumber":"C-1","weight":1.50}
            id            | number | {"id":"1","number":null,"weight":1.50}  | {"id":"1","weight":1.50}
            -             | number | {"weight":1.50}                         | {"weight":1.50}
            "#,
        ) {
            let names = &names(row[0], row[1]);
            let input = &serde_json::from_str::<Box<RawValue>>(row[2]).unwrap();
            let written = serde_json::to_string(&NamedInput { input, names });
            assert_eq!(written.unwrap(), row[3]);
        }
        for input in [&json!({"id": "1"}), &json!({"id": "1", "number": null})] {
            let names = &names("-", "number");
            let error = serde_json::to_string(&NamedInput { input, names }).unwrap_err();
            assert!(error.to_string().contains("by number"), "{error}");
        }
    }
}
