//! The root fields of `Query` and `Mutation`.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::{NamedAccount, ResolverContext};
use crate::fake::instant;
use crate::fake::problem::ErrorItem;
use crate::fake::record_page::ListFilter;
use crate::fake::record_page::has_form;
use crate::fake::records::{form_names, list, updated_input};
use crate::fake::rules::{self, RuleContext};
use crate::fake::world::Kind;
use crate::profile::RecordNames;

/// Resolves a root field of `Query`, which may represent a field with another name.
pub(super) fn query<'d>(
    field: &str,
    arguments: &Value,
    context: &mut ResolverContext<'d>,
) -> Result<Cow<'d, Value>, ErrorItem> {
    // profile: operations.recordAt
    let Some(moved) = context.data.moved.get(field) else {
        return read(field, arguments, context);
    };
    let result = read(&moved.operation, arguments, context)?;
    Ok(Cow::Owned(moved.wrapped(result.into_owned())))
}

fn read<'d>(
    field: &str,
    arguments: &Value,
    context: &mut ResolverContext<'d>,
) -> Result<Cow<'d, Value>, ErrorItem> {
    let data = context.data;
    let now = context.now;
    let text = |name: &str| arguments[name].as_str().unwrap_or_default();
    let id = text("envdAccountId");
    let found = context.account(id).map(|_| id);
    let account = || found;
    let details = context.details();
    let records = &mut *context.records;
    // Only users with the accreditation hRG may view LPAHRG0 (spec 9.3).
    let sees_goats = details["accreditations"]["hRG"] == true;
    // The records of a kind that belong to a consignment.
    let related = |kind, account, is_wanted: &dyn Fn(&Value) -> bool| -> Result<Value, ErrorItem> {
        let number = text("consignmentNumber");
        records.find(Kind::Consignment, account, number)?;
        let related = records.of_account(kind, account);
        Ok(related
            .filter(|record| record["consignmentNumber"] == number && is_wanted(record))
            .cloned()
            .collect())
    };
    Ok(Cow::Owned(match field {
        "questions" => return Ok(Cow::Borrowed(&data.world.questions)),
        "userDetails" => details,
        "userDetailsQuery" => json!({"data": details}),
        "consignments" => {
            let filter = ListFilter::of(arguments, !sees_goats)?;
            records.list(Kind::Consignment, account()?, &filter, now)?
        }
        "consignment" => {
            let found = records.find(Kind::Consignment, account()?, text("id"))?;
            if !sees_goats && has_form(found, "LPAHRG0") {
                return Err(ErrorItem::not_found());
            }
            found.clone()
        }
        "templates" => {
            let filter = ListFilter::of(arguments, false)?;
            records.list(Kind::Template, account()?, &filter, now)?
        }
        "template" => records
            .find(Kind::Template, account()?, text("id"))?
            .clone(),
        "comments" => related(Kind::Comment, account()?, &|_| true)?,
        "consignmentUserMapping" => {
            let is_wanted = |record: &Value| record["role"] == text("role");
            related(Kind::UserMapping, account()?, &is_wanted)?
        }
        // Without an account, the eDECs of all accounts of the user. assumed
        "edecs" if arguments["envdAccountId"].is_null() => list(&details["accounts"])
            .iter()
            .filter_map(|account| account["envdAccountId"].as_str())
            .flat_map(|id| records.of_account(Kind::Edec, id))
            .cloned()
            .collect(),
        "edecs" => records
            .of_account(Kind::Edec, account()?)
            .cloned()
            .collect(),
        // A field from a test's own schema.
        _ => Value::Null,
    }))
}

