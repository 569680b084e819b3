//! The time between two logins or logouts, and what a task may change within it.

use std::pin::pin;
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use futures_util::future::{Either, select};

use super::Event;
use super::shared::{Shared, StoreRead};
use super::state::{CachedTokens, ForeignMark, RefreshPause, State, Stop};
use crate::auth::failure::{no_tokens, reauth};
use crate::auth::{AccessToken, Record, StoreError, TokenSet, Version, Versioned};
use crate::error::Error;

/// A response must not pause the manager for longer.
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(3_600);

/// The epoch in which a task was started. When it is over the task changes nothing: its state, tokens and failures belong
/// to a session that has ended.
#[derive(Clone)]
pub(super) struct Epoch {
    pub(super) shared: Arc<Shared>,
    number: u64,
}

impl Epoch {
    pub(super) fn current(shared: &Arc<Shared>, state: &State) -> Self {
        Self {
            shared: shared.clone(),
            number: state.epoch,
        }
    }

    /// Ends the current epoch and starts the next.
    pub(super) fn begin(shared: &Arc<Shared>, state: &mut State) -> Self {
        state.epoch += 1;
        state.refresh = None;
        state.dead = None;
        state.pause = None;
        state.failures = 0;
        state.forced_at = None;
        state.foreign_mark = None;
        state.abandoned = None;
        shared.epoch_ended.notify_waiters();
        Self::current(shared, state)
    }

    /// The state, unless the epoch is over.
    pub(super) fn state(&self) -> Result<MutexGuard<'_, State>, Stop> {
        let state = self.shared.state();
        if state.epoch == self.number {
            Ok(state)
        } else {
            Err(Stop::Superseded)
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.state().is_err()
    }

    /// Waits until the epoch is over.
    pub(super) async fn ended(&self) {
        loop {
            // Registered before the check, so that no change in between is missed.
            let mut ended = pin!(self.shared.epoch_ended.notified());
            ended.as_mut().enable();
            if self.is_over() {
                return;
            }
            ended.await;
        }
    }

    /// Waits for a future, unless the epoch ends first.
    pub(super) async fn run<T>(&self, work: impl Future<Output = T>) -> Result<T, Stop> {
        match select(pin!(work), pin!(self.ended())).await {
            Either::Left((done, _)) => Ok(done),
            Either::Right(_) => Err(Stop::Superseded),
        }
    }

    /// Identifies the refresh marks of this epoch; those of earlier ones count as foreign.
    pub(super) fn owner(&self) -> u64 {
        self.shared.id.wrapping_add(self.number)
    }

    pub(super) fn cached(&self) -> Result<CachedTokens, Stop> {
        let cached = self.state()?.cached.clone();
        cached.ok_or_else(|| no_tokens().into())
    }

    /// Brings memory in line with the store. Other processes may have renewed the tokens, logged the user out, or another
    /// one in.
    pub(super) fn reconcile(&self, read: StoreRead) -> Result<(), Stop> {
        let mut state = self.state()?;
        if read.writes != state.writes {
            // A read that began before a write of this manager is out of date.
            return Ok(());
        }
        match read.stored {
            None => self.without_record(&mut state),
            Some(stored) => self.with_record(&mut state, stored),
        }
    }

    fn without_record(&self, state: &mut State) -> Result<(), Stop> {
        state.foreign_mark = None;
        state.login.get_or_insert_default();
        if let Some(error) = &state.dead {
            return Err(Stop::Failed(error.clone()));
        }
        match &state.cached {
            // These tokens are not stored yet.
            Some(cached) if cached.version.is_none() => return Ok(()),
            Some(_) => {
                state.cached = None;
                state.account = None;
                self.shared.snapshot.store(None);
                self.shared.emit(Event::LoggedOut { elsewhere: true });
            }
            None => {}
        }
        Err(no_tokens().into())
    }

