//! The declaration interface: validates any document against the schema, and executes it on the records.

mod execution;
mod request;
mod resolvers;

use std::time::SystemTime;

use serde_json::{Value, json};

use self::request::GraphqlRequest;
use super::problem::ErrorItem;
use super::records::{Records, list};
use super::reference_data::ReferenceData;
use super::reply::FakeReply;
use super::script::GraphqlBody;
use super::world::User;
use crate::profile::ServiceProfile;

/// The state that a request reads and changes.
pub(super) struct ResolverContext<'a> {
    pub(super) data: &'a ReferenceData,
    pub(super) records: &'a mut Records,
    pub(super) now: SystemTime,
    /// `None` without a valid token.
    pub(super) user: Option<User>,
}

impl<'a> ResolverContext<'a> {
    /// The record of the user.
    fn holder(&self) -> &'a Value {
        let world = &self.data.world;
        self.user
            .map_or(&Value::Null, |user| world.user_record(user))
    }

    /// An account of the user, unless access to it was withdrawn. assumed: another user's account is refused like a missing
    /// permission.
    fn account(&self, id: &str) -> Result<NamedAccount<'a>, ErrorItem> {
        let holder = self.holder();
        let account = list(&holder["accounts"])
            .iter()
            .find(|account| account["envdAccountId"] == id && !self.records.withdrawn.contains(id))
            .ok_or_else(|| ErrorItem::denied("The account does not belong to the user."))?;
        Ok(NamedAccount {
            pic: self.data.world.pics.get(id).and_then(Value::as_str),
            program: account["accountType"].as_str().unwrap_or_default(),
            holder,
            profile: &self.data.profile,
        })
    }

    /// The user's record, without withdrawn accounts.
    fn details(&self) -> Value {
        let mut details = self.holder().clone();
        // Not by index, which would turn the missing record of an unknown user into an object.
        let accounts = details.get_mut("accounts");
        if let Some(accounts) = accounts.and_then(Value::as_array_mut) {
            accounts.retain(|account| {
                let id = account["envdAccountId"].as_str();
                !id.is_some_and(|id| self.records.withdrawn.contains(id))
            });
            for account in accounts {
                self.respell_roles(account);
            }
        }
        self.respell_roles(&mut details);
        details
    }

    /// Spells roles as in the profile.
    // profile: roles
    fn respell_roles(&self, holder: &mut Value) {
        let roles = holder.get_mut("roles").and_then(Value::as_array_mut);
        for role in roles.into_iter().flatten() {
            let spellings = self.data.profile.roles.value.iter();
            let mut named = spellings.filter(|(_, named)| *role == named.as_str());
            if let Some((spelling, _)) = named.next() {
                *role = spelling.as_str().into();
            }
        }
    }
}

/// An account, with the user of the request that names it.
struct NamedAccount<'a> {
    pic: Option<&'a str>,
    program: &'a str,
    holder: &'a Value,
    profile: &'a ServiceProfile,
}

impl<'a> NamedAccount<'a> {
    /// Only producers create consignments, and only in accounts of the LPA program (spec 5.10).
    fn may_create(&self) -> Result<(), ErrorItem> {
        let roles = self.holder["roles"].as_array().into_iter().flatten();
        let is_producer = |role: &str| {
            // profile: roles
            let named = self.profile.roles.value.get(role);
            let named = named.map_or(role, |named| named.as_str());
            named.eq_ignore_ascii_case("Producer")
        };
        if roles.filter_map(Value::as_str).any(is_producer) && self.program == "LPA" {
            return Ok(());
        }
        Err(ErrorItem::denied(
            "Only a producer may create consignments, in an account of the type LPA.",
        ))
    }

    /// The PIC required for the origin of the account's consignments.
    fn origin_pic(&self) -> Option<&'a str> {
        self.pic.filter(|_| self.program == "LPA")
    }
}

/// Answers a POST to the endpoint.
pub(super) fn answer(media_type: &str, body: &[u8], context: ResolverContext<'_>) -> FakeReply {
    run(media_type, body, context).unwrap_or_else(|errors| {
        // assumed: the specification does not map errors to statuses. The hint is a header, because the body must match the
        // service's.
        FakeReply::json(400, &json!({"errors": errors})).header("x-fake-hint", hint(body))
    })
}

fn hint(body: &[u8]) -> String {
    let name = GraphqlBody::read(body).operation();
    let name = name.as_deref().unwrap_or("without a name").escape_default();
    format!(
        "The operation {name} has no script and does not fit the schema. Script it with fake.on::<Q>() or fake.on_own_operation(name)."
    )
}

fn run(
    media_type: &str,
    body: &[u8],
    context: ResolverContext<'_>,
) -> Result<FakeReply, Vec<Value>> {
    let request = GraphqlRequest::parse(media_type, body)?;
    let schema = &context.data.schema;
    let document = schema.document(&request.query);
    if context.user.is_none() {
        return Ok(execution::unauthorized((*document).as_ref().ok(), &request));
    }
    let document = (*document).as_ref().map_err(request::document_errors)?;
    let operation = request.operation(document)?;
    let errors = request.variable_errors(schema, operation, &document.sources);
    if !errors.is_empty() {
        return Err(errors);
    }
    Ok(execution::execute(
        document,
        operation,
        request.variables,
        context,
    ))
}
