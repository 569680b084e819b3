//! A login on another device, from requesting the codes (RFC 8628 sections 3.1 and 3.2) to the user's decision (sections 3.4
//! and 3.5).

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use url::Url;

use super::endpoint::{self, Class, DeviceCodes, Refusal};
use super::failure::{login_refused, unavailable};
use super::id_token::ExpectedIdToken;
use super::manager::{Login, TokenManager};
use super::pending_login::LoginParts;
use super::{LoginRequest, Provider, TokenSet};
use crate::error::{Error, Result};
use crate::secret::Secret;
use crate::transport::later;

/// Parameters that the login sets itself, or that authenticate the client.
const RESERVED: [&str; 7] = [
    "client_id",
    "client_secret",
    "client_assertion",
    "client_assertion_type",
    "scope",
    "audience",
    "grant_type",
];

impl LoginRequest {
    /// Starts a login for a device without a browser (RFC 8628): requests a code that the user enters on another device. This
    /// requires a [`device_authorization_url`](super::ProviderBuilder::device_authorization_url), but neither an
    /// [`authorize_url`](super::ProviderBuilder::authorize_url) nor a [`redirect_uri`](super::ProviderBuilder::redirect_uri).
    ///
    /// See [`TokenManager::complete_device_login`](super::TokenManager::complete_device_login) for an example.
    ///
    /// # Cancel safety
    ///
    /// Nothing is stored. If the future is dropped, codes that the provider has already issued expire unused.
    ///
    /// # Errors
    ///
    /// [`Config`](crate::ErrorKind::Config) if no
    /// [`device_authorization_url`](super::ProviderBuilder::device_authorization_url) is set, the provider does not allow the
    /// client this kind of login, an added parameter is reserved for the login itself, or a subject is expected without the
    /// scope `openid`. [`is_retryable`](Error::is_retryable) if the provider has a temporary problem.
    /// [`LoginRefused`](crate::ErrorKind::LoginRefused) and [`is_reauth_required`](Error::is_reauth_required) for other error
    /// codes of the provider, [`Protocol`](crate::ErrorKind::Protocol) if its reply lacks a field.
    #[doc(alias("device flow", "device authorization", "device code"))]
    pub async fn start_device(self) -> Result<DeviceLogin> {
        let LoginParts {
            provider,
            scopes,
            extra,
            expected,
        } = self.check(&RESERVED)?;
        let settings = &provider.0;
        let Some(url) = &settings.device_authorization_url else {
            return Err(Error::config("device_authorization_url is not set"));
        };
        let scope = scopes.join(" ");
        let extra = extra
            .iter()
            .map(|(name, value)| (name.as_str(), value.expose()));
        // RFC 6749 section 3.1: a parameter without a value counts as omitted.
        let own = [
            ("scope", scope.as_str()),
            // As in a browser login (spec 5.2), and as Auth0 expects it.
            ("audience", settings.audience.as_deref().unwrap_or_default()),
        ];
        let own = own.into_iter().filter(|(_, value)| !value.is_empty());
        let fields: Vec<_> = own.chain(extra).collect();
        let sent = settings.clock.moment();
        let codes = endpoint::authorize_device(&provider, url, &fields).await?;
        let received = settings.clock.monotonic();
        Ok(DeviceLogin {
            // Both times are measured from before the request, and so end before the provider's.
            expires_at: later(sent.wall, codes.expires_in),
            deadline: sent.monotonic.saturating_add(codes.expires_in),
            next_poll: received.saturating_add(codes.interval),
            codes,
            expected,
            provider,
        })
    }
}

/// A login that the user has to confirm on another device. Show [`verification_url`](Self::verification_url) and
/// [`user_code`](Self::user_code), then await
/// [`TokenManager::complete_device_login`](super::TokenManager::complete_device_login).
///
/// See [`TokenManager::complete_device_login`](super::TokenManager::complete_device_login) for an example.
pub struct DeviceLogin {
    pub(super) provider: Provider,
    pub(super) codes: DeviceCodes,
    pub(super) expected: ExpectedIdToken,
    expires_at: SystemTime,
    /// When the codes expire, on the monotonic clock.
    pub(super) deadline: Duration,
    /// When the first poll may be sent, on the monotonic clock.
    pub(super) next_poll: Duration,
}

impl DeviceLogin {
    /// The code that the user enters at [`verification_url`](Self::verification_url), such as `WDJB-MJHT`. Show it unchanged,
    /// and to the user only: anyone who reads it in time can log this device in to a different account.
    pub fn user_code(&self) -> &str {
        self.codes.user_code.expose()
    }

    /// The page that the user opens on another device.
    pub fn verification_url(&self) -> &Url {
        &self.codes.verification_url
    }

