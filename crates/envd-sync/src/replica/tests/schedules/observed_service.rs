//! The service of a schedule, with a history of its records and of everything that it has shown.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, FixedOffset};
use serde_json::{Value, json};

use super::edit::{Edit, EditKind};
use crate::replica::tests::listing::{ListedRecord, ListedValues, Listing, refused_cursor};
use crate::tests::replies::{json_reply, not_found};
use envd_sdk::fake::InProcessReply;

/// A full scan as the service sees it.
#[derive(Clone, Debug, Default)]
struct FullScan {
    begun: u64,
    total: Value,
    seen: BTreeSet<String>,
    has_shifted: bool,
}

#[derive(Debug, Default)]
pub(super) struct ObservedService {
    pub(super) list: Listing,
    /// The token of the running process; requests of ended processes are refused.
    pub(super) token: String,
    /// Edits before the list request with this number of the running process, from 1.
    pub(super) scheduled: Vec<(u64, Edit)>,
    /// The list request with this number of the running process fails.
    pub(super) fails: Option<(u64, Failure)>,
    pub(super) lists: u64,
    pub(super) requests: u64,
    /// An event that may fail a scan has happened: a refused cursor, a failure, a list that shifted.
    pub(super) is_disturbed: bool,
    /// The states of each record since the sync began.
    pub(super) states: BTreeMap<String, Vec<Value>>,
    /// The states that lists and reads have shown since the sync began, and by which kind of request.
    pub(super) shown: BTreeMap<String, Vec<(Value, Shown)>>,
    /// Records whose last change a clean scan may have missed.
    pub(super) missable: BTreeSet<String>,
    /// All records that were ever in `missable`.
    pub(super) hidden: BTreeSet<String>,
    /// A scan has begun and not ended.
    pub(super) is_scanning: bool,
    /// A record was edited since the sync began.
    pub(super) has_edited: bool,
    events: u64,
    last_taken: BTreeMap<String, u64>,
    last_not_found: BTreeMap<String, u64>,
    scan: FullScan,
    ended: Vec<FullScan>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    FullList,
    SinceList,
    Read,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// The cursor is refused.
    Cursor,
    Status(u16),
    /// No reply.
    Lost,
}

impl ObservedService {
    pub(super) fn new(list: Listing) -> Self {
        Self {
            list,
            ..Self::default()
        }
    }

    /// A process with this token begins a sync.
    pub(super) fn begin(&mut self, token: String) {
        self.token = token;
        (self.lists, self.requests) = (0, 0);
        self.scheduled.clear();
        self.fails = None;
        (self.is_disturbed, self.has_edited) = (false, false);
        self.shown.clear();
        let records = self.list.records.iter();
        self.states = records
            .filter(|(_, record)| record.is_listed)
            .map(|(id, record)| (id.clone(), vec![record.value.clone()]))
            .collect();
    }

