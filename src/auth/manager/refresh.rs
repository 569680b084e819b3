//! One refresh, in order: read, lock, read again, wait for the marks of others, mark, send, read the reply, store, publish.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::future::{Either, select};

use super::Event;
use super::epoch::Epoch;
use super::lease::{Lease, save_or_report};
use super::shared::{Shared, StoreRead};
use super::state::{CachedTokens, ForeignMark, Stop};
use crate::auth::endpoint::{self, Class, Issued, Refusal};
use crate::auth::failure::reauth;
use crate::auth::store::{Ended, StoredMark};
use crate::auth::{AccessToken, Provider, Record, StoreError, TokenSet, Version};
use crate::error::{AuthProblem, Kind};
use crate::secret::Secret;

/// Wrong settings, or a provider that needs the user, do not change within seconds.
const REFUSED_PAUSE: Duration = Duration::from_secs(60);

/// A request that timed out may still be on its way for as long as servers and proxies wait for each other.
const IN_FLIGHT: Duration = Duration::from_secs(30);

/// The pause between two reads of a marked record.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// How many reads in a row must succeed after the mark was replaced.
const CLAIM_READS: u32 = 60;

/// How long these reads take: longer than the longest pause between two attempts of the other process to store its tokens,
/// and the time that an attempt takes.
const CLAIM_PERIOD: Duration = Duration::from_secs(30);

/// After a longer stop between reading or marking the record and sending, the record is read again: another process may
/// have replaced the mark. Much shorter than the wait for a mark.
const STALE: Duration = Duration::from_secs(10);

/// The end of the wait for another process.
enum MarkOutcome {
    /// Usable tokens were stored.
    Token(AccessToken),
    /// The record, or what is to be done with it, has changed.
    Changed,
    /// The replacement of the mark stood for long enough: the process has exited.
    Abandoned(Lease),
}

pub(super) struct Refresh {
    pub(super) epoch: Epoch,
    /// The generation to be replaced; without it any usable token is a result.
    pub(super) replaces: Option<u64>,
}

impl Refresh {
    pub(super) async fn run(&self) -> Result<AccessToken, Stop> {
        // If tokens are cached they need refreshing, so skip the unlocked read.
        let needs_read = {
            let state = self.epoch.state()?;
            state.cached.is_none() || state.dead.is_some()
        };
        if needs_read && let Some(token) = self.read_store().await? {
            return Ok(token);
        }
        let shared = &self.epoch.shared;
        let clock = shared.clock();
        let until = clock.monotonic().saturating_add(shared.policy.lock_wait);
        loop {
            let left = until.saturating_sub(clock.monotonic());
            let locked = Lease::acquire_and_load(shared, left);
            let (lease, read) = match self.epoch.run(locked).await? {
                Ok(locked) => locked,
                Err(error) if error.is_lock_timeout() => {
                    // A process that hangs with the lock may have renewed the tokens before.
                    let token = self.read_store().await?;
                    self.epoch.state()?.foreign_mark = None;
                    return token.ok_or_else(|| error.into());
                }
                Err(error) => return Err(self.epoch.store_failed(error)),
            };
            // The previous holder of the lock may have renewed the tokens.
            self.epoch.reconcile(read)?;
            if let Some(token) = self.usable_token() {
                return Ok(token);
            }
            if let Some(token) = self.save_unsaved().await? {
                return Ok(token);
            }
            if lease.kept && !shared.state().has_unsaved() {
                // A kept lock may have been lost: stored tokens are sent only under a lock that was just taken.
                continue;
            }
            let Some(foreign) = self.foreign_mark()? else {
                return self.mark_and_send(lease).await;
            };
            match self.wait_for_owner(foreign, lease, until).await? {
                MarkOutcome::Token(token) => return Ok(token),
                MarkOutcome::Changed => {}
                MarkOutcome::Abandoned(lease) => return self.mark_and_send(lease).await,
            }
        }
    }

    fn usable_token(&self) -> Option<AccessToken> {
        self.epoch.shared.usable_token(self.replaces)
    }

    async fn load(&self) -> Result<StoreRead, Stop> {
        let read = self.epoch.shared.load().await;
        read.map_err(|error| self.epoch.store_failed(error))
    }

