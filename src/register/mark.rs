//! A mark by which a page is known again.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::model::Property;

/// A fingerprint of a page, for a register that sends no `Offset`, which would forbid circles already.
pub(super) fn mark(records: &[Property]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for record in records {
        let named = (&record.pic, &record.name, &record.town);
        (record.register_id, named).hash(&mut hasher);
    }
    hasher.finish()
}
