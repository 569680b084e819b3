//! The path of a request, from top to bottom. Each step calls the next:
//!
//! 1. [`Sender::send`] adds headers, and reports the number of attempts;
//! 2. `run` enforces the deadline of the call;
//! 3. `retry` waits for a pause to end, and makes attempts as long as `decide` allows another one;
//! 4. `authorize` adds the token, and replaces it after "Unauthorized";
//! 5. `connect` waits for a free connection, and records whether a change is in doubt;
//! 6. `transfer` sends the request, and `read` decodes its reply.

use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tracing::Instrument;
use url::Url;

use super::backpressure::Backpressure;
use super::token_user::{ALL_USERS, TokenUser, UserKey};
use super::{Exchanged, Headers, Settings, trace};
use crate::auth::{AccessToken, TokenSource};
use crate::error::{Error, ErrorKind, Result};
use crate::model::ServerError;
use crate::secret::Secret;
use crate::transport::header::{ACCEPT_ENCODING, AUTHORIZATION, HeaderValue};
use crate::transport::{
    Clock, Http, HttpOptions, Reply, Request, RetryBudget, RetryPolicy, Safety, retry_after,
};

/// Settings that the clients of both interfaces share.
#[derive(Default)]
pub(crate) struct SenderOptions {
    pub(crate) user: Option<TokenUser>,
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

/// Sends the requests of one user. Cheap to clone; clones share connections, limits and pauses.
#[derive(Clone)]
pub(crate) struct Sender(pub(super) Arc<PoolUser>);

/// One user of a pool. A single allocation, so that a clone updates one reference count: each one is contended across threads.
pub(super) struct PoolUser {
    pub(super) pool: Arc<Pool>,
    pub(super) user: TokenUser,
}

/// The state shared by all users of a client.
pub(super) struct Pool {
    pub(super) http: Http,
    headers: Headers,
    retry: RetryPolicy,
    budget: RetryBudget,
    pub(super) clock: Clock,
    pauses: Backpressure,
    /// The pool for requests to hosts other than the endpoint. Created on first use.
    elsewhere: OnceLock<Arc<Pool>>,
}

/// The parts that differ between the operations of the two interfaces.
pub(crate) trait SentOperation: Sync {
    type Value: Send;

    /// Names the operation in errors and traces.
    fn name(&self) -> &str;

    /// For traces.
    fn kind(&self) -> &'static str;

    /// Whether the operation is a change, which must not be carried out twice.
    fn is_change(&self) -> bool;

    /// Decodes a reply of any status.
    fn decode_reply(&self, reply: Reply) -> Result<Self::Value>;

    /// The errors that the reply has in addition to the value.
    fn problems(_value: &Self::Value) -> &[ServerError] {
        &[]
    }
}

/// A decoded reply.
pub(super) struct Answer<T> {
    pub(super) status: u16,
    pub(super) value: T,
}

/// One request with its attempts, and the state to report if its time runs out.
struct Exchange<'a, O> {
    sender: &'a Sender,
    operation: &'a O,
    settings: &'a Settings,
    request: Box<Request>,
    safety: Safety,
    /// The number of attempts that got as far as sending.
    attempts: u32,
    /// Whether the current attempt is included in `attempts`.
    is_sent: bool,
    is_renewed: bool,
    /// The connection pool in use while a request is in transfer.
    pool_number: Option<u64>,
    /// Whether a change was sent and may have been carried out.
    in_doubt: bool,
}

impl SenderOptions {
    /// Builds a sender for this endpoint.
    pub(crate) fn build(self, endpoint: &Url) -> Result<Sender> {
        let mut headers = Headers::default();
        for (name, value) in self.headers {
            headers = headers.with(&name, value)?;
        }
        let mut headers = headers.beside_tokens(self.user.is_some())?;
        if self.http.gzip {
            let gzip = HeaderValue::from_static("gzip");
            headers.0.insert(ACCEPT_ENCODING, gzip);
        }
        let http = Http::new(&self.http, &[endpoint])?;
        let pool = Pool::new(http, headers, self.retry, self.clock);
        Ok(Sender::new(Arc::new(pool), self.user.unwrap_or_default()))
    }
}

impl Pool {
    fn new(http: Http, headers: Headers, retry: RetryPolicy, clock: Clock) -> Self {
        Self {
            http,
            headers,
            retry,
            budget: RetryBudget::default(),
            clock,
            pauses: Backpressure::default(),
            elsewhere: OnceLock::new(),
        }
    }
}

