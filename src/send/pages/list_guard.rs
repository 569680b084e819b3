//! Notices that a list changes, repeats itself, or does not end.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hasher, RandomState};
use std::sync::Arc;

use super::Page;
use crate::graphql::AsReceived;
use crate::model::ListNotice;

/// What identifies a record.
pub(crate) type RecordId<T> = fn(&T) -> Option<Cow<'_, str>>;

/// The same as a closure.
type SharedRecordId<T> = Arc<dyn Fn(&T) -> Option<Cow<'_, str>> + Send + Sync>;

/// How records, and pages of them, are recognised when they come again.
pub(crate) struct RecordIdentity<T> {
    /// The id, as notices show it.
    pub(crate) id: SharedRecordId<T>,
    /// The id where it is a number: it is hashed as it is, and no text is made of it.
    pub(crate) number: fn(&T) -> Option<i64>,
    /// Hashes all that distinguishes records, for lists with positions that do not show repeated pages.
    pub(crate) content: Option<fn(&T, &mut DefaultHasher)>,
}

impl<T: 'static> RecordIdentity<T> {
    /// That of the same records with their JSON, in a list with cursors: its records have no numbers, and its positions show that
    /// pages repeat.
    pub(super) fn received(self) -> RecordIdentity<AsReceived<T>> {
        let id = self.id;
        RecordIdentity {
            id: Arc::new(move |record: &AsReceived<T>| id(record.typed())),
            number: |_| None,
            content: None,
        }
    }
}

impl<T: 'static> From<RecordId<T>> for RecordIdentity<T> {
    fn from(id: RecordId<T>) -> Self {
        Self {
            id: Arc::new(id),
            number: |_| None,
            content: None,
        }
    }
}

/// Keyed hashes, which need no further hashing.
type Hashes = HashSet<u64, BuildHasherDefault<IsHash>>;

/// The pages of a list that were read, in hashes.
///
/// Of each record a hash of its id: 9 to 18 bytes, so about 2.5 MB for 200,000 records. The hash is keyed at random and
/// has 64 bits: among 200,000 records, two different ones are taken for the same once in a thousand million lists. Records
/// without an id count as new, so each page has a fingerprint as well.
#[derive(Default)]
pub(super) struct ListGuard {
    ids: Hashes,
    keyed: RandomState,
    fingerprints: Hashes,
    first_total: Option<i64>,
    total: Option<i64>,
    /// Pages in a row without a new record.
    empty: u32,
}

impl ListGuard {
    /// Forgets all pages, for a list that stated this total on the page before.
    pub(super) fn start_after(&mut self, total: Option<i64>) {
        (self.ids, self.fingerprints) = (Hashes::default(), Hashes::default());
        (self.first_total, self.total, self.empty) = (None, total, 0);
    }

    /// Adds a page: sets its notices, and the reason why it is the last one that can be read.
    pub(super) fn add<T, P>(&mut self, page: &mut Page<T, P>, identity: &RecordIdentity<T>) {
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
        let mut repeated = Vec::new();
        let mut has_new = !page.unreadable.is_empty();
        let mut ids = self.keyed.build_hasher();
        let mut all_new = true;
        for record in &page.records {
            let id = self.hash_of_id(record, identity);
            let is_known = id.is_some_and(|id| !self.ids.insert(id));
            if is_known {
                repeated.extend((identity.id)(record).map(Cow::into_owned));
            }
            has_new |= !is_known;
            all_new &= id.is_some() && !is_known;
            ids.write_u64(id.unwrap_or_default());
        }
        self.empty = if has_new { 0 } else { self.empty + 1 };
        if !repeated.is_empty() {
            page.notices.push(ListNotice::Repeated {
                page: page.number,
                ids: repeated,
            });
        }
        if self.is_repeated(page, identity, ids.finish(), all_new) {
            page.stalled = Some("the list repeats itself");
            page.next = None;
        }
    }

