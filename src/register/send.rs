//! One request of the register: wait if it asked for that, token, send, renew once, try again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tracing::Instrument;
use tracing::field::Empty;
use url::Url;

use super::OPERATION;
use super::pause::Pause;
use crate::auth::{AccessToken, TokenSource};
use crate::error::Result;
use crate::transport::header::{ACCEPT, AUTHORIZATION, HeaderName, HeaderValue, IF_MODIFIED_SINCE};
use crate::transport::{
    Budget, Clock, Http, Reply, Request, RetryPolicy, Safety, retry_after, with_retries,
};

/// What is needed to send.
pub(super) struct Sender {
    pub(super) http: Http,
    pub(super) tokens: Option<Arc<dyn TokenSource>>,
    /// A header of the caller's, for authentication.
    pub(super) header: Option<(HeaderName, HeaderValue)>,
    pub(super) retry: RetryPolicy,
    pub(super) budget: Budget,
    pub(super) clock: Clock,
    pub(super) pause: Pause,
}

/// What is asked.
pub(super) struct Call {
    /// For traces: the address has what somebody searches for.
    pub(super) kind: &'static str,
    pub(super) url: Url,
    pub(super) since: Option<HeaderValue>,
}

impl Sender {
    /// Fetches an address; a reply of another status than 2xx is an error, except the 304 of a conditional request.
    pub(super) async fn get(&self, call: Call) -> Result<Reply> {
        let span = tracing::debug_span!(
            "envd.call",
            operation = OPERATION,
            kind = call.kind,
            status = Empty,
            attempts = Empty
        );
        let result = self.tried(call).instrument(span.clone()).await;
        match &result {
            Ok(reply) => span.record("status", reply.status),
            Err(error) => {
                if let Some(status) = error.http_status() {
                    span.record("status", status);
                }
                span.record("attempts", error.attempts())
            }
        };
        result.map_err(|error| error.with_operation(OPERATION))
    }

    async fn tried(&self, call: Call) -> Result<Reply> {
        self.paused().await?;
        // Errors come as JSON or XML (spec 7.1); the register has only JSON records.
        let mut request =
            Request::get(call.url).header(ACCEPT, HeaderValue::from_static("application/json"));
        if let Some((name, value)) = &self.header {
            request = request.header(name.clone(), value.clone());
        }
        let conditional = call.since.is_some();
        if let Some(since) = call.since {
            request = request.header(IF_MODIFIED_SINCE, since);
        }
        let renewed = AtomicBool::new(false);
        let (policy, budget, clock) = (&self.retry, &self.budget, &self.clock);
        with_retries(policy, budget, clock, Safety::Repeatable, |number| {
            let span = tracing::debug_span!("envd.attempt", attempt = number, status = Empty);
            let attempt = self.attempt(&request, &renewed, conditional, span.clone());
            attempt.instrument(span)
        })
        .await
    }

    /// Waits while requests are deferred; fails at once where that is longer than a call may take.
    async fn paused(&self) -> Result<()> {
        let start = self.clock.boot();
        while let Some((left, refusal)) = self.pause.left(self.clock.boot()) {
            let waited = self.clock.boot().saturating_sub(start);
            if self.retry.next_wait(1, waited, Some(left)).is_none() {
                let refusal = refusal.with_attempts(0);
                return Err(refusal.with_retry_after(Some(left)));
            }
            self.pause.wait(&self.clock, left).await;
        }
        Ok(())
    }

    async fn attempt(
        &self,
        request: &Request,
        renewed: &AtomicBool,
        conditional: bool,
        span: tracing::Span,
    ) -> Result<Reply> {
        let reply = match &self.tokens {
            None => self.http.send(request.clone()).await?,
            Some(tokens) => self.authorized(request, tokens.as_ref(), renewed).await?,
        };
        span.record("status", reply.status);
        if (200..=299).contains(&reply.status) || (reply.status == 304 && conditional) {
            return Ok(reply);
        }
        let wait = retry_after(&reply.headers, self.clock.now());
        let refusal = reply.into_error().with_retry_after(wait);
        self.pause.note(self.clock.boot(), &refusal);
        Err(refusal)
    }

    async fn authorized(
        &self,
        request: &Request,
        tokens: &dyn TokenSource,
        renewed: &AtomicBool,
    ) -> Result<Reply> {
        let token = match tokens.current() {
            Some(token) => token,
            None => tokens.token().await?,
        };
        let reply = self.send_with(request, &token).await?;
        if reply.status != 401 || renewed.swap(true, Ordering::Relaxed) {
            return Ok(reply);
        }
        match tokens.renew(&token).await {
            Ok(token) => self.send_with(request, &token).await,
            Err(error) if error.is_retryable() => Ok(reply),
            // The request was sent: an error of the renewal must not say that it was not.
            Err(error) => Err(error.with_attempts(1)),
        }
    }

    async fn send_with(&self, request: &Request, token: &AccessToken) -> Result<Reply> {
        let request = request.clone().header(AUTHORIZATION, token.header());
        self.http.send(request).await
    }
}
