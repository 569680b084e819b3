//! What a walk through a list remembers: whether the list changes, repeats itself, or does not end.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use crate::model::ListNotice;

/// How many pages in a row may bring no new record, unless set. A server that filters after it has paged may send some.
pub(crate) const EMPTY_PAGES: u32 = 20;

/// Why a walk ends after too many of them.
pub(crate) const NOTHING_NEW: &str =
    "more pages in a row than max_empty_pages had no new record, and another is announced";

/// What was seen of a list.
///
/// Of each record a hash of its id: 9 to 18 bytes, so about 2.5 MB for 200,000 records. The hash is keyed at random and
/// has 64 bits: among 200,000 records, two different ones are taken for the same once in a thousand million walks.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    seen: HashSet<u64>,
    keyed: RandomState,
    total: Option<i64>,
    /// Pages in a row without a new record.
    empty: u32,
}

impl Walk {
    /// A walk that goes on after a page with this total.
    pub(crate) fn after(total: Option<i64>) -> Self {
        Self {
            total,
            ..Self::default()
        }
    }

    /// Notes a page: the ids of its records, and whether it holds anything besides.
    pub(crate) fn page<Id: AsRef<str>>(
        &mut self,
        page: u64,
        total: Option<i64>,
        ids: impl Iterator<Item = Option<Id>>,
        other: bool,
    ) -> Vec<ListNotice> {
        let mut notices = Vec::new();
        let before = total.and_then(|now| self.total.replace(now).zip(Some(now)));
        if let Some((before, now)) = before.filter(|(before, now)| before != now) {
            notices.push(ListNotice::TotalChanged { page, before, now });
        }
        let (mut repeated, mut new) = (Vec::new(), other);
        for id in ids {
            match id {
                Some(id) if !self.seen.insert(self.keyed.hash_one(id.as_ref())) => {
                    repeated.push(id.as_ref().to_owned());
                }
                _ => new = true,
            }
        }
        self.empty = if new { 0 } else { self.empty + 1 };
        if !repeated.is_empty() {
            notices.push(ListNotice::Repeated {
                page,
                ids: repeated,
            });
        }
        notices
    }

    /// Whether so many pages in a row brought no new record. They are counted anew then.
    pub(crate) fn stalls(&mut self, most: u32) -> bool {
        let stalls = self.empty >= most.max(1);
        if stalls {
            self.empty = 0;
        }
        stalls
    }
}
