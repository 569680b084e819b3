//! Where a page lies in what a search found, and which page comes after it. Pure.

use serde::{Deserialize, Serialize};

use super::envelope::Found;
use crate::error::{Error, Result};

/// The page that was read last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cursor {
    /// The number that the register was asked for; none for a first page that was asked for without one.
    pub(super) index: Option<u32>,
    pub(super) offset: u64,
    count: u64,
    pub(super) limit: Option<u64>,
    pub(super) total: Option<u64>,
    /// The register's `Offset` of the first record; none where the search began inside and nothing tells.
    origin: Option<u64>,
    /// The page size that was asked for: a number of a page means nothing without it.
    pub(super) size: Option<u32>,
}

impl Cursor {
    /// The page of a search that is read first; `inside` when it need not be the first one that there is.
    pub(super) fn first(
        index: Option<u32>,
        inside: bool,
        size: Option<u32>,
        found: &Found,
    ) -> Result<Self> {
        let offset = found.offset.unwrap_or_default();
        let origin = match found.limit {
            // Whether records are counted from 0 or 1 is not shown; full pages tell.
            Some(limit) if inside && limit > 1 => Some(u64::from(offset % limit == 1)),
            _ if inside => None,
            _ => Some(offset),
        };
        let first = Self {
            index,
            offset,
            count: found.count(),
            limit: found.limit,
            total: found.total,
            origin,
            size,
        };
        if !inside || found.offset.is_some() {
            first.agrees_with(found.total)?;
        }
        Ok(first)
    }

    /// Refuses a page that contradicts the `Total` beside it: taken as it is, it would end a search too early.
    fn agrees_with(&self, total: Option<u64>) -> Result<()> {
        let Some(total) = total else {
            return Ok(());
        };
        let end = self.read();
        if self.count == 0 && end < total {
            return Err(empty_before(total));
        }
        // Counted from 1, an unknown origin is one too small.
        if self.count > 0 && end > total.saturating_add(u64::from(self.origin.is_none())) {
            return Err(Error::protocol(format!(
                "the register gave records up to number {end} with a Total of {total}"
            )));
        }
        Ok(())
    }

    /// How many records there are up to the end of the page.
    fn read(&self) -> u64 {
        self.end().saturating_sub(self.origin.unwrap_or_default())
    }

    /// The offset behind the last record.
    pub(super) fn end(&self) -> u64 {
        self.offset.saturating_add(self.count)
    }

    pub(super) fn has_next(&self) -> bool {
        self.count > 0 && self.total.is_none_or(|total| self.read() < total)
    }

    /// Takes a reply as the next page only if it is that; `None` when it is empty and nothing is missing.
    pub(super) fn follow(&self, index: u32, found: &Found) -> Result<Option<Self>> {
        let total = found.total.or(self.total);
        let end = self.end();
        if found.count() == 0 {
            // Fewer may be found by now than there were before.
            return match total {
                Some(total) if self.read() < total => Err(empty_before(total)),
                _ => Ok(None),
            };
        }
        // A page that is not full may be followed by one that starts after its full size.
        let full = self.offset.saturating_add(self.limit.unwrap_or_default());
        let offset = found.offset.unwrap_or(end);
        if !(end..=full.max(end)).contains(&offset) {
            return Err(Error::protocol(
                "the register gave another page than the next",
            ));
        }
        let next = Self {
            index: Some(index),
            offset,
            count: found.count(),
            limit: found.limit.or(self.limit),
            total,
            origin: self.origin,
            size: self.size,
        };
        next.agrees_with(found.total)?;
        Ok(Some(next))
    }
}

fn empty_before(total: u64) -> Error {
    Error::protocol(format!(
        "the register gave an empty page before the last, with a Total of {total}"
    ))
}

#[cfg(test)]
mod tests {
    use crate::seeded::cases;
    use proptest::prelude::{any, prop_assert, proptest};

    use super::*;
    use crate::model::Property;

    fn found(offset: Option<u64>, limit: Option<u64>, total: Option<u64>, count: usize) -> Found {
        Found {
            offset,
            limit,
            total,
            records: vec![Property::default(); count].into(),
            unreadable: Vec::new(),
        }
    }

    #[test]
    fn the_last_page_is_known_whether_records_are_counted_from_0_or_1() {
        for origin in [0, 1] {
            let page =
                |number: u64, count| found(Some(origin + number * 3), Some(3), Some(7), count);
            let first = Cursor::first(None, false, None, &page(0, 3)).unwrap();
            let second = first.follow(1, &page(1, 3)).unwrap().unwrap();
            assert!(first.has_next() && second.has_next());
            let third = second.follow(2, &page(2, 1)).unwrap().unwrap();
            assert!(!third.has_next());
            // The same, begun at the second page.
            let inside = Cursor::first(Some(1), true, None, &page(1, 3)).unwrap();
            assert!(inside.has_next());
            assert!(!inside.follow(2, &page(2, 1)).unwrap().unwrap().has_next());
        }
    }

    #[test]
    fn only_the_next_page_follows() {
        let first = Cursor::first(None, false, None, &found(Some(0), Some(3), Some(9), 2)).unwrap();
        for (offset, fits) in [
            (0, false),
            (1, false),
            (2, true),
            (3, true),
            (4, false),
            (6, false),
        ] {
            let next = found(Some(offset), Some(3), Some(9), 3);
            assert_eq!(first.follow(1, &next).is_ok(), fits, "{offset}");
        }
        assert!(
            first
                .follow(1, &found(Some(3), Some(3), Some(9), 0))
                .is_err()
        );
        assert_eq!(
            first
                .follow(1, &found(Some(3), Some(3), Some(2), 0))
                .unwrap(),
            None
        );
        assert_eq!(
            first.follow(1, &found(None, None, Some(2), 0)).unwrap(),
            None
        );
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn each_page_lies_behind_the_one_before(
            pages in proptest::collection::vec((any::<Option<u64>>(), any::<Option<u64>>(), any::<Option<u64>>(), 0..4usize), 2..8)
        ) {
            let mut pages = pages.into_iter().map(|(offset, limit, total, count)| found(offset, limit, total, count));
            let Ok(mut cursor) = Cursor::first(Some(0), true, None, &pages.next().unwrap()) else {
                return Ok(());
            };
            for next in pages {
                match cursor.follow(1, &next) {
                    Ok(Some(follower)) => {
                        prop_assert!(follower.offset >= cursor.end());
                        cursor = follower;
                    }
                    _ => break,
                }
            }
        }
    }
}
