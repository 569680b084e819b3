//! The life of a request, from top to bottom: pause, token, send, refresh once when refused, judge; the whole tried
//! again where that does no harm.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tracing::Instrument;

use super::backpressure::Backpressure;
use super::{Headers, Settings, trace};
use crate::auth::{AccessToken, TokenSource};
use crate::error::{Error, Failure, Kind, Result, Unsent};
use crate::model::ServerError;
use crate::transport::header::{AUTHORIZATION, HeaderMap};
use crate::transport::{
    Budget, Clock, Http, Reply, Request, RetryPolicy, Safety, retry_after, with_retries,
};

/// How many other documents a request tries: the four homes of the user details, each with and without doubtful fields.
const DOCUMENTS: u32 = 8;

/// Sends the requests of a client. Cheap to clone; clones share connections, limits and pauses.
#[derive(Clone)]
pub(crate) struct Sender {
    pool: Arc<Pool>,
    tokens: Option<Arc<dyn TokenSource>>,
}

/// What all users of a client share.
struct Pool {
    http: Http,
    headers: Headers,
    retry: RetryPolicy,
    budget: Budget,
    clock: Clock,
    backpressure: Backpressure,
}

/// What differs between the operations of the two interfaces.
pub(crate) trait Operation: Sync {
    type Value: Send;

    /// The name in errors and traces.
    fn name(&self) -> &str;

    /// For traces.
    fn kind(&self) -> &'static str;

    /// Whether it is a change, which must not be carried out twice.
    fn is_change(&self) -> bool;

    /// Reads a reply of any status.
    fn judge(&self, reply: Reply) -> Result<Self::Value>;

    /// What the server said beside the value.
    fn problems(_value: &Self::Value) -> &[ServerError] {
        &[]
    }

    /// The request with another document, after the server refused this one for its schema.
    fn adapt(&self, _request: &Request, _error: &Error) -> Option<Request> {
        None
    }

    /// The server took the document of an adapted request.
    fn adapted(&self, _request: &Request) {}
}

/// One request with its attempts, and how far it has come when its time runs out.
struct Exchange<'a, O> {
    sender: &'a Sender,
    operation: &'a O,
    settings: &'a Settings,
    request: Request,
    safety: Safety,
    attempts: AtomicU32,
    sent: AtomicU32,
    /// The status of the last reply.
    status: AtomicU16,
    renewed: AtomicBool,
    /// A request is on its way, or one that was may have been carried out.
    in_doubt: AtomicBool,
}

impl Sender {
    pub(crate) fn new(
        http: Http,
        headers: Headers,
        retry: RetryPolicy,
        clock: Clock,
        tokens: Option<Arc<dyn TokenSource>>,
    ) -> Result<Self> {
        let pool = Arc::new(Pool {
            http,
            headers: headers.beside_tokens(tokens.is_some())?,
            retry,
            budget: Budget::default(),
            clock,
            backpressure: Backpressure::default(),
        });
        Ok(Self { pool, tokens })
    }

    /// The same for another user.
    pub(crate) fn with_token_source(&self, source: impl TokenSource) -> Self {
        Self {
            pool: Arc::clone(&self.pool),
            tokens: Some(Arc::new(source)),
        }
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.pool.clock
    }

    pub(super) fn has_tokens(&self) -> bool {
        self.tokens.is_some()
    }

    pub(super) fn user_agent(&self) -> &str {
        self.pool.http.user_agent()
    }

    /// How long requests are still deferred.
    pub(crate) fn paused_for(&self) -> Option<Duration> {
        let (left, _) = self.pool.backpressure.left(&self.pool.clock)?;
        Some(left)
    }

    pub(crate) fn end_pause(&self) {
        self.pool.backpressure.end();
    }

    /// The request with the headers and limits that are set, all but the token.
    pub(super) fn prepare(&self, mut request: Request, settings: &Settings) -> Request {
        let mut headers: HeaderMap = self.pool.headers.0.clone();
        headers.extend(settings.headers.0.clone());
        headers.extend(std::mem::take(&mut request.headers));
        Request {
            headers,
            timeout: settings.timeout,
            watch: settings.watch.clone(),
            ..request
        }
    }

    /// Sends a request, and gives what its reply is judged to be.
    pub(crate) async fn send<O: Operation>(
        &self,
        operation: &O,
        request: Request,
        settings: &Settings,
    ) -> Result<O::Value> {
        let exchange = Exchange {
            sender: self,
            operation,
            settings,
            request: self.prepare(request, settings),
            safety: match (operation.is_change(), settings.idempotent) {
                (false, _) => Safety::Repeatable,
                (true, true) => Safety::Idempotent,
                (true, false) => Safety::Once,
            },
            attempts: AtomicU32::new(0),
            sent: AtomicU32::new(0),
            status: AtomicU16::new(0),
            renewed: AtomicBool::new(false),
            in_doubt: AtomicBool::new(false),
        };
        let span = trace::call(operation.name(), operation.kind(), settings.page);
        let result = exchange.run().instrument(span.clone()).await;
        let attempts = match &result {
            Ok(_) => exchange.attempts.load(Ordering::Relaxed),
            Err(error) => error.attempts(),
        };
        span.record("attempts", attempts);
        exchange.trace_end(&span, &result);
        if let Some(facts) = &settings.facts {
            let mut facts = facts.lock().unwrap_or_else(PoisonError::into_inner);
            facts.attempts += attempts;
        }
        result.map_err(|error| error.with_operation(operation.name()))
    }
}

