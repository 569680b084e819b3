//! The body of a request.

use std::borrow::Cow;
use std::collections::BTreeMap;

use bytes::Bytes;
use graphql_client::GraphQLQuery;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::catalogue::{KnownOperation, ours};
use super::document::{OperationKind, operations, without_unset};
use super::overrides::{Overrides, RecordLocation};
use crate::error::Error;

/// Room for the variables of most calls, in bytes: a consignment with some forty answers. A text that outgrows its memory
/// is copied.
const VARIABLES: usize = 2_560;

/// An operation, ready to be sent any number of times.
pub(crate) struct Encoded {
    /// The name in the specification, or in the document of the caller.
    pub(crate) operation: String,
    pub(crate) kind: OperationKind,
    pub(crate) body: Bytes,
    /// Where the record of a change is, or the one that an override has elsewhere.
    pub(super) location: Option<RecordLocation>,
    /// The list whose records may be read one by one.
    pub(super) list: Option<&'static [&'static str]>,
    /// A query of this crate, whose document may be adapted to the server.
    pub(super) adaptable: Option<&'static KnownOperation>,
    /// The operation of this crate that it is.
    pub(super) known: Option<&'static KnownOperation>,
}

/// The JSON body of a request. No further members: the GraphQL over HTTP draft forbids them.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RequestBody<'a, V> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) operation_name: Option<&'a str>,
    #[serde(borrow)]
    pub(super) query: Cow<'a, str>,
    pub(super) variables: V,
}

impl<V: Serialize> RequestBody<'_, V> {
    fn encode(&self) -> Result<Bytes, Error> {
        let mut body = Vec::with_capacity(self.query.len() + VARIABLES);
        serde_json::to_writer(&mut body, self).map_err(not_json)?;
        Ok(body.into())
    }
}

/// Encodes an operation, with the caller's document where there is one.
pub(crate) fn encode<Q: GraphQLQuery>(
    variables: Q::Variables,
    overrides: &Overrides,
) -> Result<Encoded, Error> {
    let body = Q::build_query(variables);
    encode_operation(body.query, body.operation_name, &body.variables, overrides)
}

/// Encodes an operation of this crate with variables of another type, or any document.
pub(crate) fn encode_operation(
    document: &str,
    operation_name: &str,
    variables: &impl Serialize,
    overrides: &Overrides,
) -> Result<Encoded, Error> {
    let Some(known) = ours(operation_name, document) else {
        return encode_document(document, operation_name, variables);
    };
    let given = overrides.of(known);
    let body = match given {
        // Changes have no optional variables, and those of a save are long.
        None if known.is_change() => RequestBody {
            operation_name: Some(operation_name),
            query: overrides.adapted.of(known),
            variables,
        }
        .encode()?,
        // A server that has another name for an argument refuses only the calls that use it.
        None => {
            let mut variables = object(variables)?;
            variables.retain(|_, value| value.get() != "null");
            let query = overrides.adapted.of(known);
            let shorter = without_unset(&query, |name| variables.contains_key(name));
            RequestBody {
                operation_name: Some(operation_name),
                query: shorter.map_or(query, Cow::Owned),
                variables,
            }
            .encode()?
        }
        Some(given) => RequestBody {
            operation_name: given.operation.as_deref(),
            query: given.document.as_str().into(),
            variables: given.variables(object(variables)?)?,
        }
        .encode()?,
    };
    let is_adaptable = given.is_none() && !known.is_change();
    Ok(Encoded {
        operation: known.name.to_owned(),
        kind: known.kind(),
        body,
        location: overrides.location(known),
        list: known.list,
        adaptable: is_adaptable.then_some(known),
        known: Some(known),
    })
}

/// Encodes a document.
pub(crate) fn encode_document(
    document: &str,
    operation_name: &str,
    variables: &impl Serialize,
) -> Result<Encoded, Error> {
    let body = RequestBody {
        operation_name: Some(operation_name),
        query: document.into(),
        variables,
    };
    Ok(Encoded {
        operation: operation_name.to_owned(),
        kind: kind_of(document, operation_name),
        body: body.encode()?,
        location: None,
        list: None,
        adaptable: None,
        known: None,
    })
}

/// The variables by name, each as its JSON: what was signed is sent as it is.
pub(super) type RawVariables = BTreeMap<String, Box<RawValue>>;

fn object(variables: &impl Serialize) -> Result<RawVariables, Error> {
    let text = serde_json::to_string(variables).map_err(not_json)?;
    serde_json::from_str(&text).map_err(|_| Error::config("the variables are not an object"))
}

fn not_json(source: serde_json::Error) -> Error {
    Error::config(format!("the variables cannot be written as JSON: {source}"))
}

/// Reads from the document whether the named operation changes anything; in doubt it does, and is not sent twice.
fn kind_of(document: &str, operation_name: &str) -> OperationKind {
    let operations = operations(document).unwrap_or_default();
    let mut named = operations
        .iter()
        .filter(|operation| operation.name == Some(operation_name));
    let kind = named.next().and_then(|operation| operation.kind);
    match (kind, named.next()) {
        (Some(kind), None) => kind,
        _ => OperationKind::Mutation,
    }
}

#[cfg(test)]
mod tests {
    use super::super::catalogue::CATALOGUE;
    use super::*;

    #[test]
    fn the_catalogue_has_the_kinds_of_its_documents() {
        for known in &CATALOGUE {
            assert_eq!(kind_of(known.document, known.operation), known.kind());
        }
    }

    #[test]
    fn the_kind_is_that_of_the_named_operation_and_a_change_in_doubt() {
        let two = "query Read { a } mutation Write { b }";
        for (document, name, kind) in [
            (two, "Read", OperationKind::Query),
            (two, "Write", OperationKind::Mutation),
            ("query Read($a: Int) { a }", "Read", OperationKind::Query),
            ("{ a }", "", OperationKind::Mutation),
            (
                "# query Write\nmutation Write { b }",
                "Write",
                OperationKind::Mutation,
            ),
            // No operation has this name.
            ("fragment query on T { a }", "on", OperationKind::Mutation),
            (
                "# a mutation\nquery Read { a(x: \"mutation Read\") }",
                "Read",
                OperationKind::Query,
            ),
            (
                "query Twice { a } mutation Twice { b }",
                "Twice",
                OperationKind::Mutation,
            ),
            ("subscription Live { a }", "Live", OperationKind::Mutation),
            ("query Read { a", "Read", OperationKind::Mutation),
        ] {
            assert_eq!(kind_of(document, name), kind, "{document}");
        }
    }
}
