//! Notices lists that go in a circle.

use std::borrow::Borrow;

/// Remembers one mark of a page at a time, each for twice as long as the one before (Brent's algorithm): the memory does
/// not grow with the list, and no circle is too long.
#[derive(Debug)]
pub(crate) struct Circle<M> {
    remembered: Option<M>,
    /// Pages since the mark was remembered.
    age: u64,
    /// Pages after which another one is remembered.
    limit: u64,
}

impl<M> Default for Circle<M> {
    fn default() -> Self {
        Self {
            remembered: None,
            age: 0,
            limit: 1,
        }
    }
}

impl<M> Circle<M> {
    /// Whether the page with this mark closes a circle.
    pub(crate) fn closes<Q>(&mut self, mark: &Q) -> bool
    where
        M: Borrow<Q>,
        Q: ToOwned<Owned = M> + PartialEq + ?Sized,
    {
        if self.remembered.as_ref().map(Borrow::borrow) == Some(mark) {
            return true;
        }
        self.age += 1;
        if self.age == self.limit {
            *self = Self {
                remembered: Some(mark.to_owned()),
                age: 0,
                limit: self.limit.saturating_mul(2),
            };
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_of_any_length_are_noticed_soon_and_lists_are_not() {
        let cases = [(0, 1), (0, 2), (3, 1), (5, 7), (100, 33)];
        for (lead, length) in cases.into_iter().chain((1..40).map(|length| (0, length))) {
            let mut circle = Circle::<String>::default();
            let step = |at| lead + (at - lead) % length;
            let mut steps = (0..).map(|at| if at < lead { at } else { step(at) });
            let closed = steps.position(|at| circle.closes(at.to_string().as_str()));
            let soon = 4 * usize::try_from(lead + length).unwrap() + 2;
            assert!(closed.is_some_and(|at| at < soon), "{lead} {length}");
        }
        let mut circle = Circle::<String>::default();
        assert!((0..10_000).all(|at| !circle.closes(at.to_string().as_str())));
    }
}
