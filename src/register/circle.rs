//! Whether pages come again and again.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::model::Property;

/// Finds out that pages go in a circle, with the memory of one page's fingerprint (Brent's algorithm).
///
/// The register's `Offset` forbids circles already; this is for one that does not send it.
#[derive(Debug)]
pub(super) struct Circle {
    kept: Option<u64>,
    steps: u64,
    power: u64,
}

impl Default for Circle {
    fn default() -> Self {
        Self {
            kept: None,
            steps: 0,
            power: 1,
        }
    }
}

impl Circle {
    /// Whether this page was there before.
    pub(super) fn closes(&mut self, records: &[Property]) -> bool {
        let mut hasher = DefaultHasher::new();
        for record in records {
            let named = (&record.pic, &record.name, &record.town);
            (record.register_id, named).hash(&mut hasher);
        }
        let page = hasher.finish();
        if self.kept == Some(page) {
            return true;
        }
        self.steps += 1;
        if self.steps == self.power {
            *self = Self {
                kept: Some(page),
                steps: 0,
                power: self.power.saturating_mul(2),
            };
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(id: i64) -> [Property; 1] {
        let mut property = Property::default();
        property.register_id = Some(id);
        [property]
    }

    #[test]
    fn a_circle_of_any_length_is_found_and_a_straight_way_is_none() {
        for length in 1..40 {
            let mut circle = Circle::default();
            let closed = (0..1_000).find(|at| circle.closes(&page(at % length)));
            assert!(
                closed.is_some_and(|at| at < 4 * length + 2),
                "{length}: {closed:?}"
            );
        }
        let mut circle = Circle::default();
        assert!(!(0..1_000).any(|at| circle.closes(&page(at))));
    }
}