    /// Reads the store; returns the current token if it is a result.
    async fn read_store(&self) -> Result<Option<AccessToken>, Stop> {
        self.epoch.reconcile(self.load().await?)?;
        Ok(self.usable_token())
    }

    /// Tokens that an earlier refresh could not store come before new ones.
    async fn save_unsaved(&self) -> Result<Option<AccessToken>, Stop> {
        if !self.epoch.state()?.has_unsaved() {
            return Ok(None);
        }
        if self.epoch.save().await?.is_ok() {
            self.epoch.publish_cached()?;
        }
        Ok(self.usable_token())
    }

    async fn mark_and_send(&self, lease: Lease) -> Result<AccessToken, Stop> {
        let clock = self.epoch.shared.clock();
        let began = clock.monotonic();
        let mut cached = self.set_mark().await?;
        self.check_unmarked(began)?;
        // Only the first failure of a row is repeated at once: an outage must not double the requests.
        let mut may_repeat = self.epoch.state()?.failures == 0;
        let mut lease = Some(lease);
        loop {
            if cached.tokens.refresh_token.is_none() {
                return Err(self.epoch.give_up(reauth("there is no refresh token")));
            }
            let sent = self.epoch.shared.now();
            let refusal = match self.send(&cached, &mut lease).await? {
                Ok(issued) => return self.accept(&cached, issued, sent.wall).await,
                Err(refusal) => refusal,
            };
            let ambiguous = matches!(refusal.class, Class::Ambiguous | Class::TimedOut);
            if let Some(token) = refusal.salvaged {
                cached = self.keep_salvaged(&cached, token).await?;
            } else if ambiguous {
                cached.possibly_used = true;
                if let Some(cached) = &mut self.epoch.state()?.cached {
                    cached.possibly_used = true;
                }
            }
            if refusal.class == Class::Dead {
                return self.mark_revoked(&cached).await;
            }
            if !ambiguous || !may_repeat {
                if !ambiguous {
                    self.clear_mark(&mut cached).await;
                } else if refusal.class == Class::TimedOut {
                    // The lock is held for as long: whoever takes it next sends at once.
                    let in_flight = self.in_flight(sent.monotonic);
                    self.epoch.run(clock.sleep(in_flight)).await?;
                }
                let retry_after = refusal.retry_after.unwrap_or_default();
                let floor = match refusal.class {
                    Class::Refused => retry_after.max(REFUSED_PAUSE),
                    _ => retry_after,
                };
                return Err(self.epoch.fail(refusal.error, floor));
            }
            may_repeat = false;
            tracing::debug!("the reply to a refresh was lost");
            self.epoch.shared.emit(Event::RotationAmbiguous);
            let wait = self.wait_before_repeat(refusal.class, sent.monotonic);
            self.epoch.run(clock.sleep(wait)).await?;
            let began = clock.monotonic();
            if let Some(token) = self.read_store().await? {
                return Ok(token);
            }
            self.check_unmarked(began)?;
        }
    }

    /// Sends the refresh token. When the epoch ends meanwhile, another task waits for the reply and discards it.
    async fn send(
        &self,
        cached: &CachedTokens,
        lease: &mut Option<Lease>,
    ) -> Result<Result<Issued, Refusal>, Stop> {
        let (shared, tokens) = (self.epoch.shared.clone(), cached.tokens.clone());
        let mut reply = Box::pin(async move {
            let token = tokens.refresh_token.clone().unwrap_or_default();
            endpoint::refresh(&shared.provider, &token).await
        });
        let ended = pin!(self.epoch.ended());
        if let Either::Left((reply, _)) = select(reply.as_mut(), ended).await {
            return Ok(reply);
        }
        drop(lease.take());
        let shared = self.epoch.shared.clone();
        self.epoch.shared.spawn(async move {
            if let Ok(issued) = reply.await {
                shared.discard(issued.refresh_token.as_ref()).await;
            }
        })?;
        Err(Stop::Superseded)
    }

