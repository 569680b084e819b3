//! The path of a request, from top to bottom: pause, token, send, refresh once after a refusal, read the reply; all of it
//! retried where that does no harm.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tracing::Instrument;
use url::Url;

use super::backpressure::Backpressure;
use super::{Headers, Settings, trace};
use crate::auth::{AccessToken, TokenSource};
use crate::error::{Error, Failure, Kind, Result, Unsent};
use crate::model::ServerError;
use crate::secret::Secret;
use crate::transport::header::AUTHORIZATION;
use crate::transport::{
    Clock, Http, HttpOptions, Reply, Request, RetryBudget, RetryPolicy, Safety, retry_after,
};

/// How many other documents a request tries: the four paths of the user details, each with and without doubtful fields.
const DOCUMENTS: u32 = 8;

/// The settings that the clients of both interfaces have in common.
#[derive(Default)]
pub(crate) struct SenderOptions {
    pub(crate) tokens: Option<Arc<dyn TokenSource>>,
    pub(crate) headers: Vec<(String, Secret)>,
    pub(crate) http: HttpOptions,
    pub(crate) retry: RetryPolicy,
    pub(crate) clock: Clock,
}

/// Sends the requests of a client. Cheap to clone; clones share connections, limits and pauses.
#[derive(Clone)]
pub(crate) struct Sender {
    pub(super) pool: Arc<Pool>,
    pub(super) tokens: Option<Arc<dyn TokenSource>>,
    /// Defers the requests of this user.
    pub(super) limited: Arc<Backpressure>,
}

/// What all users of a client share.
pub(super) struct Pool {
    pub(super) http: Http,
    headers: Headers,
    retry: RetryPolicy,
    budget: RetryBudget,
    pub(super) clock: Clock,
    /// Defers the requests of all users.
    maintenance: Backpressure,
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
    fn decode_reply(&self, reply: Reply) -> Result<Self::Value>;

    /// The errors beside the value.
    fn problems(_value: &Self::Value) -> &[ServerError] {
        &[]
    }

    /// The request with another document, after the server refused this one for its schema.
    fn rewrite_document(&self, _request: &Request, _error: &Error) -> Option<Request> {
        None
    }

    /// Keeps the document of an adapted request, which the server accepted.
    fn keep_document(&self, _request: &Request) {}
}

/// The value of an operation, in a box: it is large, and is passed on from future to future.
type DecodedReply<O> = Result<Box<<O as Operation>::Value>>;

/// One request with its attempts, and how far it has come when its time runs out.
struct Exchange<'a, O> {
    sender: &'a Sender,
    operation: &'a O,
    settings: &'a Settings,
    request: Box<Request>,
    safety: Safety,
    /// How many attempts came as far as sending.
    attempts: u32,
    /// The current attempt is one of them.
    is_sent: bool,
    /// The status of the last reply.
    status: u16,
    is_renewed: bool,
    /// A change was sent and may have been carried out.
    in_doubt: bool,
}

impl SenderOptions {
    /// A sender of requests to this address.
    pub(crate) fn build(self, endpoint: &Url) -> Result<Sender> {
        let mut headers = self.headers.into_iter();
        let headers = headers.try_fold(Headers::default(), |headers, (name, value)| {
            headers.with(&name, value)
        })?;
        let mut headers = headers.beside_tokens(self.tokens.is_some())?;
        if self.http.gzip {
            headers.accept_gzip();
        }
        let pool = Arc::new(Pool {
            http: Http::new(&self.http, &[endpoint])?,
            headers,
            retry: self.retry,
            budget: RetryBudget::default(),
            clock: self.clock,
            maintenance: Backpressure::default(),
        });
        let tokens = self.tokens;
        Ok(Sender {
            pool,
            tokens,
            limited: Arc::default(),
        })
    }
}

impl Sender {
    /// The same for another user.
    pub(crate) fn with_token_source(&self, source: impl TokenSource) -> Self {
        Self {
            pool: Arc::clone(&self.pool),
            tokens: Some(Arc::new(source)),
            limited: Arc::default(),
        }
    }

    /// What defers requests, with the status that starts it: too many requests of this user, or maintenance (spec 7.1).
    fn pauses(&self) -> [(u16, &Backpressure); 2] {
        [(429, &self.limited), (503, &self.pool.maintenance)]
    }