    /// Notes that the copy has written these records from a list, or found them on one.
    pub(super) fn taken<'a>(&mut self, ids: impl Iterator<Item = &'a String>) {
        let now = self.events;
        self.last_taken.extend(ids.map(|id| (id.clone(), now)));
    }

    /// Edits a record, chosen by the position of its id; `offset`: the UTC offset of its date in minutes.
    pub(super) fn edit(&mut self, edit: &Edit) {
        self.list.now += edit.pause;
        self.has_edited = true;
        let ids: Vec<String> = self.list.records.keys().cloned().collect();
        let id = ids.get(edit.pick % ids.len().max(1)).cloned();
        let (id, kind) = match (id, edit.kind) {
            (Some(id), kind) if kind != EditKind::Insert => (id, kind),
            _ => (format!("r{:02}", (edit.pick * 7) % 40), EditKind::Insert),
        };
        let now = self.list.now;
        let record = self.list.record(&id, edit.movement);
        record.edit(kind, edit, now);
        let is_listed = record.is_listed;
        let value = record.value.clone();
        let states = self.states.entry(id.clone());
        states.or_insert_with(|| vec![Value::Null]).push(value);
        if matches!(kind, EditKind::Unhide | EditKind::OlderDate) || !is_listed {
            self.missable.insert(id);
        }
        if self.is_scanning {
            self.is_disturbed |= !self.list.by_position;
            let shrinks = matches!(
                kind,
                EditKind::Delete | EditKind::Hide | EditKind::OlderDate
            );
            if shrinks || !self.list.by_position {
                self.missable.extend(self.list.records.keys().cloned());
            }
        }
        self.hidden.extend(self.missable.iter().cloned());
    }

    pub(super) fn answer(&mut self, token: &str, body: &Value) -> Option<InProcessReply> {
        if token != self.token {
            return Some(json_reply(503, &json!({})));
        }
        self.requests += 1;
        self.events += 1;
        let variables = &body["variables"];
        match body["operationName"].as_str()? {
            "Consignments" => self.answer_list(variables),
            "Consignment" => Some(self.record(variables["id"].as_str()?)),
            other => panic!("{other}"),
        }
    }

    fn answer_list(&mut self, variables: &Value) -> Option<InProcessReply> {
        self.lists += 1;
        let number = self.lists;
        let due = self.scheduled.extract_if(.., |(at, _)| *at <= number);
        for (_, edit) in due.collect::<Vec<_>>() {
            self.edit(&edit);
        }
        let failure = self.fails.take_if(|(at, _)| *at == number);
        let failure = failure.map(|(_, failure)| failure);
        // Only a request with a cursor can have it refused.
        let is_refused = variables["after"].is_string();
        let failure = failure.filter(|failure| *failure != Failure::Cursor || is_refused);
        self.is_disturbed |= failure.is_some();
        match failure {
            Some(Failure::Cursor) => Some(json_reply(200, &refused_cursor())),
            Some(Failure::Status(status)) => Some(json_reply(status, &json!({}))),
            Some(Failure::Lost) => None,
            None => Some(json_reply(200, &self.page(variables))),
        }
    }

    fn record(&mut self, id: &str) -> InProcessReply {
        if let Some(record) = (self.list.records.get(id)).filter(|record| record.is_found) {
            let shown = (record.value.clone(), Shown::Read);
            self.shown.entry(id.to_owned()).or_default().push(shown);
            return json_reply(200, &json!({"data": {"consignment": record.value}}));
        }
        self.last_not_found.insert(id.to_owned(), self.events);
        not_found("consignment")
    }

    fn page(&mut self, variables: &Value) -> Value {
        let Some(page) = self.list.page(variables) else {
            self.is_disturbed = true;
            return refused_cursor();
        };
        let is_full = variables["fromDate"].is_null();
        self.note(&page, is_full, variables["after"].is_null());
        page.body
    }

    /// Notes the records that a page has shown.
    fn note(&mut self, page: &ListedValues, is_full: bool, is_first: bool) {
        let how = if is_full {
            Shown::FullList
        } else {
            Shown::SinceList
        };
        self.is_scanning = true;
        if is_full && is_first {
            let begun = self.events;
            let total = page.total.clone();
            self.scan = FullScan {
                begun,
                total,
                ..FullScan::default()
            };
        }
        for value in &page.values {
            let id = value["id"].as_str().unwrap().to_owned();
            let shown = self.shown.entry(id.clone()).or_default();
            shown.push((value.clone(), how));
            if is_full {
                self.scan.has_shifted |= !self.scan.seen.insert(id);
            }
        }
        if is_full {
            self.scan.has_shifted |= self.scan.total != page.total;
            if !page.has_next {
                self.ended.push(self.scan.clone());
            }
        }
    }

    /// Panics unless a record may be reported as gone now. `saw_all_pages`: no program was killed, so each page was used once.
    pub(super) fn check_gone(&self, id: &str, saw_all_pages: bool) {
        let last_taken = self.last_taken.get(id).copied().unwrap_or(0);
        let not_found = self.last_not_found.get(id).copied().unwrap_or(0);
        assert!(
            not_found > last_taken,
            "{id} is gone, and was not looked for"
        );
        let scans = self.ended.iter().filter(|scan| scan.begun > last_taken);
        let scans: Vec<_> = scans.collect();
        assert!(
            scans.len() >= 2,
            "{id} is gone after {} full scans",
            scans.len()
        );
        if saw_all_pages {
            let last = &scans[scans.len() - 2..];
            let shifted = last.iter().any(|scan| scan.has_shifted);
            assert!(!shifted, "{id} is gone after scans that shifted: {last:?}");
        }
    }
}

impl ListedRecord {
    fn edit(&mut self, kind: EditKind, edit: &Edit, now: u64) {
        let mut updated = now;
        match kind {
            EditKind::Insert | EditKind::Change => {
                (self.is_listed, self.is_found) = (true, true);
                self.value["heads"] = json!(edit.heads);
            }
            EditKind::Submit => self.value["status"] = json!("SUBMITTED"),
            EditKind::Touch => {}
            EditKind::Delete => (self.is_listed, self.is_found) = (false, false),
            EditKind::Hide => self.is_listed = false,
            EditKind::Unhide => {
                (self.is_listed, self.is_found) = (true, true);
                return;
            }
            EditKind::Unreadable => {
                self.is_found = false;
                return;
            }
            EditKind::OlderDate => {
                self.value["heads"] = json!(edit.heads);
                updated = self.updated - 90_000;
            }
        }
        self.updated = updated;
        let zone = FixedOffset::east_opt(edit.offset * 60).unwrap();
        let at = DateTime::from_timestamp_millis(updated.cast_signed()).unwrap();
        self.value["updatedAt"] = json!(at.with_timezone(&zone).to_rfc3339());
    }
}