    /// If the request was not processed, the token works; if it was, the only copy of the new one is gone anyway. But a
    /// request that is still on its way could arrive after the repeated one and end the session: that one is waited out,
    /// unless the server accepts the token twice for long enough.
    fn wait_before_repeat(&self, class: Class, sent: Duration) -> Duration {
        let short = Duration::from_secs(1) + Duration::from_secs(1).mul_f64(fastrand::f64());
        let overlap = self.epoch.shared.provider.0.rotation_overlap;
        let elapsed = self.epoch.shared.clock().monotonic().saturating_sub(sent);
        let overlap_left = overlap.saturating_sub(elapsed);
        if !overlap_left.is_zero() {
            short.min(overlap_left / 2)
        } else if class == Class::TimedOut {
            self.in_flight(sent).max(short)
        } else {
            short
        }
    }

    /// How long a request that timed out may still be on its way.
    fn in_flight(&self, sent: Duration) -> Duration {
        let shared = &self.epoch.shared;
        // A request is sent when its assertion is signed.
        let limit = IN_FLIGHT + shared.provider.0.authentication.signing_limit();
        limit.saturating_sub(shared.clock().monotonic().saturating_sub(sent))
    }

    /// Stores the issued tokens, then publishes them.
    async fn accept(
        &self,
        old: &CachedTokens,
        mut issued: Issued,
        sent_at: SystemTime,
    ) -> Result<AccessToken, Stop> {
        let shared = &self.epoch.shared;
        let subject = issued.subject();
        if subject.is_some() && old.tokens.subject.is_some() && subject != old.tokens.subject {
            // Unused tokens must not stay valid.
            if let Some(token) = issued.refresh_token {
                let provider = shared.provider.clone();
                // OK to ignore the result: the error of the refresh is reported.
                shared.spawn(async move { provider.revoke(&token).await })?;
            }
            return self.end_session(old, Ended::AnotherUser).await;
        }
        drop_invalid_id_token(&shared.provider, &mut issued);
        let lifetime = shared.provider.0.default_lifetime;
        let tokens = issued.into_set(Some(&old.tokens), sent_at, lifetime);
        let new = tokens.refresh_token.clone();
        let stored = self.store(old, tokens).await;
        if stored.is_err() {
            // The tokens are revoked if the user was logged out meanwhile; otherwise they are still cached.
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
            let mut state = self.epoch.state()?;
            state.replace_tokens(old, tokens);
            state.pause = None;
            state.failures = 0;
        }
        let failed = save_or_report(&self.epoch).await?;
        match failed.filter(|_| self.epoch.shared.policy.strict) {
            Some(error) => Err(error.into()),
            None => self.epoch.publish_cached(),
        }
    }

    /// A reply that cannot be read as a whole may hold the only copy of the new refresh token.
    async fn keep_salvaged(&self, old: &CachedTokens, token: Secret) -> Result<CachedTokens, Stop> {
        let mut tokens = old.tokens.as_ref().clone();
        tokens.refresh_token = Some(token);
        self.epoch.state()?.replace_tokens(old, tokens);
        // OK to ignore: it is tried again, under the lock that is kept until then.
        let _ = save_or_report(&self.epoch).await?;
        self.epoch.cached()
    }

    /// The refresh token is not accepted: the user has to log in, unless another process has stored a newer one.
    async fn mark_revoked(&self, cached: &CachedTokens) -> Result<AccessToken, Stop> {
        if let Some(token) = self.read_store().await? {
            return Ok(token);
        }
        let ended = if cached.possibly_used {
            Ended::AnswerLost
        } else {
            Ended::Refused
        };
        self.end_session(cached, ended).await
    }

