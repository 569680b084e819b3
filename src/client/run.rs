//! The life of a request, from top to bottom: token, send, renew once when refused, decode; the whole tried again
//! where that does no harm.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use serde::de::DeserializeOwned;
use tracing::Instrument;
use url::Url;

use super::plan::Plan;
use super::response::Response;
use super::trace;
use crate::auth::{AccessToken, TokenSource};
use crate::error::{Error, Failure, Kind, Result, Unsent};
use crate::graphql::Overrides;
use crate::transport::header::{ACCEPT, AUTHORIZATION, HeaderValue};
use crate::transport::{
    Body, Budget, Clock, Http, Reply, Request, RetryPolicy, Safety, retry_after, with_retries,
};

/// What the draft of GraphQL over HTTP asks a client to accept.
const ACCEPTED: HeaderValue =
    HeaderValue::from_static("application/graphql-response+json, application/json;q=0.9");

/// How many other documents a call tries: the four homes of the user details, each with and without doubtful fields.
const DOCUMENTS: u32 = 8;

/// What is needed to run operations.
pub(super) struct Runner {
    pub(super) endpoint: Url,
    pub(super) tokens: Arc<dyn TokenSource>,
    pub(super) http: Http,
    pub(super) retry: RetryPolicy,
    pub(super) budget: Budget,
    pub(super) clock: Clock,
    pub(super) overrides: Overrides,
}

/// How far a call has come, also for the case that its time runs out.
#[derive(Default)]
struct Progress {
    attempts: AtomicU32,
    sent: AtomicU32,
    renewed: AtomicBool,
    /// A request is on its way, or one that was may have been carried out.
    in_doubt: AtomicBool,
}

impl Runner {
    /// The request of a plan, all but the token.
    pub(super) fn request(&self, plan: &Plan) -> Request {
        let body = Body::Json(plan.encoded.body.clone());
        let mut request = Request::post(self.endpoint.clone(), body).header(ACCEPT, ACCEPTED);
        request.headers.extend(plan.headers.clone());
        request.timeout = plan.timeout;
        request.watch.clone_from(&plan.watch);
        request
    }

    /// Runs an operation.
    pub(super) async fn run<T: DeserializeOwned>(&self, plan: &Plan) -> Result<Response<T>> {
        let span = trace::call(plan);
        // The future has some 9 kB; on the heap, the futures of callers stay small.
        let work = Box::pin(self.tried(plan));
        let result = work.instrument(span.clone()).await;
        trace::call_ended(&span, &result);
        result.map_err(|error| error.with_operation(&plan.encoded.operation))
    }

    async fn tried<T: DeserializeOwned>(&self, plan: &Plan) -> Result<Response<T>> {
        let (request, progress, start) =
            (self.request(plan), Progress::default(), self.clock.boot());
        let mut policy = plan.retry.clone().unwrap_or_else(|| self.retry.clone());
        if let Some(limit) = plan.deadline {
            policy = policy.deadline(limit);
        }
        let work = with_retries(
            &policy,
            &self.budget,
            &self.clock,
            plan.safety(),
            |number| {
                progress.attempts.store(number, Ordering::Relaxed);
                let span = trace::attempt(number);
                let attempt = self.attempt(plan, &request, &progress);
                async move {
                    let result = attempt.instrument(span.clone()).await;
                    trace::attempt_ended(&span, &result);
                    result
                }
            },
        );
        let mut response = match plan.deadline {
            None => work.await,
            Some(limit) => {
                let done = self.clock.within(limit, work).await;
                done.unwrap_or_else(|| Err(progress.out_of_time(plan.safety())))
            }
        }?;
        response.attempts = progress.attempts.load(Ordering::Relaxed);
        response.elapsed = self.clock.boot().saturating_sub(start);
        Ok(response)
    }

