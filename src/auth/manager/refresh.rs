//! One refresh, in its own task: lock, read, wait for foreign marks, mark, send, store, publish, release.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::future::{Either, select};
use tokio::sync::watch;
use tracing::Instrument;

use super::decide::{
    After, CLAIM_PERIOD, Failed, IN_FLIGHT, Lock, POLL_INTERVAL, RefreshProgress, RefreshStep,
    after, foreign_mark, next,
};
use super::memory::{CachedTokens, Completion, ForeignMark, State, Stop};
use super::refresh_transaction::{RefreshTransaction, save_or_report};
use super::report::Event;
use super::shared::{Session, Shared, StoreRead};
use crate::auth::endpoint::{self, Issued, Refusal};
use crate::auth::failure::reauth;
use crate::auth::id_token::ExpectedIdToken;
use crate::auth::store::{Ended, StoredMark};
use crate::auth::{AccessToken, Provider, Record, StoreError, StoreErrorKind, TokenSet, Version};
use crate::error::Result;

/// If more time passes between reading or marking the record and sending, read the record again: another process may have
/// replaced the mark. Much shorter than the wait for a mark.
const STALE: Duration = Duration::from_secs(10);

/// Starts a refresh that no caller can cancel. `replaces` is the generation to replace; with `None`, any usable token is a
/// result.
pub(super) fn start(
    shared: &Arc<Shared>,
    state: &mut State,
    replaces: Option<u64>,
) -> Result<Completion> {
    let (result, completion) = watch::channel(None);
    let session = Session::current(shared, state);
    let task = async move {
        let refresh = Refresh { session, replaces };
        // Boxed, so that the large future is allocated and freed next to its tokens. With many idle accounts, the gaps it left
        // otherwise took a third of the memory.
        let outcome = Box::pin(refresh.run()).await;
        if let Err(Stop::Failed(error)) = &outcome {
            refresh.session.shared.note_failure(error);
        }
        if let Ok(mut state) = refresh.session.state() {
            // Cleared before the result is sent: a woken caller must not find a refresh that has ended.
            state.refreshes.refresh = None;
            if outcome.is_err() {
                // Nothing was renewed, so the next refused token may start another refresh.
                state.refreshes.forced_at = None;
            }
        }
        result.send_replace(Some(outcome));
    };
    let span = tracing::debug_span!("token_refresh");
    // OK under the state lock: if the runtime has ended, it drops the task before it starts.
    shared.spawn(task.instrument(span))?;
    state.refreshes.refresh = Some(completion.clone());
    Ok(completion)
}

struct Refresh {
    session: Session,
    replaces: Option<u64>,
}

