//! Defers requests until `Retry-After` has passed. A 429 defers the requests of one user, a 503 those of all users of the pool.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::Mutex;
use std::time::Duration;

use futures_util::future::select;
use tokio::sync::Notify;

use super::token_user::UserKey;
use crate::error::{Error, ReplyParts, Result};
use crate::locked::lock;
use crate::transport::{Clock, RetryPolicy};

/// The longest pause, whatever `Retry-After` says. A wrong date in one reply (RFC 9110 section 10.2.3 allows any) must not
/// disable the client for the life of the process.
const LONGEST: Duration = Duration::from_secs(3_600);

/// The pauses of all users of a pool, each with the refusal that caused it. They outlive the clients that received the
/// refusals.
#[derive(Default)]
pub(super) struct Backpressure {
    pauses: Mutex<HashMap<PauseKey, Pause>>,
    ended: Notify,
}

/// The status that starts a pause, and the number of the [user](UserKey) with deferred requests.
type PauseKey = (u16, u64);

struct Pause {
    until: Duration,
    refusal: Error,
    /// Keeps the number assigned to this user while the pause lasts.
    _user: UserKey,
}

impl Backpressure {
    /// Starts a pause for the matching user if the error has one of these statuses and a `Retry-After`. Deferred calls fail
    /// with the status only, because the message may concern the user of the refused call.
    pub(super) fn note(&self, clock: &Clock, users: &[(u16, &UserKey)], error: &Error) {
        let wait = error.retry_after().filter(|wait| !wait.is_zero());
        let status = error.http_status();
        let user = users.iter().find(|(starts, _)| status == Some(*starts));
        let (Some(wait), Some((status, user))) = (wait, user) else {
            return;
        };
        let now = clock.monotonic();
        let until = now.saturating_add(wait.min(LONGEST));
        let mut pauses = lock(&self.pauses);
        pauses.retain(|_, pause| pause.until > now);
        let key = (*status, user.number());
        if pauses.get(&key).is_none_or(|known| known.until < until) {
            let pause = Pause {
                until,
                refusal: Error::http(ReplyParts::status_only(*status)),
                _user: UserKey::clone(user),
            };
            pauses.insert(key, pause);
        }
    }

    /// The longest remaining pause of these users, and the refusal that caused it.
    pub(super) fn left(
        &self,
        clock: &Clock,
        users: &[(u16, &UserKey)],
    ) -> Option<(Duration, Error)> {
        let pauses = lock(&self.pauses);
        if pauses.is_empty() {
            return None;
        }
        let now = clock.monotonic();
        users
            .iter()
            .filter_map(|(status, user)| pauses.get(&(*status, user.number())))
            .filter(|pause| pause.until > now)
            .max_by_key(|pause| pause.until)
            .map(|pause| (pause.until.saturating_sub(now), pause.refusal.clone()))
    }

    /// Waits until the pauses of these users end. Fails immediately if that would take longer than the policy allows.
    pub(super) async fn wait(
        &self,
        clock: &Clock,
        users: &[(u16, &UserKey)],
        policy: &RetryPolicy,
    ) -> Result<()> {
        let start = clock.monotonic();
        loop {
            // Register before reading the pause, so that a notification in between is not lost.
            let ended = self.ended.notified();
            let Some((left, refusal)) = self.left(clock, users) else {
                return Ok(());
            };
            let waited = clock.monotonic().saturating_sub(start);
            if policy.next_wait(1, waited, Some(left)).is_none() {
                return Err(refusal.with_retry_after(Some(left)));
            }
            select(pin!(clock.sleep(left)), pin!(ended)).await;
        }
    }

    /// Ends the pauses of these users.
    pub(super) fn end(&self, users: &[(u16, &UserKey)]) {
        let mut pauses = lock(&self.pauses);
        for (status, user) in users {
            pauses.remove(&(*status, user.number()));
        }
        drop(pauses);
        self.ended.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::super::token_user::ALL_USERS;
    use super::*;

    #[test]
    fn a_pause_is_an_hour_at_most_and_does_not_follow_the_calendar() {
        let clock = Clock::manual(SystemTime::UNIX_EPOCH + 100 * LONGEST);
        let busy = Error::http(ReplyParts::status_only(429));
        for (reported, longest) in [(5, 5), (90_000, 3_600), (u64::MAX, 3_600)] {
            let reported = Duration::from_secs(reported);
            let longest = Duration::from_secs(longest);
            let pauses = Backpressure::default();
            let users = [(429, &ALL_USERS)];
            pauses.note(
                &clock,
                &users,
                &busy.clone().with_retry_after(Some(reported)),
            );
            let left = |clock: &Clock| Some(pauses.left(clock, &users)?.0);
            assert_eq!(left(&clock), Some(longest));
            clock.set_wall(clock.now() - LONGEST);
            assert_eq!(left(&clock), Some(longest));
            clock.advance(longest);
            assert_eq!(left(&clock), None);
        }
    }

    /// RFC 9110 section 10.2.3. Requests that were under way together may be refused with different waits.
    #[test]
    fn of_several_refusals_the_one_with_the_latest_end_counts() {
        let clock = Clock::manual(SystemTime::UNIX_EPOCH);
        let pauses = Backpressure::default();
        let users = [(429, &ALL_USERS)];
        for (reported, longest) in [(60, 60), (5, 60), (90, 90), (1, 90)] {
            let busy = Error::http(ReplyParts::status_only(429));
            let busy = busy.with_retry_after(Some(Duration::from_secs(reported)));
            pauses.note(&clock, &users, &busy);
            let (left, _) = pauses.left(&clock, &users).unwrap();
            assert_eq!(left, Duration::from_secs(longest));
        }
    }
}
