//! The loop that sends a request again.

use super::{Budget, Clock, RetryPolicy, Safety};
use crate::error::{Error, Kind};

/// Makes attempts, numbered from 1, until one succeeds or the failure may not be tried again.
///
/// The error that comes back knows how often the request was sent and whether it may have been carried out.
// Not AsyncFnMut: with a closure that borrows, the compiler (1.89) cannot tell that the future is Send.
pub(crate) async fn with_retries<T, F>(
    policy: &RetryPolicy,
    budget: &Budget,
    clock: &Clock,
    safety: Safety,
    mut attempt: impl FnMut(u32) -> F,
) -> Result<T, Error>
where
    F: Future<Output = Result<T, Error>>,
{
    let start = clock.boot();
    let mut number = 1;
    // Of any attempt, not of the last one: a change that is marked as repeatable may be sent again in doubt.
    let mut may_have_applied = false;
    loop {
        let error = match attempt(number).await {
            Ok(value) => {
                budget.give_back();
                return Ok(value);
            }
            Err(error) => error,
        };
        may_have_applied |= safety.may_have_applied(&error);
        let elapsed = clock.boot().saturating_sub(start);
        let wait = Some(&error)
            .filter(|error| safety.allows_retry(error))
            .and_then(|error| policy.next_wait(number, elapsed, error.retry_after()))
            // Last, so that only a retry that is made costs something.
            .filter(|_| budget.take());
        let Some(wait) = wait else {
            let sent = number - u32::from(is_before_sending(&error));
            return Err(error
                .with_attempts(sent)
                .with_may_have_applied(may_have_applied));
        };
        clock.sleep(wait).await;
        number += 1;
    }
}

/// Whether the attempt ended before its request was sent: there was no token, or nothing that could be sent.
fn is_before_sending(error: &Error) -> bool {
    // An attempt that was refused with 401 and got no new token says itself that it was sent.
    error.attempts() == 0 && matches!(error.kind(), Kind::Auth(_) | Kind::Config(_))
}

#[cfg(test)]
mod tests {
    use std::future::ready;
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::error::{Failure, Unsent};

    fn http(status: u16) -> Error {
        Error::new(Kind::Http {
            status,
            media_type: None,
            excerpt: String::new(),
        })
    }

    fn lost() -> Error {
        Error::new(Kind::Transport(Failure {
            what: "lost",
            timeout: false,
            unsent: Unsent::Perhaps,
            refused_locally: false,
        }))
    }

    /// Runs to the end in a task of its own, as lookups do, with waits of no length.
    async fn run(safety: Safety, failures: Vec<Error>) -> Result<u32, Error> {
        tokio::spawn(async move {
            let policy = RetryPolicy::default().base_wait(Duration::ZERO);
            let (budget, clock) = (Budget::default(), Clock::manual(SystemTime::UNIX_EPOCH));
            let mut failures = failures.into_iter();
            with_retries(&policy, &budget, &clock, safety, |number| {
                ready(failures.next().map_or(Ok(number), Err))
            })
            .await
        })
        .await
        .unwrap()
    }

    #[tokio::test]
    async fn a_read_is_made_until_it_succeeds() {
        assert_eq!(
            run(Safety::Repeatable, vec![http(503), lost()])
                .await
                .unwrap(),
            3
        );
    }

    #[tokio::test]
    async fn the_error_counts_the_attempts() {
        let error = run(Safety::Repeatable, vec![http(503); 9])
            .await
            .unwrap_err();
        assert_eq!((error.attempts(), error.may_have_applied()), (4, false));
        let error = run(Safety::Repeatable, vec![Error::config("x")])
            .await
            .unwrap_err();
        assert_eq!(error.attempts(), 0);
    }

    #[tokio::test]
    async fn a_change_that_may_have_been_carried_out_is_not_made_again() {
        let error = run(Safety::Once, vec![lost()]).await.unwrap_err();
        assert_eq!((error.attempts(), error.may_have_applied()), (1, true));
    }

    #[tokio::test]
    async fn the_servers_wish_is_waited_for_on_the_clock() {
        let clock = Clock::manual(SystemTime::UNIX_EPOCH);
        let task = tokio::spawn({
            let clock = clock.clone();
            async move {
                let (policy, budget) = (RetryPolicy::default(), Budget::default());
                with_retries(&policy, &budget, &clock, Safety::Once, |number| {
                    let asked = http(429).with_retry_after(Some(Duration::from_secs(20)));
                    ready(if number == 1 { Err(asked) } else { Ok(number) })
                })
                .await
            }
        });
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        clock.advance(Duration::from_secs(19));
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        assert!(!task.is_finished());
        clock.advance(Duration::from_secs(1));
        assert_eq!(task.await.unwrap().unwrap(), 2);
    }
}
