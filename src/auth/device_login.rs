//! A login on a device without a browser, from the codes to the answer of the user (RFC 8628).

use std::time::{Duration, SystemTime};

use url::Url;

use super::claims::ExpectedIdToken;
use super::endpoint::{self, DeviceCodes};
use super::login_request::LoginParts;
use super::{LoginRequest, Provider};
use crate::error::{Error, Result};

/// Parameters that the login itself sets, or that authenticate the client.
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
    /// Starts the login on a device without a browser (RFC 8628): asks the provider for a code that the user types on another
    /// device. It needs the [`device_authorization_url`](super::ProviderBuilder::device_authorization_url), and neither the
    /// [`authorize_url`](super::ProviderBuilder::authorize_url) nor the
    /// [`redirect_uri`](super::ProviderBuilder::redirect_uri).
    ///
    /// See [`TokenManager::complete_device_login`](super::TokenManager::complete_device_login) for an example.
    ///
    /// # Errors
    ///
    /// [`Config`](crate::ErrorKind::Config) when no
    /// [`device_authorization_url`](super::ProviderBuilder::device_authorization_url) is set, the provider does not allow the
    /// client this kind of login, an added parameter is one that the login itself sets, or a subject is expected without the
    /// scope `openid`. [`is_retryable`](Error::is_retryable) when the provider has a temporary problem.
    /// [`LoginRefused`](crate::ErrorKind::LoginRefused) and [`is_reauth_required`](Error::is_reauth_required) with another code
    /// of the provider, [`Protocol`](crate::ErrorKind::Protocol) when its reply lacks a field.
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
        // RFC 6749 section 3.1: a parameter without a value counts as left out.
        let own = [
            ("scope", scope.as_str()),
            // As in the login by a browser (spec 5.2), and as Auth0 expects it.
            ("audience", settings.audience.as_deref().unwrap_or_default()),
        ];
        let own = own.into_iter().filter(|(_, value)| !value.is_empty());
        let fields: Vec<_> = own.chain(extra).collect();
        let sent = settings.clock.moment();
        let codes = endpoint::authorize_device(&provider, url, &fields).await?;
        let received = settings.clock.monotonic();
        Ok(DeviceLogin {
            // Both times count from before the request: those of the provider start later.
            expires_at: sent.wall + codes.expires_in,
            deadline: sent.monotonic.saturating_add(codes.expires_in),
            next_poll: received.saturating_add(codes.interval),
            codes,
            expected,
            provider,
        })
    }
}

/// A login that waits for the user's answer on another device. Show [`verification_url`](Self::verification_url) and
/// [`user_code`](Self::user_code), then await
/// [`TokenManager::complete_device_login`](super::TokenManager::complete_device_login).
///
/// See [`TokenManager::complete_device_login`](super::TokenManager::complete_device_login) for an example.
pub struct DeviceLogin {
    pub(super) provider: Provider,
    pub(super) codes: DeviceCodes,
    pub(super) expected: ExpectedIdToken,
    expires_at: SystemTime,
    /// The end of the codes, by the monotonic clock.
    pub(super) deadline: Duration,
    /// When the first poll may be sent, by the monotonic clock.
    pub(super) next_poll: Duration,
}

impl DeviceLogin {
    /// The code that the user types at [`verification_url`](Self::verification_url), such as `WDJB-MJHT`. Show it as it is,
    /// to the user only: whoever reads it in time can log this device in as another user.
    pub fn user_code(&self) -> &str {
        self.codes.user_code.expose()
    }

    /// The page that the user opens on another device.
    pub fn verification_url(&self) -> &Url {
        &self.codes.verification_url
    }

    /// The page with the code in its address, for a QR code or a link, if the provider sends one.
    ///
    /// Show [`user_code`](Self::user_code) as well: the user compares it with the one on the page (RFC 8628 section 3.3.1).
    pub fn verification_url_complete(&self) -> Option<&Url> {
        self.codes.verification_url_complete.as_ref()
    }

    /// When the codes expire.
    pub fn expires_at(&self) -> SystemTime {
        self.expires_at
    }

    /// The shortest time between two polls; longer once the provider asks for it.
    pub fn interval(&self) -> Duration {
        self.codes.interval
    }
}

// Without the codes: either is enough to take over the login.
debug_shows!(DeviceLogin, |it|
    host: it.codes.verification_url.host_str(),
    expires_at: it.expires_at,
    interval: it.codes.interval,
);
