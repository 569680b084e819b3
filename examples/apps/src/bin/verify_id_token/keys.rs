//! The keys of a provider (RFC 7517), and the signatures that they verify.

use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, JwkSet, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use reqwest::redirect::Policy;
use serde::de::IgnoredAny;
use url::Url;

use crate::cli::Failure;

/// Providers publish a new key long before they sign with it.
const LIFETIME: Duration = Duration::from_secs(600);

/// Between two requests because of tokens with unknown keys, which anybody can make.
const BETWEEN: Duration = Duration::from_secs(60);

pub(crate) struct Keys {
    http: reqwest::Client,
    address: Url,
    cached: Mutex<Cached>,
}

#[derive(Default)]
struct Cached {
    keys: Option<Arc<JwkSet>>,
    fetched_at: Option<Instant>,
    /// The last time that a token named a key that is not among them.
    unknown_at: Option<Instant>,
    is_stale: bool,
}

impl Keys {
    pub(crate) fn new(address: Url) -> Result<Self, Failure> {
        let http = reqwest::Client::builder()
            // Keys come from no address that is not set.
            .redirect(Policy::none())
            .timeout(Duration::from_secs(10));
        Ok(Self {
            http: http.build()?,
            address,
            cached: Mutex::default(),
        })
    }

    /// Fetches the keys unless they are fresh.
    pub(crate) async fn prepare(&self) -> Result<(), Failure> {
        let is_fresh = |at: Instant| at.elapsed() < LIFETIME;
        {
            let cached = self.cached();
            if cached.fetched_at.is_some_and(is_fresh) && !cached.is_stale {
                return Ok(());
            }
        }
        let reply = self.http.get(self.address.clone()).send().await?;
        let body = reply.error_for_status()?.bytes().await?;
        let keys: JwkSet = serde_json::from_slice(&body)?;
        let mut cached = self.cached();
        cached.keys = Some(Arc::new(keys));
        cached.fetched_at = Some(Instant::now());
        cached.is_stale = false;
        Ok(())
    }

    /// Verifies the signature of a token whose claims are checked already.
    pub(crate) fn verify(&self, token: &str) -> Result<(), Box<dyn Error + Send + Sync>> {
        let id = decode_header(token)?.kid.ok_or("it names no key")?;
        // Without the lock: a signature takes a while, and others wait for it.
        let keys = self.cached().keys.clone();
        let Some(key) = keys.as_ref().and_then(|keys| keys.find(&id)) else {
            self.cached().note_unknown();
            return Err("its key is not known".into());
        };
        let mut validation = Validation::new(algorithm(key).ok_or("its key is for other uses")?);
        // The crate has checked the claims, with the clock of its own.
        validation.required_spec_claims.clear();
        validation.validate_exp = false;
        validation.validate_aud = false;
        decode::<IgnoredAny>(token, &DecodingKey::from_jwk(key)?, &validation)?;
        Ok(())
    }

    fn cached(&self) -> MutexGuard<'_, Cached> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cached {
    /// The next login fetches the keys.
    fn note_unknown(&mut self) {
        let is_recent = |at: Instant| at.elapsed() < BETWEEN;
        if !self.unknown_at.is_some_and(is_recent) {
            self.unknown_at = Some(Instant::now());
            self.is_stale = true;
        }
    }
}

/// The algorithm of a key for signatures: its type decides, never the token (RFC 8725 section 3.1).
fn algorithm(key: &Jwk) -> Option<Algorithm> {
    let usage = &key.common.public_key_use;
    if !matches!(usage, None | Some(PublicKeyUse::Signature)) {
        return None;
    }
    match &key.algorithm {
        AlgorithmParameters::RSA(_) => Some(Algorithm::RS256),
        AlgorithmParameters::EllipticCurve(point) if point.curve == EllipticCurve::P256 => {
            Some(Algorithm::ES256)
        }
        _ => None,
    }
}
