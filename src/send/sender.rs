//! The path of a request, from top to bottom. Each step calls the next:
//!
//! 1. [`Sender::send`] adds headers, and the facts of the call to its result;
//! 2. `run` keeps the deadline of the call;
//! 3. `retry` waits for the end of a pause, and makes attempts as long as `decide` allows another one;
//! 4. `authorize` adds the token, and a new one after "Unauthorized";
//! 5. `fit_document` rewrites a document that the server's schema does not fit;
//! 6. `connect` waits for a free connection, and notes whether a change is in doubt;
//! 7. `transfer` sends the request, and `read` reads its reply.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tracing::Instrument;
use url::Url;

use super::backpressure::Backpressure;
use super::{Headers, Settings, trace};
use crate::auth::{AccessToken, TokenSource};
use crate::error::{Error, ErrorKind, Result};
use crate::model::ServerError;
use crate::secret::Secret;
use crate::transport::header::AUTHORIZATION;
use crate::transport::{
    Clock, Http, HttpOptions, Reply, Request, RetryBudget, RetryPolicy, Safety, retry_after,
};

/// How many other documents are tried for a request: the four paths of the user details, each with and without doubtful fields.
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

impl SenderOptions {
    pub(crate) fn has_header(&self, name: &str) -> bool {
        let mut headers = self.headers.iter();
        headers.any(|(set, _)| set.eq_ignore_ascii_case(name))
    }
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

    /// Keeps the document of a rewritten request, which the server accepted.
    fn keep_document(&self, _request: &Request) {}
}

/// An operation whose value is kept here, and not passed from future to future: so the path of a request is compiled once, and not
/// for the type of each value.
trait AnyOperation: Send {
    fn is_change(&self) -> bool;

    /// Keeps the value of a reply in place of an earlier one.
    fn read(&mut self, reply: Reply) -> Result<()>;

    fn problems(&self) -> &[ServerError];

    fn rewrite_document(&self, request: &Request, error: &Error) -> Option<Request>;

    fn keep_document(&self, request: &Request);
}

struct Answered<'a, O: Operation> {
    operation: &'a O,
    value: Option<O::Value>,
}

impl<O: Operation> AnyOperation for Answered<'_, O> {
    fn is_change(&self) -> bool {
        self.operation.is_change()
    }

    fn read(&mut self, reply: Reply) -> Result<()> {
        self.value = None;
        self.value = Some(self.operation.decode_reply(reply)?);
        Ok(())
    }

    fn problems(&self) -> &[ServerError] {
        self.value.as_ref().map_or(&[], O::problems)
    }

    fn rewrite_document(&self, request: &Request, error: &Error) -> Option<Request> {
        self.operation.rewrite_document(request, error)
    }

    fn keep_document(&self, request: &Request) {
        self.operation.keep_document(request);
    }
}

/// One request, its attempts, and what is known of it when its time runs out.
struct Exchange<'a> {
    sender: &'a Sender,
    operation: &'a mut dyn AnyOperation,
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
        let mut headers = Headers::default();
        for (name, value) in self.headers {
            headers = headers.with(&name, value)?;
        }
        let mut headers = headers.beside_tokens(self.tokens.is_some())?;
        if self.http.gzip {
            headers.accept_gzip();
        }
        Ok(Sender {
            pool: Arc::new(Pool {
                http: Http::new(&self.http, &[endpoint])?,
                headers,
                retry: self.retry,
                budget: RetryBudget::default(),
                clock: self.clock,
                maintenance: Backpressure::default(),
            }),
            tokens: self.tokens,
            limited: Arc::default(),
        })
    }
}

impl Sender {
    /// A sender for another user, over the same pool.
    pub(crate) fn with_token_source(&self, source: impl TokenSource) -> Self {
        Self {
            pool: Arc::clone(&self.pool),
            tokens: Some(Arc::new(source)),
            limited: Arc::default(),
        }
    }

    /// A sender to other hosts than the endpoint, over the same connections: without the token and the headers of the client, and with
    /// pauses of its own.
    pub(crate) fn elsewhere(&self) -> Self {
        let pool = &self.pool;
        Self {
            pool: Arc::new(Pool {
                http: pool.http.clone(),
                headers: Headers::default(),
                retry: pool.retry.clone(),
                budget: RetryBudget::default(),
                clock: pool.clock.clone(),
                maintenance: Backpressure::default(),
            }),
            tokens: None,
            limited: Arc::default(),
        }
    }