    /// The page with the code in its address, for a QR code or a link, if the provider returned one.
    ///
    /// Show [`user_code`](Self::user_code) as well: the user compares it with the one on the page (RFC 8628 section 3.3.1).
    pub fn verification_url_complete(&self) -> Option<&Url> {
        self.codes.verification_url_complete.as_ref()
    }

    /// When the codes expire.
    pub fn expires_at(&self) -> SystemTime {
        self.expires_at
    }

    /// The minimum time between two polls. Increases if the provider requests it.
    pub fn interval(&self) -> Duration {
        self.codes.interval
    }
}

// Hides the codes: either one is enough to take over the login.
debug_shows!(DeviceLogin, |it|
    host: it.codes.verification_url.host_str(),
    expires_at: it.expires_at,
    interval: it.codes.interval,
);

/// RFC 8628 section 3.5.
const SLOWER: Duration = Duration::from_secs(5);

/// The longest wait after consecutive failures: codes expire within minutes, and the network may recover soon.
const LONGEST_BACKOFF: Duration = Duration::from_secs(60);

/// A poll that timed out may still arrive and use up the code a second time.
const IN_FLIGHT: Duration = Duration::from_secs(30);

impl TokenManager {
    /// Waits until the user has confirmed or refused a login on another device. Stores the tokens before it returns (RFC 8628).
    ///
    /// The token endpoint is polled at the provider's [interval](crate::auth::DeviceLogin::interval), less often if the
    /// provider asks for that or is unreachable, and never after the codes have expired. The tokens of an earlier login are
    /// replaced. A logout in the meantime aborts the login.
    ///
    /// ```
    /// use envd_sdk::Clock;
    /// # use envd_sdk::auth::TokenManager;
    /// # use envd_sdk::fake::Fake;
    /// # test_support::example(async {
    /// let clock = Clock::manual(std::time::SystemTime::now());
    /// let fake = Fake::builder().clock(clock.clone()).start().await?;
    /// let manager = TokenManager::builder(fake.provider().build()?).build()?;
    /// let login = manager.provider().authorization().start_device().await?;
    /// println!("Open {} and type {}", login.verification_url(), login.user_code());
    /// // Sam opens the page and enters the code.
    /// fake.approve_device(login.user_code())?;
    /// clock.advance(login.interval());
    /// let tokens = manager.complete_device_login(login).await?;
    /// assert!(tokens.subject().is_some());
    /// # Ok(()) });
    /// ```
    ///
    /// # Cancel safety
    ///
    /// To cancel the login, drop the future: no further polls are sent. A poll that is already under way completes in its own
    /// task, and its tokens are still stored.
    ///
    /// # Errors
    ///
    /// [`LoginRefused`](crate::ErrorKind::LoginRefused): the user refused, the codes have expired, or the reply with the tokens
    /// was lost. The source is the last network failure, if there was one. Start a new login when the user is ready.
    /// [`is_reauth_required`](Error::is_reauth_required), [`Config`](crate::ErrorKind::Config),
    /// [`Store`](crate::ErrorKind::Store): as [`complete_login`](Self::complete_login). [`is_retryable`](Error::is_retryable):
    /// the provider aborted the login for a temporary reason; start a new one later. [`Protocol`](crate::ErrorKind::Protocol):
    /// the provider issued a token of an unknown type.
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
    /// The number of consecutive failures.
    failures: u32,
    last_failure: Option<Error>,
    /// Whether the tokens may have been issued in a lost reply.
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

    /// Only the polls run in their own tasks, so dropping the caller stops them.
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
            // The machine may have slept longer than the wait.
            if clock.monotonic() >= self.deadline {
                return Err(self.expired());
            }
            self.login.check_not_overtaken()?;
            let sent_at = clock.monotonic();
            let poll = poll(self.login.clone(), self.device_code.clone());
            let reply = shared.spawn(poll)?.await;
            match reply.map_err(|_| unavailable("the login was interrupted: the runtime ended"))? {
                Ok(outcome) => return outcome,
                Err(refusal) => self.go_on(refusal, sent_at)?,
            }
        }
    }

    /// Schedules the next poll, or ends the login.
    fn go_on(&mut self, refusal: Refusal, sent_at: Duration) -> Result<()> {
        let Refusal {
            class,
            error,
            salvaged,
        } = refusal;
        let retry_after = error.retry_after().unwrap_or_default();
        match class {
            // After the provider has issued the tokens, it no longer accepts the code.
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

    /// The interval, doubled for each consecutive failure (section 3.5).
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

/// Sends one poll and handles the reply even if the caller is dropped: stores tokens, and revokes those that cannot be used.
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
