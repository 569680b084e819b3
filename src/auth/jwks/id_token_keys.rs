//! The keys of a provider: fetched, cached, and fetched again when a token has another.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use url::Url;

use super::jwk::{Jwk, read_set};
use super::jws::{Jws, Refusal};
use crate::auth::failure::{login_refused, unavailable};
use crate::error::{Error, Result};
use crate::secret::Secret;
use crate::transport::header::{ACCEPT, HeaderValue};
use crate::transport::{Clock, Http, Reply, Request, max_age, retry_after};

/// How long keys are used before they are fetched again: `max-age` of the reply within these bounds. Auth0's 15 seconds would
/// mean a request for each login.
const SHORTEST: Duration = Duration::from_secs(300);
const LONGEST: Duration = Duration::from_secs(86_400);
/// Without `max-age`.
const USUAL: Duration = Duration::from_secs(3_600);

/// Between two requests because of tokens whose key is not known, and after one that failed while older keys were usable.
const BETWEEN: Duration = Duration::from_secs(60);

/// A connection that was lost is tried again: a login must not end because of it.
const ATTEMPTS: u32 = 3;
const PAUSE: Duration = Duration::from_millis(500);
/// Not after a time-out, which a further one would double.
const PATIENCE: Duration = Duration::from_secs(5);

/// The signing keys of one provider.
pub(in crate::auth) struct IdTokenKeys {
    uri: Url,
    http: Http,
    clock: Clock,
    cache: Mutex<Cache>,
    /// Held while keys are fetched, so that there is one request at a time.
    fetching: tokio::sync::Mutex<()>,
}

/// Times are on the boot clock, which does not jump.
#[derive(Default)]
struct Cache {
    keys: Arc<[Jwk]>,
    fetched_at: Duration,
    fresh_until: Duration,
    /// The number of fetches.
    fetches: u64,
    /// Why the last fetch failed.
    failure: Option<Error>,
    /// The last time that a token with an unknown key made the keys stale.
    unknown_at: Option<Duration>,
}

impl IdTokenKeys {
    pub(super) fn new(uri: Option<&Url>, http: &Http, clock: &Clock) -> Result<Self> {
        let uri = uri.ok_or_else(|| Error::config("verify_id_tokens needs jwks_uri"))?;
        Ok(Self {
            uri: uri.clone(),
            http: http.clone(),
            clock: clock.clone(),
            cache: Mutex::default(),
            fetching: tokio::sync::Mutex::default(),
        })
    }

    /// Fetches the keys unless they are cached. While they cannot be fetched, older ones are used for up to a day.
    pub(in crate::auth) async fn prepare(&self) -> Result<()> {
        let seen = {
            let cache = self.cache();
            if cache.is_fresh(self.clock.boot()) {
                return Ok(());
            }
            cache.fetches
        };
        let _turn = self.fetching.lock().await;
        if self.cache().fetches == seen {
            self.fetch().await;
        }
        self.cache().usable(self.clock.boot()).map(|_| ())
    }

    /// Verifies the signature of an id token; fetches the keys if the token has an unknown one.
    pub(in crate::auth) async fn verify(&self, id_token: &Secret) -> Result<()> {
        let token = Jws::read(id_token.expose()).map_err(refused)?;
        loop {
            let (keys, seen) = {
                let cache = self.cache();
                let keys = cache.usable(self.clock.boot());
                (keys.unwrap_or_default(), cache.fetches)
            };
            let Err(refusal) = token.check(&keys) else {
                return Ok(());
            };
            if !refusal.may_be_of_a_new_key() || !self.fetch_for_unknown(seen).await? {
                return Err(refused(refusal));
            }
        }
    }

    /// As [`verify`](Self::verify), without I/O. If the token has an unknown key, the next [`prepare`](Self::prepare) fetches
    /// the keys.
    pub(in crate::auth) fn verify_with_cached(&self, id_token: &Secret) -> Result<()> {
        let token = Jws::read(id_token.expose()).map_err(refused)?;
        let now = self.clock.boot();
        let keys = self.cache().usable(now)?;
        // Without the lock: each key costs an exponentiation, and others wait for it.
        token.check(&keys).map_err(|refusal| {
            let mut cache = self.cache();
            if refusal.may_be_of_a_new_key() && cache.note_unknown(now) {
                cache.fresh_until = Duration::ZERO;
            }
            refused(refusal)
        })
    }

