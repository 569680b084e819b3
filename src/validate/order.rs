//! Puts things behind what they wait for, and finds those that wait for themselves.

/// The order, and the rings in it.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// Each position behind all that it waits for; members of a ring stand together.
    pub(super) positions: Vec<usize>,
    /// Members of each ring.
    pub(super) rings: Vec<Vec<usize>>,
}

/// Tarjan's strongly connected components, without recursion: questions may be nested thousands of levels deep.
pub(super) fn sort(waits_for: &[Vec<usize>], counts: impl Fn(usize) -> bool) -> Order {
    const UNSEEN: usize = usize::MAX;
    let mut order = Order::default();
    let mut seen = vec![UNSEEN; waits_for.len()];
    let mut low = vec![0; waits_for.len()];
    let mut open = vec![false; waits_for.len()];
    let mut component = Vec::new();
    let mut calls: Vec<(usize, usize)> = Vec::new();
    let mut clock = 0;
    for root in 0..waits_for.len() {
        if seen[root] != UNSEEN || !counts(root) {
            continue;
        }
        calls.push((root, 0));
        while let Some((node, next)) = calls.last_mut() {
            let node = *node;
            if *next == 0 && seen[node] == UNSEEN {
                seen[node] = clock;
                low[node] = clock;
                clock += 1;
                open[node] = true;
                component.push(node);
            }
            if let Some(&other) = waits_for[node].get(*next) {
                *next += 1;
                if !counts(other) {
                    continue;
                }
                if seen[other] == UNSEEN {
                    calls.push((other, 0));
                } else if open[other] {
                    low[node] = low[node].min(seen[other]);
                }
                continue;
            }
            calls.pop();
            if let Some((caller, _)) = calls.last() {
                low[*caller] = low[*caller].min(low[node]);
            }
            if low[node] == seen[node] {
                let start = component.iter().rposition(|member| *member == node);
                let members = component.split_off(start.unwrap_or_default());
                for member in &members {
                    open[*member] = false;
                }
                order.positions.extend(&members);
                if members.len() > 1 || waits_for[node].contains(&node) {
                    order.rings.push(members);
                }
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stands_behind_what_it_waits_for_and_only_members_of_rings_are_named() {
        let waits_for = vec![vec![1], vec![2, 3], vec![1], vec![], vec![4], vec![3]];
        let mut order = sort(&waits_for, |_| true);
        for ring in &mut order.rings {
            ring.sort_unstable();
        }
        assert_eq!(order.rings, [vec![1, 2], vec![4]]);
        let at = |node| order.positions.iter().position(|n| *n == node).unwrap();
        assert!(at(1) < at(0) && at(3) < at(1) && at(3) < at(5));
        assert!(
            sort(&waits_for, |node| node != 2 && node != 4)
                .rings
                .is_empty()
        );
    }

    #[test]
    fn a_long_chain_listed_backwards_is_put_in_order() {
        let chain: Vec<Vec<usize>> = (1..=10_000)
            .map(|n| if n < 10_000 { vec![n] } else { vec![] })
            .collect();
        let order = sort(&chain, |_| true);
        assert!(order.positions.iter().rev().copied().eq(0..10_000));
    }
}
