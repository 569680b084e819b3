//! Lists: filters, pages, cursors.

use serde_json::{Value, json};

use super::base64;
use super::instant;
use super::problem::Problem;

/// assumed: neither is shown in the specification
const PAGE: usize = 20;
const LARGEST_PAGE: usize = 200;

/// The connection for records, which come oldest first and are listed newest first.
///
/// A cursor names a record and not a position: pages do not shift when records are added.
pub(super) fn page<'a>(
    records: impl Iterator<Item = &'a Value>,
    wanted: impl Fn(&Value) -> bool,
    arguments: &Value,
) -> Result<Value, Problem> {
    let mut all: Vec<&Value> = records.collect();
    all.reverse();
    let start = match arguments["after"].as_str() {
        None => 0,
        Some(after) => all
            .iter()
            .position(|record| cursor(record) == after)
            .map(|at| at + 1)
            .ok_or_else(|| Problem::bad_request(&[], "The cursor is not known."))?,
    };
    let size = match arguments["first"].as_i64() {
        None => PAGE,
        Some(first) => usize::try_from(first)
            .map_err(|_| Problem::bad_request(&[], "first must not be negative."))?
            .min(LARGEST_PAGE),
    };
    let total = all.iter().filter(|record| wanted(record)).count();
    let before = all[..start].iter().filter(|record| wanted(record)).count();
    let items: Vec<&Value> = all[start..]
        .iter()
        .copied()
        .filter(|record| wanted(record))
        .take(size)
        .collect();
    let edges: Vec<Value> = items
        .iter()
        .map(|record| json!({"cursor": cursor(record), "node": record}))
        .collect();
    Ok(json!({
        "totalCount": total,
        "pageInfo": {
            "hasNextPage": before + items.len() < total,
            "hasPreviousPage": before > 0,
            "startCursor": items.first().map(|record| cursor(record)),
            "endCursor": items.last().map(|record| cursor(record)),
        },
        "edges": edges,
        "items": items,
    }))
}

fn cursor(record: &Value) -> String {
    let number = record["number"].as_str().unwrap_or_default();
    base64::encode(number.as_bytes())
}

/// Which consignments the arguments of the query `consignments` ask for.
pub(super) fn filter(arguments: &Value) -> Result<impl Fn(&Value) -> bool, Problem> {
    let bound = |name: &str| match arguments[name].as_str() {
        None => Ok(None),
        Some(text) => instant::parse(text)
            .map(Some)
            .ok_or_else(|| Problem::bad_request(&[], format!("{name} is not a date-time."))),
    };
    let (from, to) = (bound("fromDate")?, bound("toDate")?);
    let words = arguments["searchText"].as_str().map(str::to_lowercase);
    Ok(move |record: &Value| {
        let status = match &arguments["status"] {
            Value::Null => record["status"] != "DELETED",
            status => record["status"] == *status,
        };
        let updated = record["updatedAt"].as_str().and_then(instant::parse);
        status
            && (arguments["species"].is_null() || record["species"] == arguments["species"])
            && (arguments["onlySubmitted"] != true || record["status"] == "SUBMITTED")
            && from.is_none_or(|from| updated.is_some_and(|at| at >= from))
            && to.is_none_or(|to| updated.is_some_and(|at| at <= to))
            && words.as_ref().is_none_or(|words| mentions(record, words))
    })
}

/// Number, names and PICs of the parties. assumed
fn mentions(record: &Value, words: &str) -> bool {
    ["origin", "destination", "owner", "consignee"]
        .into_iter()
        .flat_map(|party| [&record[party]["name"], &record[party]["pic"]])
        .chain([&record["number"]])
        .filter_map(Value::as_str)
        .any(|text| text.to_lowercase().contains(words))
}
