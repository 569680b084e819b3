//! The life of a request, from top to bottom: token, send, renew once when refused, decode; the whole tried again
//! where that does no harm.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::transport::header::{ACCEPT, AUTHORIZATION, HeaderValue};
use serde::de::DeserializeOwned;
use tracing::Instrument;
use url::Url;

use crate::auth::{AccessToken, TokenSource};
use crate::error::{Error, Kind, Result};
use crate::graphql::{Encoded, OperationKind, Outcome, decode};
use crate::transport::{
    Body, Budget, Clock, Http, Request, RetryPolicy, Safety, retry_after, with_retries,
};

/// What the draft of GraphQL over HTTP asks a client to accept.
const ACCEPTED: HeaderValue =
    HeaderValue::from_static("application/graphql-response+json, application/json;q=0.9");

/// What is needed to run operations.
pub(super) struct Runner {
    pub(super) endpoint: Url,
    pub(super) tokens: Arc<dyn TokenSource>,
    pub(super) http: Http,
    pub(super) retry: RetryPolicy,
    pub(super) budget: Budget,
    pub(super) clock: Clock,
}

impl Runner {
    /// Runs an operation.
    pub(super) async fn run<T: DeserializeOwned>(&self, encoded: Encoded) -> Result<Outcome<T>> {
        let safety = match encoded.kind {
            OperationKind::Query => Safety::Repeatable,
            OperationKind::Mutation => Safety::Once,
        };
        let request =
            Request::post(self.endpoint.clone(), Body::Json(encoded.body)).header(ACCEPT, ACCEPTED);
        let renewed = AtomicBool::new(false);
        let span =
            tracing::debug_span!("envd.call", operation = %encoded.operation, kind = ?encoded.kind);
        with_retries(&self.retry, &self.budget, &self.clock, safety, |number| {
            let span = tracing::debug_span!("envd.attempt", number);
            self.attempt(&request, &renewed).instrument(span)
        })
        .instrument(span)
        .await
        .map_err(|error| error.with_operation(&encoded.operation))
    }

    async fn attempt<T: DeserializeOwned>(
        &self,
        request: &Request,
        renewed: &AtomicBool,
    ) -> Result<Outcome<T>> {
        let token = match self.tokens.current() {
            Some(token) => token,
            None => self.tokens.token().await?,
        };
        match self.send(request, &token).await {
            // Refused before it was carried out, so that sending it again does no harm, whatever it is.
            Err(refused) if refused.is_unauthorized() && !renewed.swap(true, Ordering::Relaxed) => {
                match self.tokens.renew(&token).await {
                    Ok(token) => self.send(request, &token).await,
                    Err(error) if error.is_retryable() => Err(refused),
                    Err(error) => Err(error.with_attempts(1)),
                }
            }
            result => result,
        }
    }

    async fn send<T: DeserializeOwned>(
        &self,
        request: &Request,
        token: &AccessToken,
    ) -> Result<Outcome<T>> {
        let reply = self
            .http
            .send(request.clone().header(AUTHORIZATION, token.header()))
            .await?;
        let wait = retry_after(&reply.headers, self.clock.now());
        let media_type = reply.media_type();
        let result = decode(reply.status, media_type.as_deref(), &reply.body)
            .unwrap_or_else(|| Err(reply.into_error()));
        result.map_err(|error: Error| {
            if matches!(error.kind(), Kind::Decode { .. }) {
                tracing::warn!(
                    path = error.json_path(),
                    "a reply does not have the expected shape"
                );
            }
            error.with_retry_after(wait)
        })
    }
}