impl Refresh {
    async fn run(&self) -> Result<AccessToken, Stop> {
        // If tokens are cached they need refreshing, so skip the unlocked read.
        let needs_read = {
            let state = self.session.state()?;
            state.cached.is_none() || state.refreshes.dead.is_some()
        };
        if needs_read && let Some(token) = self.read_store().await? {
            return Ok(token);
        }
        let shared = &self.session.shared;
        let clock = shared.clock();
        let wait = shared.policy.timing.lock_wait;
        let until = clock.monotonic().saturating_add(wait);
        let left = || until.saturating_sub(clock.monotonic());
        let mark_ends = self.mark_ends();
        let mut transaction = None;
        let mut last = StoreError::lock_timeout();
        let mut progress = RefreshProgress {
            lock: Lock::Untaken,
            has_saved: false,
            claim: None,
        };
        loop {
            let step = next(
                &*self.session.state()?,
                progress,
                mark_ends,
                clock.monotonic(),
            );
            match step {
                RefreshStep::Lock => {
                    drop(transaction.take());
                    let locked = RefreshTransaction::begin_and_load(shared, left());
                    let (begun, lock, read) = match self.session.run(locked).await? {
                        Ok(locked) => locked,
                        Err(error) if error.kind() == StoreErrorKind::LockTimeout => {
                            // A process that hangs with the lock may have renewed the tokens before.
                            let token = self.read_store().await?;
                            self.session.state()?.refreshes.foreign_mark = None;
                            return token.ok_or_else(|| error.into());
                        }
                        Err(error) => return Err(self.session.store_failed(error)),
                    };
                    transaction = Some(begun);
                    (progress.lock, progress.claim) = (lock, None);
                    // The previous holder of the lock may have renewed the tokens.
                    self.session.reconcile(read)?;
                }
                RefreshStep::Save => {
                    // Tokens that an earlier refresh could not store take precedence over new ones.
                    progress.has_saved = true;
                    if self.session.save().await?.is_ok() {
                        self.session.publish_cached()?;
                    }
                }
                RefreshStep::Wait => {
                    // When the lock wait ends, the caller gets a lock time-out, and the next call continues the same wait.
                    drop(transaction.take());
                    progress.lock = Lock::Left;
                    if left().is_zero() {
                        return Err(last.into());
                    }
                    let pause = clock.sleep(POLL_INTERVAL.min(left()));
                    self.session.run(pause).await?;
                    match self.session.run(shared.load()).await? {
                        Ok(read) => {
                            self.session.reconcile(read)?;
                            last = StoreError::lock_timeout();
                        }
                        Err(error) => last = error,
                    }
                }
                RefreshStep::Claim => {
                    // The write also proves that the store is writable.
                    let cached = self.session.cached()?;
                    let mark = self.session.state()?.refreshes.foreign_mark;
                    match self.rewrite(&cached, Some(self.mark(&cached, None))).await {
                        Ok(Some(version)) => {
                            progress.claim = Some((version, 0));
                            // If the task is interrupted, the next call resumes here.
                            let mark = mark.map(|mark| ForeignMark { version, ..mark });
                            self.session.state()?.refreshes.foreign_mark = mark;
                        }
                        Ok(None) => progress.lock = Lock::Untaken,
                        Err(error) => return Err(self.session.store_failed(error)),
                    }
                }
                RefreshStep::Watch => {
                    self.session.run(clock.sleep(POLL_INTERVAL)).await?;
                    let version = self.session.cached()?.version;
                    let read = self.session.run(self.load()).await??;
                    if read.stored.as_ref().map(|stored| stored.version) != version {
                        progress.lock = Lock::Untaken;
                        self.session.reconcile(read)?;
                    } else if let Some((_, reads)) = &mut progress.claim {
                        *reads += 1;
                    }
                }
                RefreshStep::Send => return self.mark_and_send(transaction).await,
            }
            if let Some(token) = self.usable_token() {
                return Ok(token);
            }
        }
    }

    fn usable_token(&self) -> Option<AccessToken> {
        self.session.shared.usable_token(self.replaces)
    }

    async fn load(&self) -> Result<StoreRead, Stop> {
        let read = self.session.shared.load().await;
        read.map_err(|error| self.session.store_failed(error))
    }

    /// Reads the store. Returns the current token if it is a result.
    async fn read_store(&self) -> Result<Option<AccessToken>, Stop> {
        self.session.reconcile(self.load().await?)?;
        Ok(self.usable_token())
    }

    /// How long to wait before replacing the mark of another process.
    fn mark_ends(&self) -> Option<Duration> {
        let shared = &self.session.shared;
        let provider = &shared.provider.0;
        let signing = provider.authentication.signing_limit();
        let wait = shared.policy.timing.wait_at_mark(provider.timeout, signing);
        (!shared.store.lock_survives_faults()).then(|| wait.saturating_sub(CLAIM_PERIOD))
    }

    fn mark(&self, cached: &CachedTokens, owner: Option<u64>) -> StoredMark {
        StoredMark {
            generation: cached.tokens.generation,
            at: self.session.shared.clock().now(),
            owner,
        }
    }

    /// Rewrites the record of the cached tokens, with this mark or without one; `None` if another process has changed it,
    /// because it took a lost lock, or logged in or out without the lock.
    async fn rewrite(
        &self,
        cached: &CachedTokens,
        mark: Option<StoredMark>,
    ) -> Result<Option<Version>, StoreError> {
        let shared = &self.session.shared;
        let mut record = Record::new(cached.tokens.as_ref().clone());
        record.refresh_mark = mark;
        let version = shared.swap(cached.version, record).await?;
        if let (Some(_), Ok(mut state)) = (version, self.session.state()) {
            state.refreshes.foreign_mark = None;
            if let Some(cached) = &mut state.cached {
                cached.version = version;
            }
        }
        Ok(version)
    }