impl<O: Operation> Exchange<'_, O> {
    /// Within the time of the call.
    async fn run(&self) -> Result<O::Value> {
        let (pool, settings) = (&self.sender.pool, self.settings);
        let policy = settings.retry.as_ref().unwrap_or(&pool.retry);
        let Some(end) = settings.end else {
            return self.retried(policy).await;
        };
        let left = end.saturating_sub(pool.clock.boot());
        let policy = policy.clone().deadline(left);
        let done = pool.clock.within(left, self.retried(&policy)).await;
        done.unwrap_or_else(|| Err(self.out_of_time()))
    }

    /// Again and again, as far as the policy goes.
    async fn retried(&self, policy: &RetryPolicy) -> Result<O::Value> {
        let pool = &self.sender.pool;
        pool.backpressure.wait(&pool.clock, policy).await?;
        with_retries(policy, &pool.budget, &pool.clock, self.safety, |number| {
            self.attempts.store(number, Ordering::Relaxed);
            let span = trace::attempt(number);
            let attempt = self.attempt().instrument(span.clone());
            async move {
                let result = attempt.await;
                self.trace_end(&span, &result);
                result
            }
        })
        .await
    }

    /// With a token, and once more with a new one when it is refused.
    async fn attempt(&self) -> Result<O::Value> {
        let Some(tokens) = &self.sender.tokens else {
            return self.send_fitting(None).await;
        };
        let token = match tokens.current() {
            Some(token) => token,
            None => tokens.token().await?,
        };
        match self.send_fitting(Some(&token)).await {
            // Refused before it was carried out, so that sending it again does no harm, whatever it is.
            Err(refused)
                if refused.is_unauthorized()
                    && !self.safety.may_have_applied(&refused)
                    && !self.renewed.swap(true, Ordering::Relaxed) =>
            {
                match tokens.renew(&token).await {
                    Ok(token) => self.send_fitting(Some(&token)).await,
                    Err(error) if error.is_retryable() => Err(refused),
                    // The request was sent: an error of the renewal must not say that it was not.
                    Err(error) => Err(error.with_attempts(1)),
                }
            }
            result => result,
        }
    }

    /// Again with another document when the server's schema does not fit the first one.
    async fn send_fitting(&self, token: Option<&AccessToken>) -> Result<O::Value> {
        let mut request = Cow::Borrowed(&self.request);
        let mut result = self.send(&request, token).await;
        for _ in 0..DOCUMENTS {
            let Err(error) = &result else { break };
            let Some(adapted) = self.operation.adapt(&request, error) else {
                break;
            };
            request = Cow::Owned(adapted);
            result = self.send(&request, token).await;
            if result.is_ok() {
                self.operation.adapted(&request);
            }
        }
        result
    }

    /// Once.
    async fn send(&self, request: &Request, token: Option<&AccessToken>) -> Result<O::Value> {
        self.sent.fetch_add(1, Ordering::Relaxed);
        let in_doubt = self.in_doubt.swap(true, Ordering::Relaxed);
        let mut request = request.clone();
        if let Some(token) = token {
            request = request.header(AUTHORIZATION, token.header());
        }
        let reply = self.sender.pool.http.send(request).await;
        if self.settings.watch.is_some() {
            // Yield, so that the look-ahead task runs before this page is decoded, which keeps the thread for a while.
            tokio::task::yield_now().await;
        }
        let result = reply.and_then(|reply| self.judge(reply));
        if let Err(error) = &result {
            let in_doubt = in_doubt || self.safety.may_have_applied(error);
            self.in_doubt.store(in_doubt, Ordering::Relaxed);
        }
        result
    }

    fn judge(&self, reply: Reply) -> Result<O::Value> {
        let pool = &self.sender.pool;
        let wait = retry_after(&reply.headers, pool.clock.now());
        self.status.store(reply.status, Ordering::Relaxed);
        if let Some(facts) = &self.settings.facts {
            let mut facts = facts.lock().unwrap_or_else(PoisonError::into_inner);
            facts.status = Some(reply.status);
            facts.request_id = reply.request_id().map(str::to_owned);
        }
        self.operation.judge(reply).map_err(|error| {
            trace::decode_failure(&error);
            let error = error.with_retry_after(wait);
            pool.backpressure.note(&pool.clock, &error);
            error
        })
    }

    fn trace_end(&self, span: &tracing::Span, result: &Result<O::Value>) {
        let result = result.as_ref().map(|value| {
            let status = self.status.load(Ordering::Relaxed);
            (status, O::problems(value))
        });
        trace::ended(span, result);
    }

    /// The deadline of the call has passed.
    fn out_of_time(&self) -> Error {
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
        let in_doubt =
            self.in_doubt.load(Ordering::Relaxed) && self.safety.may_have_applied(&error);
        error.with_attempts(sent).with_may_have_applied(in_doubt)
    }
}