    fn with_record(&self, state: &mut State, stored: Versioned) -> Result<(), Stop> {
        let Versioned { version, record } = stored;
        let owner = record.refresh_mark.map(|mark| mark.owner);
        let is_foreign = owner.is_some_and(|owner| owner != Some(self.owner()));
        if let Some(cached) = &mut state.cached {
            let same = same_tokens(&cached.tokens, &record.tokens);
            if same || replaces(cached, &record) {
                cached.version = Some(version);
                if same && cached.saved && owner.is_none() {
                    // The owner cleared its mark: the refresh token was not used.
                    cached.possibly_used = false;
                }
                cached.possibly_used |= same && is_foreign;
                self.note_mark(state, version, same && is_foreign);
                return match &state.dead {
                    Some(error) => Err(Stop::Failed(error.clone())),
                    None => Ok(()),
                };
            }
        }
        if state.cached.is_none() && state.deletion.strong_count() > 0 {
            // The user has logged out here, and the record is still there.
            return Err(no_tokens().into());
        }
        let generation = record.tokens.generation;
        let is_new_login = state.note_login(&record.tokens);
        // Tokens of another user are served only after a login or logout in this manager.
        let other = |account: &String| record.tokens.subject.as_ref().is_some_and(|s| s != account);
        if state.account.as_ref().is_some_and(other) {
            state.cached = None;
            self.shared.snapshot.store(None);
            if is_new_login {
                self.shared.emit(Event::UserReplaced { generation });
            }
            let reason = "another user has logged in under the account's key";
            return Err(self.declare_dead(state, reauth(reason)));
        }
        self.note_mark(state, version, is_foreign);
        if let Some(ended) = record.ended {
            if let Some(cached) = &mut state.cached {
                // The current access token is served until it expires.
                cached.version = Some(version);
                cached.saved = true;
            }
            return Err(self.declare_dead(state, reauth(ended.reason())));
        }
        let is_first = state.cached.is_none();
        let cached = CachedTokens {
            tokens: Arc::new(record.tokens),
            version: Some(version),
            saved: true,
            possibly_used: owner.is_some(),
            base: None,
        };
        self.shared.publish(state, cached)?;
        state.pause = None;
        state.failures = 0;
        if is_new_login {
            tracing::debug!(generation, "a login in another process");
            self.shared.emit(Event::LoggedIn {
                generation,
                elsewhere: true,
            });
        } else if !is_first {
            tracing::debug!(generation, "tokens of another process adopted");
            self.shared.emit(Event::Adopted { generation });
        }
        Ok(())
    }

    /// Remembers since when this version of the record is read with the mark of another process.
    fn note_mark(&self, state: &mut State, version: Version, is_foreign: bool) {
        if !is_foreign {
            state.foreign_mark = None;
        } else if state
            .foreign_mark
            .is_none_or(|mark| mark.version != version)
        {
            let since = self.shared.clock().monotonic();
            state.foreign_mark = Some(ForeignMark { version, since });
        }
    }

    fn declare_dead(&self, state: &mut State, error: Error) -> Stop {
        if state.dead.replace(error.clone()).is_none() {
            let error = error.clone();
            self.shared.emit(Event::ReauthRequired { error });
        }
        Stop::Failed(error)
    }

    /// Stores the cached tokens. The inner error is the store's; the outer one means that the tokens are obsolete.
    pub(super) async fn save(&self) -> Result<Result<(), StoreError>, Stop> {
        let mut last = StoreError::new("the record keeps changing");
        for _ in 0..3 {
            let cached = self.cached()?;
            if cached.saved {
                return Ok(Ok(()));
            }
            let record = Record::new(cached.tokens.as_ref().clone());
            match self.shared.swap(cached.version, &record).await {
                Ok(Some(version)) => {
                    let mut state = self.state()?;
                    state.foreign_mark = None;
                    if let Some(cached) = &mut state.cached {
                        cached.version = Some(version);
                        cached.saved = true;
                        cached.base = None;
                    }
                    return Ok(Ok(()));
                }
                // Another process has written in between, and its record decides.
                Ok(None) => match self.shared.load().await {
                    Ok(read) => self.reconcile(read)?,
                    Err(error) => last = error,
                },
                Err(error) => last = error,
            }
        }
        Ok(Err(last))
    }

