//! One request of the register: token, send, renew once, try again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::transport::header::{ACCEPT, AUTHORIZATION, HeaderValue};
use url::Url;

use crate::auth::{AccessToken, TokenSource};
use crate::error::Result;
use crate::transport::{
    Budget, Clock, Http, Reply, Request, RetryPolicy, Safety, retry_after, with_retries,
};

/// What is needed to send.
pub(super) struct Sender {
    pub(super) http: Http,
    pub(super) tokens: Option<Arc<dyn TokenSource>>,
    pub(super) retry: RetryPolicy,
    pub(super) budget: Budget,
    pub(super) clock: Clock,
}

impl Sender {
    /// Fetches an address; a reply of another status than 2xx is an error.
    pub(super) async fn get(&self, url: Url) -> Result<Reply> {
        // Errors come as JSON or XML (spec 7.1); the register has only JSON records.
        let request =
            Request::get(url).header(ACCEPT, HeaderValue::from_static("application/json"));
        let renewed = AtomicBool::new(false);
        let (policy, budget, clock) = (&self.retry, &self.budget, &self.clock);
        with_retries(policy, budget, clock, Safety::Repeatable, |_| {
            self.attempt(&request, &renewed)
        })
        .await
    }

    async fn attempt(&self, request: &Request, renewed: &AtomicBool) -> Result<Reply> {
        let Some(tokens) = &self.tokens else {
            return self.accepted(self.http.send(request.clone()).await?);
        };
        let token = match tokens.current() {
            Some(token) => token,
            None => tokens.token().await?,
        };
        let mut reply = self.send_with(request, &token).await?;
        if reply.status == 401 && !renewed.swap(true, Ordering::Relaxed) {
            let token = tokens.renew(&token).await;
            // The request was sent: an error of the renewal must not say that it was not.
            let token = token.map_err(|error| error.with_attempts(1))?;
            reply = self.send_with(request, &token).await?;
        }
        self.accepted(reply)
    }

    async fn send_with(&self, request: &Request, token: &AccessToken) -> Result<Reply> {
        let request = request.clone().header(AUTHORIZATION, token.header());
        self.http.send(request).await
    }

    fn accepted(&self, reply: Reply) -> Result<Reply> {
        if (200..=299).contains(&reply.status) {
            return Ok(reply);
        }
        let wait = retry_after(&reply.headers, self.clock.now());
        Err(reply.into_error().with_retry_after(wait))
    }
}
