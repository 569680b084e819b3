//! Pages of records: their order, filters and cursors.

use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::controls::{Assumptions, Deleted};
use super::instant;
use super::problem::ErrorItem;
use crate::profile::{ComparedDate, ListOrder};

/// assumed: the specification shows neither
const PAGE_SIZE: usize = 20;
const LARGEST_PAGE_SIZE: usize = 200;

/// A record as shown in lists.
pub(super) struct Listed<'r> {
    pub(super) record: &'r Value,
    pub(super) created: SystemTime,
}

/// The requested page, filtered from records in order of creation.
pub(super) fn page(
    mut listed: Vec<Listed<'_>>,
    filter: &ListFilter<'_>,
    assumptions: &Assumptions,
) -> Result<Value, ErrorItem> {
    let arguments = filter.arguments;
    sort(&mut listed, assumptions.lists.order.value);
    let is_wanted = |listed: &&Listed<'_>| filter.matches(listed, assumptions);
    let matching: Vec<_> = listed.iter().filter(is_wanted).collect();
    let by_position = assumptions.cursors_by_position;
    let start = match arguments["after"].as_str() {
        None => Some(0),
        Some(cursor) => decode(cursor).and_then(|text| {
            if by_position {
                return position(&text).map(|at| at.min(matching.len()));
            }
            // The cursor's record need not match the filter.
            let is_hidden = |record: &Value| {
                assumptions.deleted == Deleted::Hidden && record["status"] == "DELETED"
            };
            let at = listed
                .iter()
                .position(|listed| listed.record["number"] == text && !is_hidden(listed.record))?;
            Some(listed[..=at].iter().filter(is_wanted).count())
        }),
    };
    let start = start.ok_or_else(|| ErrorItem::bad_request("", "The cursor is unknown."))?;
    let size = match arguments["first"].as_i64() {
        None => PAGE_SIZE,
        Some(first) => {
            let first = usize::try_from(first)
                .map_err(|_| ErrorItem::bad_request("", "first must not be negative."))?;
            // profile: lists.largestPage
            let largest = assumptions.lists.largest_page.value;
            let largest = largest.and_then(|largest| usize::try_from(largest).ok());
            // assumed: the text
            if let Some(largest) = largest.filter(|largest| first > *largest) {
                let text = format!("first must not be more than {largest}.");
                return Err(ErrorItem::bad_request("", text));
            }
            first.min(LARGEST_PAGE_SIZE)
        }
    };
    let page = matching[start..].iter().take(size).zip(start + 1..);
    let edges: Vec<Value> = page
        .map(|(listed, end)| {
            let name = if by_position {
                format!("{POSITION}{end}")
            } else {
                listed.record["number"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned()
            };
            let mut edge = json!({"cursor": STANDARD.encode(name)});
            edge["node"] = listed.record.clone();
            edge
        })
        .collect();
    let mut page = json!({
        "totalCount": assumptions.total.of(matching.len()),
        "pageInfo": {
            "hasNextPage": start + edges.len() < matching.len(),
            "hasPreviousPage": start > 0,
            "startCursor": edges.first().map(|edge| &edge["cursor"]),
            "endCursor": edges.last().map(|edge| &edge["cursor"]),
        },
    });
    page["edges"] = edges.into();
    Ok(page)
}

/// Records with equal dates and numbers stay in order of creation.
// profile: lists.order
fn sort(listed: &mut [Listed<'_>], order: ListOrder) {
    let updated = |listed: &Listed<'_>| {
        let text = listed.record["updatedAt"].as_str();
        text.and_then(instant::parse)
    };
    match order {
        ListOrder::OldestFirst => {}
        ListOrder::NewestFirst => listed.reverse(),
        ListOrder::EarliestUpdateFirst => listed.sort_by_cached_key(updated),
        ListOrder::LatestUpdateFirst => {
            listed.sort_by_cached_key(updated);
            listed.reverse();
        }
        ListOrder::Number => listed.sort_by_key(|listed| listed.record["number"].as_str()),
    }
}

/// Precedes the number of records up to and including the cursor's own.
const POSITION: &str = "position:";

fn decode(cursor: &str) -> Option<String> {
    String::from_utf8(STANDARD.decode(cursor).ok()?).ok()
}

fn position(text: &str) -> Option<usize> {
    text.strip_prefix(POSITION)?.parse().ok()
}

/// Selects the records of a list.
pub(super) struct ListFilter<'a> {
    arguments: &'a Value,
    hides_restricted: bool,
    from: Option<DateTime<Utc>>,
    to: Option<DateTime<Utc>>,
}

impl<'a> ListFilter<'a> {
    pub(super) fn of(arguments: &'a Value, hides_restricted: bool) -> Result<Self, ErrorItem> {
        let bound = |name: &str| match arguments[name].as_str() {
            None => Ok(None),
            Some(text) => instant::parse(text)
                .map(Some)
                .ok_or_else(|| ErrorItem::bad_request("", format!("{name} is not a date-time."))),
        };
        Ok(Self {
            arguments,
            hides_restricted,
            from: bound("fromDate")?,
            to: bound("toDate")?,
        })
    }

    fn matches(&self, listed: &Listed<'_>, assumptions: &Assumptions) -> bool {
        let record = listed.record;
        let wanted = self.arguments;
        let is_wanted = |name: &str| wanted[name].is_null() || record[name] == wanted[name];
        let date_of = |name: &str| record[name].as_str().and_then(instant::parse);
        let is_within = || {
            // profile: lists.comparedDate
            let date = match assumptions.lists.compared_date.value {
                None | Some(ComparedDate::LastChange) => date_of("updatedAt"),
                Some(ComparedDate::Creation) => Some(listed.created.into()),
                Some(ComparedDate::Movement) => date_of("movementDate"),
            };
            self.from
                .is_none_or(|from| date.is_some_and(|at| at >= from))
                && self.to.is_none_or(|to| date.is_some_and(|at| at <= to))
        };
        let shows_deleted = match assumptions.deleted {
            Deleted::Filtered => !wanted["status"].is_null(),
            Deleted::Hidden => false,
            Deleted::Listed => true,
        };
        (shows_deleted || record["status"] != "DELETED")
            && !(self.hides_restricted && has_form(record, "LPAHRG0"))
            && ((self.from.is_none() && self.to.is_none()) || is_within())
            && is_wanted("status")
            && is_wanted("species")
            && (wanted["onlySubmitted"] != true || record["status"] == "SUBMITTED")
            && wanted["searchText"]
                .as_str()
                .is_none_or(|words| mentions(record, &words.to_lowercase()))
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

/// Whether a record has a form.
pub(super) fn has_form(record: &Value, name: &str) -> bool {
    let mut forms = record["forms"].as_array().into_iter().flatten();
    forms.any(|form| form["type"] == name)
}
