//! The body of a request.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::adapt::{FieldRenames, Overrides, operations};
use super::document::{OperationDocument, OperationKind};
use super::operation::TypedOperation;
use crate::error::Error;
use crate::profile::OperationProfile;

/// The initial capacity for variables, in bytes: sufficient for most calls, such as a consignment with some forty answers.
/// Growing beyond it copies the text.
const VARIABLES: usize = 2_560;

/// An operation that can be sent any number of times.
#[derive(Clone)]
pub(crate) struct Encoded {
    /// The name in the specification, or in the caller's document.
    pub(crate) operation: Cow<'static, str>,
    pub(crate) kind: OperationKind,
    pub(crate) body: Bytes,
    /// The operation of this crate, if it is one.
    pub(super) known: Option<&'static OperationDocument>,
    /// The location of the record in the profile: a JSON pointer.
    // profile: operations.recordAt
    pub(super) moved: Option<Arc<str>>,
    /// Set for a query of this crate with a document that may be adapted to the server.
    // profile: operations.leftOut
    pub(super) adaptable: Option<&'static OperationDocument>,
    /// The differences from our document, if any.
    // profile: operations.leftOut
    // profile: operations.recordAt
    pub(super) fitted: Arc<OperationProfile>,
    /// The fields that the service names differently.
    // profile: fields
    pub(super) renames: Arc<FieldRenames>,
}

/// The JSON body of a request. Has no further members, because the GraphQL over HTTP draft forbids them.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestBody<'a, V> {
    #[serde(skip_serializing_if = "Option::is_none")]
    operation_name: Option<&'a str>,
    #[serde(borrow)]
    query: Cow<'a, str>,
    variables: V,
}

impl<V: Serialize> RequestBody<'_, V> {
    fn encode(&self) -> Result<Bytes, Error> {
        let mut body = Vec::with_capacity(self.query.len() + VARIABLES);
        serde_json::to_writer(&mut body, self).map_err(not_json)?;
        Ok(body.into())
    }
}

/// Encodes an operation, with the caller's document if there is one.
pub(crate) fn encode<Q: TypedOperation>(
    variables: Q::Variables,
    overrides: &Overrides,
) -> Result<Encoded, Error> {
    let body = Q::body(variables);
    match OperationDocument::ours(body.name, body.document) {
        Some(known) => encode_operation(known, &body.variables, overrides),
        None => encode_document(body.document, body.name, &body.variables),
    }
}

/// Encodes an operation of this crate, with variables of any type.
pub(crate) fn encode_operation(
    known: &'static OperationDocument,
    variables: &impl Serialize,
    overrides: &Overrides,
) -> Result<Encoded, Error> {
    let fitted = overrides.fitted(known);
    let given = overrides.of(known);
    let renames = overrides.renames();
    let body = match given {
        // Changes have no optional variables, and those of a save are long.
        None if known.is_change() && renames.is_empty() => RequestBody {
            operation_name: Some(known.operation),
            query: known.render(&fitted, renames, &|_| true),
            variables,
        }
        .encode()?,
        None => {
            let text = serde_json::to_string(variables).map_err(not_json)?;
            let inputs = renames.with_their_names(known, object(&text)?)?;
            let mut variables = borrowed(&inputs);
            variables.retain(|_, value| value.get() != "null");
            RequestBody {
                operation_name: Some(known.operation),
                query: known.render(&fitted, renames, &|name| variables.contains_key(name)),
                variables,
            }
            .encode()?
        }
        // profile: operations.document
        Some(given) => {
            let text = serde_json::to_string(variables).map_err(not_json)?;
            let inputs = renames.with_their_names(known, object(&text)?)?;
            RequestBody {
                operation_name: given.operation.as_deref(),
                query: given.document.as_str().into(),
                variables: given.variables(borrowed(&inputs))?,
            }
            .encode()?
        }
    };
    Ok(Encoded {
        operation: known.name.into(),
        kind: known.kind,
        body,
        known: Some(known),
        moved: match given {
            Some(given) => given.record_at.clone(),
            None => known.moved_to(&fitted).map(Arc::from),
        },
        adaptable: Some(known).filter(|_| given.is_none() && !known.is_change()),
        fitted,
        renames: Arc::clone(renames),
    })
}

fn borrowed<'a>(variables: &'a OwnVariables<'_>) -> RawVariables<'a> {
    let variables = variables.iter();
    variables
        .map(|(name, value)| (name.clone(), value.as_ref()))
        .collect()
}

impl Encoded {
    pub(crate) fn is_change(&self) -> bool {
        self.kind == OperationKind::Mutation
    }

    /// The query with another document, after the server refused this one; `None` if no other document can help.
    // profile: operations.leftOut
    pub(crate) fn adapted(&self, error: &Error) -> Option<Self> {
        let known = self.adaptable.filter(|_| error.has_errors_only())?;
        let mut body: RequestBody<'_, RawVariables<'_>> =
            serde_json::from_slice(&self.body).ok()?;
        let is_set = |name: &str| body.variables.contains_key(name);
        let fitted = known.adapted(&self.fitted, &self.renames, &is_set, error.server_errors())?;
        body.query = known.render(&fitted, &self.renames, &is_set);
        Some(Self {
            body: body.encode().ok()?,
            fitted: Arc::new(fitted),
            ..self.clone()
        })
    }
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
        operation: operation_name.to_owned().into(),
        kind: kind_of(document, operation_name),
        body: body.encode()?,
        known: None,
        moved: None,
        adaptable: None,
        fitted: Arc::default(),
        renames: Arc::default(),
    })
}

/// The variables by name, each as raw JSON: signed data is sent verbatim.
pub(super) type RawVariables<'a> = BTreeMap<String, &'a RawValue>;

/// The variables by name, some of them rewritten.
pub(super) type OwnVariables<'a> = BTreeMap<String, Cow<'a, RawValue>>;

fn object(variables: &str) -> Result<RawVariables<'_>, Error> {
    serde_json::from_str(variables).map_err(|_| Error::config("the variables are not an object"))
}

/// A message from the type about its value, such as the name missing in an update, is used unchanged.
pub(super) fn not_json(source: serde_json::Error) -> Error {
    if source.is_data() {
        return Error::config(source.to_string());
    }
    Error::config(format!("the variables cannot be written as JSON: {source}"))
}

/// Determines from the document whether the named operation is a change. If in doubt it is, and is not retried.
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
    use super::*;

    #[test]
    fn the_kind_is_that_of_the_named_operation_and_a_change_in_doubt() {
        let two = "query Read { a } mutation Write { b }";
        let twice = "query Twice { a } mutation Twice { b }";
        let noted = "# query Write\nmutation Write { b }";
        let quoted = "# a mutation\nquery Read { a(x: \"mutation Read\") }";
        for (document, name, kind) in [
            (two, "Read", OperationKind::Query),
            (two, "Write", OperationKind::Mutation),
            ("query Read($a: Int) { a }", "Read", OperationKind::Query),
            ("{ a }", "", OperationKind::Mutation),
            (noted, "Write", OperationKind::Mutation),
            // There is no operation with this name.
            ("fragment query on T { a }", "on", OperationKind::Mutation),
            (quoted, "Read", OperationKind::Query),
            (twice, "Twice", OperationKind::Mutation),
            ("subscription Live { a }", "Live", OperationKind::Mutation),
            ("query Read { a", "Read", OperationKind::Mutation),
        ] {
            assert_eq!(kind_of(document, name), kind, "{document}");
        }
    }
}
