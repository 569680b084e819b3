//! The checks of an id token: its claims, then the application's own check.

use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::SystemTime;

use serde::de::DeserializeOwned;

use super::claims::{Claims, ExpectedIdToken, payload};
use super::failure::login_refused;
use super::{Provider, ProviderBuilder, secret_json};
use crate::error::Result;
use crate::secret::Secret;

/// The id token that a [check of the application](ProviderBuilder::id_token_check) gets. Hidden in `Debug`.
///
/// See [`ProviderBuilder::id_token_check`] for an example.
#[derive(Debug)]
pub struct IdToken<'a>(&'a Secret);

pub(super) type IdTokenCheck =
    Arc<dyn Fn(&IdToken<'_>) -> Result<(), Box<dyn Error + Send + Sync>> + Send + Sync>;

impl IdToken<'_> {
    /// The token as the provider has sent it: header, claims and signature (RFC 7515 section 3.1).
    pub fn token(&self) -> &Secret {
        self.0
    }

    /// The claims, as a type of yours or as a `serde_json::Value`.
    ///
    /// # Errors
    ///
    /// [`LoginRefused`](crate::ErrorKind::LoginRefused) when the claims are not of this type. Their text is not shown.
    pub fn claims<T: DeserializeOwned>(&self) -> Result<T> {
        payload(self.0.expose())
            .and_then(|json| secret_json::from_json(&json))
            .ok_or_else(|| login_refused("id_token_unreadable"))
    }
}

impl ProviderBuilder {
    /// A check of your own for each id token; none unless set. It runs after [those of this crate](super::TokenSet::id_token)
    /// have passed and before anything is stored.
    ///
    /// A login whose check fails ends in [`LoginRefused`](crate::ErrorKind::LoginRefused), with the check's error as its
    /// source: its refresh token is revoked, and nothing is stored. The id token that may come with renewed tokens is checked
    /// too: one that does not pass is not kept, that of the login stays, and the new tokens are used. An error must not show the
    /// token or its claims. A panic counts as one.
    ///
    /// This is the place for a policy of yours, such as a verified e-mail address, and for the signature where a rule requires
    /// it. The check must answer at once, so the provider's keys are fetched before a login is completed and when they are some
    /// minutes old; the application `verify_id_token` (`cargo run -p apps --bin verify_id_token`) does that with the crate
    /// `jsonwebtoken`.
    ///
    /// ```
    /// # use envd_sdk::auth::TokenManager;
    /// # use envd_sdk::fake::Fake;
    /// # equipment::example(async {
    /// # let fake = Fake::start().await;
    /// # let settings = fake.provider();
    /// #[derive(serde::Deserialize)]
    /// struct Person {
    ///     email: String,
    /// }
    ///
    /// let provider = settings
    ///     .id_token_check(|id_token| {
    ///         let person: Person = id_token.claims()?;
    ///         if !person.email.ends_with("@farm.example") {
    ///             return Err("not an address of the farm".into());
    ///         }
    ///         Ok(())
    ///     })
    ///     .build()?;
    /// let manager = TokenManager::builder(provider).build()?;
    /// let login = manager.provider().authorization().start()?;
    /// # let callback = fake.consent(login.url())?;
    /// let refused = manager.complete_login(login, callback.as_str()).await.unwrap_err();
    /// assert!(refused.kind() == envd_sdk::ErrorKind::LoginRefused);
    /// # Ok(()) });
    /// ```
    #[doc(alias("JWKS", "jwks_uri", "signature", "JWT"))]
    pub fn id_token_check(
        mut self,
        check: impl Fn(&IdToken<'_>) -> Result<(), Box<dyn Error + Send + Sync>> + Send + Sync + 'static,
    ) -> Self {
        self.id_token_check = Some(Arc::new(check));
        self
    }
}

impl Provider {
    /// The checks of OIDC Core 3.1.3.7 that need no key, then that of the application. `now` is the time of the reply by the
    /// provider's clock, if it is known: this computer's may be hours off.
    pub(super) fn check_id_token(
        &self,
        id_token: &Secret,
        expected: &ExpectedIdToken,
        now: SystemTime,
    ) -> Result<()> {
        let settings = &self.0;
        let issuer = settings.issuer.as_deref();
        Claims::read(id_token.expose())
            .ok_or_else(|| login_refused("id_token_unreadable"))?
            .check(issuer, &settings.client_id, expected, now)?;
        let Some(check) = &settings.id_token_check else {
            return Ok(());
        };
        // A panic here would lose a new refresh token that is not stored yet, or leave the session of a login open.
        catch_unwind(AssertUnwindSafe(|| check(&IdToken(id_token))))
            .unwrap_or_else(|_| Err("the check of the id token panicked".into()))
            .map_err(|source| login_refused("id_token_check").with_source(source))
    }
}
