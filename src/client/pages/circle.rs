//! Notices cursors that go in a circle.

/// Remembers one cursor at a time, each for twice as long as the one before (Brent's algorithm): the memory does not
/// grow with the list, and no circle is too long.
#[derive(Debug, Default)]
pub(super) struct Circle {
    remembered: Option<String>,
    /// Pages since the cursor was remembered, and how many it is remembered for.
    age: u64,
    limit: u64,
}

impl Circle {
    /// Whether this cursor closes a circle.
    pub(super) fn closes(&mut self, cursor: &str) -> bool {
        if self.remembered.as_deref() == Some(cursor) {
            return true;
        }
        self.age += 1;
        if self.age > self.limit {
            self.limit = (self.limit * 2).max(1);
            self.age = 0;
            self.remembered = Some(cursor.to_owned());
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_of_any_length_are_noticed_and_lists_are_not() {
        for (lead, length) in [(0, 1), (0, 2), (3, 1), (5, 7), (100, 33)] {
            let mut circle = Circle::default();
            let steps = (0..).map(|at| {
                if at < lead {
                    at
                } else {
                    lead + (at - lead) % length
                }
            });
            let steps = steps
                .take(4 * (lead + length))
                .take_while(|at| !circle.closes(&at.to_string()));
            assert!(steps.count() < 4 * (lead + length), "{lead} {length}");
        }
        let mut circle = Circle::default();
        assert!((0..10_000).all(|at| !circle.closes(&at.to_string())));
    }
}