    async fn attempt<T: DeserializeOwned>(
        &self,
        plan: &Plan,
        request: &Request,
        progress: &Progress,
    ) -> Result<Response<T>> {
        let token = match self.tokens.current() {
            Some(token) => token,
            None => self.tokens.token().await?,
        };
        match self.send_fitting(plan, request, progress, &token).await {
            // Refused before it was carried out, so that sending it again does no harm, whatever it is.
            Err(refused)
                if refused.is_unauthorized()
                    && !plan.safety().may_have_applied(&refused)
                    && !progress.renewed.swap(true, Ordering::Relaxed) =>
            {
                match self.tokens.renew(&token).await {
                    Ok(token) => self.send_fitting(plan, request, progress, &token).await,
                    Err(error) if error.is_retryable() => Err(refused),
                    Err(error) => Err(error.with_attempts(1)),
                }
            }
            result => result,
        }
    }

    /// Sends a query of ours again with another document when the server's schema does not fit the first one.
    async fn send_fitting<T: DeserializeOwned>(
        &self,
        plan: &Plan,
        request: &Request,
        progress: &Progress,
        token: &AccessToken,
    ) -> Result<Response<T>> {
        let mut result = self.send(plan, request, progress, token).await;
        let mut request = Cow::Borrowed(request);
        for _ in 0..DOCUMENTS {
            let (Err(error), Body::Json(body)) = (&result, &request.body) else {
                break;
            };
            let Some(body) = plan.encoded.adapted(body, error) else {
                break;
            };
            request.to_mut().body = Body::Json(body.clone());
            result = self.send(plan, &request, progress, token).await;
            if result.is_ok() {
                let left_out = self.overrides.remember(&plan.encoded, &body);
                trace::adapted(&plan.encoded.operation, &left_out);
            }
        }
        result
    }

    async fn send<T: DeserializeOwned>(
        &self,
        plan: &Plan,
        request: &Request,
        progress: &Progress,
        token: &AccessToken,
    ) -> Result<Response<T>> {
        progress.sent.fetch_add(1, Ordering::Relaxed);
        let in_doubt = progress.in_doubt.swap(true, Ordering::Relaxed);
        let request = request.clone().header(AUTHORIZATION, token.header());
        let reply = self.http.send(request).await;
        if plan.watch.is_some() {
            // Who waits for the next cursor goes first: decoding a page keeps the thread for a while.
            tokio::task::yield_now().await;
        }
        let result = reply.and_then(|reply| self.read(plan, reply));
        if let Err(error) = &result {
            let in_doubt = in_doubt || plan.safety().may_have_applied(error);
            progress.in_doubt.store(in_doubt, Ordering::Relaxed);
        }
        result
    }

    fn read<T: DeserializeOwned>(&self, plan: &Plan, reply: Reply) -> Result<Response<T>> {
        let wait = retry_after(&reply.headers, self.clock.now());
        let (status, request_id) = (reply.status, Response::<T>::request_id_of(&reply.headers));
        let media_type = reply.media_type();
        let decoded = plan
            .encoded
            .decode(status, media_type.as_deref(), &reply.body);
        match decoded.unwrap_or_else(|| Err(reply.into_error())) {
            Ok(outcome) => {
                // One for all: a schema that has changed breaks many records in the same way.
                outcome.unreadable().take(1).for_each(trace::decode_failure);
                Ok(Response::new(outcome, status, request_id))
            }
            Err(error) => {
                trace::decode_failure(&error);
                Err(error.with_retry_after(wait))
            }
        }
    }
}

impl Progress {
    /// The deadline of the call has passed.
    fn out_of_time(&self, safety: Safety) -> Error {
        let sent = self.sent.load(Ordering::Relaxed);
        let error = Error::new(Kind::Transport(Failure {
            what: "the deadline of the call has passed",
            timeout: true,
            unsent: if sent > 0 {
                Unsent::Perhaps
            } else {
                Unsent::Surely
            },
            refused_locally: false,
        }));
        // Earlier attempts may all have been refused, and the time have passed while a token was renewed.
        let in_doubt = self.in_doubt.load(Ordering::Relaxed) && safety.may_have_applied(&error);
        error.with_attempts(sent).with_may_have_applied(in_doubt)
    }
}
