//! Waits for the user's answer to a login on another device (RFC 8628 sections 3.4 and 3.5).

use std::sync::Arc;
use std::time::Duration;

use super::endpoint::{self, Class, Refusal};
use super::failure::{login_refused, unavailable};
use super::manager::{Login, TokenManager};
use super::{DeviceLogin, TokenSet};
use crate::error::{Error, Result};
use crate::secret::Secret;

/// RFC 8628 section 3.5.
const SLOWER: Duration = Duration::from_secs(5);

/// The longest wait after failures in a row: codes live for minutes, and the network may be back soon.
const LONGEST_BACKOFF: Duration = Duration::from_secs(60);

/// A poll that timed out may still be on its way, and use up the code a second time.
const IN_FLIGHT: Duration = Duration::from_secs(30);

impl TokenManager {
    /// Waits until the user has answered a login on another device, and stores its tokens before this returns (RFC 8628).
    ///
    /// The token endpoint is polled at the provider's [interval](crate::auth::DeviceLogin::interval), less often when it says
    /// so or cannot be reached, and never after the codes have expired. To give up, drop the future: no further request is
    /// sent, and a request that was sent already completes in a task of its own, so that tokens it brings are stored and
    /// nothing is lost. Tokens of an earlier login are replaced. A logout in between aborts the login.
    ///
    /// ```
    /// use envd_sdk::Clock;
    /// # use envd_sdk::auth::TokenManager;
    /// # use envd_sdk::fake::Fake;
    /// # equipment::example(async {
    /// let clock = Clock::manual(std::time::SystemTime::now());
    /// let fake = Fake::builder().clock(clock.clone()).start().await?;
    /// let manager = TokenManager::builder(fake.provider().build()?).build()?;
    /// let login = manager.provider().authorization().start_device().await?;
    /// println!("Open {} and type {}", login.verification_url(), login.user_code());
    /// // Sam does so.
    /// fake.approve_device(login.user_code())?;
    /// clock.advance(login.interval());
    /// let tokens = manager.complete_device_login(login).await?;
    /// assert!(tokens.subject().is_some());
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// [`LoginRefused`](crate::ErrorKind::LoginRefused): the user refused, the codes have expired, or the reply with the tokens
    /// was lost; the source is the last failure of the network, if there was one. Start a new login when the user is ready.
    /// [`is_reauth_required`](Error::is_reauth_required), [`Config`](crate::ErrorKind::Config), [`Store`](crate::ErrorKind::Store): as
    /// [`complete_login`](Self::complete_login). [`is_retryable`](Error::is_retryable): the provider ended the login for
    /// now; start a new one later. [`Protocol`](crate::ErrorKind::Protocol): it issued a token of an unknown type.
    pub async fn complete_device_login(&self, login: DeviceLogin) -> Result<TokenSet> {
        self.check_provider(&login.provider)?;
        let outcome = DevicePolling::begin(self, login).run().await;
        outcome.inspect_err(|error| self.0.note_failure(error))
    }
}

struct DevicePolling {
    login: Arc<Login>,
    device_code: Secret,
    interval: Duration,
    deadline: Duration,
    next_poll: Duration,
    /// Failures in a row.
    failures: u32,
    last_failure: Option<Error>,
    /// Whether the tokens may have been issued in a reply that was lost.
    may_be_used: bool,
}

impl DevicePolling {
    fn begin(manager: &TokenManager, device: DeviceLogin) -> Self {
        Self {
            login: Arc::new(Login::begin(&manager.0, device.expected)),
            device_code: device.codes.device_code,
            interval: device.codes.interval,
            deadline: device.deadline,
            next_poll: device.next_poll,
            failures: 0,
            last_failure: None,
            may_be_used: false,
        }
    }

    /// Only the polls run in tasks of their own: a caller that is dropped stops them.
    async fn run(mut self) -> Result<TokenSet> {
        self.login.check_record().await?;
        let shared = self.login.shared.clone();
        let clock = shared.clock();
        loop {
            if self.next_poll >= self.deadline {
                return Err(self.expired());
            }
            clock
                .sleep(self.next_poll.saturating_sub(clock.monotonic()))
                .await;
            // The machine may have slept for longer.
            if clock.monotonic() >= self.deadline {
                return Err(self.expired());
            }
            self.login.check_not_overtaken()?;
            let sent_at = clock.monotonic();
            let poll = poll(self.login.clone(), self.device_code.clone());
            let reply = shared.spawn(poll)?.await;
            match reply.map_err(|_| unavailable("the login was cut off"))? {
                Ok(outcome) => return outcome,
                Err(refusal) => self.go_on(refusal, sent_at)?,
            }
        }
    }

    /// Sets the time of the next poll, or ends the login.
    fn go_on(&mut self, refusal: Refusal, sent_at: Duration) -> Result<()> {
        let Refusal {
            class,
            error,
            salvaged,
        } = refusal;
        let retry_after = error.retry_after().unwrap_or_default();
        match class {
            // The provider accepts no code whose tokens were issued.
            Class::Pending | Class::SlowDown => {
                (self.failures, self.may_be_used) = (0, false);
                if class == Class::SlowDown {
                    self.interval = self.interval.saturating_add(SLOWER);
                }
            }
            Class::NotSent | Class::Busy | Class::Ambiguous | Class::TimedOut => {
                self.failures += 1;
                self.may_be_used |= class.is_ambiguous();
                self.last_failure = Some(error);
            }
            Class::Dead if self.may_be_used => return Err(self.lost()),
            Class::Dead => return Err(login_refused("invalid_grant")),
            Class::Refused => return Err(error),
        }
        if salvaged.is_some() {
            return Err(self.lost());
        }
        let now = self.login.shared.clock().monotonic();
        let mut wait = self.wait().max(retry_after);
        if class == Class::TimedOut {
            wait = wait.max(IN_FLIGHT.saturating_sub(now.saturating_sub(sent_at)));
        }
        self.next_poll = now.saturating_add(wait);
        Ok(())
    }

    /// The interval, doubled for each failure in a row (section 3.5).
    fn wait(&self) -> Duration {
        let backoff = self.interval.saturating_mul(1_u32 << self.failures.min(16));
        backoff.min(LONGEST_BACKOFF).max(self.interval)
    }

    fn expired(&self) -> Error {
        self.with_last_failure(login_refused("login_expired"))
    }

    fn lost(&self) -> Error {
        self.with_last_failure(login_refused("tokens_lost"))
    }

    fn with_last_failure(&self, error: Error) -> Error {
        match &self.last_failure {
            Some(last) => error.with_source(last.clone()),
            None => error,
        }
    }
}

/// One request, and what must not be lost when the caller is dropped: tokens are stored, and those that cannot be used are
/// revoked.
async fn poll(login: Arc<Login>, device_code: Secret) -> Result<Result<TokenSet>, Refusal> {
    let provider = &login.shared.provider;
    let sent_at = provider.clock().now();
    match endpoint::poll(provider, &device_code).await {
        Ok(issued) => Ok(login.accept(issued, sent_at).await),
        Err(refusal) => {
            login.shared.revoke_unused(refusal.salvaged.as_ref()).await;
            Err(refusal)
        }
    }
}
