//! A plain model of the service: the records of one account, how lists show them, and what was shown.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use chrono::{DateTime, FixedOffset};
use serde_json::{Value, json};

use super::edit::{Edit, EditKind};

/// Which date `fromDate` compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compared {
    Updated,
    Created,
    Moved,
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    LatestUpdateFirst,
    EarliestUpdateFirst,
    NewestFirst,
    Id,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Total {
    Exact,
    Null,
    Fixed(usize),
    TooMany(usize),
}

/// How the service lists.
#[derive(Clone, Debug)]
pub(super) struct Modes {
    pub(super) compared: Compared,
    pub(super) order: Order,
    pub(super) total: Total,
    /// Cursors are positions; otherwise the next page starts after a record, wherever it is then.
    pub(super) by_position: bool,
    /// Lists show a change after so many further lists.
    pub(super) lag: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) created: i64,
    pub(super) updated: i64,
    pub(super) value: Value,
    pub(super) is_listed: bool,
    /// Whether a read by id finds it.
    pub(super) is_found: bool,
}

/// A full walk as the service sees it.
#[derive(Clone, Debug, Default)]
struct FullWalk {
    begun: u64,
    total: Value,
    seen: BTreeSet<String>,
    has_shifted: bool,
}

#[derive(Debug)]
pub(super) struct Service {
    pub(super) records: BTreeMap<String, Record>,
    /// In milliseconds.
    pub(super) now: i64,
    pub(super) modes: Modes,
    /// The token of the process that runs; requests of ended ones are refused.
    pub(super) token: String,
    /// Edits before the list request with this number of the running process, from 1.
    pub(super) scheduled: Vec<(u64, Edit)>,
    /// The list request with this number of the running process fails.
    pub(super) fails: Option<(u64, Failure)>,
    pub(super) lists: u64,
    pub(super) requests: u64,
    /// Something happened that a walk may answer with an error: a refused cursor, a failure, a list that shifts.
    pub(super) is_disturbed: bool,
    /// What each record was since the sync began.
    pub(super) states: BTreeMap<String, Vec<Value>>,
    /// What lists and reads have shown of each record since the sync began; whether by a list without `fromDate`.
    pub(super) shown: BTreeMap<String, Vec<(Value, Shown)>>,
    /// Records whose last change no walk that is clean need have shown.
    pub(super) missable: BTreeSet<String>,
    /// A walk has begun and not ended.
    pub(super) is_walking: bool,
    /// A record was edited since the sync began.
    pub(super) has_edited: bool,
    events: u64,
    last_taken: BTreeMap<String, u64>,
    last_not_found: BTreeMap<String, u64>,
    walk: FullWalk,
    ended: Vec<FullWalk>,
    views: VecDeque<Vec<Record>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    FullList,
    SinceList,
    Read,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Failure {
    /// The cursor is refused.
    Cursor,
    Status(u16),
    /// No reply.
    Lost,
}

/// 2026-11-20T00:00:00Z.
pub(super) const START: i64 = 1_795_132_800_000;

impl Service {
    pub(super) fn new(modes: Modes) -> Self {
        Self {
            records: BTreeMap::new(),
            now: START,
            modes,
            token: String::new(),
            scheduled: Vec::new(),
            fails: None,
            lists: 0,
            requests: 0,
            is_disturbed: false,
            states: BTreeMap::new(),
            shown: BTreeMap::new(),
            missable: BTreeSet::new(),
            is_walking: false,
            has_edited: false,
            events: 0,
            last_taken: BTreeMap::new(),
            last_not_found: BTreeMap::new(),
            walk: FullWalk::default(),
            ended: Vec::new(),
            views: VecDeque::new(),
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
        let records = self.records.iter();
        self.states = records
            .filter(|(_, record)| record.is_listed)
            .map(|(id, record)| (id.clone(), vec![record.value.clone()]))
            .collect();
    }

    /// The copy took these records from a list, or found them on one.
    pub(super) fn taken<'a>(&mut self, ids: impl Iterator<Item = &'a String>) {
        let now = self.events;
        self.last_taken.extend(ids.map(|id| (id.clone(), now)));
    }

