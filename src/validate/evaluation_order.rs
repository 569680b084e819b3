//! The order in which questions are evaluated, and the cycles that no order fits.

use std::mem;

/// Puts each node after all that it depends on, beside a node of its component: nodes that depend on each other have one component
/// and come together (Kosaraju's search).
pub(super) fn components<I: Iterator<Item = usize>>(
    count: usize,
    depends_on: impl Fn(usize) -> I,
) -> Vec<(usize, usize)> {
    let mut dependents = vec![Vec::new(); count];
    for node in 0..count {
        for dependency in depends_on(node) {
            if let Some(dependents) = dependents.get_mut(dependency) {
                dependents.push(node);
            }
        }
    }
    let finished = search(count, 0..count, depends_on);
    let finished = finished.into_iter().rev().map(|(_, node)| node);
    let dependents = |node: usize| dependents.get(node).into_iter().flatten().copied();
    let mut components = search(count, finished, dependents);
    components.reverse();
    components
}

/// What can be reached from each root and not from one before it, with the root; each node after those that are reached from it.
/// Without recursion: chains may be thousands of nodes long.
fn search<I: Iterator<Item = usize>>(
    count: usize,
    roots: impl Iterator<Item = usize>,
    next: impl Fn(usize) -> I,
) -> Vec<(usize, usize)> {
    let mut is_new = vec![true; count];
    let (mut found, mut open) = (Vec::with_capacity(count), Vec::new());
    for root in roots {
        open.push((root, false));
        while let Some((node, is_finished)) = open.pop() {
            if is_finished {
                found.push((root, node));
            } else if is_new.get_mut(node).is_some_and(mem::take) {
                open.push((node, true));
                open.extend(next(node).map(|next| (next, false)));
            }
        }
    }
    found
}