    /// Serves the cached tokens from now on.
    pub(super) fn publish_cached(&self) -> Result<AccessToken, Stop> {
        let mut state = self.state()?;
        let Some(cached) = state.cached.clone() else {
            return Err(no_tokens().into());
        };
        let current = self
            .shared
            .snapshot
            .load()
            .as_ref()
            .map(|snapshot| snapshot.token.clone());
        match current {
            // Compares generations: a provider may issue the same access token again, with a new lifetime.
            Some(token) if token.generation() == cached.tokens.generation => Ok(token),
            _ => Ok(self.shared.publish(&mut state, cached)?.token.clone()),
        }
    }

    /// The refresh token is dead. The current access token is served until it expires.
    pub(super) fn give_up(&self, error: Error) -> Stop {
        let Ok(mut state) = self.state() else {
            return Stop::Superseded;
        };
        if let Some(cached) = &mut state.cached {
            // Nothing is left in them to be stored.
            cached.saved = true;
        }
        tracing::debug!("the refresh token is dead");
        self.declare_dead(&mut state, error)
    }

    /// Remembers a failure, so that callers do not queue for the next one. The pause is at least `floor`.
    pub(super) fn fail(&self, error: Error, floor: Duration) -> Stop {
        let Ok(mut state) = self.state() else {
            return Stop::Superseded;
        };
        state.failures = state.failures.saturating_add(1);
        let wait = backoff(state.failures).max(floor.min(LONGEST_RETRY_AFTER));
        let now = self.shared.now();
        let retry_at = now.wall + wait;
        let error = error.with_retry_at(Some(retry_at));
        state.pause = Some(RefreshPause {
            until: now.monotonic.saturating_add(wait),
            error: error.clone(),
        });
        tracing::debug!(failures = state.failures, wait = ?wait, "refresh failed: {error}");
        let reason = error.clone();
        self.shared.emit(Event::RefreshFailed {
            error: reason,
            retry_at,
        });
        Stop::Failed(error)
    }

    pub(super) fn store_failed(&self, error: StoreError) -> Stop {
        self.fail(error.into(), Duration::ZERO)
    }
}

/// 1 s, 2 s, 4 s ... 5 min, and up to a fifth more.
pub(super) fn backoff(failures: u32) -> Duration {
    let seconds = 1_u64 << failures.saturating_sub(1).min(16);
    Duration::from_secs(seconds.min(300)).mul_f64(1.0 + 0.2 * fastrand::f64())
}

/// Compares the generation as well: a provider may issue the same tokens again, with a new lifetime.
fn same_tokens(a: &TokenSet, b: &TokenSet) -> bool {
    let same_access = a.access_token.matches(b.access_token.expose());
    a.generation == b.generation && same_access && same_refresh_token(a, b)
}

fn same_refresh_token(a: &TokenSet, b: &TokenSet) -> bool {
    let token = |set: &TokenSet| set.refresh_token.clone().unwrap_or_default();
    token(a).matches(token(b).expose())
}

/// Whether cached tokens that are not stored yet belong in the place of this record.
fn replaces(cached: &CachedTokens, record: &Record) -> bool {
    let stored = &record.tokens;
    match &cached.base {
        _ if cached.saved => false,
        // The tokens of a login replace any earlier record.
        None => stored.generation <= cached.tokens.generation,
        // The tokens of a refresh replace those from which they were made, and never a later login elsewhere.
        Some(base) => {
            let unused = record.ended.is_some() || same_refresh_token(stored, base);
            stored.generation == base.generation && unused
        }
    }
}
