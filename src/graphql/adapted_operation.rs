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
use crate::profile::{OperationProfile, ServiceProfile};

/// The field above the result of a change (spec 2.5).
pub(super) const DATA: &str = "data";

impl Overrides {
    /// What differs from our documents: as the profile says, and as the server has refused them since.
    pub(crate) fn fitted_operations(
        &self,
        profile: &ServiceProfile,
    ) -> Vec<(&'static str, OperationProfile)> {
        let differs = |known: &&KnownOperation| self.adapted.of(known) != known.document;
        let operations = CATALOGUE.iter().filter(differs);
        let fitted = operations.map(|known| {
            let document = self.adapted.of(known);
            let said = profile.operations.get(known.name);
            let record_at = said.and_then(|said| said.value.record_at.clone());
            let fitted = OperationProfile {
                document: None,
                record_at: record_at.or_else(|| moved_to(known, &document)),
                left_out: left_out(known, &document),
            };
            (known.name, fitted)
        });
        fitted.collect()
    }

    /// The fields that the document of one of our operations leaves out.
    pub(crate) fn left_out(&self, operation: &str) -> Vec<String> {
        named(operation).map_or_else(Vec::new, |known| {
            let document = self.adapted.of(known);
            left_out(known, &document)
        })
    }

    /// Sends the document of a body from now on; returns the fields that it leaves out.
    pub(crate) fn remember(&self, encoded: &Encoded, body: &[u8]) -> Vec<String> {
        let (Some(known), Some(sent)) = (encoded.adaptable, read_body(body)) else {
            return Vec::new();
        };
        let document = with_all_variables(&self.adapted.of(known), &sent.query);
        self.adapted.insert(known, &document);
        left_out(known, &document)
            .iter()
            .map(|path| format!("{}.{path}", known.name))
            .collect()
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

/// A document that was sent, with the variables of the one that it was made from: those without a value were not in it, and another
/// call may have one.
fn with_all_variables(from: &str, sent: &str) -> String {
    let mut read = Selections::read(sent);
    let from = Selections::read(from);
    if let (Some(read), Some(from)) = (&mut read, &from)
        && let ([root], [from_root]) = (read.fields.as_mut_slice(), from.fields.as_slice())
        && root.name == from_root.name
    {
        (read.head, root.text) = (from.head, from_root.text);
    }
    read.map_or_else(|| sent.to_owned(), |read| read.write())
}

/// The paths of the fields of the record that a document leaves out of ours.
fn left_out(known: &KnownOperation, document: &str) -> Vec<String> {
    let ours = record_paths(known.document, &[]);
    let theirs = record_paths(document, &ours);
    let is_gone = |path: &str| !theirs.iter().any(|theirs| theirs == path);
    // With a field go those below it.
    let is_first = |path: &str| {
        path.rsplit_once('.')
            .is_none_or(|(above, _)| !is_gone(above))
    };
    ours.iter()
        .filter(|path| is_gone(path) && is_first(path))
        .cloned()
        .collect()
}

/// The paths of all fields of the record that a document reads, below wrappers that are no fields of it.
fn record_paths(document: &str, of_record: &[String]) -> Vec<String> {
    let mut paths = Vec::new();
    let read = Selections::read(document);
    if let Some(root) = read.as_ref().and_then(|read| read.fields.first()) {
        let mut fields = root.fields.as_slice();
        while let [wrapper] = fields
            && !wrapper.fields.is_empty()
            && (wrapper.name == DATA || !of_record.is_empty())
            && !of_record.iter().any(|path| path == wrapper.name)
        {
            fields = &wrapper.fields;
        }
        add_paths("", fields, &mut paths);
    }
    paths
}

/// Where a document that the client has adapted reads the record, if not where ours does.
fn moved_to(known: &KnownOperation, document: &str) -> Option<String> {
    let read = Selections::read(document)?;
    let root = read.fields.first()?;
    let wrapped = |root: &Field<'_>| matches!(root.fields.as_slice(), [only] if only.name == DATA);
    let ours = Selections::read(known.document)?;
    let ours = ours.fields.first()?;
    let is_moved = root.name != ours.name || wrapped(root) != wrapped(ours);
    let at = if wrapped(root) { "/data" } else { "" };
    is_moved.then(|| format!("/{}{at}", root.name))
}

/// Our document without the fields that a profile leaves out, with the names that lead to the record there; and where the
/// record is then, unless it is where our types expect it.
pub(super) fn fitted(
    known: &KnownOperation,
    profile: &OperationProfile,
) -> Result<(String, Option<String>), String> {
    let mut read = read_ours(known)?;
    let mut root = read.fields.pop().ok_or("our document is empty")?;
    let wrapper = root.fields.pop_if(|last| last.name == DATA);
    let mut record = wrapper.map_or(root.fields, |wrapper| wrapper.fields);
    for path in &profile.left_out {
        let names: Vec<&str> = path.split('.').collect();
        if names.last().is_none_or(|name| is_required(known, name)) {
            return Err(format!("{path} cannot be left out"));
        }
        if !cut_path(&mut record, &names) {
            return Err(format!("our document has no field {path}"));
        }
    }
    if let Some(pointer) = &profile.record_at {
        return moved(known, root.text, record, pointer);
    }
    let fields = if known.is_change() {
        vec![Field::of(DATA, record)]
    } else {
        record
    };
    read.fields = vec![Field::of(root.text, fields)];
    Ok((read.write(), None))
}

fn read_ours(known: &KnownOperation) -> Result<Selections<'static>, String> {
    let read = Selections::read(known.document);
    read.ok_or_else(|| "our document cannot be read".to_owned())
}

/// Our document with the names of a pointer before the record.
fn moved(
    known: &KnownOperation,
    root: &str,
    record: Vec<Field<'_>>,
    pointer: &str,
) -> Result<(String, Option<String>), String> {
    let mut names = pointer.split('/').skip(1);
    let name = names.next().unwrap_or_default();
    let wrappers: Vec<&str> = names.collect();
    if !wrappers.iter().chain([&name]).all(|name| is_name(name)) {
        return Err(format!("{pointer} has a part that is no name of a field"));
    }
    let arguments = root.find('(').and_then(|at| root.get(at..));
    let text = format!("{}: {name}{}", known.name, arguments.unwrap_or_default());
    // The items of a list are selected as one is.
    let selected = wrappers.iter().filter(|name| !is_position(name));
    let fields = selected
        .rev()
        .fold(record, |fields, name| vec![Field::of(name, fields)]);
    let mut read = read_ours(known)?;
    read.fields = vec![Field::of(&text, fields)];
    let is_expected = match wrappers.as_slice() {
        [] => true,
        [DATA] => known.is_change() || known.name == "userDetails",
        _ => false,
    };
    let place = || format!("/{}/{}", known.name, wrappers.join("/"));
    Ok((read.write(), (!is_expected).then(place)))
}

fn is_position(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !name.is_empty() && name.bytes().all(is_letter)
}

/// Leaves out one field; `false`: there is none.
fn cut_path(fields: &mut Vec<Field<'_>>, path: &[&str]) -> bool {
    let [name, rest @ ..] = path else {
        return false;
    };
    if rest.is_empty() {
        let before = fields.len();
        fields.retain(|field| field.name != *name);
        return fields.len() < before;
    }
    let mut named = fields.iter_mut().filter(|field| field.name == *name);
    named
        .next()
        .is_some_and(|field| cut_path(&mut field.fields, rest))
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