    /// Stores the reason in the place of the tokens, so that every process reports it.
    async fn end_session(&self, failed: &CachedTokens, ended: Ended) -> Result<AccessToken, Stop> {
        let shared = &self.epoch.shared;
        let record = Record::ended(&failed.tokens, ended);
        let current = self.epoch.state()?.cached.clone();
        let version = current.map_or(failed.version, |cached| cached.version);
        // Only the record that failed is replaced: another process may be storing its own.
        match shared.swap(version, &record).await {
            Ok(Some(version)) => {
                if let Some(cached) = &mut self.epoch.state()?.cached {
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
        Err(self.epoch.give_up(reauth(ended.reason())))
    }
}

/// Removes an id token that does not pass: it is optional here (OIDC Core 12.2), and that of the login stays. It is checked as in
/// a login, without a nonce: no authorization request asked for it. Its user is compared before.
fn drop_invalid_id_token(provider: &Provider, issued: &mut Issued) {
    if let Some(id_token) = &issued.id_token
        && let Err(error) = provider.check_id_token(id_token, None, None)
    {
        // Only the code is logged: the source may be an error of the application.
        let reason = match error.kind() {
            Kind::Auth(AuthProblem::LoginRefused { code }) => code.as_str(),
            _ => "unreadable",
        };
        tracing::warn!(reason, "the id token of a refresh is not kept");
        issued.id_token = None;
    }
}

/// The mark that a refresh leaves in the store before it is sent, and the wait for the marks of other processes.
///
/// Where a lock can end while its holder runs, a free lock does not prove that the holder has exited. The mark is then
/// left in place for a time, replaced, and watched for as long as a running process takes at most to store its tokens.
impl Refresh {
    /// Marks the record before a refresh is sent: if this process ends before the reply is stored, the token may be used
    /// up.
    async fn set_mark(&self) -> Result<CachedTokens, Stop> {
        let mut cached = self.epoch.cached()?;
        if cached.saved && cached.tokens.refresh_token.is_some() {
            // A token whose first reply was lost is marked again, which restarts the wait of other processes.
            let record = self.marked(&cached, Some(self.epoch.owner()));
            // Nothing is sent while the store cannot be written: the reply could not be stored.
            self.rewrite(&mut cached, &record)
                .await
                .map_err(|error| self.epoch.store_failed(error))?;
        }
        Ok(cached)
    }

    /// Removes the mark after a reply that proves that the token was not used.
    async fn clear_mark(&self, cached: &mut CachedTokens) {
        if !cached.possibly_used && cached.saved {
            let record = Record::new(cached.tokens.as_ref().clone());
            // OK to ignore: a superfluous mark costs one refresh ahead of time.
            let _ = self.rewrite(cached, &record).await;
        }
    }

    /// Checked before each request, because a lock that can be lost proves nothing: the record was read or marked just
    /// now, after `began`, and has no foreign mark.
    fn check_unmarked(&self, began: Duration) -> Result<(), Stop> {
        let shared = &self.epoch.shared;
        if shared.store.lock_survives_faults() {
            return Ok(());
        }
        let passed = shared.clock().monotonic().saturating_sub(began);
        if passed > STALE || self.foreign_mark()?.is_some() {
            return Err(StoreError::lock_timeout().into());
        }
        Ok(())
    }

    /// The mark of another process that may still run, if there is one on the cached tokens.
    fn foreign_mark(&self) -> Result<Option<ForeignMark>, Stop> {
        let state = self.epoch.state()?;
        let stands = |mark: &ForeignMark| state.abandoned != Some(mark.version);
        let can_lose_lock = !self.epoch.shared.store.lock_survives_faults();
        Ok(state.foreign_mark.filter(stands).filter(|_| can_lose_lock))
    }

    /// Waits, without the lock, until the owner of a mark has stored its tokens or the wait is over. At the end of the
    /// lock wait: a lock time-out, and the next call continues the same wait.
    async fn wait_for_owner(
        &self,
        mark: ForeignMark,
        lease: Lease,
        until: Duration,
    ) -> Result<MarkOutcome, Stop> {
        let shared = &self.epoch.shared;
        let clock = shared.clock();
        let is_over = |mark| clock.monotonic() >= claim_at(shared, mark);
        if is_over(mark) {
            return self.claim(mark, lease).await;
        }
        // The owner of the mark may need the lock.
        drop(lease);
        let mut last = StoreError::lock_timeout();
        loop {
            let left = until.saturating_sub(clock.monotonic());
            if left.is_zero() {
                return Err(last.into());
            }
            let pause = clock.sleep(POLL_INTERVAL.min(left));
            self.epoch.run(pause).await?;
            match self.epoch.run(shared.load()).await? {
                Ok(read) => self.epoch.reconcile(read)?,
                Err(error) => {
                    last = error;
                    continue;
                }
            }
            last = StoreError::lock_timeout();
            if let Some(token) = self.usable_token() {
                return Ok(MarkOutcome::Token(token));
            }
            if self.foreign_mark()?.is_none_or(is_over) {
                return Ok(MarkOutcome::Changed);
            }
        }
    }

    /// Replaces the mark, which proves that the store can be written, then waits so that the owner of the first mark can
    /// still store its tokens. Nothing is sent unless the record stays unchanged and readable all the time.
    async fn claim(&self, mark: ForeignMark, lease: Lease) -> Result<MarkOutcome, Stop> {
        let mut cached = self.epoch.cached()?;
        let record = self.marked(&cached, None);
        let expected = cached.version;
        match self.rewrite(&mut cached, &record).await {
            Ok(()) => {}
            Err(_) if self.has_changed(expected).await? => return Ok(MarkOutcome::Changed),
            Err(error) => return Err(self.epoch.store_failed(error)),
        }
        if let Some(version) = cached.version {
            // If this is cut off, the next call resumes here.
            let claimed = ForeignMark { version, ..mark };
            self.epoch.state()?.foreign_mark = Some(claimed);
        }
        // Reads are counted, because a stopped process does not read.
        for _ in 0..CLAIM_READS {
            let pause = self.epoch.shared.clock().sleep(POLL_INTERVAL);
            self.epoch.run(pause).await?;
            if self.has_changed(cached.version).await? {
                let token = self.usable_token();
                return Ok(token.map_or(MarkOutcome::Changed, MarkOutcome::Token));
            }
        }
        Ok(MarkOutcome::Abandoned(lease))
    }

    /// Whether the store has another version now; if so, memory is brought in line with it.
    async fn has_changed(&self, version: Option<Version>) -> Result<bool, Stop> {
        let read = self.epoch.run(self.load()).await??;
        let changed = read.stored.as_ref().map(|stored| stored.version) != version;
        if changed {
            self.epoch.reconcile(read)?;
        }
        Ok(changed)
    }

    fn marked(&self, cached: &CachedTokens, owner: Option<u64>) -> Record {
        let mut record = Record::new(cached.tokens.as_ref().clone());
        record.refresh_mark = Some(StoredMark {
            generation: cached.tokens.generation,
            at: self.epoch.shared.clock().now(),
            owner,
        });
        record
    }

    async fn rewrite(&self, cached: &mut CachedTokens, record: &Record) -> Result<(), StoreError> {
        let swapped = self.epoch.shared.swap(cached.version, record).await?;
        let Some(version) = swapped else {
            return Err(if self.epoch.shared.store.lock_survives_faults() {
                StoreError::new("a record changed while its lock was held")
            } else {
                // The lock was lost, and another process has it.
                StoreError::lock_timeout()
            });
        };
        cached.version = Some(version);
        if let Ok(mut state) = self.epoch.state() {
            state.foreign_mark = None;
            if let Some(cached) = &mut state.cached {
                cached.version = Some(version);
            }
        }
        Ok(())
    }
}

/// When the mark may be replaced, on the monotonic clock.
fn claim_at(shared: &Shared, mark: ForeignMark) -> Duration {
    let provider = &shared.provider.0;
    let signing = provider.authentication.signing_limit();
    let wait = shared.policy.mark_wait(provider.timeout, signing);
    mark.since.saturating_add(wait.saturating_sub(CLAIM_PERIOD))
}

/// Ends the wait for the mark on the stored record: the process that wrote it has exited.
pub(super) async fn abandon(shared: &Arc<Shared>) -> Result<(), StoreError> {
    let epoch = Epoch::current(shared, &shared.state());
    let stored = shared.load().await?.stored;
    if let Some(stored) = stored.filter(|stored| stored.record.refresh_mark.is_some())
        && let Ok(mut state) = epoch.state()
    {
        state.abandoned = Some(stored.version);
        state.pause = None;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reads_take_the_claim_period() {
        assert_eq!(POLL_INTERVAL * CLAIM_READS, CLAIM_PERIOD);
    }
}
