//! The public interface of the manager.

use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use tokio::task::JoinHandle;

use super::decide::{Background, Served, serve};
use super::login::{Login, Logout, LogoutReport};
use super::memory::{State, Stop};
use super::refresh;
use super::refresh_transaction::{save_later, save_unsaved};
use super::report::{Events, Inspection, SessionState};
use super::shared::{Session, Shared, StoreRead};
use crate::auth::failure::unavailable;
use crate::auth::{
    AccessToken, BoxFuture, CheckedCallback, PendingLogin, Provider, Record, TokenSet, TokenSource,
    TokenStore,
};
use crate::error::{Error, Result};

/// Keeps the tokens of one account valid and stored. Cheap to clone; clones share all state.
///
/// ```
/// use envd_sdk::auth::{MemoryStore, Provider, TokenManager};
/// # use wiremock::{Mock, MockServer, ResponseTemplate, matchers::any};
///
/// # test_support::example(async {
/// # let server = MockServer::start().await;
/// # let reply = serde_json::json!({"access_token": "at-1", "refresh_token": "rt-1", "expires_in": 86_400});
/// # Mock::given(any()).respond_with(ResponseTemplate::new(200).set_body_json(reply)).mount(&server).await;
/// # let provider = Provider::builder("my-client-id").authorize_url(server.uri()).token_url(server.uri())
/// #     .audience("https://api.example.com").redirect_uri("https://app.example.com/callback")
/// #     .scopes(["offline_access"]).build()?;
/// let manager = TokenManager::builder(provider)
///     .store(MemoryStore::new())
///     .account("sam")
///     .build()?;
///
/// let login = manager.provider().authorization().start()?;
/// println!("open {} in a browser", login.url());
/// // The address that the browser is redirected to:
/// # let state = login.url().query_pairs().find(|(name, _)| name == "state").unwrap().1.into_owned();
/// let callback = format!("https://app.example.com/callback?code=c0d3&state={state}");
/// manager.complete_login(login, &callback).await?;
///
/// let token = manager.access_token().await?;
/// assert_eq!(token.generation(), 1);
///
/// manager.logout(None).await;
/// assert!(manager.access_token().await.unwrap_err().is_reauth_required());
/// # Ok(()) });
/// ```
#[derive(Clone)]
pub struct TokenManager(pub(in crate::auth) Arc<Shared>);

impl TokenManager {
    /// Exchanges the callback of a login for tokens, and stores them before it returns (spec 5.3 and 5.4).
    ///
    /// The tokens of an earlier login are replaced.
    ///
    /// # Cancel safety
    ///
    /// The exchange runs in its own task. If the future is dropped after its first poll, the login still completes and the
    /// tokens are stored.
    ///
    /// # Errors
    ///
    /// [`LoginRefused`](crate::ErrorKind::LoginRefused), [`is_reauth_required`](Error::is_reauth_required): start a new login.
    /// [`is_retryable`](Error::is_retryable): the provider could not be reached; the code is used up, so start a new login
    /// later. [`Protocol`](crate::ErrorKind::Protocol): the token endpoint issued a token of a type other than Bearer.
    /// [`Config`](crate::ErrorKind::Config): the login was started with another provider, or the stored record belongs to
    /// another client; in that case nothing was sent.
    ///
    /// [`Store`](crate::ErrorKind::Store): nothing was stored, for a permanent [reason](crate::auth::StoreErrorKind), such as a
    /// missing folder or one that others can write to. The source is a [`StoreError`](crate::auth::StoreError) with the reason
    /// and the remedy. The user is logged in for as long as this process runs: the tokens are in memory, and storing them is
    /// retried. If the record is unreadable, [`logout`](Self::logout) sets it aside, and the next login is stored. If the
    /// reason is temporary, such as a full disk, the login succeeds and [`Event::PersistFailed`](super::Event::PersistFailed)
    /// reports the failure, unless the manager is [strict](super::TokenManagerBuilder::strict).
    #[doc(alias("login", "sign in"))]
    pub async fn complete_login(&self, login: PendingLogin, callback: &str) -> Result<TokenSet> {
        self.redeem(login.check(callback)?).await
    }