    /// Called before each request, because a lock that can be lost proves nothing. Checks that the record was read or marked
    /// just now, after `began`, and has no foreign mark.
    fn check_unmarked(&self, began: Duration) -> Result<(), Stop> {
        let passed = self
            .session
            .shared
            .clock()
            .monotonic()
            .saturating_sub(began);
        let mark_ends = self.mark_ends();
        let is_marked = foreign_mark(&*self.session.state()?, mark_ends).is_some();
        if mark_ends.is_some() && (passed > STALE || is_marked) {
            return Err(StoreError::lock_timeout().into());
        }
        Ok(())
    }

    async fn mark_and_send(
        &self,
        mut transaction: Option<RefreshTransaction>,
    ) -> Result<AccessToken, Stop> {
        let shared = &self.session.shared;
        let clock = shared.clock();
        let mut began = clock.monotonic();
        let mut cached = self.session.cached()?;
        if cached.saved && cached.tokens.refresh_token.is_some() {
            // If this process exits before the reply is stored, the token may be used up. After a lost first reply, the token
            // is marked again, which restarts the wait of other processes.
            let mark = self.mark(&cached, Some(self.session.owner));
            let marked = self.rewrite(&cached, Some(mark)).await;
            let marked = marked.and_then(|it| it.ok_or_else(StoreError::lock_timeout));
            // Send nothing while the store is not writable: the reply could not be stored.
            cached.version = Some(marked.map_err(|error| self.session.store_failed(error))?);
        }
        // Only the first of consecutive failures is repeated immediately, so that an outage does not double the requests.
        let mut may_repeat = self.session.state()?.refreshes.failures == 0;
        loop {
            self.check_unmarked(began)?;
            if cached.tokens.refresh_token.is_none() {
                return Err(self.session.give_up(reauth("there is no refresh token")));
            }
            let sent = shared.now();
            let refusal = match self.send(&cached, &mut transaction).await? {
                Ok(issued) => return self.accept(&cached, issued, sent.wall).await,
                Err(refusal) => refusal,
            };
            let is_ambiguous = refusal.class.is_ambiguous();
            let provider = &shared.provider.0;
            let failed = Failed {
                may_repeat,
                elapsed: clock.monotonic().saturating_sub(sent.monotonic),
                // The request is sent after its assertion is signed.
                in_flight: IN_FLIGHT + provider.authentication.signing_limit(),
                overlap: provider.rotation_overlap,
            };
            let short = Duration::from_secs(1).mul_f64(1.0 + fastrand::f64());
            let after = after(&refusal, &failed, short);
            if let Some(token) = refusal.salvaged {
                // A reply that cannot be decoded completely may contain the only copy of the new refresh token.
                let mut tokens = cached.tokens.as_ref().clone();
                tokens.refresh_token = Some(token);
                self.session.state()?.replace_tokens(&cached, tokens);
                // OK to ignore: storing is retried, and the lock is kept until then.
                let _ = save_or_report(&self.session).await?;
                cached = self.session.cached()?;
            } else if is_ambiguous {
                cached.possibly_used = true;
                if let Some(cached) = &mut self.session.state()?.cached {
                    cached.possibly_used = true;
                }
            }
            match after {
                After::End => {
                    // Another process may have stored a newer one.
                    if let Some(token) = self.read_store().await? {
                        return Ok(token);
                    }
                    let was_lost = cached.possibly_used;
                    let ended = if was_lost {
                        Ended::AnswerLost
                    } else {
                        Ended::Refused
                    };
                    return self.end_session(&cached, ended).await;
                }
                After::Fail { pause, in_flight } => {
                    if is_ambiguous {
                        // The next holder of the lock sends immediately.
                        self.session.run(clock.sleep(in_flight)).await?;
                    } else if !cached.possibly_used && cached.saved {
                        // The reply proves that the token was not used. OK to ignore: a superfluous mark costs one early
                        // refresh.
                        let _ = self.rewrite(&cached, None).await;
                    }
                    return Err(self.session.fail(refusal.error, pause));
                }
                After::Repeat(wait) => {
                    may_repeat = false;
                    tracing::debug!("the reply to a refresh was lost");
                    shared.emit(Event::RotationAmbiguous);
                    self.session.run(clock.sleep(wait)).await?;
                    began = clock.monotonic();
                    if let Some(token) = self.read_store().await? {
                        return Ok(token);
                    }
                }
            }
        }
    }

