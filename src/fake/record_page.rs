//! Pages of records: filters and cursors.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::instant;
use super::problem::Problem;

/// assumed: the specification shows neither
const PAGE_SIZE: usize = 20;
const LARGEST_PAGE_SIZE: usize = 200;

/// A page of records. The records are shared: only the selected fields are copied, into the reply.
pub(super) struct RecordPage {
    pub(super) total: usize,
    pub(super) info: Value,
    pub(super) records: Vec<Arc<Value>>,
}

/// The page that the arguments ask for, of records that come oldest first and are listed newest first.
///
/// A cursor names a record, not an offset, so that a new record does not shift the pages.
pub(super) fn page<'a>(
    records: impl DoubleEndedIterator<Item = &'a Arc<Value>>,
    wanted: impl Fn(&Value) -> bool,
    arguments: &Value,
) -> Result<RecordPage, Problem> {
    let all: Vec<&Arc<Value>> = records.rev().collect();
    let start = match arguments["after"].as_str() {
        None => 0,
        Some(after) => all
            .iter()
            .position(|record| cursor(record) == after)
            .map(|at| at + 1)
            .ok_or_else(|| Problem::bad_request("", "The cursor is unknown."))?,
    };
    let size = match arguments["first"].as_i64() {
        None => PAGE_SIZE,
        Some(first) => usize::try_from(first)
            .map_err(|_| Problem::bad_request("", "first must not be negative."))?
            .min(LARGEST_PAGE_SIZE),
    };
    let matching = all.iter().enumerate().filter(|(_, record)| wanted(record));
    let (before, after): (Vec<_>, Vec<_>) = matching.partition(|(at, _)| *at < start);
    let page = after.iter().take(size);
    let records: Vec<Arc<Value>> = page.map(|(_, record)| Arc::clone(record)).collect();
    let info = json!({
        "hasNextPage": records.len() < after.len(),
        "hasPreviousPage": !before.is_empty(),
        "startCursor": records.first().map(|record| cursor(record)),
        "endCursor": records.last().map(|record| cursor(record)),
    });
    Ok(RecordPage {
        total: before.len() + after.len(),
        info,
        records,
    })
}

pub(super) fn cursor(record: &Value) -> String {
    let number = record["number"].as_str().unwrap_or_default();
    STANDARD.encode(number)
}

/// The filter of the query `consignments`.
pub(super) fn filter(arguments: &Value) -> Result<impl Fn(&Value) -> bool, Problem> {
    let bound = |name: &str| match arguments[name].as_str() {
        None => Ok(None),
        Some(text) => instant::parse(text)
            .map(Some)
            .ok_or_else(|| Problem::bad_request("", format!("{name} is not a date-time."))),
    };
    let (from, to) = (bound("fromDate")?, bound("toDate")?);
    let words = arguments["searchText"].as_str().map(str::to_lowercase);
    Ok(move |record: &Value| {
        let status = match &arguments["status"] {
            Value::Null => record["status"] != "DELETED",
            status => record["status"] == *status,
        };
        let updated = || record["updatedAt"].as_str().and_then(instant::parse);
        status
            && (arguments["species"].is_null() || record["species"] == arguments["species"])
            && (arguments["onlySubmitted"] != true || record["status"] == "SUBMITTED")
            && from.is_none_or(|from| updated().is_some_and(|at| at >= from))
            && to.is_none_or(|to| updated().is_some_and(|at| at <= to))
            && words.as_ref().is_none_or(|words| mentions(record, words))
    })
}

/// Whether the number, or a name or PIC of a party, contains the text. assumed
fn mentions(record: &Value, words: &str) -> bool {
    ["origin", "destination", "owner", "consignee"]
        .into_iter()
        .flat_map(|party| [&record[party]["name"], &record[party]["pic"]])
        .chain([&record["number"]])
        .filter_map(Value::as_str)
        .any(|text| text.to_lowercase().contains(words))
}