    /// The second half of a login, for a callback that was checked.
    pub(crate) async fn redeem(&self, callback: CheckedCallback) -> Result<TokenSet> {
        self.check_provider(&callback.provider)?;
        let login = Login::begin(&self.0, callback.expected.clone());
        self.0
            .spawn(login.redeem(callback))?
            .await
            .map_err(|_| unavailable("the login was interrupted: the runtime ended"))?
    }

    /// Returns a token that should currently be accepted. Waits only if no token is valid.
    ///
    /// # Cancel safety
    ///
    /// A refresh runs in its own task. If the future is dropped, the refresh continues and its tokens are stored; the next call
    /// uses them.
    ///
    /// # Errors
    ///
    /// [`ReauthRequired`](crate::ErrorKind::ReauthRequired): no user is logged in, or the session has ended.
    /// [`TokenUnavailable`](crate::ErrorKind::TokenUnavailable) and [`RefreshRefused`](crate::ErrorKind::RefreshRefused): the
    /// token endpoint has a temporary problem; [`retry_after`](Error::retry_after) is the time until the next request.
    /// [`Store`](crate::ErrorKind::Store): the store failed.
    #[doc(alias = "refresh")]
    pub async fn access_token(&self) -> Result<AccessToken> {
        match self.current() {
            Some(token) => Ok(token),
            None => self.obtain(None).await,
        }
    }

    /// Wipes and deletes the tokens, revokes the refresh token (RFC 7009), and returns the address that ends the session at the
    /// identity provider. The browser is then redirected to `return_to`, which must be registered there.
    ///
    /// Memory is wiped before this method returns; the rest runs in its own task. Until the stored record is deleted, only a
    /// new login in this manager provides tokens. If deletion fails, the report has the error, and later calls find the record
    /// again, as does any other process. An unreadable record is set aside if the store supports that, and the report has the
    /// error as well.
    ///
    /// # Cancel safety
    ///
    /// The logout starts when this method is called. It completes even if the future is dropped or never awaited; only the
    /// report is lost.
    #[doc(alias = "sign out")]
    pub fn logout(
        &self,
        return_to: Option<&str>,
    ) -> impl Future<Output = LogoutReport> + Send + use<> {
        let logout = Logout::begin(&self.0);
        let url = self.0.provider.logout_url(return_to);
        let task = self.0.spawn(logout.run());
        async move {
            let mut problems = match task {
                Ok(task) => task.await.unwrap_or_else(|_| {
                    vec![unavailable("the logout was interrupted: the runtime ended")]
                }),
                Err(error) => vec![error],
            };
            let url = url.unwrap_or_else(|error| {
                problems.push(error);
                None
            });
            LogoutReport { url, problems }
        }
    }

    /// Waits at most this long for running tasks (a refresh, a login, a logout, tokens that are not stored yet). Returns
    /// whether all have ended.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future only ends the wait; the tasks continue.
    pub async fn flush(&self, limit: Duration) -> bool {
        let idle = self.0.tasks.wait();
        self.0.clock().within(limit, idle).await.is_some()
    }

    /// Prepares for the end of a program: starts no more refreshes, and waits at most this long for running tasks. Returns
    /// whether all have ended. A valid token is still served.
    ///
    /// If the runtime ends during a refresh, the new refresh token may be lost. The mark in the store makes the next start
    /// retry immediately, which helps if the server allows an overlap or had not processed the request.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped after its first poll, running tasks continue, and no more refreshes start.
    pub async fn shutdown(&self, limit: Duration) -> bool {
        self.0.state().closed = true;
        self.flush(limit).await
    }

    /// The logged-in user, from the `sub` claim of the id token; `None` before the tokens are first used.
    pub fn subject(&self) -> Option<String> {
        self.0.state().account.clone()
    }

    /// When the refresh token expires and the user has to log in again, if the provider returned the common, nonstandard
    /// `refresh_token_expires_in` in seconds. `None` before the tokens are first used.
    pub fn session_ends_at(&self) -> Option<SystemTime> {
        self.0.state().cached.as_ref()?.tokens.session_ends_at
    }

    /// Subscribes to future events.
    pub fn events(&self) -> Events {
        Events(self.0.subscribe())
    }