/// Resolves a root field of `Mutation`. Returns the result and its warnings, or the problems that refuse the mutation.
pub(super) fn mutation(
    field: &str,
    arguments: &Value,
    context: &mut ResolverContext<'_>,
) -> Result<(Value, Vec<ErrorItem>), Vec<ErrorItem>> {
    // profile: operations.recordAt
    let moved = context.data.moved.get(field);
    let field = moved.map_or(field, |moved| moved.operation.as_str());
    let id = arguments["envdAccountId"].as_str().unwrap_or_default();
    let mutation = Mutation {
        id,
        account: context.account(id)?,
        input: &arguments["input"],
        names: &context.data.profile.updates.value,
    };
    let name = arguments["id"].as_str().unwrap_or_default();
    let mut delete = |kind| context.records.delete(kind, id, name, context.now);
    let (record, warnings) = match field {
        "createOrSaveConsignment" => mutation.save(Kind::Consignment, context)?,
        "createOrSaveTemplate" => mutation.save(Kind::Template, context)?,
        "copyConsignment" => (mutation.copy(name, context)?, Vec::new()),
        "deleteConsignment" => (delete(Kind::Consignment)?, Vec::new()),
        "deleteTemplate" => (delete(Kind::Template)?, Vec::new()),
        "createComment" => (mutation.comment(context)?, Vec::new()),
        // A field from a test's own schema.
        _ => return Ok((Value::Null, Vec::new())),
    };
    let result = match moved {
        Some(moved) => moved.wrapped(record),
        // The results of mutations are nested under `data` (spec 2.5).
        None => json!({"data": record}),
    };
    Ok((result, warnings))
}

impl From<ErrorItem> for Vec<ErrorItem> {
    fn from(problem: ErrorItem) -> Self {
        vec![problem]
    }
}

/// Fills in a missing field.
fn fill_in(input: &mut Value, path: &str) {
    let mut names = path.split('.');
    let field = names.try_fold(input, |field, name| match field {
        Value::Object(_) | Value::Null => Some(&mut field[name]),
        _ => None,
    });
    if let Some(field) = field.filter(|field| field.is_null()) {
        *field = "as the service knows it".into();
    }
}

struct Mutation<'a> {
    /// The id of the account.
    id: &'a str,
    account: NamedAccount<'a>,
    input: &'a Value,
    /// The fields of an input that identify its record.
    names: &'a RecordNames,
}

impl Mutation<'_> {
    /// The id or number of the record that the input updates. assumed: the default profile also accepts the number.
    // profile: updates
    fn updated(&self) -> Option<&str> {
        let names = [self.names.id.as_deref(), self.names.number.as_deref()];
        let of_ours = ["id", "number"].into_iter();
        let mut names = names.into_iter().flatten().chain(of_ours);
        names.find_map(|name| self.input[name].as_str())
    }

    fn author(&self) -> &Value {
        &self.account.holder["email"]
    }

    fn save(
        &self,
        kind: Kind,
        context: &mut ResolverContext<'_>,
    ) -> Result<(Value, Vec<ErrorItem>), Vec<ErrorItem>> {
        if kind == Kind::Consignment {
            self.account.may_create()?;
        }
        let (input, kept_forms) = match self.updated() {
            Some(name) => {
                let record = context.records.find_open(kind, self.id, name)?;
                (updated_input(record, self.input), form_names(record))
            }
            None => (self.input.clone(), json!([])),
        };
        let rules = RuleContext {
            today: instant::day(context.now),
            account_pic: self.account.origin_pic(),
            accreditations: &self.account.holder["accreditations"],
            questions: context.data.questions(),
            kept_forms: list(&kept_forms),
            // profile: forms
            further: &context.data.profile.forms.value,
        };
        let problems = match kind {
            Kind::Template => rules::template(&input),
            _ => rules::consignment(&input, &rules),
        };
        if !problems.iter().all(ErrorItem::is_warning) {
            return Err(problems);
        }
        let name = self.updated();
        let author = self.author();
        let now = context.now;
        let mut input = input;
        if name.is_none() && kind == Kind::Consignment {
            // profile: filledIn
            for path in &context.data.profile.filled_in.value {
                fill_in(&mut input, path);
            }
        }
        let saved = context
            .records
            .save(kind, self.id, name, &input, author, now)?;
        Ok((saved, problems))
    }

    fn copy(&self, name: &str, context: &mut ResolverContext<'_>) -> Result<Value, Vec<ErrorItem>> {
        self.account.may_create()?;
        let original = context.records.find(Kind::Consignment, self.id, name)?;
        if original["status"] == "DELETED" {
            return Err(ErrorItem::not_found().into());
        }
        let input = updated_input(original, &json!({"status": "DRAFT"}));
        let today = instant::day(context.now);
        let accreditations = &self.account.holder["accreditations"];
        let problems = rules::forms_of_copy(&input, today, accreditations);
        if !problems.is_empty() {
            return Err(problems);
        }
        let author = self.author();
        let now = context.now;
        Ok(context
            .records
            .save(Kind::Consignment, self.id, None, &input, author, now)?)
    }

    fn comment(&self, context: &mut ResolverContext<'_>) -> Result<Value, ErrorItem> {
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
