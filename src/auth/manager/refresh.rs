//! One refresh, in its own task: lock, read, mark, send, store, publish.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::future::{Either, select};
use tokio::sync::watch;
use tracing::Instrument;

use super::decide::{After, Failed, RefreshStep, after, next};
use super::foreign_mark;
use super::memory::{CachedTokens, Completion, State, Stop};
use super::refresh_transaction::{RefreshAttempt, RefreshTransaction, save_or_report};
use super::report::Event;
use super::shared::{Session, Shared};
use crate::auth::endpoint::{self, Issued, Refusal};
use crate::auth::failure::reauth;
use crate::auth::id_token::ExpectedIdToken;
use crate::auth::store::Ended;
use crate::auth::{AccessToken, Provider, Record, StoreError, StoreErrorKind, TokenSet, Version};
use crate::error::Result;
use crate::transport::ClockReading;

/// How long a request that timed out may still be under way: as long as servers and proxies wait for each other.
const IN_FLIGHT: Duration = Duration::from_secs(30);

/// Starts a refresh that no caller can cancel. `replaces` is the generation to replace; with `None`, any usable token is a
/// result.
pub(super) fn start(
    shared: &Arc<Shared>,
    state: &mut State,
    replaces: Option<u64>,
) -> Result<Completion> {
    let (result, completion) = watch::channel(None);
    let session = Session::current(shared, state);
    let work = async move {
        let task = RefreshTask { session, replaces };
        // Boxed, so that the large future is allocated and freed next to its tokens. With many idle accounts, the gaps it left
        // otherwise took a third of the memory.
        let outcome = Box::pin(task.refresh()).await;
        if let Err(Stop::Failed(error)) = &outcome {
            task.session.shared.note_failure(error);
        }
        if let Ok(mut state) = task.session.state() {
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
    shared.spawn(work.instrument(span))?;
    state.refreshes.refresh = Some(completion.clone());
    Ok(completion)
}

struct RefreshTask {
    session: Session,
    /// The generation to replace; with `None`, any usable token is a result.
    replaces: Option<u64>,
}

/// What follows a request that returned no tokens.
enum Recovery {
    /// Send the token again. The record was read at this time.
    Repeat { read_at: Duration },
    /// Another process has renewed the tokens.
    Found(AccessToken),
}

impl RefreshTask {
    /// Renews the tokens, or returns tokens that another process has renewed. Only a store whose lock can be lost needs the
    /// calls to [`foreign_mark`]; with a memory or file store, the first decision is to send, or to save earlier tokens.
    async fn refresh(&self) -> Result<AccessToken, Stop> {
        let session = &self.session;
        let shared = &session.shared;
        let clock = shared.clock();
        // Without tokens to refresh, those in the store may be usable. Reading them needs no lock.
        if session.state()?.needs_read()
            && let Some(token) = self.read_store().await?
        {
            return Ok(token);
        }

        // Lock, and read the record under the lock.
        let can_lose_lock = !shared.store.lock_survives_faults();
        let mark_ends = can_lose_lock.then(|| foreign_mark::wait_before_claim(shared));
        let mut attempt = RefreshAttempt::begin(shared);
        let mut found = self.lock_and_read(&mut attempt).await?;

        // Decide, until the refresh token may be sent, or another process has renewed it.
        loop {
            if let Some(token) = found {
                return Ok(token);
            }
            let now = clock.monotonic();
            let step = next(&*session.state()?, attempt.progress, mark_ends, now);
            found = match step {
                RefreshStep::Lock => self.lock_and_read(&mut attempt).await?,
                RefreshStep::Save => self.save_earlier(&mut attempt).await?,
                RefreshStep::AtMark(step) => {
                    foreign_mark::take_step(step, session, &mut attempt).await?;
                    self.usable_token()
                }
                RefreshStep::Send => break,
            };
        }

        // Mark the record, so that a crash before the reply is stored is known: the token may then be used up.
        let mut checked_at = clock.monotonic();
        let mut cached = session.cached()?;
        if cached.saved && cached.tokens.refresh_token.is_some() {
            cached.version = Some(self.mark(&cached).await?);
        }

        // Send. Only the first of consecutive failures is repeated immediately, so that an outage does not double the requests.
        let mut may_repeat = session.state()?.refreshes.failures == 0;
        let (issued, sent) = loop {
            if session.is_over() {
                return Err(Stop::Superseded);
            }
            if let Some(mark_ends) = mark_ends {
                foreign_mark::check_before_sending(session, mark_ends, checked_at)?;
            }
            if cached.tokens.refresh_token.is_none() {
                return Err(session.give_up(reauth("there is no refresh token")));
            }
            let sent = shared.now();
            let refusal = match self.send(&cached, &mut attempt.transaction).await? {
                Ok(issued) => break (issued, sent),
                Err(refusal) => refusal,
            };
            match self.recover(&mut cached, refusal, sent, may_repeat).await? {
                Recovery::Repeat { read_at } => checked_at = read_at,
                Recovery::Found(token) => return Ok(token),
            }
            may_repeat = false;
        };
        if is_of_another_user(&issued, &cached.tokens) {
            return self.refuse(&cached, issued).await;
        }

        // Store the new tokens, then publish them.
        let tokens = self.successors(&cached, issued, sent.wall);
        let refresh_token = tokens.refresh_token.clone();
        let stored = self.store(&cached, tokens).await;
        let published = stored.and_then(|()| session.publish_cached());
        if published.is_err() {
            // Revokes the tokens if the user was logged out meanwhile; otherwise they are still cached.
            shared.discard(refresh_token.as_ref()).await;
        }
        published.inspect(|token| self.announce(token.generation()))
    }

    fn usable_token(&self) -> Option<AccessToken> {
        self.session.shared.usable_token(self.replaces)
    }

    /// Reads the store. Returns the current token if it is a result.
    async fn read_store(&self) -> Result<Option<AccessToken>, Stop> {
        let read = self.session.load_or_fail().await?;
        self.session.reconcile(read)?;
        Ok(self.usable_token())
    }

    /// Takes the lock, releasing any earlier one, and reads the record under it. Returns the current token if it is a result.
    async fn lock_and_read(
        &self,
        attempt: &mut RefreshAttempt,
    ) -> Result<Option<AccessToken>, Stop> {
        let session = &self.session;
        drop(attempt.transaction.take());
        let left = attempt.left(&session.shared);
        let locked = RefreshTransaction::begin_and_load(&session.shared, left);
        match session.run(locked).await? {
            Ok((transaction, lock, read)) => {
                attempt.transaction = Some(transaction);
                attempt.progress.lock = lock;
                attempt.progress.claim = None;
                // The previous holder of the lock may have renewed the tokens.
                session.reconcile(read)?;
                Ok(self.usable_token())
            }
            Err(error) if error.kind() == StoreErrorKind::LockTimeout => {
                // A process that hangs with the lock may have renewed the tokens before.
                let token = self.read_store().await?;
                session.state()?.refreshes.foreign_mark = None;
                match token {
                    Some(token) => Ok(Some(token)),
                    None => Err(error.into()),
                }
            }
            Err(error) => Err(session.store_failed(error)),
        }
    }

    /// Stores the tokens that an earlier refresh could not store: they take precedence over new ones. Returns the current token
    /// if it is a result.
    async fn save_earlier(
        &self,
        attempt: &mut RefreshAttempt,
    ) -> Result<Option<AccessToken>, Stop> {
        attempt.progress.has_saved = true;
        if self.session.save().await?.is_ok() {
            self.session.publish_cached()?;
        }
        Ok(self.usable_token())
    }

    /// Marks the record, and returns its new version. After a lost first reply, the token is marked again, which restarts the
    /// wait of other processes.
    async fn mark(&self, cached: &CachedTokens) -> Result<Version, Stop> {
        let session = &self.session;
        let mark = session.mark(cached, Some(session.owner));
        let marked = session.rewrite(cached, Some(mark)).await;
        let marked = marked.and_then(|version| version.ok_or_else(StoreError::lock_timeout));
        // Send nothing while the store is not writable: the reply could not be stored.
        marked.map_err(|error| session.store_failed(error))
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

    /// Handles a request that returned no tokens.
    async fn recover(
        &self,
        cached: &mut CachedTokens,
        refusal: Refusal,
        sent: ClockReading,
        may_repeat: bool,
    ) -> Result<Recovery, Stop> {
        let session = &self.session;
        let clock = session.shared.clock();
        let provider = &session.shared.provider.0;
        let is_ambiguous = refusal.class.is_ambiguous();
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
            session.state()?.replace_tokens(cached, tokens);
            // OK to ignore: storing is retried, and the lock is kept until then.
            let _ = save_or_report(session).await?;
            *cached = session.cached()?;
        } else if is_ambiguous {
            cached.possibly_used = true;
            if let Some(cached) = &mut session.state()?.cached {
                cached.possibly_used = true;
            }
        }
        match after {
            After::End => {
                // Another process may have stored a newer one.
                if let Some(token) = self.read_store().await? {
                    return Ok(Recovery::Found(token));
                }
                let ended = if cached.possibly_used {
                    Ended::AnswerLost
                } else {
                    Ended::Refused
                };
                let token = self.end_session(cached, ended).await?;
                Ok(Recovery::Found(token))
            }
            After::Fail { pause, in_flight } => {
                if is_ambiguous {
                    // The next holder of the lock sends immediately.
                    session.run(clock.sleep(in_flight)).await?;
                } else if !cached.possibly_used && cached.saved {
                    // The reply proves that the token was not used. OK to ignore: a superfluous mark costs one early refresh.
                    let _ = session.rewrite(cached, None).await;
                }
                Err(session.fail(refusal.error, pause))
            }
            After::Repeat(wait) => {
                tracing::debug!("the reply to a refresh was lost");
                session.shared.emit(Event::RotationAmbiguous);
                session.run(clock.sleep(wait)).await?;
                let read_at = clock.monotonic();
                Ok(match self.read_store().await? {
                    Some(token) => Recovery::Found(token),
                    None => Recovery::Repeat { read_at },
                })
            }
        }
    }

    /// Ends the session, because the provider answered with another user's tokens.
    async fn refuse(&self, old: &CachedTokens, issued: Issued) -> Result<AccessToken, Stop> {
        // Unused tokens must not stay valid. OK in a task: the error of the refresh is reported.
        let shared = self.session.shared.clone();
        self.session.shared.spawn(async move {
            shared.revoke_unused(issued.refresh_token.as_ref()).await;
        })?;
        self.end_session(old, Ended::AnotherUser).await
    }

    /// The tokens that replace the old ones.
    fn successors(&self, old: &CachedTokens, mut issued: Issued, sent_at: SystemTime) -> TokenSet {
        let provider = &self.session.shared.provider;
        drop_invalid_id_token(provider, &mut issued);
        issued.into_set(Some(&old.tokens), sent_at, provider.0.default_lifetime)
    }

    /// Caches and stores new tokens. Fails if they must not be served.
    async fn store(&self, old: &CachedTokens, tokens: TokenSet) -> Result<(), Stop> {
        {
            let mut state = self.session.state()?;
            state.replace_tokens(old, tokens);
            state.refreshes.pause = None;
            state.refreshes.failures = 0;
        }
        let failed = save_or_report(&self.session).await?;
        match failed.filter(|_| self.session.shared.policy.strict) {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }

    fn announce(&self, generation: u64) {
        tracing::debug!(generation, "tokens renewed");
        self.session.shared.emit(Event::Refreshed { generation });
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

/// Whether the provider answered with the tokens of a user other than that of the old ones.
fn is_of_another_user(issued: &Issued, old: &TokenSet) -> bool {
    let subject = issued.subject();
    subject.is_some() && old.subject.is_some() && subject != old.subject
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