    /// The remaining time for which requests are deferred.
    pub(crate) fn paused_for(&self) -> Option<Duration> {
        let pauses = self.pauses().into_iter();
        let left = pauses.filter_map(|(_, pause)| pause.left(&self.pool.clock));
        left.map(|(left, _)| left).max()
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.pool.clock
    }

    pub(crate) fn end_pause(&self) {
        for (_, pause) in self.pauses() {
            pause.end();
        }
    }

    /// Adds the headers and limits that are set, all but the token.
    pub(super) fn prepare(&self, request: &mut Request, settings: &Settings) {
        // They name none of the headers that a request has by itself (`Headers::with`).
        let set = [&self.pool.headers.0, &settings.headers.0];
        for headers in set.into_iter().filter(|headers| !headers.is_empty()) {
            request.headers.extend(headers.clone());
        }
        request.timeout = settings.timeout;
        request.watch.clone_from(&settings.watch);
    }

    /// Sends a request and reads its reply.
    pub(crate) async fn send<O: Operation>(
        &self,
        operation: &O,
        mut request: Box<Request>,
        settings: &Settings,
    ) -> Result<O::Value> {
        self.prepare(&mut request, settings);
        let mut exchange = Exchange {
            sender: self,
            operation,
            settings,
            request,
            safety: match (operation.is_change(), settings.idempotent) {
                (false, _) => Safety::Repeatable,
                (true, true) => Safety::Idempotent,
                (true, false) => Safety::Once,
            },
            attempts: 0,
            is_sent: false,
            status: 0,
            is_renewed: false,
            in_doubt: false,
        };
        let span = trace::call(operation.name(), operation.kind(), settings.page);
        let result = exchange.run().instrument(span.clone()).await;
        let (attempts, in_doubt) = (exchange.attempts, exchange.in_doubt);
        let result = result.map_err(|error| {
            let error = error.with_attempts(attempts);
            error.with_may_have_applied(in_doubt)
        });
        span.record("attempts", attempts);
        exchange.trace_end(&span, &result);
        settings.note(|facts| facts.attempts += attempts);
        result
            .map(|value| *value)
            .map_err(|error| error.with_operation(operation.name()))
    }
}

