//! The interface to the key of a client that authenticates by signed assertions.

use std::error::Error;

use super::BoxFuture;

/// Signs the assertions by which a client authenticates, with a key that only the signer knows (`private_key_jwt`, RFC 7523
/// section 2.2). For [`ProviderBuilder::private_key_jwt`](super::ProviderBuilder::private_key_jwt).
///
/// This crate makes header and claims of the assertion and calls [`sign`](Self::sign) for each request to the provider; a
/// signer needs nothing but its key, which may be in a file, a hardware module or a key management service.
///
/// ```
/// # mod kms {
/// #     pub async fn sign(_key: &str, message: &[u8]) -> Result<Vec<u8>, std::io::Error> {
/// #         Ok(vec![u8::try_from(message.len() % 256).unwrap(); 64])
/// #     }
/// # }
/// # equipment::example(async {
/// use std::error::Error;
///
/// use envd_sdk::auth::{AssertionSigner, BoxFuture};
///
/// /// A key that never leaves its key management service.
/// struct KmsKey {
///     id: String,
/// }
///
/// impl AssertionSigner for KmsKey {
///     fn alg(&self) -> &str {
///         "ES256"
///     }
///
///     fn kid(&self) -> Option<&str> {
///         Some(&self.id)
///     }
///
///     fn sign<'a>(
///         &'a self,
///         signing_input: &'a [u8],
///     ) -> BoxFuture<'a, Result<Vec<u8>, Box<dyn Error + Send + Sync>>> {
///         Box::pin(async { Ok(kms::sign(&self.id, signing_input).await?) })
///     }
/// }
///
/// # let fake = envd_sdk::fake::Fake::builder().client_assertions().start().await?;
/// let provider = fake.provider().private_key_jwt(KmsKey { id: "key-1".into() }).build()?;
/// # let manager = envd_sdk::auth::TokenManager::builder(provider).build()?;
/// # let login = manager.provider().authorization().start()?;
/// # let callback = fake.consent(login.url())?;
/// # manager.complete_login(login, callback.as_str()).await?;
/// # Ok(()) });
/// ```
pub trait AssertionSigner: Send + Sync + 'static {
    /// The algorithm of the key as JSON Web Signature names it (RFC 7518 section 3.1), such as `RS256` or `ES256`. Read once,
    /// when the provider is built, as are [`kid`](Self::kid) and [`typ`](Self::typ).
    fn alg(&self) -> &str;

    /// The id by which the provider knows the key (RFC 7515 section 4.1.4); none unless implemented.
    fn kid(&self) -> Option<&str> {
        None
    }

    /// The type of the assertion (RFC 7515 section 4.1.9); `client-authentication+jwt` unless implemented, as the update of
    /// RFC 7523 (`draft-ietf-oauth-rfc7523bis`) registers it. A provider that does not know it yet may accept `JWT` only.
    #[allow(clippy::unnecessary_literal_bound)] // Other signers may have it from their settings.
    fn typ(&self) -> &str {
        "client-authentication+jwt"
    }

    /// Signs these bytes, and returns the signature as JSON Web Signature defines it (RFC 7515 section 3): for `ES256`
    /// the 64 bytes of RFC 7518 section 3.4, not the DER structure that many libraries return.
    ///
    /// The limit is ten seconds. After that, and after an error, nothing is sent, a valid token stays in use, and the
    /// request is tried again later, as for a provider that cannot be reached. The error becomes the
    /// [`source`](std::error::Error::source) of the crate's: it must not show the key.
    fn sign<'a>(
        &'a self,
        signing_input: &'a [u8],
    ) -> BoxFuture<'a, Result<Vec<u8>, Box<dyn Error + Send + Sync>>>;
}