    /// Fetches the keys because those of fetch number `seen` do not verify a token; returns whether there may be others now.
    async fn fetch_for_unknown(&self, seen: u64) -> Result<bool> {
        let _turn = self.fetching.lock().await;
        let has_turn = {
            let mut cache = self.cache();
            // Another caller may have fetched them while this one waited.
            cache.fetches == seen && cache.note_unknown(self.clock.boot())
        };
        if has_turn {
            self.fetch().await;
        }
        let cache = self.cache();
        match &cache.failure {
            Some(failure) => Err(failure.clone()),
            None => Ok(cache.fetches != seen),
        }
    }

    /// Fetches the keys and caches them, or the reason why there are none.
    async fn fetch(&self) {
        let begun = self.clock.boot();
        let mut outcome = self.request().await;
        for _ in 1..ATTEMPTS {
            let elapsed = self.clock.boot().saturating_sub(begun);
            let may_help = |error: &Error| error.is_retryable() && error.retry_after().is_none();
            if elapsed > PATIENCE || !outcome.as_ref().is_err_and(may_help) {
                break;
            }
            self.clock.sleep(PAUSE).await;
            outcome = self.request().await;
        }
        let now = self.clock.boot();
        let mut cache = self.cache();
        cache.fetches += 1;
        match outcome {
            Ok((keys, lifetime)) => {
                cache.keys = keys.into();
                cache.fetched_at = now;
                cache.fresh_until = now.saturating_add(lifetime);
                cache.failure = None;
            }
            Err(failure) => {
                tracing::debug!("the keys of id tokens could not be fetched: {failure}");
                cache.fresh_until = now.saturating_add(BETWEEN);
                cache.failure = Some(failure);
            }
        }
    }

    async fn request(&self) -> Result<(Vec<Jwk>, Duration)> {
        // RFC 7517 section 8.5.
        let types = HeaderValue::from_static("application/jwk-set+json, application/json");
        let request = Request::get(self.uri.clone()).header(ACCEPT, types);
        let reply = self.http.send(request).await.map_err(|error| {
            // Not, for example, a reply that is too large.
            let may_help = error.is_retryable();
            unserved(may_help).with_source(error)
        })?;
        let may_help = matches!(reply.status, 408 | 429 | 500..);
        // Neither is a redirect followed: keys come from no address that is not configured.
        if reply.status != 200 {
            let wait = retry_after(&reply.headers, self.clock.now());
            let error = unserved(may_help).with_source(reply.into_error());
            return Err(error.with_retry_after(wait));
        }
        Self::read(&reply)
    }

    fn read(reply: &Reply) -> Result<(Vec<Jwk>, Duration)> {
        let keys = read_set(&reply.body)
            .ok_or_else(|| Error::protocol("the reply of jwks_uri is not a JWK Set"))?;
        if keys.is_empty() {
            let what = "the JWK Set of jwks_uri has no signing key for RS256 or ES256";
            return Err(Error::protocol(what));
        }
        let lifetime = max_age(&reply.headers).unwrap_or(USUAL);
        Ok((keys, lifetime.clamp(SHORTEST, LONGEST)))
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cache {
    fn is_fresh(&self, now: Duration) -> bool {
        now < self.fresh_until && self.usable(now).is_ok()
    }

    /// The keys, also those of an earlier fetch while they are not too old.
    fn usable(&self, now: Duration) -> Result<Arc<[Jwk]>> {
        if !self.keys.is_empty() && now < self.fetched_at.saturating_add(LONGEST) {
            return Ok(self.keys.clone());
        }
        let failure = self.failure.clone();
        Err(failure.unwrap_or_else(|| unavailable("the keys of id tokens are not fetched yet")))
    }

    /// Whether keys may be fetched because of a token whose key is not known.
    fn note_unknown(&mut self, now: Duration) -> bool {
        let is_due = |at: Duration| now >= at.saturating_add(BETWEEN);
        let is_due = self.unknown_at.is_none_or(is_due);
        if is_due {
            self.unknown_at = Some(now);
        }
        is_due
    }
}

fn unserved(is_transient: bool) -> Error {
    if is_transient {
        unavailable("the keys of id tokens could not be fetched from jwks_uri")
    } else {
        Error::protocol("jwks_uri does not serve keys")
    }
}

fn refused(refusal: Refusal) -> Error {
    login_refused(refusal.code())
}
