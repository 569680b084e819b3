//! The declaration interface: validates any document against the schema and executes it on the records.

mod execution;
mod request;
mod resolvers;

use std::borrow::Cow;
use std::time::SystemTime;

use serde_json::Value;

use self::request::{Request, RequestError};
use super::problem::Problem;
use super::records::Records;
use super::reference_data::{Account, ReferenceData};
use super::reply::Reply;
use super::script::operation_name;
use super::world::User;

/// What the execution of a request reads and changes.
pub(super) struct Context<'a> {
    pub(super) data: &'a ReferenceData,
    pub(super) records: &'a mut Records,
    pub(super) now: SystemTime,
}

impl<'a> Context<'a> {
    /// An account of the user, unless access to it was withdrawn.
    fn account(&self, user: User, id: &str) -> Result<Account<'a>, Problem> {
        let account = self.data.account(user, id)?;
        if self.records.is_withdrawn(id) {
            return Err(Problem::denied("The account does not belong to the user."));
        }
        Ok(account)
    }

    /// The record of a user, without the accounts that were withdrawn.
    fn details(&self, user: User) -> Cow<'a, Value> {
        let details = self.data.world.user_record(user);
        let is_withdrawn = |account: &Value| {
            let id = account["envdAccountId"].as_str();
            id.is_some_and(|id| self.records.is_withdrawn(id))
        };
        let accounts = details["accounts"].as_array();
        if !accounts.is_some_and(|accounts| accounts.iter().any(is_withdrawn)) {
            return Cow::Borrowed(details);
        }
        let mut details = details.clone();
        if let Some(accounts) = details["accounts"].as_array_mut() {
            accounts.retain(|account| !is_withdrawn(account));
        }
        Cow::Owned(details)
    }
}

/// Answers a POST to the endpoint; without a user the request has no valid token.
pub(super) fn answer(
    media_type: &str,
    body: &[u8],
    user: Option<User>,
    context: Context<'_>,
) -> Reply {
    run(media_type, body, user, context).unwrap_or_else(|errors| {
        // In a header, since the body must be the service's.
        request::error_reply(&errors).header("x-fake-hint", hint(body))
    })
}

fn hint(body: &[u8]) -> String {
    let body = serde_json::from_slice(body).unwrap_or_default();
    let name = operation_name(&body);
    let name = name.as_deref().unwrap_or("without a name").escape_default();
    format!(
        "The operation {name} has no script and does not fit the schema. Script it with fake.on::<Q>() or fake.on_own_operation(name)."
    )
}

fn run(
    media_type: &str,
    body: &[u8],
    user: Option<User>,
    context: Context<'_>,
) -> Result<Reply, Vec<RequestError>> {
    let request = Request::parse(media_type, body)?;
    let schema = &context.data.schema;
    let document = schema.document(&request.query);
    let Some(user) = user else {
        return Ok(execution::unauthorized((*document).as_ref().ok(), &request));
    };
    let document = (*document).as_ref().map_err(request::document_errors)?;
    let operation = request.operation(document)?;
    request.check_variables(schema, operation, &document.sources)?;
    Ok(execution::execute(
        document,
        operation,
        request.variables,
        context,
        user,
    ))
}
