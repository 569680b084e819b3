//! The next document for a query that the server's schema does not fit.
//!
//! A server refuses a document as a whole when it asks for one field that is not there. What is asked for beside the stated
//! fields is public or assumed, and sources differ on where some of it stands, so such a field is left out and the query
//! sent again: its value is `None`. Only for queries, and never for a document of the caller's.

use super::catalogue::Known;
use super::selections::{Field, Selections};
use crate::model::{Condition, Location, ServerError};

/// Fields that are never left out: without them a list would end too early, a user who is not registered pass for one who
/// is, an answer lose its question or row, or a question its conditions.
const KEPT: [&str; 16] = [
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

/// Where the record of `userDetails` may stand (spec 2.8 and 4.1): the field with its alias, and whether under `data`.
const HOMES: [(&str, bool); 4] = [
    ("userDetails", false),
    ("userDetails", true),
    ("userDetails: userDetailsQuery", true),
    ("userDetails: userDetailsQuery", false),
];

/// The document to send after one was refused; `None` when no other can help.
pub(super) fn next(known: &Known, refused: &str, errors: &[ServerError]) -> Option<String> {
    let mut read = Selections::read(refused)?;
    if errors.is_empty() || !errors.iter().all(is_about_the_document) {
        return None;
    }
    if without(known, &mut read, errors).is_some() {
        return Some(read.write());
    }
    (known.name == "userDetails").then(|| next_home(known, &read))?
}

/// The paths of the fields of our document that another one has left out.
pub(super) fn left_out(known: &Known, document: &str) -> Vec<String> {
    let record = |text| {
        let root = Selections::read(text)?.fields.into_iter().next()?;
        let (name, fields) = match root.fields.as_slice() {
            [only] if only.name == "data" => (root.name, only.fields.clone()),
            _ => (root.name, root.fields),
        };
        let mut found = Vec::new();
        paths(name, &fields, &mut found);
        Some((name, found))
    };
    let (Some((name, ours)), Some((_, theirs))) = (record(known.document), record(document)) else {
        return Vec::new();
    };
    let below = |path: &String| {
        let (_, below) = path.split_once('.')?;
        Some(below.to_owned())
    };
    let theirs: Vec<_> = theirs.iter().filter_map(below).collect();
    let missing = ours.iter().filter_map(below);
    let missing = missing.filter(|path| !theirs.contains(path));
    missing.map(|path| format!("{name}.{path}")).collect()
}

/// Errors before execution. An error of execution has a path, and its field is there.
fn is_about_the_document(error: &ServerError) -> bool {
    error.condition() == Condition::SchemaMismatch && error.path().is_empty()
}

/// Leaves out the fields that the errors are about; `None` when one of them is about anything else.
///
/// The place tells the field, which spec 7.2 gives for these errors; the message has to name it too.
fn without(known: &Known, read: &mut Selections<'_>, errors: &[ServerError]) -> Option<()> {
    let record = &mut read.fields.first_mut()?.fields;
    let mut refused = Vec::new();
    for error in errors {
        let offset = error.locations().iter().find_map(offset)?;
        let field = find(record, offset)?;
        if is_kept(known, field.name) || !error.message().contains(field.name) {
            return None;
        }
        refused.push(offset);
    }
    cut(record, &refused);
    Some(())
}

/// The questions of a consignment may come without their children, as public queries read them. The tree may not.
fn is_kept(known: &Known, field: &str) -> bool {
    KEPT.contains(&field) || (known.name == "questions" && field == "childQuestions")
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

/// The query of the user details with the whole record in the next place.
fn next_home(known: &Known, read: &Selections<'_>) -> Option<String> {
    let root = read.fields.first()?;
    let here = (root.text, root.fields.first()?.name == "data");
    let at = HOMES.iter().position(|home| *home == here)?;
    let (name, wrapped) = *HOMES.get(at + 1)?;
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

fn paths(above: &str, fields: &[Field<'_>], found: &mut Vec<String>) {
    for field in fields {
        let path = format!("{above}.{}", field.name);
        paths(&path, &field.fields, found);
        found.push(path);
    }
}
