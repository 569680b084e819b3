//! The path of a request, from top to bottom. Each step calls the next:
//!
//! 1. [`Sender::send`] adds headers, and says how often the request was sent;
//! 2. `run` keeps the deadline of the call;
//! 3. `retry` waits for the end of a pause, and makes attempts as long as `decide` allows another one;
//! 4. `authorize` adds the token, and a new one after "Unauthorized";
//! 5. `connect` waits for a free connection, and notes whether a change is in doubt;
//! 6. `transfer` sends the request, and `read` reads its reply.

use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tracing::Instrument;
use url::Url;

use super::backpressure::Backpressure;
use super::token_user::{ALL_USERS, TokenUser, UserKey};
use super::{Exchanged, Headers, Settings, trace};
use crate::auth::{AccessToken, TokenSource};
use crate::error::{Error, ErrorKind, Result, codes};
use crate::model::ServerError;
use crate::secret::Secret;
use crate::transport::header::{ACCEPT_ENCODING, AUTHORIZATION, HeaderValue};
use crate::transport::{
    Clock, Http, HttpOptions, Reply, Request, RetryBudget, RetryPolicy, Safety, retry_after,
};

/// The settings that the clients of both interfaces have in common.
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

/// Sends the requests of a client. Cheap to clone; clones share connections, limits and pauses.
#[derive(Clone)]
pub(crate) struct Sender(pub(super) Arc<PoolUser>);

/// A user of a pool. One allocation, so that a clone touches one counter: on several threads each of them is contended.
pub(super) struct PoolUser {
    pub(super) pool: Arc<Pool>,
    pub(super) user: TokenUser,
}

/// What all users of a client share.
pub(super) struct Pool {
    pub(super) http: Http,
    headers: Headers,
    retry: RetryPolicy,
    budget: RetryBudget,
    pub(super) clock: Clock,
    pauses: Backpressure,
    /// The pool of requests to other hosts than the endpoint, once there was one.
    elsewhere: OnceLock<Arc<Pool>>,
}

/// What differs between the operations of the two interfaces.
pub(crate) trait SentOperation: Sync {
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
}

/// What traces show of a reply that was read.
pub(super) struct Answer {
    pub(super) status: u16,
    /// Of the errors beside the value.
    pub(super) codes: Option<String>,
}

/// Reads a reply, and keeps its value in place of an earlier one: so the path of a request is compiled once, and not for the type
/// of each value.
type ReadReply<'a> = dyn FnMut(Reply) -> Result<Option<String>> + Send + 'a;

/// One request, its attempts, and what is known of it when its time runs out.
struct Exchange<'a> {
    sender: &'a Sender,
    read_reply: &'a mut ReadReply<'a>,
    settings: &'a Settings,
    request: Box<Request>,
    safety: Safety,
    /// How many attempts came as far as sending.
    attempts: u32,
    /// The current attempt is one of them.
    is_sent: bool,
    is_renewed: bool,
    /// A request is in transfer over a connection of this pool.
    pool_number: Option<u64>,
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

    /// A sender for another user, over the same pool.
    pub(crate) fn with_token_source(&self, source: impl TokenSource) -> Self {
        Self::new(Arc::clone(&self.0.pool), TokenUser::new(source))
    }

    /// A sender to this host, which is another one than that of the endpoint, over the same connections: without the token and the
    /// headers of the client, and with the pauses of the host.
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

    /// The users whose pauses defer the requests of this sender, each with the status that starts a pause (spec 7.1).
    fn deferred_with(&self) -> [(u16, &UserKey); 2] {
        let user = &self.0.user;
        let maintained = if user.is_host { user.key() } else { &ALL_USERS };
        [(429, user.key()), (503, maintained)]
    }

    /// The remaining time for which requests are deferred.
    pub(crate) fn paused_for(&self) -> Option<Duration> {
        let pool = &self.0.pool;
        Some(pool.pauses.left(&pool.clock, &self.deferred_with())?.0)
    }

    /// Waits until this user may send.
    async fn wait_for_pauses(&self, policy: &RetryPolicy) -> Result<()> {
        if self.paused_for().is_none() {
            return Ok(());
        }
        let pool = &self.0.pool;
        let users = self.deferred_with();
        // Waits are rare, so they are boxed: the futures around them stay small.
        Box::pin(pool.pauses.wait(&pool.clock, &users, policy)).await
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.0.pool.clock
    }

    pub(crate) fn end_pause(&self) {
        self.0.pool.pauses.end(&self.deferred_with());
    }

    /// Adds the headers and limits that are set, all but the token.
    pub(super) fn prepare(&self, request: &mut Request, settings: &Settings) {
        // None of these headers is one that a request has already (`Headers::with`).
        let set = [&self.0.pool.headers.0, &settings.headers.0];
        for headers in set.into_iter().filter(|headers| !headers.is_empty()) {
            request.headers.extend(headers.clone());
        }
        request.timeout = settings.timeout;
        request.watch.clone_from(&settings.watch);
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
        let mut value = None;
        let mut read_reply = |reply| {
            let read = value.insert(operation.decode_reply(reply)?);
            let problems = O::problems(read);
            Ok((!problems.is_empty()).then(|| codes(problems)))
        };
        let mut exchange = Exchange {
            sender: self,
            read_reply: &mut read_reply,
            settings,
            request,
            safety,
            attempts: 0,
            is_sent: false,
            is_renewed: false,
            pool_number: None,
            in_doubt: false,
        };
        let exchanged = exchange.traced(&span).await;
        let attempts = exchange.attempts;
        // The exchange is read.
        let read = exchanged.and(value.ok_or_else(|| Error::protocol("no value")));
        let value = read.map_err(|error| error.with_operation(operation.name()))?;
        Ok(Exchanged {
            value,
            json: None,
            attempts,
        })
    }
}