impl Sender {
    fn new(pool: Arc<Pool>, user: TokenUser) -> Self {
        Self(Arc::new(PoolUser { pool, user }))
    }

    /// A sender for another user of the same pool.
    pub(crate) fn with_token_source(&self, source: impl TokenSource) -> Self {
        Self::new(Arc::clone(&self.0.pool), TokenUser::new(source))
    }

    /// A sender to another host than the endpoint, over the same connections. It sends neither the client's token nor its
    /// headers, and has separate pauses per host.
    pub(crate) fn elsewhere(&self, host: &str) -> Self {
        let pool = &self.0.pool;
        let elsewhere = pool.elsewhere.get_or_init(|| {
            let http = pool.http.clone();
            let retry = pool.retry.clone();
            let pool = Pool::new(http, Headers::default(), retry, pool.clock.clone());
            Arc::new(pool)
        });
        Self::new(Arc::clone(elsewhere), TokenUser::at_host(host))
    }

    /// The users with pauses that apply to this sender, each with the status that starts a pause (spec 7.1).
    fn deferred_with(&self) -> [(u16, &UserKey); 2] {
        let user = &self.0.user;
        let maintained = if user.is_host { user.key() } else { &ALL_USERS };
        [(429, user.key()), (503, maintained)]
    }

    /// The remaining time of the pause, if requests are deferred.
    pub(crate) fn paused_for(&self) -> Option<Duration> {
        let pool = &self.0.pool;
        Some(pool.pauses.left(&pool.clock, &self.deferred_with())?.0)
    }

    /// Waits until this user may send requests.
    async fn wait_for_pauses(&self, policy: &RetryPolicy) -> Result<()> {
        if self.paused_for().is_none() {
            return Ok(());
        }
        let pool = &self.0.pool;
        let users = self.deferred_with();
        // Boxed because waits are rare: this keeps the surrounding futures small.
        Box::pin(pool.pauses.wait(&pool.clock, &users, policy)).await
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.0.pool.clock
    }

    pub(crate) fn end_pause(&self) {
        self.0.pool.pauses.end(&self.deferred_with());
    }

    /// Adds the configured headers and limits, but not the token.
    pub(super) fn prepare(&self, request: &mut Request, settings: &Settings) {
        // `Headers::with` rejects names that the request already has.
        let set = [&self.0.pool.headers.0, &settings.headers.0];
        for headers in set.into_iter().filter(|headers| !headers.is_empty()) {
            request.headers.extend(headers.clone());
        }
        request.timeout = settings.timeout;
        request.watch.clone_from(&settings.watch);
    }

    /// Sends a request with this token. Not an `async fn`, because its future would reserve space for the request.
    fn transfer(
        &self,
        request: &Request,
        token: Option<&AccessToken>,
    ) -> impl Future<Output = Result<Reply>> + Send + use<> {
        let mut request = request.clone();
        if let Some(token) = token {
            request.headers.insert(AUTHORIZATION, token.header());
        }
        self.0.pool.http.send(request)
    }

    /// Sends a request and reads its reply.
    pub(crate) async fn send<O: SentOperation>(
        &self,
        operation: &O,
        mut request: Box<Request>,
        settings: &Settings,
    ) -> Result<Exchanged<O::Value>> {
        self.prepare(&mut request, settings);
        let span = trace::call(operation.name(), operation.kind(), settings.page);
        let safety = match (operation.is_change(), settings.idempotent) {
            (false, _) => Safety::Repeatable,
            (true, true) => Safety::Idempotent,
            (true, false) => Safety::Once,
        };
        let exchange = Exchange {
            sender: self,
            operation,
            settings,
            request,
            safety,
            attempts: 0,
            is_sent: false,
            is_renewed: false,
            pool_number: None,
            in_doubt: false,
        };
        exchange.traced(&span).await
    }
}