    /// Edits a record, by the position of its id; `offset` are the minutes from UTC in which its date is written.
    pub(super) fn edit(&mut self, edit: &Edit) {
        self.now += edit.pause;
        self.has_edited = true;
        let ids: Vec<String> = self.records.keys().cloned().collect();
        let id = ids.get(edit.pick % ids.len().max(1)).cloned();
        let (id, kind) = match (id, edit.kind) {
            (Some(id), kind) if kind != EditKind::Insert => (id, kind),
            _ => (format!("r{:02}", (edit.pick * 7) % 40), EditKind::Insert),
        };
        let now = self.now;
        let record = self.records.entry(id.clone()).or_insert_with(|| Record {
            created: now,
            updated: now,
            value: json!({"id": id, "status": "DRAFT", "movementDate": edit.movement}),
            is_listed: true,
            is_found: true,
        });
        record.edit(kind, edit, now);
        let is_listed = record.is_listed;
        let value = record.value.clone();
        let states = self.states.entry(id.clone());
        states.or_insert_with(|| vec![Value::Null]).push(value);
        if matches!(kind, EditKind::Unhide | EditKind::OlderDate) || !is_listed {
            self.missable.insert(id);
        }
        if self.is_walking {
            self.is_disturbed |= !self.modes.by_position;
            let shrinks = matches!(
                kind,
                EditKind::Delete | EditKind::Hide | EditKind::OlderDate
            );
            if shrinks || !self.modes.by_position {
                self.missable.extend(self.records.keys().cloned());
            }
        }
    }

    pub(super) fn answer(&mut self, token: &str, body: &Value) -> Option<(u16, Value)> {
        if token != self.token {
            return Some((503, json!({})));
        }
        self.requests += 1;
        self.events += 1;
        let variables = &body["variables"];
        match body["operationName"].as_str()? {
            "Consignments" => {
                self.lists += 1;
                let number = self.lists;
                let due: Vec<_> = self
                    .scheduled
                    .extract_if(.., |(at, _)| *at <= number)
                    .collect();
                for (_, edit) in &due {
                    self.edit(edit);
                }
                let has_cursor = variables["after"].is_string();
                match self.fails.take_if(|(at, _)| *at == number) {
                    Some((_, Failure::Cursor)) if has_cursor => {
                        self.is_disturbed = true;
                        return Some((200, refused()));
                    }
                    Some((_, Failure::Cursor)) | None => {}
                    Some((_, Failure::Status(status))) => {
                        self.is_disturbed = true;
                        return Some((status, json!({})));
                    }
                    Some((_, Failure::Lost)) => {
                        self.is_disturbed = true;
                        return None;
                    }
                }
                Some((200, self.page(variables)))
            }
            "Consignment" => Some((200, self.record(variables["id"].as_str()?))),
            other => panic!("{other}"),
        }
    }

    fn record(&mut self, id: &str) -> Value {
        if let Some(record) = self.records.get(id).filter(|record| record.is_found) {
            let shown = (record.value.clone(), Shown::Read);
            self.shown.entry(id.to_owned()).or_default().push(shown);
            return json!({"data": {"consignment": record.value}});
        }
        self.last_not_found.insert(id.to_owned(), self.events);
        let data =
            json!({"Code": "", "Message": "Internal server error", "OutcomeStatus": "ERROR"});
        let error = json!({"message": "Internal server error", "path": ["consignment"], "extensions": {"data": data}});
        json!({"data": {"consignment": null}, "errors": [error]})
    }

    fn page(&mut self, variables: &Value) -> Value {
        let now: Vec<Record> = self.sorted();
        self.views.push_back(now);
        while self.views.len() > self.modes.lag + 1 {
            self.views.pop_front();
        }
        let from = variables["fromDate"].as_str();
        let since = from.map(|from| DateTime::parse_from_rfc3339(from).unwrap());
        let view = &self.views[0];
        let compared = self.modes.compared;
        let listed = view
            .iter()
            .filter(|record| since.is_none_or(|since| record.is_since(compared, since)));
        let listed: Vec<&Record> = listed.collect();
        let Some(start) = self.start(variables["after"].as_str(), &listed) else {
            self.is_disturbed = true;
            return refused();
        };
        let size = usize::try_from(variables["first"].as_u64().unwrap()).unwrap();
        let end = (start + size).min(listed.len());
        let page = listed.get(start..end).unwrap_or_default();
        let total = match self.modes.total {
            Total::Exact => json!(listed.len()),
            Total::Null => Value::Null,
            Total::Fixed(total) => json!(total),
            Total::TooMany(more) => json!(listed.len() + more),
        };
        let last = page.last().map_or("", |record| record.id());
        let cursor = if self.modes.by_position {
            end.to_string()
        } else {
            format!("after {last}")
        };
        let has_next = end < listed.len();
        let values: Vec<Value> = page.iter().map(|record| record.value.clone()).collect();
        let is_first = variables["after"].is_null();
        self.note(&values, from.is_none(), is_first, has_next, &total);
        let edges: Vec<Value> = values
            .iter()
            .map(|record| json!({"node": record}))
            .collect();
        let info = json!({"hasNextPage": has_next, "endCursor": cursor});
        json!({"data": {"consignments": {"totalCount": total, "pageInfo": info, "edges": edges}}})
    }

