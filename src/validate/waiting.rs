//! Cells that wait to be looked at again, what they wait for first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A cell: the place of its question in the order of evaluation, and which of all rows; `NONE` outside rows.
pub(super) type Cell = (u32, u32);

/// A heap in which each cell stands once.
///
/// Mostly one cell waits at a time, so the first stands beside the heap.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting {
    first: Option<Cell>,
    others: BinaryHeap<Reverse<Cell>>,
}

impl Waiting {
    pub(super) fn push(&mut self, cell: Cell) {
        match self.first {
            None => self.first = Some(cell),
            Some(first) if cell == first => {}
            Some(first) => {
                self.first = Some(cell.min(first));
                self.others.push(Reverse(cell.max(first)));
            }
        }
    }

    pub(super) fn pop(&mut self) -> Option<Cell> {
        let first = self.first.take()?;
        while let Some(Reverse(next)) = self.others.pop() {
            if next != first {
                self.first = Some(next);
                break;
            }
        }
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use crate::seeded::cases;
    use proptest::prelude::{any, prop, prop_assert_eq, proptest};

    use super::*;
    use std::collections::BTreeSet;

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn each_cell_comes_once_and_the_lowest_first(
            steps in prop::collection::vec(any::<Option<(u8, u8)>>(), 0..60),
        ) {
            let mut waiting = Waiting::default();
            let mut model = BTreeSet::new();
            for step in steps {
                if let Some((rank, row)) = step {
                    let cell = (u32::from(rank % 4), u32::from(row % 4));
                    waiting.push(cell);
                    model.insert(cell);
                } else {
                    prop_assert_eq!(waiting.pop(), model.pop_first());
                }
            }
            while let Some(cell) = model.pop_first() {
                prop_assert_eq!(waiting.pop(), Some(cell));
            }
            prop_assert_eq!(waiting.pop(), None);
        }
    }
}