    /// Returns the session state for support: its user, times, store and last failure, but no token.
    ///
    /// Reads the store once, for at most the caller's [`wait`](super::Timing::wait), and picks up changes by other processes,
    /// like the [store check](super::Timing::store_check). Sends nothing to the provider, and neither renews nor writes
    /// anything. The reason why a session ended is stored with it, so a new process reports it too.
    ///
    /// ```
    /// use envd_sdk::auth::{SessionState, TokenManager};
    /// # use envd_sdk::fake::Fake;
    ///
    /// # test_support::example(async {
    /// # let fake = Fake::start().await;
    /// let manager = TokenManager::builder(fake.provider().build()?).build()?;
    /// let before = manager.inspect().await;
    /// assert!(matches!(before.state, SessionState::LoggedOut));
    ///
    /// # let login = manager.provider().authorization().start()?;
    /// # let callback = fake.consent(login.url())?;
    /// manager.complete_login(login, callback.as_str()).await?;
    /// let session = manager.inspect().await;
    /// assert!(matches!(session.state, SessionState::LoggedIn) && session.is_stored);
    /// assert_eq!(session.subject, manager.subject());
    /// println!("{} in the {}", session.account, session.store);
    /// # assert_eq!(session.store, "memory of this process");
    /// # Ok(())
    /// # });
    /// ```
    ///
    /// # Cancel safety
    ///
    /// A read: dropping the future has no effect.
    pub async fn inspect(&self) -> Inspection {
        let shared = &self.0;
        let session = Session::current(shared, &shared.state());
        let (record, store_error) = match read_store(shared).await {
            Ok(read) => {
                let record = read.stored.as_ref().map(|stored| stored.record.clone());
                match session.reconcile(read) {
                    Err(Stop::Failed(error)) if !error.is_reauth_required() => {
                        (record, Some(error))
                    }
                    // The state knows the end of a session, and any login or logout in the meantime.
                    _ => (record, None),
                }
            }
            Err(error) => {
                shared.note_failure(&error);
                (None, Some(error))
            }
        };
        let now = shared.now();
        let can_serve = shared.usable_token(None).is_some();
        let state = shared.state();
        let session = state.session(now, can_serve, store_error.is_some());
        let cached = state.cached.as_ref();
        let needs_login = matches!(session, SessionState::NeedsLogin { .. });
        // Memory keeps no tokens of a session that had already ended, or belonged to another user, when it was read.
        let ended = record.as_ref().filter(|_| cached.is_none() && needs_login);
        let tokens = cached
            .map(|cached| &*cached.tokens)
            .or(ended.map(Record::tokens));
        Inspection {
            state: session,
            subject: tokens.and_then(|tokens| tokens.subject.clone()),
            account: shared.key.to_string(),
            store: shared.store.describe(),
            logged_in_at: tokens.and_then(|tokens| tokens.logged_in_at),
            renewed_at: tokens.map(TokenSet::issued_at),
            access_token_ends_at: tokens
                .filter(|tokens| !tokens.lifetime.is_zero())
                .map(TokenSet::expires_at),
            session_ends_at: tokens.and_then(|tokens| tokens.session_ends_at),
            generation: tokens.map(TokenSet::generation),
            is_stored: cached.map_or(ended.is_some(), |cached| cached.saved),
            refresh_began_at: record.as_ref().and_then(Record::refresh_began_at),
            last_failure: state.last_failure.clone(),
            store_error,
        }
    }

    /// The provider's settings.
    pub fn provider(&self) -> &Provider {
        &self.0.provider
    }

    /// The store and the key of the account's record.
    pub(crate) fn record_key(&self) -> (Weak<dyn TokenStore>, &str) {
        (Arc::downgrade(&self.0.store), &self.0.key)
    }

    /// The tokens of a login belong to the provider that it was started with.
    pub(in crate::auth) fn check_provider(&self, theirs: &Provider) -> Result<()> {
        let theirs = &theirs.0;
        let ours = &self.0.provider.0;
        if theirs.client_id != ours.client_id || theirs.token_url != ours.token_url {
            return Err(Error::config("the login was started with another provider"));
        }
        Ok(())
    }