    /// Sends the refresh token. If the session ends meanwhile, another task waits for the reply and discards it.
    async fn send(
        &self,
        cached: &CachedTokens,
        transaction: &mut Option<RefreshTransaction>,
    ) -> Result<Result<Issued, Refusal>, Stop> {
        let shared = self.session.shared.clone();
        let tokens = cached.tokens.clone();
        let mut reply = Box::pin(async move {
            let token = tokens.refresh_token.clone().unwrap_or_default();
            endpoint::refresh(&shared.provider, &token).await
        });
        let ended = pin!(self.session.ended());
        if let Either::Left((reply, _)) = select(reply.as_mut(), ended).await {
            return Ok(reply);
        }
        drop(transaction.take());
        let shared = self.session.shared.clone();
        self.session.shared.spawn(async move {
            if let Ok(issued) = reply.await {
                shared.discard(issued.refresh_token.as_ref()).await;
            }
        })?;
        Err(Stop::Superseded)
    }

    /// Stores the issued tokens, then publishes them.
    async fn accept(
        &self,
        old: &CachedTokens,
        mut issued: Issued,
        sent_at: SystemTime,
    ) -> Result<AccessToken, Stop> {
        let shared = &self.session.shared;
        let subject = issued.subject();
        if subject.is_some() && old.tokens.subject.is_some() && subject != old.tokens.subject {
            // Unused tokens must not stay valid. OK in a task: the error of the refresh is reported.
            let unused = shared.clone();
            shared.spawn(async move {
                unused.revoke_unused(issued.refresh_token.as_ref()).await;
            })?;
            return self.end_session(old, Ended::AnotherUser).await;
        }
        drop_invalid_id_token(&shared.provider, &mut issued);
        let lifetime = shared.provider.0.default_lifetime;
        let tokens = issued.into_set(Some(&old.tokens), sent_at, lifetime);
        let new = tokens.refresh_token.clone();
        let stored = self.store(old, tokens).await;
        if stored.is_err() {
            // Revokes the tokens if the user was logged out meanwhile; otherwise they are still cached.
            shared.discard(new.as_ref()).await;
        }
        let token = stored?;
        let generation = token.generation();
        tracing::debug!(generation, "tokens renewed");
        shared.emit(Event::Refreshed { generation });
        Ok(token)
    }

    async fn store(&self, old: &CachedTokens, tokens: TokenSet) -> Result<AccessToken, Stop> {
        {
            let mut state = self.session.state()?;
            state.replace_tokens(old, tokens);
            state.refreshes.pause = None;
            state.refreshes.failures = 0;
        }
        let failed = save_or_report(&self.session).await?;
        match failed.filter(|_| self.session.shared.policy.strict) {
            Some(error) => Err(error.into()),
            None => self.session.publish_cached(),
        }
    }

    /// Stores the reason instead of the tokens, so that every process reports it.
    async fn end_session(&self, failed: &CachedTokens, ended: Ended) -> Result<AccessToken, Stop> {
        let shared = &self.session.shared;
        let record = Record::ended(&failed.tokens, ended);
        let current = self.session.state()?.cached.clone();
        let version = current.map_or(failed.version, |cached| cached.version);
        // Replaces only the record that failed, because another process may be storing its own.
        match shared.swap(version, record).await {
            Ok(Some(version)) => {
                if let Some(cached) = &mut self.session.state()?.cached {
                    cached.version = Some(version);
                }
            }
            Ok(None) => {
                if let Some(token) = self.read_store().await? {
                    return Ok(token);
                }
            }
            Err(error) => shared.emit(Event::PersistFailed {
                error: error.into(),
            }),
        }
        Err(self.session.give_up(reauth(ended.reason())))
    }
}

/// Removes an id token that fails its checks. It is optional here (OIDC Core 12.2), so the one from the login is kept. Its user
/// was compared before. As no authorization request asked for it, it is checked without a nonce, otherwise as in a login.
fn drop_invalid_id_token(provider: &Provider, issued: &mut Issued) {
    if let Some(id_token) = &issued.id_token
        && let now = issued.server_time_or(provider.clock())
        && let Err(error) = provider.check_id_token(id_token, &ExpectedIdToken::default(), now)
    {
        // Logs only the code, because the source may be an error of the application.
        let reason = error.code().unwrap_or("unreadable");
        tracing::warn!(reason, "the id token of a refresh is not kept");
        issued.id_token = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::manager::decide::CLAIM_READS;

    #[test]
    fn the_reads_take_the_claim_period() {
        assert_eq!(POLL_INTERVAL * CLAIM_READS, CLAIM_PERIOD);
    }
}
