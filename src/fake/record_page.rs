//! Pages of records: filters and cursors.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::assumptions::{Assumptions, Deleted, ListDate};
use super::instant;
use super::problem::Problem;
use super::record_table::{Listed, RecordTable};

/// assumed: the specification shows neither
const PAGE_SIZE: usize = 20;
const LARGEST_PAGE_SIZE: usize = 200;

/// A page of records. The records are shared: only the selected fields are copied, into the reply.
pub(super) struct RecordPage {
    pub(super) total: Option<i32>,
    pub(super) info: Value,
    /// Each with its cursor.
    pub(super) records: Vec<(String, Arc<Value>)>,
}

/// The page that the arguments ask for.
pub(super) fn page(
    table: &mut RecordTable,
    filter: ListFilter,
    arguments: &Value,
    assumptions: &Assumptions,
) -> Result<RecordPage, Problem> {
    let matching = table.matching(filter, assumptions);
    let by_position = assumptions.cursors_by_position;
    let start = match arguments["after"].as_str() {
        None => 0,
        Some(cursor) => decode(cursor)
            .and_then(|text| {
                if by_position {
                    position(&text).map(|at| at.min(matching.len()))
                } else {
                    matching.index_after(&text)
                }
            })
            .ok_or_else(|| Problem::bad_request("", "The cursor is unknown."))?,
    };
    let size = match arguments["first"].as_i64() {
        None => PAGE_SIZE,
        Some(first) => usize::try_from(first)
            .map_err(|_| Problem::bad_request("", "first must not be negative."))?
            .min(LARGEST_PAGE_SIZE),
    };
    let page = matching.from(start).take(size).zip(start + 1..);
    let records: Vec<_> = page
        .map(|(record, end)| {
            let name = if by_position {
                format!("{POSITION}{end}")
            } else {
                record["number"].as_str().unwrap_or_default().to_owned()
            };
            (STANDARD.encode(name), Arc::clone(record))
        })
        .collect();
    let info = json!({
        "hasNextPage": start + records.len() < matching.len(),
        "hasPreviousPage": start > 0,
        "startCursor": records.first().map(|(cursor, _)| cursor),
        "endCursor": records.last().map(|(cursor, _)| cursor),
    });
    Ok(RecordPage {
        total: assumptions.total.of(matching.len()),
        info,
        records,
    })
}

/// Before the number of records up to and with the cursor's own.
const POSITION: &str = "position:";

fn decode(cursor: &str) -> Option<String> {
    String::from_utf8(STANDARD.decode(cursor).ok()?).ok()
}

fn position(text: &str) -> Option<usize> {
    text.strip_prefix(POSITION)?.parse().ok()
}

/// Which records a list contains.
#[derive(Default, PartialEq)]
pub(super) struct ListFilter {
    pub(super) hides_restricted: bool,
    status: Option<String>,
    species: Option<String>,
    only_submitted: bool,
    from: Option<DateTime<Utc>>,
    to: Option<DateTime<Utc>>,
    words: Option<String>,
}

impl ListFilter {
    /// The filter of the query `consignments`.
    pub(super) fn of(arguments: &Value) -> Result<Self, Problem> {
        let text = |name: &str| arguments[name].as_str().map(str::to_owned);
        let bound = |name: &str| match arguments[name].as_str() {
            None => Ok(None),
            Some(text) => instant::parse(text)
                .map(Some)
                .ok_or_else(|| Problem::bad_request("", format!("{name} is not a date-time."))),
        };
        Ok(Self {
            hides_restricted: false,
            status: text("status"),
            species: text("species"),
            only_submitted: arguments["onlySubmitted"] == true,
            from: bound("fromDate")?,
            to: bound("toDate")?,
            words: text("searchText").map(|words| words.to_lowercase()),
        })
    }

    pub(super) fn matches(&self, listed: &Listed, assumptions: &Assumptions) -> bool {
        let record = &*listed.record;
        let is_wanted = |name: &str, wanted: &Option<String>| {
            wanted
                .as_ref()
                .is_none_or(|wanted| record[name] == **wanted)
        };
        let date = match assumptions.compared {
            ListDate::Updated => listed.updated,
            ListDate::Created => Some(listed.created),
            ListDate::Movement => listed.moved,
        };
        let shows_deleted = match assumptions.deleted {
            Deleted::Filtered => self.status.is_some(),
            Deleted::Hidden => false,
            Deleted::Listed => true,
        };
        (shows_deleted || !listed.is_deleted)
            && !(self.hides_restricted && listed.is_restricted)
            && self
                .from
                .is_none_or(|from| date.is_some_and(|at| at >= from))
            && self.to.is_none_or(|to| date.is_some_and(|at| at <= to))
            && is_wanted("status", &self.status)
            && is_wanted("species", &self.species)
            && (!self.only_submitted || record["status"] == "SUBMITTED")
            && self
                .words
                .as_ref()
                .is_none_or(|words| mentions(record, words))
    }
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