    /// What defers requests, with the status that starts it: too many requests of this user, or maintenance (spec 7.1).
    fn pauses(&self) -> [(u16, &Backpressure); 2] {
        [(429, &self.limited), (503, &self.pool.maintenance)]
    }

    /// The remaining time for which requests are deferred.
    pub(crate) fn paused_for(&self) -> Option<Duration> {
        self.pauses()
            .into_iter()
            .filter_map(|(_, pause)| Some(pause.left(&self.pool.clock)?.0))
            .max()
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
        // None of these headers is one that a request has already (`Headers::with`).
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
        let span = trace::call(operation.name(), operation.kind(), settings.page);
        let mut answered = Answered {
            operation,
            value: None,
        };
        let exchanged = self.exchange(&mut answered, request, settings, &span).await;
        // What was exchanged has been read.
        let read = exchanged.and(answered.value.ok_or_else(|| Error::protocol("no value")));
        read.map_err(|error| error.with_operation(operation.name()))
    }

    /// As [`send`](Self::send), whatever is sent.
    async fn exchange(
        &self,
        operation: &mut dyn AnyOperation,
        request: Box<Request>,
        settings: &Settings,
        span: &tracing::Span,
    ) -> Result<()> {
        let is_change = operation.is_change();
        let mut exchange = Exchange {
            sender: self,
            operation,
            settings,
            request,
            safety: match (is_change, settings.idempotent) {
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
        let result = exchange.run().instrument(span.clone()).await;
        let (attempts, in_doubt) = (exchange.attempts, exchange.in_doubt);
        let result = result.map_err(|error| {
            error
                .with_attempts(attempts)
                .with_may_have_applied(in_doubt)
        });
        span.record("attempts", attempts);
        exchange.trace_end(span, &result);
        settings.note(|facts| facts.attempts += attempts);
        result
    }
}

impl Exchange<'_> {
    /// Ends the call when its deadline has passed.
    async fn run(&mut self) -> Result<()> {
        let (pool, settings) = (&self.sender.pool, self.settings);
        let policy = settings.retry.as_ref().unwrap_or(&pool.retry);
        let Some(end) = settings.end else {
            return self.retry(policy).await;
        };
        let left = end.saturating_sub(pool.clock.monotonic());
        let policy = policy.clone().deadline(left);
        let result = {
            // Pinned here: a future that is passed by value is copied.
            let retry = pin!(self.retry(&policy));
            pool.clock.within(left, retry).await
        };
        match result {
            Some(result) => result,
            None => {
                let what = "the deadline of the call has passed";
                Err(Error::said(ErrorKind::Timeout, what)
                    .with_passes(true)
                    .with_sent(self.attempts > 0))
            }
        }
    }

    /// Makes attempts until one succeeds, or the failure or the policy allows no further one.
    async fn retry(&mut self, policy: &RetryPolicy) -> Result<()> {
        let pool = &self.sender.pool;
        if self.sender.paused_for().is_some() {
            // Waits are rare, so they are boxed: the futures around them stay small.
            for (_, pause) in self.sender.pauses() {
                Box::pin(pause.wait(&pool.clock, policy)).await?;
            }
        }
        let (start, mut number) = (pool.clock.monotonic(), 1);
        loop {
            self.is_sent = false;
            let span = trace::attempt(number);
            // Boxed as well: the futures around it are moved, and a box stays where it is.
            let attempt = Box::pin(self.authorize());
            let result = attempt.instrument(span.clone()).await;
            self.trace_end(&span, &result);
            let error = match result {
                Ok(()) => {
                    pool.budget.give_back();
                    return Ok(());
                }
                Err(error) => error,
            };
            let elapsed = pool.clock.monotonic().saturating_sub(start);
            let Some(wait) = self.decide(&error, policy, number, elapsed) else {
                return Err(error);
            };
            Box::pin(pool.clock.sleep(wait)).await;
            number += 1;
        }
    }

    /// How long to wait before another attempt, if one is made.
    fn decide(
        &self,
        error: &Error,
        policy: &RetryPolicy,
        attempts: u32,
        elapsed: Duration,
    ) -> Option<Duration> {
        Some(error)
            .filter(|error| self.safety.allows_retry(error))
            .and_then(|error| policy.next_wait(attempts, elapsed, error.retry_after()))
            // Taken last, so that only a retry that is made uses up the budget.
            .filter(|_| self.sender.pool.budget.take())
    }

    /// Sends a request with a token, and once more with a new one when the first is refused.
    async fn authorize(&mut self) -> Result<()> {
        let Some(tokens) = &self.sender.tokens else {
            return self.fit_document(None).await;
        };
        let token = match tokens.current() {
            Some(token) => token,
            None => tokens.token().await?,
        };
        match self.fit_document(Some(&token)).await {
            // The request was refused before it was carried out, so a change may be sent again as well. A page with 401 may be
            // of the service: a new token shows it.
            Err(refused)
                if (refused.refuses_token() || refused.http_status() == Some(401))
                    && !self.safety.may_have_applied(&refused)
                    && !std::mem::replace(&mut self.is_renewed, true) =>
            {
                match tokens.renew(&token).await {
                    Ok(same) if same.is_same(&token) => Err(refused),
                    Ok(token) => self.fit_document(Some(&token)).await,
                    Err(error) => Err(error.after(refused)),
                }
            }
            result => result,
        }
    }

    /// Sends a request, and again with another document when the server's schema does not fit the first one.
    ///
    /// When it fits none of them, the error is the first one: it is about the document that the reader knows.
    async fn fit_document(&mut self, token: Option<&AccessToken>) -> Result<()> {
        let mut result = self.connect(None, token).await;
        let (mut first, mut request) = (None, None::<Box<Request>>);
        for _ in 0..DOCUMENTS {
            let Err(error) = &result else { break };
            let refused = request.as_ref().unwrap_or(&self.request);
            let Some(rewritten) = self.operation.rewrite_document(refused, error) else {
                break;
            };
            let rewritten = request.insert(Box::new(rewritten));
            let next = self.connect(Some(rewritten), token).await;
            first = first.or(std::mem::replace(&mut result, next).err());
            if result.is_ok() {
                self.operation.keep_document(rewritten);
            }
        }
        match (result, first) {
            (Err(error), Some(first)) if error.kind() == ErrorKind::SchemaMismatch => Err(first),
            (result, _) => result,
        }
    }

    /// Waits for a free connection, and sends one request: the rewritten one, or that of the call.
    async fn connect(
        &mut self,
        rewritten: Option<&Request>,
        token: Option<&AccessToken>,
    ) -> Result<()> {
        // A call whose time runs out in this wait has not been sent, so the facts are noted after it.
        let sender = self.sender;
        let slot = sender.pool.http.slot().await;
        if matches!(&self.settings.condition, Some(condition) if !condition()) {
            let what = "the condition of the call no longer held when the request could be sent";
            return Err(Error::said(ErrorKind::Transport, what));
        }
        self.attempts += u32::from(!std::mem::replace(&mut self.is_sent, true));
        let was_in_doubt = std::mem::replace(&mut self.in_doubt, self.operation.is_change());
        let reply = self
            .transfer(rewritten.unwrap_or(&self.request), token)
            .await;
        drop(slot);
        if self.settings.watch.is_some() {
            // Yield, so that the look-ahead task runs before this page is decoded, which keeps the thread for a while.
            tokio::task::yield_now().await;
        }
        let result = reply.and_then(|reply| self.read(reply));
        self.in_doubt =
            was_in_doubt || matches!(&result, Err(error) if self.safety.may_have_applied(error));
        result
    }

    /// Sends a request with this token. Not an `async fn`, whose future would have room for the request.
    fn transfer(
        &self,
        request: &Request,
        token: Option<&AccessToken>,
    ) -> impl Future<Output = Result<Reply>> + Send + use<> {
        let mut request = request.clone();
        if let Some(token) = token {
            request.headers.insert(AUTHORIZATION, token.header());
        }
        self.sender.pool.http.send(request)
    }

    /// Reads a reply. A refusal with `Retry-After` starts a pause.
    fn read(&mut self, reply: Reply) -> Result<()> {
        let pool = &self.sender.pool;
        let wait = retry_after(&reply.headers, pool.clock.now());
        self.status = reply.status;
        self.settings.note(|facts| {
            facts.status = Some(reply.status);
            facts.request_id = reply.request_id().map(str::to_owned);
        });
        let decoded = self.operation.read(reply).map_err(|error| {
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

    fn trace_end(&self, span: &tracing::Span, result: &Result<()>) {
        let result = result.as_ref();
        trace::ended(
            span,
            result.map(|()| (self.status, self.operation.problems())),
        );
    }
}
