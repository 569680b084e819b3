//! What a caller gets: a token, an error, or a refresh to wait for.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use super::refresh_task::{Completion, Outcome, RefreshTask};
use super::shared::Shared;
use super::store_check::StoreCheck;
use crate::auth::AccessToken;
use crate::auth::failure::unavailable;
use crate::error::{Error, Result};
use crate::transport::{First, first};

enum Answer {
    Now(Result<AccessToken>),
    After(Completion),
}

/// What is registered under the lock, and started after it is released.
enum Start {
    Refresh(RefreshTask),
    Check(StoreCheck),
}

impl Start {
    fn go(self) -> Result<()> {
        match self {
            Self::Refresh(task) => task.go()?,
            Self::Check(check) => check.go(),
        }
        Ok(())
    }
}

impl Shared {
    /// The current token, if nothing at all is to be done about it.
    pub(super) fn fresh(&self) -> Option<AccessToken> {
        self.read_fresh(AccessToken::clone)
    }

    /// As [`fresh`](Self::fresh), without a copy: a count that all threads write to is what readers wait for.
    pub(super) fn read_fresh<T>(&self, read: impl FnOnce(&AccessToken) -> T) -> Option<T> {
        let snapshot = self.snapshot.load();
        let snapshot = snapshot.as_ref()?;
        snapshot
            .is_settled(self.now())
            .then(|| read(&snapshot.token))
    }

    /// A token, waited for if need be; another one than the generation that the server rejected.
    pub(super) async fn obtain(self: &Arc<Self>, rejected: Option<u64>) -> Result<AccessToken> {
        let give_up = self.clock().boot().saturating_add(self.policy.wait);
        loop {
            let (answer, start) = self.decide(rejected);
            // After the lock is released: a runtime that shuts down drops the task right here.
            if let Some(start) = start {
                start.go()?;
            }
            let mut completion = match answer {
                Answer::Now(result) => return result,
                Answer::After(completion) => completion,
            };
            let left = give_up.saturating_sub(self.clock().boot());
            let arrived = pin!(completion.wait_for(Option::is_some));
            let outcome = match first(arrived, self.clock().sleep(left)).await {
                First::Left(outcome) => outcome.ok().and_then(|outcome| outcome.clone()),
                First::Right(()) => {
                    return Err(unavailable(
                        "the refresh takes longer than the caller waits",
                    ));
                }
            };
            match outcome {
                Some(Outcome::Token(token)) => return Ok(token),
                Some(Outcome::Failed(error)) => return Err(error),
                // Somebody logged in or out meanwhile: ask again under the new circumstances.
                Some(Outcome::Superseded) => {}
                None => return Err(unavailable("the refresh was cut off")),
            }
        }
    }

    fn decide(self: &Arc<Self>, rejected: Option<u64>) -> (Answer, Option<Start>) {
        let now = self.now();
        let mut state = self.state();
        let snapshot = self.snapshot.load();
        let usable = snapshot.as_ref().filter(|snapshot| snapshot.is_usable(now));
        let refused = usable.is_some_and(|usable| rejected == Some(usable.generation()));
        if let Some(usable) = usable.filter(|_| !refused) {
            let idle = state.refresh.is_none()
                && state.dead.is_none()
                && state.pause(now.boot).is_none()
                && !state.closed;
            let launch = self.policy.background && usable.is_due(now) && idle;
            let start = if launch {
                let task = RefreshTask::new(self, &mut state, Some(usable.generation()));
                usable.attend(true);
                Some(Start::Refresh(task))
            } else if usable.is_check_due(now) {
                let next = now.boot.saturating_add(self.policy.store_check);
                self.snapshot
                    .store(Some(Arc::new(usable.with_next_check(next))));
                let idle = !state.checking && !state.closed;
                idle.then(|| Start::Check(StoreCheck::new(self, &mut state)))
            } else {
                None
            };
            return (Answer::Now(Ok(usable.token.clone())), start);
        }
        if let Some((_, completion)) = &state.refresh {
            return (Answer::After(completion.clone()), None);
        }
        if state.closed {
            let error = unavailable("the token manager was shut down");
            return (Answer::Now(Err(error)), None);
        }
        if let Some(error) = state.pause(now.boot) {
            return (Answer::Now(Err(error)), None);
        }
        if refused {
            let too_soon = |at: Duration| now.boot < at.saturating_add(self.policy.between_forced);
            if state.forced_at.is_some_and(too_soon) {
                let error = unavailable("a token that was just renewed was refused as well");
                return (Answer::Now(Err(error)), None);
            }
            state.forced_at = Some(now.boot);
        }
        // Also when the tokens are dead: somebody may have logged in in another process.
        let task = RefreshTask::new(self, &mut state, rejected.filter(|_| refused));
        (Answer::After(task.completion()), Some(Start::Refresh(task)))
    }
}

impl super::shared::State {
    /// The failure that stands for now.
    pub(super) fn pause(&self, boot: Duration) -> Option<Error> {
        let pause = self.pause.as_ref().filter(|pause| boot < pause.until)?;
        Some(pause.error.clone())
    }
}