impl<O: Operation> Exchange<'_, O> {
    /// Within the time of the call.
    async fn run(&mut self) -> DecodedReply<O> {
        let (pool, settings) = (&self.sender.pool, self.settings);
        let policy = settings.retry.as_ref().unwrap_or(&pool.retry);
        let Some(end) = settings.end else {
            return self.retried(policy).await;
        };
        let left = end.saturating_sub(pool.clock.monotonic());
        let policy = policy.clone().deadline(left);
        let result = {
            // Pinned here: a future that is passed by value is copied.
            let retried = pin!(self.retried(&policy));
            pool.clock.within(left, retried).await
        };
        match result {
            Some(result) => result,
            None => Err(Error::new(Kind::Transport(Failure {
                what: "the deadline of the call has passed",
                timeout: true,
                unsent: if self.attempts > 0 {
                    Unsent::Perhaps
                } else {
                    Unsent::Surely
                },
                refused_locally: false,
            }))),
        }
    }

    /// Again until it succeeds, or the failure or the policy allows no further attempt.
    async fn retried(&mut self, policy: &RetryPolicy) -> DecodedReply<O> {
        let pool = &self.sender.pool;
        if self.sender.paused_for().is_some() {
            // Waits are rare, and in boxes: the futures around them stay small.
            for (_, pause) in self.sender.pauses() {
                Box::pin(pause.wait(&pool.clock, policy)).await?;
            }
        }
        let (start, mut number) = (pool.clock.monotonic(), 1);
        loop {
            self.is_sent = false;
            let span = trace::attempt(number);
            // In a box as well: the futures around it are moved, a box is not.
            let attempt = Box::pin(self.attempt());
            let result = attempt.instrument(span.clone()).await;
            self.trace_end(&span, &result);
            let error = match result {
                Ok(value) => {
                    pool.budget.give_back();
                    return Ok(value);
                }
                Err(error) => error,
            };
            let elapsed = pool.clock.monotonic().saturating_sub(start);
            let wait = Some(&error)
                .filter(|error| self.safety.allows_retry(error))
                .and_then(|error| policy.next_wait(number, elapsed, error.retry_after()))
                // Last, so that only a retry that is made costs something.
                .filter(|_| pool.budget.take());
            let Some(wait) = wait else {
                return Err(error);
            };
            Box::pin(pool.clock.sleep(wait)).await;
            number += 1;
        }
    }

    /// With a token, and once more with a new one when it is refused.
    async fn attempt(&mut self) -> DecodedReply<O> {
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
                    && !std::mem::replace(&mut self.is_renewed, true) =>
            {
                match tokens.renew(&token).await {
                    Ok(token) => self.send_fitting(Some(&token)).await,
                    Err(error) if error.is_retryable() => Err(refused),
                    Err(error) => Err(error),
                }
            }
            result => result,
        }
    }

    /// Again with another document when the server's schema does not fit the first one.
    async fn send_fitting(&mut self, token: Option<&AccessToken>) -> DecodedReply<O> {
        let mut result = self.send(None, token).await;
        let mut request: Option<Box<Request>> = None;
        for _ in 0..DOCUMENTS {
            let Err(error) = &result else { break };
            let refused = request.as_ref().unwrap_or(&self.request);
            let Some(adapted) = self.operation.rewrite_document(refused, error) else {
                break;
            };
            let adapted = request.insert(Box::new(adapted));
            result = self.send(Some(adapted), token).await;
            if result.is_ok() {
                self.operation.keep_document(adapted);
            }
        }
        result
    }

    /// Once; the request of the call, if there is no adapted one.
    async fn send(
        &mut self,
        adapted: Option<&Request>,
        token: Option<&AccessToken>,
    ) -> DecodedReply<O> {
        // Before the facts below: a call whose time runs out here has not been sent.
        let sender = self.sender;
        let slot = sender.pool.http.slot().await;
        if matches!(&self.settings.condition, Some(condition) if !condition()) {
            return Err(Error::new(Kind::Transport(Failure {
                what: "it was too late when the request could be sent",
                timeout: false,
                unsent: Unsent::Surely,
                refused_locally: true,
            })));
        }
        self.attempts += u32::from(!std::mem::replace(&mut self.is_sent, true));
        let was_in_doubt = std::mem::replace(&mut self.in_doubt, self.operation.is_change());
        let reply = self.reply(adapted.unwrap_or(&self.request), token).await;
        drop(slot);
        if self.settings.watch.is_some() {
            // Yield, so that the look-ahead task runs before this page is decoded, which keeps the thread for a while.
            tokio::task::yield_now().await;
        }
        let result = reply.and_then(|reply| self.decode_reply(reply));
        self.in_doubt =
            was_in_doubt || matches!(&result, Err(error) if self.safety.may_have_applied(error));
        result
    }

    /// The reply to a request with this token. Not an `async fn`, whose future would have room for the request.
    fn reply(
        &self,
        request: &Request,
        token: Option<&AccessToken>,
    ) -> impl Future<Output = Result<Reply>> + Send + use<O> {
        let mut request = request.clone();
        if let Some(token) = token {
            request.headers.insert(AUTHORIZATION, token.header());
        }
        self.sender.pool.http.send(request)
    }

    fn decode_reply(&mut self, reply: Reply) -> DecodedReply<O> {
        let pool = &self.sender.pool;
        let wait = retry_after(&reply.headers, pool.clock.now());
        self.status = reply.status;
        self.settings.note(|facts| {
            facts.status = Some(reply.status);
            facts.request_id = reply.request_id().map(str::to_owned);
        });
        let decoded = self.operation.decode_reply(reply).map(Box::new);
        let decoded = decoded.map_err(|error| {
            trace::decode_failure(&error);
            error.with_retry_after(wait)
        });
        if let Err(error) = &decoded {
            for (status, pause) in self.sender.pauses() {
                pause.note(&pool.clock, status, error);
            }
        }
        decoded
    }

    fn trace_end(&self, span: &tracing::Span, result: &DecodedReply<O>) {
        let result = result.as_ref();
        trace::ended(span, result.map(|value| (self.status, O::problems(value))));
    }
}
