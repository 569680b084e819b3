//! Puts things behind what they wait for, and finds those that wait for themselves.

use super::prepared::{Table, at};

/// The order, and the rings in it.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// Each position after all that it depends on; members of a ring are adjacent.
    pub(super) positions: Vec<u32>,
    /// Members of each ring.
    pub(super) rings: Vec<Vec<u32>>,
}

/// Tarjan's strongly connected components, without recursion: questions may be nested thousands of levels deep.
pub(super) fn sort(waits_for: &Table, counts: impl Fn(u32) -> bool) -> Order {
    const UNSEEN: u32 = u32::MAX;
    let all = waits_for.len();
    let mut order = Order::default();
    order.positions.reserve(all);
    let mut seen = vec![UNSEEN; all];
    let mut low = vec![0; all];
    let mut open = vec![false; all];
    let mut component = Vec::new();
    let mut calls: Vec<(u32, usize)> = Vec::new();
    let mut clock = 0;
    for root in 0..at(all) {
        if seen[root as usize] != UNSEEN || !counts(root) {
            continue;
        }
        calls.push((root, 0));
        while let Some((node, next)) = calls.last_mut() {
            let node = *node;
            let here = node as usize;
            if *next == 0 && seen[here] == UNSEEN {
                seen[here] = clock;
                low[here] = clock;
                clock += 1;
                open[here] = true;
                component.push(node);
            }
            if let Some(&other) = waits_for.of(node).get(*next) {
                *next += 1;
                let there = other as usize;
                if !counts(other) {
                    continue;
                }
                if seen[there] == UNSEEN {
                    calls.push((other, 0));
                } else if open[there] {
                    low[here] = low[here].min(seen[there]);
                }
                continue;
            }
            calls.pop();
            if let Some((caller, _)) = calls.last() {
                let caller = *caller as usize;
                low[caller] = low[caller].min(low[here]);
            }
            if low[here] == seen[here] {
                close(node, waits_for, &mut component, &mut open, &mut order);
            }
        }
    }
    order
}

/// Takes a finished component off the pile, down to the node that opened it.
fn close(
    node: u32,
    waits_for: &Table,
    component: &mut Vec<u32>,
    open: &mut [bool],
    order: &mut Order,
) {
    let start = component.iter().rposition(|member| *member == node);
    let members = &component[start.unwrap_or_default()..];
    for member in members {
        open[*member as usize] = false;
    }
    order.positions.extend(members);
    if members.len() > 1 || waits_for.of(node).contains(&node) {
        order.rings.push(members.to_vec());
    }
    component.truncate(start.unwrap_or_default());
}