    fn hash_of_id<T>(&self, record: &T, identity: &RecordIdentity<T>) -> Option<u64> {
        if let Some(number) = (identity.number)(record) {
            return Some(self.keyed.hash_one(number));
        }
        Some(self.keyed.hash_one((identity.id)(record)?.as_ref()))
    }

    /// Whether the same page came before. `ids` is a hash of the ids of its records, `all_new` whether none of them was known.
    fn is_repeated<T, P>(
        &mut self,
        page: &Page<T, P>,
        identity: &RecordIdentity<T>,
        ids: u64,
        all_new: bool,
    ) -> bool {
        let Some(content) = identity.content else {
            return page
                .fingerprint
                .is_some_and(|print| !self.fingerprints.insert(print));
        };
        if page.records.is_empty() {
            return false;
        }
        // Several different ids identify a page; a server may give one id to many records.
        if all_new && page.records.len() > 1 {
            self.fingerprints.insert(ids);
            return false;
        }
        let mut hasher = self.keyed.build_hasher();
        for record in &page.records {
            content(record, &mut hasher);
        }
        self.fingerprints.contains(&ids) || !self.fingerprints.insert(hasher.finish())
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

/// The hash of a number that is a hash.
#[derive(Default)]
struct IsHash(u64);

impl Hasher for IsHash {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    /// Not used for a `u64`.
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::hash::Hash;

    use super::*;

    type RecordKey = (Option<i64>, &'static str);

    fn identity() -> RecordIdentity<RecordKey> {
        RecordIdentity {
            id: Arc::new(|record: &RecordKey| Some(record.0?.to_string().into())),
            number: |record| record.0,
            content: Some(Hash::hash),
        }
    }

    /// Whether the last of these pages repeats another.
    fn last_repeats(pages: &[&[RecordKey]]) -> bool {
        let mut guard = ListGuard::default();
        let stalled = pages.iter().map(|records| {
            let mut page = Page::new((), records.to_vec());
            guard.add(&mut page, &identity());
            page.stalled.is_some()
        });
        stalled.last().unwrap()
    }

    #[test]
    fn a_page_that_comes_again_is_recognised_whether_or_not_ids_tell_its_records_apart() {
        for page in [
            &[(Some(1), "a"), (Some(2), "b")][..],
            &[(Some(1), "a"), (Some(1), "b")],
            &[(Some(1), "a"), (None, "b")],
            &[(None, "a"), (None, "b")],
        ] {
            assert!(last_repeats(&[page, page]), "{page:?}");
            let other = [(Some(7), "x"), (None, "y")];
            assert!(last_repeats(&[page, &other, page]), "{page:?}");
        }
    }

    #[test]
    fn a_page_with_other_records_is_another_page() {
        let a = (Some(1), "a");
        let b = (Some(2), "b");
        for (one, other) in [
            // A register that gives all records the same id.
            (&[(Some(1), "a")][..], &[(Some(1), "b")][..]),
            (&[(Some(1), "a")], &[(Some(1), "b"), (Some(1), "c")]),
            (&[a, (Some(1), "b")], &[a, (Some(1), "c")]),
            (&[(None, "a")], &[(None, "b")]),
            (&[a, b], &[b, a]),
            (&[(Some(1), "a")], &[(Some(1), "a"), (None, "b")]),
            (&[a, b], &[b, (Some(3), "c")]),
            (&[], &[]),
        ] {
            assert!(!last_repeats(&[one, other]), "{one:?} {other:?}");
        }
    }

    #[test]
    fn repeated_records_are_reported_with_their_ids() {
        let mut guard = ListGuard::default();
        let mut page = Page::new((), vec![(Some(1), "a"), (Some(-1), "b"), (Some(1), "c")]);
        guard.add(&mut page, &identity());
        let [ListNotice::Repeated { ids, .. }] = &page.notices[..] else {
            panic!("{:?}", page.notices);
        };
        assert_eq!(ids, &["1"]);
    }
}
