//! Queries whose document the client has adapted, because the server's schema does not fit ours.
//!
//! A server refuses a document as a whole when it selects one field that the server does not have. What our documents select
//! beside the stated fields is public or assumed, and sources differ on where some of it is. Such a field is left out and
//! the query sent again: its value is `None`. Only for queries, and never for a document of the caller.

use bytes::Bytes;
use serde_json::value::RawValue;

use super::catalogue::{CATALOGUE, KnownOperation, named};
use super::overrides::Overrides;
use super::request::{Encoded, RequestBody};
use super::selections::{Field, Selections};
use crate::error::Error;
use crate::model::{Condition, Location, ServerError};

/// An operation whose document the client has adapted to the server, from
/// [`Client::adapted_operations`](crate::Client::adapted_operations).
///
/// See [`Client::adapted_operations`](crate::Client::adapted_operations) for an example.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AdaptedOperation {
    /// The name of the operation in the specification, such as `userDetails`.
    pub operation: &'static str,
    /// The fields that the server does not have, such as `userDetails.accounts.roles`: their values are `None` or empty.
    pub left_out: Vec<String>,
    /// The document that is sent now.
    pub document: String,
}

impl Overrides {
    /// The operations that have another document since the server refused ours.
    pub(crate) fn adapted_operations(&self) -> Vec<AdaptedOperation> {
        CATALOGUE
            .iter()
            .filter_map(|known| {
                let document = self.adapted.of(known);
                (document != known.document).then(|| AdaptedOperation {
                    operation: known.name,
                    left_out: left_out(known, &document),
                    document: document.into_owned(),
                })
            })
            .collect()
    }

    /// Sends the document of a body from now on; returns the fields that it leaves out.
    pub(crate) fn remember(&self, encoded: &Encoded, body: &[u8]) -> Vec<String> {
        let (Some(known), Some(sent)) = (encoded.adaptable, read_body(body)) else {
            return Vec::new();
        };
        self.adapted.insert(known, &sent.query);
        left_out(known, &sent.query)
    }

    /// Whether the document of an operation is the caller's.
    pub(crate) fn has(&self, operation: &str) -> bool {
        named(operation).is_some_and(|known| self.of(known).is_some())
    }
}

impl Encoded {
    /// The body to send after one was refused; `None` when no other document can help.
    pub(crate) fn adapted(&self, refused: &[u8], error: &Error) -> Option<Bytes> {
        let known = self.adaptable.filter(|_| error.is_rejected())?;
        let mut body = read_body(refused)?;
        body.query = next(known, &body.query, error.server_errors())?.into();
        serde_json::to_vec(&body).ok().map(Bytes::from)
    }
}

fn read_body(body: &[u8]) -> Option<RequestBody<'_, &RawValue>> {
    serde_json::from_slice(body).ok()
}

/// Fields that are never left out: without them a list would end too early, an unregistered user pass for a registered
/// one, an answer lose its question or row, or a question its conditions.
const REQUIRED: [&str; 16] = [
    "acceptableAnswers",
    "accounts",
    "data",
    "edges",
    "endCursor",
    "envdAccountId",
    "hasNextPage",
    "index",
    "isNewUser",
    "items",
    "node",
    "pageInfo",
    "questionId",
    "triggers",
    "validators",
    "value",
];

/// Where the record of `userDetails` may be (spec 2.8 and 4.1): the field with its alias, and whether under `data`.
const USER_DETAILS_LOCATIONS: [(&str, bool); 4] = [
    ("userDetails", false),
    ("userDetails", true),
    ("userDetails: userDetailsQuery", true),
    ("userDetails: userDetailsQuery", false),
];

/// The document to send after one was refused; `None` when no other can help.
fn next(known: &KnownOperation, refused: &str, errors: &[ServerError]) -> Option<String> {
    let mut read = Selections::read(refused)?;
    if errors.is_empty() || !errors.iter().all(is_about_the_document) {
        return None;
    }
    if without(known, &mut read, errors).is_some() {
        return Some(read.write());
    }
    (known.name == "userDetails").then(|| next_location(known, &read))?
}

/// The paths of the fields of our document that another one leaves out.
fn left_out(known: &KnownOperation, document: &str) -> Vec<String> {
    let theirs = record_paths(document);
    record_paths(known.document)
        .into_iter()
        .filter(|path| !theirs.contains(path))
        .map(|path| format!("{}.{path}", known.name))
        .collect()
}

/// The paths of all fields of the record that a document reads.
fn record_paths(document: &str) -> Vec<String> {
    let mut paths = Vec::new();
    let read = Selections::read(document);
    if let Some(root) = read.as_ref().and_then(|read| read.fields.first()) {
        match root.fields.as_slice() {
            [only] if only.name == "data" => add_paths("", &only.fields, &mut paths),
            fields => add_paths("", fields, &mut paths),
        }
    }
    paths
}

fn add_paths(prefix: &str, fields: &[Field<'_>], paths: &mut Vec<String>) {
    for field in fields {
        let path = format!("{prefix}{}", field.name);
        add_paths(&format!("{path}."), &field.fields, paths);
        paths.push(path);
    }
}

/// Errors before execution. An error of execution has a path, and its field is there.
fn is_about_the_document(error: &ServerError) -> bool {
    error.condition() == Condition::SchemaMismatch && error.path().is_empty()
}

/// Leaves out the fields that the errors are about; `None` when one of them is about anything else.
///
/// The location identifies the field (spec 7.2 gives one for these errors); the message has to name it too.
fn without(
    known: &KnownOperation,
    read: &mut Selections<'_>,
    errors: &[ServerError],
) -> Option<()> {
    let record = &mut read.fields.first_mut()?.fields;
    let mut refused = Vec::new();
    for error in errors {
        let offset = error.locations().iter().find_map(offset)?;
        let field = find(record, offset)?;
        if is_required(known, field.name) || !error.message().contains(field.name) {
            return None;
        }
        refused.push(offset);
    }
    cut(record, &refused);
    Some(())
}

/// The questions of a consignment may come without their children, as public queries read them. The tree may not.
fn is_required(known: &KnownOperation, field: &str) -> bool {
    REQUIRED.contains(&field) || (known.name == "questions" && field == "childQuestions")
}

/// Our documents are written on one line.
fn offset(at: &Location) -> Option<usize> {
    let column = usize::try_from(at.column).ok()?;
    column.checked_sub(1).filter(|_| at.line == 1)
}

fn find<'f, 'a>(fields: &'f [Field<'a>], offset: usize) -> Option<&'f Field<'a>> {
    let found = fields.iter().find(|field| field.starts_at(offset));
    found.or_else(|| fields.iter().find_map(|field| find(&field.fields, offset)))
}

fn cut(fields: &mut Vec<Field<'_>>, refused: &[usize]) {
    fields.retain(|field| !refused.iter().any(|offset| field.starts_at(*offset)));
    for field in fields {
        cut(&mut field.fields, refused);
    }
}

/// The query of the user details with the whole record at the next location.
fn next_location(known: &KnownOperation, read: &Selections<'_>) -> Option<String> {
    let root = read.fields.first()?;
    let here = (root.text, root.fields.first()?.name == "data");
    let at = USER_DETAILS_LOCATIONS
        .iter()
        .position(|location| *location == here)?;
    let (name, wrapped) = *USER_DETAILS_LOCATIONS.get(at + 1)?;
    let mut whole = Selections::read(known.document)?;
    let record = whole.fields.pop()?.fields;
    let fields = if wrapped {
        vec![Field::of("data", record)]
    } else {
        record
    };
    whole.fields = vec![Field::of(name, fields)];
    Some(whole.write())
}
