//! Detects lists that change while they are read, repeat themselves, or never end.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hasher, RandomState};
use std::sync::Arc;

use super::Page;
use crate::graphql::AsReceived;
use crate::model::ListNotice;

/// Returns the id of a record.
pub(crate) type RecordId<T> = fn(&T) -> Option<Cow<'_, str>>;

/// Like [`RecordId`], as a closure.
type SharedRecordId<T> = Arc<dyn Fn(&T) -> Option<Cow<'_, str>> + Send + Sync>;

/// How to recognise repeated records and pages.
pub(crate) struct RecordIdentity<T> {
    /// The id, as notices show it.
    pub(crate) id: SharedRecordId<T>,
    /// The id if it is a number, which takes less memory than a hash of its text.
    pub(crate) number: fn(&T) -> Option<i64>,
    /// Hashes everything that distinguishes records, for lists with positions that do not reveal repeated pages.
    pub(crate) content: Option<fn(&T, &mut DefaultHasher)>,
}

impl<T: 'static> RecordIdentity<T> {
    /// The identity for the same records with their JSON. Only for lists with cursors: their records have no numeric ids, and
    /// their positions reveal repeated pages.
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

/// The pages of a list read so far, as numbers and hashes.
///
/// Each record with a text as its id takes one hash, 9 to 18 bytes, so about 2.5 MB for 200,000 records. Hashes are keyed randomly
/// and have 64 bits: with 200,000 records, one list in a thousand million has a collision. Records without an id count as new, so
/// each page has a fingerprint as well.
#[derive(Default)]
pub(super) struct ListGuard {
    numbers: Numbers,
    ids: Hashes,
    keyed: RandomState,
    fingerprints: Hashes,
    first_total: Option<i64>,
    total: Option<i64>,
    /// The number of consecutive pages without a new record.
    empty: u32,
}

impl ListGuard {
    /// Clears the guard. `total` is the total stated by the page before the new start.
    pub(super) fn start_after(&mut self, total: Option<i64>) {
        self.numbers = Numbers::default();
        (self.ids, self.fingerprints) = (Hashes::default(), Hashes::default());
        (self.first_total, self.total, self.empty) = (None, total, 0);
    }

    /// Adds a page: sets its notices, and the reason if the list cannot be read beyond it.
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
            let added = self.add_id(record, identity);
            let is_known = added.is_some_and(|(_, is_new)| !is_new);
            if is_known {
                repeated.extend((identity.id)(record).map(Cow::into_owned));
            }
            has_new |= !is_known;
            all_new &= added.is_some() && !is_known;
            ids.write_u64(added.map_or(0, |(id, _)| id));
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

    /// Adds the id of a record: the number or hash that stands for it, and whether it is new. `None` if the record has no id.
    fn add_id<T>(&mut self, record: &T, identity: &RecordIdentity<T>) -> Option<(u64, bool)> {
        if let Some(number) = (identity.number)(record) {
            return Some((number.cast_unsigned(), self.numbers.insert(number)));
        }
        let hash = self.keyed.hash_one((identity.id)(record)?.as_ref());
        Some((hash, self.ids.insert(hash)))
    }

    /// Whether this page repeats an earlier one. `ids` is a hash of all its record ids; `all_new` is true if none of them was
    /// seen before.
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
        // Several different ids identify a page. A single id does not: a server may give it to many records.
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

    /// Whether `limit` consecutive pages had no new record. If so, resets the count.
    pub(super) fn has_only_empty_pages(&mut self, limit: u32) -> bool {
        let stalled = self.empty >= limit.max(1);
        if stalled {
            self.empty = 0;
        }
        stalled
    }
}

/// The numbers seen so far, each as a bit in a block of 64. A register numbers its records one after the other, so those of a page
/// are in a few blocks. Numbers far apart take 17 to 34 bytes each.
#[derive(Default)]
struct Numbers(HashMap<i64, u64>);

impl Numbers {
    /// Adds a number; whether it is new.
    fn insert(&mut self, number: i64) -> bool {
        let block = self.0.entry(number.div_euclid(64)).or_default();
        let bit = 1 << number.rem_euclid(64);
        let is_new = *block & bit == 0;
        *block |= bit;
        is_new
    }
}

/// Hasher for numbers that are hashes already.
#[derive(Default)]
struct IsHash(u64);

impl Hasher for IsHash {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    /// Unused for a `u64`.
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

    /// Whether the last page repeats an earlier one.
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
            // A register that assigns one id to all records.
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
    fn a_number_is_new_once() {
        let around = |middle: i64| (-70..70).filter_map(move |step| middle.checked_add(step));
        let numbers: Vec<i64> = [i64::MIN, -1_000, 0, 1_000, i64::MAX]
            .into_iter()
            .flat_map(around)
            .collect();
        let mut seen = Numbers::default();
        assert!(numbers.iter().all(|number| seen.insert(*number)));
        assert!(!numbers.iter().any(|number| seen.insert(*number)));
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