    /// Returns a token, waiting if necessary: if possible, not of the generation that the server rejected.
    pub(super) async fn obtain(&self, rejected: Option<u64>) -> Result<AccessToken> {
        let clock = self.0.clock();
        let give_up = clock.monotonic().saturating_add(self.0.policy.timing.wait);
        loop {
            let mut completion = {
                let now = self.0.now();
                let state = &mut *self.0.state();
                let snapshot = self.0.snapshot.load();
                match serve(state, snapshot.as_deref(), rejected, now, &self.0.policy)? {
                    Served::Token(token, beside) => {
                        if let (Some(beside), Some(snapshot)) = (beside, &*snapshot) {
                            state.check_at = beside.check_at;
                            snapshot.check_again(now, beside.look_at);
                            self.start(beside.task, state)?;
                        }
                        return Ok(token);
                    }
                    Served::WaitFor(completion) => completion,
                    Served::Refresh { replaces } => {
                        if replaces.is_some() {
                            state.refreshes.forced_at = Some(now.monotonic);
                        }
                        refresh::start(&self.0, state, replaces)?
                    }
                }
            };
            let left = give_up.saturating_sub(clock.monotonic());
            let Some(outcome) = clock
                .within(left, completion.wait_for(Option::is_some))
                .await
            else {
                let what = "the refresh takes longer than the caller waits";
                return Err(unavailable(what));
            };
            match outcome.ok().and_then(|outcome| outcome.clone()) {
                Some(Ok(token)) => return Ok(token),
                Some(Err(Stop::Failed(error))) => return Err(error),
                // A login or logout intervened: decide again.
                Some(Err(Stop::Superseded)) => {}
                None => {
                    return Err(unavailable(
                        "the refresh was interrupted: the runtime ended",
                    ));
                }
            }
        }
    }

    /// Starts the background task that is due.
    fn start(&self, task: Option<Background>, state: &mut State) -> Result<()> {
        match task {
            Some(Background::Refresh { replaces }) => {
                refresh::start(&self.0, state, Some(replaces)).map(drop)
            }
            Some(Background::Check) if state.check.as_ref().is_none_or(JoinHandle::is_finished) => {
                let session = Session::current(&self.0, state);
                // OK to ignore: without a runtime, the token can still be served.
                state.check = self.0.spawn(check_store(session)).ok();
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Reads the store in the background while tokens are served from memory, to detect a logout or login elsewhere.
async fn check_store(session: Session) {
    // Tokens may be unsaved because a runtime ended. OK to ignore: the failure was reported.
    let _ = save_later(&session.shared);
    match session.shared.load().await {
        Ok(read) => {
            // OK to ignore: the next call returns the result, and events report it.
            let _ = session.reconcile(read);
            // Replaces an older record before another process reads it.
            save_unsaved(&session.shared).await;
        }
        Err(error) => {
            tracing::debug!("the token store could not be read: {error}");
            session.shared.note_failure(&error.into());
        }
    }
    // The handle would keep the memory of the task.
    session.shared.state().check = None;
}

async fn read_store(shared: &Shared) -> Result<StoreRead, Error> {
    let read = shared
        .clock()
        .within(shared.policy.timing.wait, shared.load());
    let slow = || unavailable("the token store takes longer than the caller waits");
    Ok(read.await.ok_or_else(slow)??)
}

impl TokenSource for TokenManager {
    fn token(&self) -> BoxFuture<'_, Result<AccessToken>> {
        Box::pin(self.access_token())
    }

    /// Refreshes only if the rejected [generation](AccessToken::generation) is still in use, and at most once in 30 seconds
    /// (see [`between_forced`](super::Timing::between_forced)), so that a server that refuses every token does not cause a
    /// refresh per request.
    ///
    /// # Errors
    ///
    /// As [`access_token`](Self::access_token). A token that was just renewed is returned again.
    fn renew(&self, rejected: &AccessToken) -> BoxFuture<'_, Result<AccessToken>> {
        let generation = rejected.generation();
        Box::pin(self.obtain(Some(generation)))
    }

    /// Returns the token without waiting, locking or copying it, even while it is renewed in advance; `None` if
    /// [`access_token`](Self::access_token) has to start a task first: a renewal, or a check of the store.
    fn current(&self) -> Option<AccessToken> {
        let loaded = self.0.snapshot.load();
        let snapshot = loaded.as_ref()?;
        snapshot
            .is_fresh(self.0.now())
            .then(|| snapshot.token.clone())
    }
}

// Hides the account's key and user.
debug_shows!(TokenManager, |it| provider: it.0.provider);
