//! The root fields of `Query` and `Mutation`.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Value, json};

use super::Context;
use crate::fake::instant;
use crate::fake::problem::Problem;
use crate::fake::record_fields;
use crate::fake::record_page::{ListFilter, RecordPage};
use crate::fake::records::Records;
use crate::fake::reference_data::Account;
use crate::fake::rules::{self, RuleContext};
use crate::fake::world::{Kind, User};

/// The source of a value in the reply. Records are shared, not copied: they are large, and few of their fields are selected.
pub(super) enum Source<'a> {
    Borrowed(&'a Value),
    Owned(Value),
    Shared(Arc<Value>),
    List(Vec<Source<'a>>),
    Page(RecordPage),
    /// A cursor and its record.
    Edge(String, Arc<Value>),
}

/// Resolves a root field of `Query`.
pub(super) fn query<'d>(
    field: &str,
    arguments: &Value,
    user: User,
    context: &mut Context<'d>,
) -> Result<Source<'d>, Problem> {
    let (data, now) = (context.data, context.now);
    let text = |name: &str| arguments[name].as_str().unwrap_or_default();
    let id = text("envdAccountId");
    let found = context.account(user, id).map(|_| id);
    let account = || found;
    let details = context.details(user);
    let records = &mut *context.records;
    // Only users with the accreditation hRG see LPAHRG0 (spec 9.3).
    let sees_goats = details["accreditations"]["hRG"] == true;
    let is_visible = |record: &Value| sees_goats || !record_fields::has_form(record, "LPAHRG0");
    Ok(match field {
        "questions" => Source::Borrowed(&data.world.questions),
        "userDetails" => match details {
            Cow::Borrowed(details) => Source::Borrowed(details),
            Cow::Owned(details) => Source::Owned(details),
        },
        "userDetailsQuery" => Source::Owned(json!({"data": details})),
        "consignments" => {
            let mut filter = ListFilter::of(arguments)?;
            filter.hides_restricted = !sees_goats;
            let account = account()?;
            Source::Page(records.list(Kind::Consignment, account, filter, arguments, now)?)
        }
        "consignment" => {
            let found = records.find(Kind::Consignment, account()?, text("id"))?;
            if !is_visible(found) {
                return Err(Problem::not_found());
            }
            shared(found)
        }
        "templates" => {
            let (account, filter) = (account()?, ListFilter::default());
            Source::Page(records.list(Kind::Template, account, filter, arguments, now)?)
        }
        "template" => shared(records.find(Kind::Template, account()?, text("id"))?),
        "comments" => related(
            records,
            Kind::Comment,
            account()?,
            text("consignmentNumber"),
            None,
        )?,
        "consignmentUserMapping" => {
            let (kind, number) = (Kind::UserMapping, text("consignmentNumber"));
            related(records, kind, account()?, number, Some(text("role")))?
        }
        // Without an account, those of all accounts of the user. assumed
        "edecs" if arguments["envdAccountId"].is_null() => {
            let accounts = details["accounts"].as_array().into_iter().flatten();
            let ids = accounts.filter_map(|account| account["envdAccountId"].as_str());
            edecs(records, ids)
        }
        "edecs" => edecs(records, [account()?]),
        // A field of a schema that a test set.
        _ => Source::Owned(Value::Null),
    })
}

fn shared<'d>(record: &Arc<Value>) -> Source<'d> {
    Source::Shared(Arc::clone(record))
}

fn edecs<'a, 'd>(records: &Records, accounts: impl IntoIterator<Item = &'a str>) -> Source<'d> {
    let accounts = accounts.into_iter();
    let edecs = accounts.flat_map(|id| records.of_account(Kind::Edec, id));
    Source::List(edecs.map(shared).collect())
}

/// The records of a kind that belong to a consignment, all or those of a role.
fn related<'d>(
    records: &Records,
    kind: Kind,
    account: &str,
    number: &str,
    role: Option<&str>,
) -> Result<Source<'d>, Problem> {
    records.find(Kind::Consignment, account, number)?;
    let related = records
        .of_account(kind, account)
        .filter(|record| record["consignmentNumber"] == number)
        .filter(|record| role.is_none_or(|role| record["role"] == role));
    Ok(Source::List(related.map(shared).collect()))
}

/// A result and the warnings beside it, or the problems that refuse the mutation.
type Resolved<'d> = Result<(Source<'d>, Vec<Problem>), Vec<Problem>>;

