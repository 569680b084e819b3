//! The order in which questions are evaluated, and the cycles that no order fits.

use std::mem;

/// Puts each node after all that it depends on. Nodes that depend on each other come together (Kosaraju's search).
pub(super) fn components<I: Iterator<Item = usize>>(
    count: usize,
    depends_on: impl Fn(usize) -> I,
) -> Vec<Vec<usize>> {
    let mut dependents = vec![Vec::new(); count];
    for node in 0..count {
        for dependency in depends_on(node) {
            if let Some(dependents) = dependents.get_mut(dependency) {
                dependents.push(node);
            }
        }
    }
    let finished = trees(count, 0..count, depends_on).concat();
    let dependents = |node: usize| dependents.get(node).into_iter().flatten().copied();
    let mut components = trees(count, finished.into_iter().rev(), dependents);
    components.reverse();
    components
}

/// What can be reached from each root and not from one before it, each node after those that are reached from it. Without
/// recursion: chains may be thousands of nodes long.
fn trees<I: Iterator<Item = usize>>(
    count: usize,
    roots: impl Iterator<Item = usize>,
    next: impl Fn(usize) -> I,
) -> Vec<Vec<usize>> {
    let mut is_new = vec![true; count];
    let mut search = |root| {
        let (mut tree, mut open) = (Vec::new(), vec![(root, false)]);
        while let Some((node, is_finished)) = open.pop() {
            if is_finished {
                tree.push(node);
            } else if is_new.get_mut(node).is_some_and(mem::take) {
                open.push((node, true));
                open.extend(next(node).map(|next| (next, false)));
            }
        }
        tree
    };
    let trees = roots.map(&mut search);
    trees.filter(|tree| !tree.is_empty()).collect()
}
