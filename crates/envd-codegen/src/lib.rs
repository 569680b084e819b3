//! Typed operations for `envd-sdk`, from GraphQL documents.

mod docs;
pub mod ir;
mod names;
mod problem;
mod resolve;
pub mod rust;

use std::collections::BTreeMap;

use apollo_compiler::Schema;
use apollo_compiler::validation::Valid;

pub use crate::docs::{public_names, split};
pub use crate::names::{is_hidden, snake_case, type_name, upper_camel_case};
pub use crate::problem::{Error, Problem};
use crate::resolve::Resolver;

/// The schema of the SDK.
pub const SCHEMA: &str = include_str!("../graphql/schema.graphql");
/// The records of the SDK.
const FRAGMENTS: &str = include_str!("../graphql/fragments.graphql");
/// The operations of the SDK.
const OPERATIONS: &str = include_str!("../graphql/operations.graphql");

/// The program of the SDK itself.
pub fn sdk() -> Result<ir::Program, Error> {
    let schema = parse_schema("graphql/schema.graphql", SCHEMA)?;
    let scalars = BTreeMap::new();
    let mut resolver = Resolver::new(&schema, &schema, &scalars);
    resolver.add("graphql/fragments.graphql", FRAGMENTS, true);
    resolver.add("graphql/operations.graphql", OPERATIONS, true);
    let program = resolver.program();
    if resolver.problems.is_empty() {
        Ok(program)
    } else {
        Err(Error::new(resolver.problems))
    }
}

fn parse_schema(file: &str, text: &str) -> Result<Valid<Schema>, Error> {
    Schema::parse_and_validate(text, file)
        .map_err(|errors| Error::new(problem::found(&errors.errors)))
}