/// Resolves a root field of `Mutation`.
pub(super) fn mutation<'d>(
    field: &str,
    arguments: &Value,
    user: User,
    context: &mut Context<'d>,
) -> Resolved<'d> {
    let id = arguments["envdAccountId"].as_str().unwrap_or_default();
    let mutation = Mutation {
        id,
        account: context.account(user, id)?,
        input: &arguments["input"],
    };
    let name = arguments["id"].as_str().unwrap_or_default();
    let (record, warnings) = match field {
        "createOrSaveConsignment" => mutation.save(context)?,
        "copyConsignment" => (mutation.copy(name, context)?, Vec::new()),
        "deleteConsignment" => {
            let deleted = context.records.delete(id, name, context.now)?;
            (deleted, Vec::new())
        }
        "createOrSaveTemplate" => (mutation.save_template(context)?, Vec::new()),
        "deleteTemplate" => (context.records.delete_template(id, name)?, Vec::new()),
        "createComment" => (mutation.comment(context)?, Vec::new()),
        // A field of a schema that a test set.
        _ => return Ok((Source::Owned(Value::Null), Vec::new())),
    };
    // The results of mutations are under `data` (spec 2.5).
    Ok((Source::Owned(json!({"data": record})), warnings))
}

impl From<Problem> for Vec<Problem> {
    fn from(problem: Problem) -> Self {
        vec![problem]
    }
}

struct Mutation<'a> {
    /// The id of the account.
    id: &'a str,
    account: Account<'a>,
    input: &'a Value,
}

impl Mutation<'_> {
    /// The id or number of the record that the input updates.
    fn updated(&self) -> Option<&str> {
        let names = [&self.input["id"], &self.input["number"]];
        names.into_iter().find_map(Value::as_str)
    }

    fn author(&self) -> &Value {
        &self.account.holder["email"]
    }

    fn save(&self, context: &mut Context<'_>) -> Result<(Value, Vec<Problem>), Vec<Problem>> {
        self.account.may_create()?;
        let (input, kept_forms) = match self.updated() {
            Some(name) => {
                let record = context.records.find_open(self.id, name)?;
                let input = record_fields::updated_input(record, self.input);
                (input, record_fields::form_names(record))
            }
            None => (self.input.clone(), json!([])),
        };
        let rules = RuleContext {
            today: instant::day(context.now),
            account_pic: self.account.origin_pic(),
            accreditations: &self.account.holder["accreditations"],
            questions: context.data.questions(),
            kept_forms: kept_forms.as_array().map_or(&[][..], Vec::as_slice),
        };
        let problems = rules::consignment(&input, &rules);
        if !problems.iter().all(Problem::is_warning) {
            return Err(problems);
        }
        let (records, author, now) = (&mut *context.records, self.author(), context.now);
        let saved = match self.updated() {
            Some(name) => records.update(self.id, name, &input, author, now)?,
            None => records.create(self.id, &input, author, now),
        };
        Ok((saved, problems))
    }

    fn copy(&self, name: &str, context: &mut Context<'_>) -> Result<Value, Vec<Problem>> {
        self.account.may_create()?;
        let original = context.records.find(Kind::Consignment, self.id, name)?;
        if original["status"] == "DELETED" {
            return Err(Problem::not_found().into());
        }
        let input = record_fields::updated_input(original, &json!({"status": "DRAFT"}));
        let today = instant::day(context.now);
        let accreditations = &self.account.holder["accreditations"];
        let problems = rules::forms_of_copy(&input, today, accreditations);
        if !problems.is_empty() {
            return Err(problems);
        }
        let records = &mut *context.records;
        Ok(records.create(self.id, &input, self.author(), context.now))
    }

    fn save_template(&self, context: &mut Context<'_>) -> Result<Value, Vec<Problem>> {
        let input = match self.updated() {
            Some(name) => {
                let record = context.records.find(Kind::Template, self.id, name)?;
                record_fields::updated_input(record, self.input)
            }
            None => self.input.clone(),
        };
        let problems = rules::template(&input);
        if !problems.is_empty() {
            return Err(problems);
        }
        let records = &mut *context.records;
        Ok(match self.updated() {
            Some(name) => records.update_template(self.id, name, &input)?,
            None => records.create_template(self.id, &input, context.now),
        })
    }

    fn comment(&self, context: &mut Context<'_>) -> Result<Value, Problem> {
        let name = self.input["consignmentNumber"].as_str().unwrap_or_default();
        let consignment = context.records.find(Kind::Consignment, self.id, name)?;
        let holder = self.account.holder;
        let record = json!({
            "consignmentNumber": consignment["number"],
            "role": holder["roles"][0],
            "firstName": holder["firstName"],
            "lastName": holder["lastName"],
            "commentText": self.input["commentText"],
        });
        let records = &mut *context.records;
        Ok(records.create_comment(self.id, record, context.now))
    }
}
