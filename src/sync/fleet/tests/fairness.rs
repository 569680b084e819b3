//! No account waits for long while the hosts can do the work, and failures are tried ever later.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::sync::fleet::work::{next_sync, wait_after};

/// Serves accounts on a clock of its own: the oldest due first, each for a time, so many at once. Returns the longest time
/// between two syncs of an account, in seconds.
fn longest_wait(accounts: usize, interval: f64, at_once: usize, work: f64, rounds: usize) -> f64 {
    let mut due: BTreeSet<(Duration, usize)> = (0..accounts)
        .map(|account| (Duration::ZERO, account))
        .collect();
    let mut ended = vec![None::<Duration>; accounts];
    // When each of the workers is free.
    let mut free: BTreeSet<(Duration, usize)> = (0..at_once)
        .map(|worker| (Duration::ZERO, worker))
        .collect();
    let mut longest = 0_f64;
    for _ in 0..accounts * rounds {
        let (due_at, account) = due.pop_first().unwrap();
        let (free_at, worker) = free.pop_first().unwrap();
        let end = due_at.max(free_at) + Duration::from_secs_f64(work);
        if let Some(before) = ended[account].replace(end) {
            longest = longest.max(end.saturating_sub(before).as_secs_f64());
        }
        let next = next_sync(-end.saturating_sub(due_at).as_secs_f64(), interval);
        due.insert((end + Duration::from_secs_f64(next), account));
        free.insert((end, worker));
    }
    longest
}

#[test]
fn no_account_waits_longer_than_two_intervals_while_capacity_lasts() {
    for seed in 0..20 {
        fastrand::seed(seed);
        // All are due at the start, which takes 80 % of an interval.
        let longest = longest_wait(1_000, 300.0, 4, 0.96, 6);
        assert!(longest <= 600.0, "{seed}: {longest}");
        // Without a queue it is the interval and its random part.
        let longest = longest_wait(10, 300.0, 4, 0.1, 20);
        assert!(longest <= 330.0 * 1.1, "{seed}: {longest}");
    }
}

#[test]
fn beyond_capacity_all_wait_alike() {
    // The work of a round takes three intervals.
    let longest = longest_wait(900, 100.0, 3, 1.0, 8);
    assert!(longest <= 300.0 * 1.3, "{longest}");
}

#[test]
fn failures_wait_twice_as_long_each_up_to_five_minutes_or_the_interval() {
    assert!(wait_after(0, 300.0) == 0.0);
    for (failures, wait) in [
        (1, 5.0),
        (2, 10.0),
        (6, 160.0),
        (7, 300.0),
        (u32::MAX, 300.0),
    ] {
        let waits = wait_after(failures, 60.0);
        assert!(
            (wait * 0.9..=wait * 1.1).contains(&waits),
            "{failures}: {waits}"
        );
    }
    assert!(wait_after(30, 3_600.0) >= 3_240.0);
}
