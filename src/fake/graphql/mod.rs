//! The declaration interface: any document, validated against the schema and executed on the world.

mod documents;
mod execute;
mod mutations;
mod objects;
mod queries;
mod refusal;
mod replies;
mod request;
mod scalars;
mod validation;
mod variables;

use std::time::SystemTime;

use super::ledger::Ledger;
use super::library::Library;
use super::reply::Reply;
use super::script::operation_name;
use super::user::User;

pub(super) use self::documents::{
    Documents, SharedSchema, bundled_schema, read_schema, root_fields,
};
use self::refusal::Refusal;
use self::request::Operation;

/// Everything that one request touches.
pub(super) struct Scene<'a> {
    pub(super) library: &'a Library,
    pub(super) ledger: &'a mut Ledger,
    pub(super) now: SystemTime,
    /// Whose token the request carries; none when there is no valid one.
    pub(super) user: Option<User>,
}

/// Answers a POST to the endpoint.
pub(super) fn answer(
    documents: &mut Documents,
    media_type: &str,
    body: &[u8],
    scene: Scene<'_>,
) -> Reply {
    match run(documents, media_type, body, scene) {
        Ok(reply) => reply,
        Err(refusals) => refusal::reply(&refusals).header("x-fake-hint", hint(body)),
    }
}

/// A call that fits nothing says its name. A header, for the body is the service's.
fn hint(body: &[u8]) -> String {
    let body = serde_json::from_slice(body).unwrap_or_default();
    let name = operation_name(&body);
    let name: String = name
        .as_deref()
        .unwrap_or("without a name")
        .escape_default()
        .collect();
    format!(
        "The operation {name} has no script and does not fit the schema. Script it with fake.on::<Q>() or fake.on_own_operation(name)."
    )
}

fn run(
    documents: &mut Documents,
    media_type: &str,
    body: &[u8],
    scene: Scene<'_>,
) -> Result<Reply, Vec<Refusal>> {
    if let Some(user) = scene.user.filter(|_| request::is_json(media_type))
        && let Some(known) = documents.replies.get(user, body)
    {
        return Ok(known);
    }
    let request = request::read(media_type, body)?;
    let document = documents.get(&scene.library.schema, &request.query);
    let Some(user) = scene.user else {
        return Ok(execute::unauthorized(
            document.as_ref().as_ref().ok(),
            &request,
        ));
    };
    let document = document.as_ref().as_ref().map_err(Clone::clone)?;
    let operation = Operation::find(document, &request)?;
    let schema = &scene.library.schema;
    variables::check(
        schema,
        operation.definition,
        &request.variables,
        &document.sources,
    )?;
    let reply = execute::run(document, &operation, &request, scene, user);
    if operation.definition.is_query() {
        documents.replies.keep(user, body, &reply);
    } else {
        documents.replies.forget();
    }
    Ok(reply)
}
