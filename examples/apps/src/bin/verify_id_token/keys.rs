//! Fetches the keys of a provider (RFC 7517), and verifies signatures with them.

use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jsonwebtoken::jwk::{
    AlgorithmParameters, EllipticCurve, Jwk, JwkSet, KeyAlgorithm, KeyOperations, PublicKeyUse,
};
use jsonwebtoken::{Algorithm, DecodingKey, Header, Validation, decode, decode_header};
use reqwest::redirect::Policy;
use serde::de::IgnoredAny;
use url::Url;

type Failure = Box<dyn Error + Send + Sync>;

/// Providers publish a new key long before they sign with it.
const LIFETIME: Duration = Duration::from_secs(600);

/// The minimum time between requests caused by unknown keys, because anyone can make a token that names one.
const BETWEEN: Duration = Duration::from_secs(60);

/// The size limit of a key set, in bytes: a set has a few keys of less than 1 KiB each, or 3 KiB with certificate chains.
const LARGEST: usize = 256 << 10;

pub(crate) struct Keys {
    http: reqwest::Client,
    address: Url,
    cached: Mutex<Cached>,
    /// Held during a request, so that concurrent logins cause only one request.
    fetching: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Cached {
    keys: Option<Arc<JwkSet>>,
    fetched_at: Option<Instant>,
    /// The last time that a token named an unknown key.
    unknown_at: Option<Instant>,
    is_stale: bool,
}

impl Keys {
    pub(crate) fn new(address: Url) -> Result<Self, Failure> {
        let http = reqwest::Client::builder()
            // Fetch keys only from the configured address.
            .redirect(Policy::none())
            .timeout(Duration::from_secs(10));
        Ok(Self {
            http: http.build()?,
            address,
            cached: Mutex::default(),
            fetching: tokio::sync::Mutex::default(),
        })
    }

    /// Fetches the keys unless they are fresh.
    pub(crate) async fn prepare(&self) -> Result<(), Failure> {
        if self.cached().is_fresh() {
            return Ok(());
        }
        let _fetching = self.fetching.lock().await;
        // Another login may have fetched them meanwhile.
        if self.cached().is_fresh() {
            return Ok(());
        }
        let keys: JwkSet = serde_json::from_slice(&self.fetch().await?)?;
        let mut cached = self.cached();
        cached.keys = Some(Arc::new(keys));
        cached.fetched_at = Some(Instant::now());
        cached.is_stale = false;
        Ok(())
    }

    async fn fetch(&self) -> Result<Vec<u8>, Failure> {
        let reply = self.http.get(self.address.clone()).send().await?;
        let mut reply = reply.error_for_status()?;
        let mut body = Vec::new();
        while let Some(chunk) = reply.chunk().await? {
            body.extend(chunk);
            if body.len() > LARGEST {
                return Err("the set of keys is too large".into());
            }
        }
        Ok(body)
    }

    /// Verifies the signature of a token. The crate has already checked the claims.
    pub(crate) fn verify(&self, token: &str) -> Result<(), Failure> {
        let header = decode_header(token)?;
        let id = header.kid.as_ref().ok_or("it names no key")?;
        // Release the lock: verification takes a while, and other logins need the lock.
        let keys = self.cached().keys.clone();
        let Some(key) = keys.as_ref().and_then(|keys| keys.find(id)) else {
            self.cached().note_unknown();
            return Err("its key is not known".into());
        };
        let mut validation = Validation::new(algorithm(&header, key)?);
        // The crate has checked the claims, with its own clock.
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
    fn is_fresh(&self) -> bool {
        let is_fresh = |at: Instant| at.elapsed() < LIFETIME;
        self.fetched_at.is_some_and(is_fresh) && !self.is_stale
    }

    /// Makes the next login fetch the keys.
    fn note_unknown(&mut self) {
        let is_recent = |at: Instant| at.elapsed() < BETWEEN;
        if !self.unknown_at.is_some_and(is_recent) {
            self.unknown_at = Some(Instant::now());
            self.is_stale = true;
        }
    }
}

/// The algorithm that verifies the signature of a token. The type of the key decides, never the token (RFC 8725 section 3.1).
pub(crate) fn algorithm(header: &Header, key: &Jwk) -> Result<Algorithm, &'static str> {
    // RFC 7515 section 4.1.11: refuse a token with critical extensions, because none is implemented here.
    if header.crit.is_some() {
        return Err("its header demands an extension");
    }
    let (algorithm, name) = match &key.algorithm {
        AlgorithmParameters::RSA(_) => (Algorithm::RS256, KeyAlgorithm::RS256),
        AlgorithmParameters::EllipticCurve(point) if point.curve == EllipticCurve::P256 => {
            (Algorithm::ES256, KeyAlgorithm::ES256)
        }
        _ => return Err("its key is of another type"),
    };
    // RFC 7517 sections 4.2 to 4.4: the published purpose of the key, if there is one.
    let published = &key.common;
    let uses = &published.public_key_use;
    let operations = &published.key_operations;
    let is_for_signatures = matches!(uses, None | Some(PublicKeyUse::Signature))
        && operations
            .as_ref()
            .is_none_or(|all| all.contains(&KeyOperations::Verify))
        && published.key_algorithm.is_none_or(|only| only == name);
    is_for_signatures
        .then_some(algorithm)
        .ok_or("its key is for other uses")
}
