//! The body of a request.

use bytes::Bytes;
use graphql_client::{GraphQLQuery, QueryBody};
use serde::Serialize;

use super::catalogue::{Known, ours};
use super::document::operations;
use super::overrides::{Overrides, Place};
use crate::error::Error;

/// Whether an operation reads or changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperationKind {
    Query,
    Mutation,
}

/// An operation, ready to be sent any number of times.
pub(crate) struct Encoded {
    /// The name in the specification, or in the document of the caller.
    pub(crate) operation: String,
    pub(crate) kind: OperationKind,
    pub(crate) body: Bytes,
    /// Where the record is, when it is looked for: that of a change, or one that an override has in another place.
    pub(crate) place: Option<Place>,
    /// The list whose records may be read one by one.
    pub(super) list: Option<&'static [&'static str]>,
    /// A query of ours, whose document may be adapted to the server.
    pub(super) adaptable: Option<&'static Known>,
}

// No further members: the GraphQL over HTTP draft forbids them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a, V> {
    #[serde(skip_serializing_if = "Option::is_none")]
    operation_name: Option<&'a str>,
    query: &'a str,
    variables: &'a V,
}

/// The body of an operation of ours, for its `build_query`.
pub(super) fn query_body<V>(
    operation_name: &'static str,
    query: &'static str,
    variables: V,
) -> QueryBody<V> {
    QueryBody {
        variables,
        query,
        operation_name,
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

/// Encodes an operation of ours with variables of another type, or any document.
pub(crate) fn encode_operation(
    document: &str,
    operation_name: &str,
    variables: &impl Serialize,
    overrides: &Overrides,
) -> Result<Encoded, Error> {
    let Some(known) = ours(operation_name, document) else {
        return encode_document(document, operation_name, variables);
    };
    let stated = Place::stated(known);
    let given = overrides.of(known);
    let adaptable = given.is_none() && known.kind == OperationKind::Query;
    let (body, place) = match given {
        None => {
            let document = overrides.adapted.of(known);
            (written(&document, operation_name, variables)?, stated)
        }
        Some(given) => {
            let variables = serde_json::to_value(variables).map_err(not_json)?;
            let body = Body {
                operation_name: given.operation.as_deref(),
                query: &given.document,
                variables: &given.variables(variables)?,
            };
            let body = serde_json::to_vec(&body).map_err(not_json)?;
            (body.into(), given.place().or(stated))
        }
    };
    Ok(Encoded {
        operation: known.name.to_owned(),
        kind: known.kind,
        body,
        place,
        list: known.list,
        adaptable: adaptable.then_some(known),
    })
}

/// Encodes a document.
pub(crate) fn encode_document(
    document: &str,
    operation_name: &str,
    variables: &impl Serialize,
) -> Result<Encoded, Error> {
    Ok(Encoded {
        operation: operation_name.to_owned(),
        kind: kind_of(document, operation_name),
        body: written(document, operation_name, variables)?,
        place: None,
        list: None,
        adaptable: None,
    })
}

fn written(
    document: &str,
    operation_name: &str,
    variables: &impl Serialize,
) -> Result<Bytes, Error> {
    let body = Body {
        operation_name: Some(operation_name),
        query: document,
        variables,
    };
    serde_json::to_vec(&body).map(Bytes::from).map_err(not_json)
}

fn not_json(source: serde_json::Error) -> Error {
    Error::config("the variables cannot be written as JSON").with_source(source)
}

/// Reads from the document whether the named operation changes anything; in doubt it does, and is not sent twice.
fn kind_of(document: &str, operation_name: &str) -> OperationKind {
    let operations = operations(document).unwrap_or_default();
    let mut named = operations
        .iter()
        .filter(|operation| operation.name == Some(operation_name));
    match (
        named.next().and_then(|operation| operation.kind),
        named.next(),
    ) {
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
            assert_eq!(kind_of(known.document, known.operation), known.kind);
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
