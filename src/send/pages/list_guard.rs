//! Notices that a list changes, repeats itself, or does not end.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use super::Page;
use crate::model::ListNotice;

/// What identifies a record.
pub(crate) type RecordId<T> = fn(&T) -> Option<Cow<'_, str>>;

/// The pages of a list that were read, in hashes.
///
/// Of each record a hash of its id: 9 to 18 bytes, so about 2.5 MB for 200,000 records. The hash is keyed at random and
/// has 64 bits: among 200,000 records, two different ones are taken for the same once in a thousand million lists. Records
/// without an id count as new, so each page has a fingerprint as well.
pub(super) struct ListGuard<T> {
    pub(super) id: RecordId<T>,
    ids: HashSet<u64>,
    keyed: RandomState,
    fingerprints: HashSet<u64>,
    first_total: Option<i64>,
    total: Option<i64>,
    /// Pages in a row without a new record.
    empty: u32,
}

impl<T> ListGuard<T> {
    /// The guard of a list whose page before stated this total.
    pub(super) fn new(id: RecordId<T>, total: Option<i64>) -> Self {
        Self {
            id,
            ids: HashSet::new(),
            keyed: RandomState::new(),
            fingerprints: HashSet::new(),
            first_total: None,
            total,
            empty: 0,
        }
    }

    /// Adds a page: sets its notices, and the reason why it is the last one that can be read.
    pub(super) fn add<P>(&mut self, page: &mut Page<T, P>) {
        if let Some(now) = page.total {
            let before = self.total.replace(now).unwrap_or(now);
            if before != now {
                page.notices.push(ListNotice::TotalChanged {
                    page: page.number,
                    before,
                    now,
                });
            }
            let first = *self.first_total.get_or_insert(now);
            page.total_drift = Some(now.saturating_sub(first));
        }
        let (mut repeated, mut has_new) = (Vec::new(), !page.unreadable.is_empty());
        for record in &page.records {
            match (self.id)(record) {
                Some(id) if !self.ids.insert(self.keyed.hash_one(id.as_ref())) => {
                    repeated.push(id.into_owned());
                }
                _ => has_new = true,
            }
        }
        self.empty = if has_new { 0 } else { self.empty + 1 };
        if !repeated.is_empty() {
            page.notices.push(ListNotice::Repeated {
                page: page.number,
                ids: repeated,
            });
        }
        if page
            .fingerprint
            .is_some_and(|print| !self.fingerprints.insert(print))
        {
            page.stalled = Some("the list repeats itself");
            page.next = None;
        }
    }

    /// Whether so many pages in a row had no new record. The count starts again then.
    pub(super) fn has_only_empty_pages(&mut self, limit: u32) -> bool {
        let stalled = self.empty >= limit.max(1);
        if stalled {
            self.empty = 0;
        }
        stalled
    }
}
