//! The records of a test service and its lists, with every behaviour that the live list may have.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use envd_sdk::model::{Day, Timestamp};

/// Which date `fromDate` compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compared {
    Updated,
    Created,
    Moved,
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListOrder {
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

#[derive(Clone, Debug)]
pub(super) struct ListedRecord {
    /// In milliseconds.
    created: u64,
    pub(super) updated: u64,
    pub(super) value: Value,
    pub(super) is_listed: bool,
    /// Whether a read by id finds it.
    pub(super) is_found: bool,
}

#[derive(Debug)]
pub(super) struct Listing {
    pub(super) records: BTreeMap<String, ListedRecord>,
    /// The time of the service, in milliseconds.
    pub(super) now: u64,
    pub(super) compared: Compared,
    pub(super) order: ListOrder,
    pub(super) total: Total,
    /// Cursors are offsets; otherwise a cursor names a record, and the next page starts after it.
    pub(super) by_position: bool,
    /// Lists show a change only after this many further lists.
    pub(super) lag: usize,
    views: VecDeque<Vec<ListedRecord>>,
}

pub(super) struct ListedValues {
    pub(super) values: Vec<Value>,
    pub(super) total: Value,
    pub(super) has_next: bool,
    pub(super) body: Value,
}

/// 2026-11-20T00:00:00Z.
pub(super) const START: u64 = 1_795_132_800_000;
pub(super) const DAY: u64 = 86_400_000;

pub(super) fn instant(milliseconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(milliseconds)
}

impl Default for Listing {
    fn default() -> Self {
        Self {
            records: BTreeMap::new(),
            now: START,
            compared: Compared::Updated,
            order: ListOrder::LatestUpdateFirst,
            total: Total::Exact,
            by_position: true,
            lag: 0,
            views: VecDeque::new(),
        }
    }
}

impl Listing {
    /// The record with this id, created if it does not exist.
    pub(super) fn record(&mut self, id: &str, movement: &str) -> &mut ListedRecord {
        let now = self.now;
        let new = || ListedRecord {
            created: now,
            updated: now,
            value: json!({"id": id, "status": "DRAFT", "movementDate": movement}),
            is_listed: true,
            is_found: true,
        };
        self.records.entry(id.to_owned()).or_insert_with(new)
    }

    /// A page, or `None` for a refused cursor.
    pub(super) fn page(&mut self, variables: &Value) -> Option<ListedValues> {
        let now = self.sorted();
        self.views.push_back(now);
        while self.views.len() > self.lag + 1 {
            self.views.pop_front();
        }
        let from = variables["fromDate"].as_str();
        let since = from.map(|from| Timestamp::from(from).to_time().unwrap());
        let listed: Vec<&ListedRecord> = (self.views[0].iter())
            .filter(|record| since.is_none_or(|since| record.is_since(self.compared, since)))
            .collect();
        let start = match variables["after"].as_str() {
            None => 0,
            Some(after) if self.by_position => after.parse().ok()?,
            Some(after) => {
                let id = after.strip_prefix("after ")?;
                listed.iter().position(|record| record.id() == id)? + 1
            }
        };
        let size = usize::try_from(variables["first"].as_u64().unwrap()).unwrap();
        let end = (start + size).min(listed.len());
        let page = listed.get(start..end).unwrap_or_default();
        let total = match self.total {
            Total::Exact => json!(listed.len()),
            Total::Null => Value::Null,
            Total::Fixed(total) => json!(total),
            Total::TooMany(more) => json!(listed.len() + more),
        };
        let cursor = if self.by_position {
            end.to_string()
        } else {
            format!("after {}", page.last().map_or("", |record| record.id()))
        };
        let has_next = end < listed.len();
        let values: Vec<Value> = page.iter().map(|record| record.value.clone()).collect();
        let edges: Value = values
            .iter()
            .map(|record| json!({"node": record}))
            .collect();
        let info = json!({"hasNextPage": has_next, "endCursor": cursor});
        let list = json!({"totalCount": total, "pageInfo": info, "edges": edges});
        Some(ListedValues {
            values,
            total,
            has_next,
            body: json!({"data": {"consignments": list}}),
        })
    }

    fn sorted(&self) -> Vec<ListedRecord> {
        let listed = self.records.values().filter(|record| record.is_listed);
        let mut listed: Vec<ListedRecord> = listed.cloned().collect();
        match self.order {
            ListOrder::Id => {}
            ListOrder::LatestUpdateFirst => {
                listed.sort_by_key(|record| std::cmp::Reverse(record.updated));
            }
            ListOrder::EarliestUpdateFirst => listed.sort_by_key(|record| record.updated),
            ListOrder::NewestFirst => {
                listed.sort_by_key(|record| std::cmp::Reverse(record.created));
            }
        }
        listed
    }
}

impl ListedRecord {
    fn id(&self) -> &str {
        self.value["id"].as_str().unwrap_or_default()
    }

    fn is_since(&self, compared: Compared, since: SystemTime) -> bool {
        match compared {
            Compared::Updated => instant(self.updated) >= since,
            Compared::Created => instant(self.created) >= since,
            Compared::Moved => {
                let day = Day::parse(self.value["movementDate"].as_str().unwrap()).unwrap();
                Timestamp::from(day).to_time() >= Some(since)
            }
            Compared::Nothing => true,
        }
    }
}

/// The reply to a refused cursor.
pub(super) fn refused_cursor() -> Value {
    json!({"errors": [{"message": "the cursor is not valid"}]})
}