impl<O: SentOperation> Exchange<'_, O> {
    /// Runs the exchange in the span of the call, and adds attempts, doubt and the operation to an error.
    async fn traced(mut self, span: &tracing::Span) -> Result<Exchanged<O::Value>> {
        let result = self.run().instrument(span.clone()).await;
        let result = result.map_err(|error| {
            error
                .with_attempts(self.attempts)
                .with_may_have_applied(self.in_doubt)
        });
        span.record("attempts", self.attempts);
        // The span names the operation already.
        trace::ended::<O>(span, &result);
        let answer = result.map_err(|error| error.with_operation(self.operation.name()))?;
        Ok(Exchanged {
            value: answer.value,
            json: None,
            attempts: self.attempts,
        })
    }

    /// Cancels the call when its deadline passes.
    async fn run(&mut self) -> Result<Answer<O::Value>> {
        let pool = &self.sender.0.pool;
        let settings = self.settings;
        let policy = settings.retry.as_ref().unwrap_or(&pool.retry);
        let Some(end) = settings.end else {
            return self.retry(policy).await;
        };
        let left = end.saturating_sub(pool.clock.monotonic());
        let policy = policy.clone().deadline(left);
        let result = {
            // Pinned here, because passing the future by value would copy it.
            let retry = pin!(self.retry(&policy));
            pool.clock.within(left, retry).await
        };
        result.unwrap_or_else(|| {
            if let Some(number) = self.pool_number {
                pool.http.leave_pool(number);
            }
            let what = "the deadline of the call has passed";
            Err(Error::said(ErrorKind::Timeout, what).with_passes(true))
        })
    }

    /// Makes attempts until one succeeds, or until the failure or the policy forbids another.
    async fn retry(&mut self, policy: &RetryPolicy) -> Result<Answer<O::Value>> {
        let pool = &self.sender.0.pool;
        self.sender.wait_for_pauses(policy).await?;
        let start = pool.clock.monotonic();
        let mut number = 1;
        loop {
            self.is_sent = false;
            let span = trace::attempt(number);
            // Boxed as well, because the futures around it are moved, and moving a box is cheap.
            let attempt = Box::pin(self.authorize(policy));
            let result = attempt.instrument(span.clone()).await;
            trace::ended::<O>(&span, &result);
            let error = match result {
                Ok(answer) => {
                    pool.budget.give_back();
                    return Ok(answer);
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

    /// The wait before the next attempt; `None` for no further attempt.
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
            // Checked last, so that only an actual retry uses the budget.
            .filter(|_| self.sender.0.pool.budget.take())
    }

    /// Sends a request with a token. If the token is refused, renews it and sends the request once more.
    async fn authorize(&mut self, policy: &RetryPolicy) -> Result<Answer<O::Value>> {
        let user = &self.sender.0.user;
        let Some(tokens) = &user.tokens else {
            return self.connect(None).await;
        };
        let token = match tokens.current() {
            Some(token) => token,
            None => tokens.token().await?,
        };
        if user.identify(&token) {
            // Another client of this user may have received a `Retry-After`.
            self.sender.wait_for_pauses(policy).await?;
        }
        match self.connect(Some(&token)).await {
            // The refusal proves that nothing was carried out, so even a change may be sent again. A page with 401 may come
            // from the service: a new token will show.
            Err(refused)
                if (refused.refuses_token() || refused.http_status() == Some(401))
                    && !self.safety.may_have_applied(&refused)
                    && !std::mem::replace(&mut self.is_renewed, true) =>
            {
                match tokens.renew(&token).await {
                    Ok(same) if same.is_same(&token) => Err(refused),
                    Ok(token) => self.connect(Some(&token)).await,
                    Err(error) => Err(error.after(refused)),
                }
            }
            result => result,
        }
    }

    /// Waits for a free connection, then sends the request.
    async fn connect(&mut self, token: Option<&AccessToken>) -> Result<Answer<O::Value>> {
        // A call that times out during this wait was not sent, so update the counters afterwards.
        let sender = self.sender;
        let slot = sender.0.pool.http.slot().await;
        if matches!(&self.settings.condition, Some(condition) if !condition()) {
            let what = "the condition of the call no longer held when the request could be sent";
            return Err(Error::said(ErrorKind::Transport, what));
        }
        self.attempts += u32::from(!std::mem::replace(&mut self.is_sent, true));
        let is_change = self.safety != Safety::Repeatable;
        let was_in_doubt = std::mem::replace(&mut self.in_doubt, is_change);
        let transfer = sender.transfer(&self.request, token);
        self.pool_number = sender.0.pool.http.pool_number();
        let reply = transfer.await;
        self.pool_number = None;
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

    /// Decodes a reply. A refusal with `Retry-After` starts a pause.
    fn read(&mut self, reply: Reply) -> Result<Answer<O::Value>> {
        let pool = &self.sender.0.pool;
        let status = reply.status;
        let wait = retry_after(&reply.headers, pool.clock.now());
        match self.operation.decode_reply(reply) {
            Ok(value) => Ok(Answer { status, value }),
            Err(error) => {
                trace::decode_failure(&error);
                let error = error.with_retry_after(wait);
                let users = self.sender.deferred_with();
                pool.pauses.note(&pool.clock, &users, &error);
                Err(error)
            }
        }
    }
}