    fn start(&self, after: Option<&str>, listed: &[&Record]) -> Option<usize> {
        match after {
            None => Some(0),
            Some(after) if self.modes.by_position => after.parse().ok(),
            Some(after) => {
                let id = after.strip_prefix("after ")?;
                let at = listed.iter().position(|record| record.id() == id)?;
                Some(at + 1)
            }
        }
    }

    fn sorted(&self) -> Vec<Record> {
        let listed = self.records.values().filter(|record| record.is_listed);
        let mut listed: Vec<Record> = listed.cloned().collect();
        match self.modes.order {
            Order::Id => {}
            Order::LatestUpdateFirst => listed.sort_by_key(|record| -record.updated),
            Order::EarliestUpdateFirst => listed.sort_by_key(|record| record.updated),
            Order::NewestFirst => listed.sort_by_key(|record| -record.created),
        }
        listed
    }

    /// Keeps what a page has shown.
    fn note(
        &mut self,
        page: &[Value],
        is_full: bool,
        is_first: bool,
        has_next: bool,
        total: &Value,
    ) {
        let how = if is_full {
            Shown::FullList
        } else {
            Shown::SinceList
        };
        self.is_walking = true;
        if is_full && is_first {
            let (begun, total) = (self.events, total.clone());
            self.walk = FullWalk {
                begun,
                total,
                ..FullWalk::default()
            };
        }
        for value in page {
            let id = value["id"].as_str().unwrap().to_owned();
            let shown = self.shown.entry(id.clone()).or_default();
            shown.push((value.clone(), how));
            if is_full {
                self.walk.has_shifted |= !self.walk.seen.insert(id);
            }
        }
        if is_full {
            self.walk.has_shifted |= self.walk.total != *total;
            if !has_next {
                self.ended.push(self.walk.clone());
            }
        }
    }

    /// Panics unless a record may be called gone now. `saw_all_pages`: no program was killed, so each page was used once.
    pub(super) fn check_gone(&self, id: &str, saw_all_pages: bool) {
        let last_taken = self.last_taken.get(id).copied().unwrap_or(0);
        let not_found = self.last_not_found.get(id).copied().unwrap_or(0);
        assert!(
            not_found > last_taken,
            "{id} is gone, and was not looked for"
        );
        let walks = self.ended.iter().filter(|walk| walk.begun > last_taken);
        let walks: Vec<_> = walks.collect();
        assert!(
            walks.len() >= 2,
            "{id} is gone after {} full walks",
            walks.len()
        );
        if saw_all_pages {
            let last = &walks[walks.len() - 2..];
            let shifted = last.iter().any(|walk| walk.has_shifted);
            assert!(!shifted, "{id} is gone after walks that shifted: {last:?}");
        }
    }
}

impl Record {
    fn id(&self) -> &str {
        self.value["id"].as_str().unwrap()
    }

    fn edit(&mut self, kind: EditKind, edit: &Edit, now: i64) {
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
        let at = DateTime::from_timestamp_millis(updated).unwrap();
        let text = at.with_timezone(&zone).to_rfc3339();
        self.value["updatedAt"] = json!(text);
    }

    fn is_since(&self, compared: Compared, since: DateTime<FixedOffset>) -> bool {
        let since = since.timestamp_millis();
        match compared {
            Compared::Updated => self.updated >= since,
            Compared::Created => self.created >= since,
            Compared::Moved => {
                let day = self.value["movementDate"].as_str().unwrap();
                let midnight = format!("{day}T00:00:00Z");
                DateTime::parse_from_rfc3339(&midnight)
                    .unwrap()
                    .timestamp_millis()
                    >= since
            }
            Compared::Nothing => true,
        }
    }
}

fn refused() -> Value {
    json!({"errors": [{"message": "the cursor is not valid"}]})
}
