//! The enclosing objects and lists while a JSON text is scanned, up to a depth limit.

/// The maximum depth of `serde_json`.
pub(crate) const MAX_DEPTH: usize = 128;

/// The enclosing values, the innermost last. Deeper values are counted but not stored: each takes a single byte of text, so
/// storing them could take many times the size of a reply.
pub(super) struct Nesting<T> {
    open: Vec<T>,
    deeper: usize,
}

impl<T> Default for Nesting<T> {
    fn default() -> Self {
        Self {
            open: Vec::new(),
            deeper: 0,
        }
    }
}

impl<T> Nesting<T> {
    pub(super) fn push(&mut self, value: T) {
        if self.open.len() < MAX_DEPTH {
            self.open.push(value);
        } else {
            self.deeper += 1;
        }
    }

    /// Closes the innermost value, and returns it if it was stored.
    pub(super) fn pop(&mut self) -> Option<T> {
        if self.deeper > 0 {
            self.deeper -= 1;
            return None;
        }
        self.open.pop()
    }

    /// The innermost value, unless it is too deep to be stored.
    pub(super) fn last_mut(&mut self) -> Option<&mut T> {
        if self.deeper > 0 {
            return None;
        }
        self.open.last_mut()
    }

    /// The stored values, the outermost first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.open.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deeper_values_are_counted_and_not_kept() {
        let mut nesting = Nesting::default();
        for level in 0..MAX_DEPTH {
            nesting.push(level);
        }
        assert_eq!(nesting.last_mut(), Some(&mut (MAX_DEPTH - 1)));
        nesting.push(MAX_DEPTH);
        assert_eq!(nesting.last_mut(), None);
        assert_eq!(nesting.pop(), None);
        assert_eq!(nesting.pop(), Some(MAX_DEPTH - 1));
        assert_eq!(nesting.iter().count(), MAX_DEPTH - 1);
    }
}
