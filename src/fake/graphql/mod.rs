//! The declaration interface: any document, validated against the schema and executed on the world.

mod documents;
mod execute;
mod mutations;
mod queries;
mod refusal;
mod request;
mod scalars;
mod validation;
mod variables;

use std::time::SystemTime;

use super::library::Library;
use super::reply::Reply;
use super::user::User;
use super::world::World;

pub(super) use self::documents::{Documents, SharedSchema, bundled_schema, read_schema};
use self::refusal::Refusal;
use self::request::Operation;

/// Everything that one request touches.
pub(super) struct Scene<'a> {
    pub(super) library: &'a Library,
    pub(super) world: &'a mut World,
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
        Err(refusals) => refusal::reply(&refusals),
    }
}

fn run(
    documents: &mut Documents,
    media_type: &str,
    body: &[u8],
    scene: Scene<'_>,
) -> Result<Reply, Vec<Refusal>> {
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
    Ok(execute::run(document, &operation, &request, scene, user))
}
