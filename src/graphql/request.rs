//! The body of a request.

use bytes::Bytes;
use graphql_client::GraphQLQuery;
use serde::Serialize;

use crate::error::Error;

/// Whether an operation reads or changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperationKind {
    Query,
    Mutation,
}

/// An operation, ready to be sent any number of times.
pub(crate) struct Encoded {
    pub(crate) operation: String,
    pub(crate) kind: OperationKind,
    pub(crate) body: Bytes,
}

// No further members: the GraphQL over HTTP draft forbids them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a, V> {
    operation_name: &'a str,
    query: &'a str,
    variables: &'a V,
}

/// Encodes an operation.
pub(crate) fn encode<Q: GraphQLQuery>(variables: Q::Variables) -> Result<Encoded, Error> {
    let body = Q::build_query(variables);
    encode_document(body.query, body.operation_name, &body.variables)
}

/// Encodes a document.
pub(crate) fn encode_document(
    document: &str,
    operation_name: &str,
    variables: &impl Serialize,
) -> Result<Encoded, Error> {
    let body = Body {
        operation_name,
        query: document,
        variables,
    };
    let body = serde_json::to_vec(&body).map_err(|source| {
        Error::config("the variables cannot be written as JSON").with_source(source)
    })?;
    Ok(Encoded {
        operation: operation_name.to_owned(),
        kind: kind_of(document, operation_name),
        body: body.into(),
    })
}

/// Reads from the document whether the named operation changes anything; in doubt it does, and is not sent twice.
fn kind_of(document: &str, operation_name: &str) -> OperationKind {
    let mut words = document
        .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '{' || c == '"' || c == '#'))
        .filter(|word| !word.is_empty());
    // A comment or a text could hold anything: such documents are taken for changes unless they are plainly queries.
    if document.contains(['"', '#']) && document.contains("mutation") {
        return OperationKind::Mutation;
    }
    while let Some(word) = words.next() {
        if word == "query" && words.next() == Some(operation_name) {
            return OperationKind::Query;
        }
    }
    OperationKind::Mutation
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("fragment query on T { a }", "on", OperationKind::Query),
        ] {
            assert_eq!(kind_of(document, name), kind, "{document}");
        }
    }
}