impl Exchange<'_> {
    /// Runs in the span of the call, and adds what is known of the exchange to an error.
    async fn traced(&mut self, span: &tracing::Span) -> Result<()> {
        let result = self.run().instrument(span.clone()).await;
        let attempts = self.attempts;
        let in_doubt = self.in_doubt;
        let result = result.map_err(|error| {
            error
                .with_attempts(attempts)
                .with_may_have_applied(in_doubt)
        });
        span.record("attempts", attempts);
        trace::ended(span, &result);
        result.map(|_| ())
    }

    /// Ends the call when its deadline has passed.
    async fn run(&mut self) -> Result<Answer> {
        let pool = &self.sender.0.pool;
        let settings = self.settings;
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
        result.unwrap_or_else(|| {
            if let Some(number) = self.pool_number {
                pool.http.leave_pool(number);
            }
            let what = "the deadline of the call has passed";
            let error = Error::said(ErrorKind::Timeout, what).with_passes(true);
            Err(error.with_sent(self.attempts > 0))
        })
    }

    /// Makes attempts until one succeeds, or the failure or the policy allows no further one.
    async fn retry(&mut self, policy: &RetryPolicy) -> Result<Answer> {
        let pool = &self.sender.0.pool;
        self.sender.wait_for_pauses(policy).await?;
        let start = pool.clock.monotonic();
        let mut number = 1;
        loop {
            self.is_sent = false;
            let span = trace::attempt(number);
            // Boxed as well: the futures around it are moved, and a box stays where it is.
            let attempt = Box::pin(self.authorize(policy));
            let result = attempt.instrument(span.clone()).await;
            trace::ended(&span, &result);
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
            .filter(|_| self.sender.0.pool.budget.take())
    }

    /// Sends a request with a token, and once more with a new one when the first is refused.
    async fn authorize(&mut self, policy: &RetryPolicy) -> Result<Answer> {
        let user = &self.sender.0.user;
        let Some(tokens) = &user.tokens else {
            return self.connect(None).await;
        };
        let token = match tokens.current() {
            Some(token) => token,
            None => tokens.token().await?,
        };
        if user.identify(&token) {
            // Another client of this user may have been told to wait.
            self.sender.wait_for_pauses(policy).await?;
        }
        match self.connect(Some(&token)).await {
            // The request was refused before it was carried out, so a change may be sent again as well. A page with 401 may be
            // of the service: a new token shows it.
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

    /// Waits for a free connection, and sends the request.
    async fn connect(&mut self, token: Option<&AccessToken>) -> Result<Answer> {
        // A call that times out in this wait was not sent, so note the facts after it.
        let sender = self.sender;
        let slot = sender.0.pool.http.slot().await;
        if matches!(&self.settings.condition, Some(condition) if !condition()) {
            let what = "the condition of the call no longer held when the request could be sent";
            return Err(Error::said(ErrorKind::Transport, what));
        }
        self.attempts += u32::from(!std::mem::replace(&mut self.is_sent, true));
        let is_change = self.safety != Safety::Repeatable;
        let was_in_doubt = std::mem::replace(&mut self.in_doubt, is_change);
        let transfer = self.transfer(token);
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

    /// Sends a request with this token. Not an `async fn`: its future would reserve room for the request.
    fn transfer(
        &self,
        token: Option<&AccessToken>,
    ) -> impl Future<Output = Result<Reply>> + Send + use<> {
        let mut request = Request::clone(&self.request);
        if let Some(token) = token {
            request.headers.insert(AUTHORIZATION, token.header());
        }
        self.sender.0.pool.http.send(request)
    }

    /// Reads a reply. A refusal with `Retry-After` starts a pause.
    fn read(&mut self, reply: Reply) -> Result<Answer> {
        let pool = &self.sender.0.pool;
        let status = reply.status;
        let wait = retry_after(&reply.headers, pool.clock.now());
        match (self.read_reply)(reply) {
            Ok(codes) => Ok(Answer { status, codes }),
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
