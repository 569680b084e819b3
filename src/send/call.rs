//! A call that has not been sent yet, with its own settings.

use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use futures_util::TryFutureExt;

use super::{DryRun, Exchanged, Headers, Sender};
use crate::auth::BoxFuture;
use crate::error::{Error, Result};
use crate::graphql::{AsReceived, Outcome};
use crate::transport::{Request, RetryPolicy, Watch};

/// A call to either interface that has not been sent yet. Change its settings if needed, then await it.
///
/// If a call sends several requests, the settings apply to each of them, and the [deadline](Self::deadline) to all of them
/// together. An invalid argument or setting is reported when the call is awaited.
///
/// ```
/// # test_support::example(async {
/// use std::time::Duration;
/// use envd_sdk::RetryPolicy;
///
/// let fake = envd_sdk::fake::Fake::start().await;
/// let client = fake.client().build()?;
/// let user = client.user_details().deadline(Duration::from_secs(5)).await?.value;
/// assert_eq!(user.first_name.as_deref(), Some("Sam"));
///
/// let call = client.user_details().header("x-office", "Roma").retry(RetryPolicy::none());
/// let outcome = call.await?;
/// assert_eq!((outcome.http_status(), outcome.attempts()), (200, 1));
/// # Ok(()) });
/// ```
///
/// To run a call in a task of its own:
///
/// ```
/// # test_support::example(async {
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let client = fake.client().build()?;
/// let task = tokio::spawn(client.questions().into_future());
/// assert!(!task.await??.value.items.is_empty());
/// # Ok(()) });
/// ```
///
/// # Cancel safety
///
/// Nothing is sent before the first poll. Dropping the future, as by a `select!` or an outer time-out, cancels the request and
/// loses its outcome. Dropping a read has no effect on the service. A change, such as a save, may have been carried out: check
/// that before you repeat it. To learn the outcome, set a [`deadline`](Self::deadline) instead of an outer time-out: its error
/// reports [`may_have_applied`](Error::may_have_applied).
#[must_use = "a call does nothing until it is awaited"]
pub struct Call<T> {
    sender: Sender,
    settings: Arc<Settings>,
    deadline: Option<Duration>,
    work: Result<Work<T>>,
}

/// The first request, and the work that starts with it.
struct Work<T> {
    /// Boxed because it is moved through the futures of the call.
    request: Box<Request>,
    start: Box<Start<T>>,
}

type Start<T> =
    dyn FnOnce(Box<Request>, Arc<Settings>) -> BoxFuture<'static, Result<Exchanged<T>>> + Send;

/// The settings of the requests of one call.
#[derive(Clone, Default)]
pub(crate) struct Settings {
    pub(super) headers: Headers,
    pub(super) retry: Option<RetryPolicy>,
    pub(super) timeout: Option<Duration>,
    /// The monotonic time of the deadline.
    pub(super) end: Option<Duration>,
    pub(super) idempotent: bool,
    /// Whether a request may still be sent. Evaluated right before its first byte.
    pub(super) condition: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
    /// The number of the page, for traces.
    pub(super) page: Option<u64>,
    pub(super) watch: Option<Watch>,
    /// Whether to keep the JSON of the value.
    pub(crate) keeps_json: bool,
}

impl<T: Send + 'static> Call<T> {
    /// A call that starts with this request. `start` sends it, and may send more requests with the same settings.
    pub(crate) fn new<S, F>(
        sender: &Sender,
        settings: Arc<Settings>,
        work: Result<(Box<Request>, S)>,
    ) -> Self
    where
        S: FnOnce(Box<Request>, Arc<Settings>) -> F + Send + 'static,
        F: Future<Output = Result<Exchanged<T>>> + Send + 'static,
    {
        let work = work.map(|(request, start)| Work {
            request,
            start: Box::new(|request, settings| Box::pin(start(request, settings))),
        });
        Self {
            sender: sender.clone(),
            settings,
            deadline: None,
            work,
        }
    }

    /// Replaces the work of this call. The first request stays the same.
    pub(crate) fn instead<U: Send + 'static, F: Future<Output = Result<U>> + Send + 'static>(
        self,
        start: impl FnOnce(Arc<Settings>) -> F + Send + 'static,
    ) -> Call<U> {
        let start = async move |_, settings| start(settings).await.map(Exchanged::new);
        let work = self.work.map(|work| (work.request, start));
        Call::new(&self.sender, self.settings, work)
    }

    /// Checks the value of this call by reference, because a future that takes the value would reserve space for it twice.
    pub(crate) fn checked(self, check: impl FnOnce(&T) -> Result<()> + Send + 'static) -> Self {
        self.finished(|result| {
            let exchanged = result?;
            match check(&exchanged.value) {
                Ok(()) => Ok(exchanged),
                Err(error) => Err(exchanged.failed(error)),
            }
        })
    }

    /// Maps the value of this call.
    pub(crate) fn then<U: Send + 'static>(
        self,
        next: impl FnOnce(T) -> Result<U> + Send + 'static,
    ) -> Call<U> {
        self.finished(|result| result?.try_map(next))
    }

    /// Maps the result of this call.
    fn finished<U: Send + 'static>(
        self,
        next: impl FnOnce(Result<Exchanged<T>>) -> Result<Exchanged<U>> + Send + 'static,
    ) -> Call<U> {
        let work = self.work.map(|Work { request, start }| {
            let both = async move |request, settings| next(start(request, settings).await);
            (request, both)
        });
        Call {
            deadline: self.deadline,
            ..Call::new(&self.sender, self.settings, work)
        }
    }

    /// Adds a header. Headers that the client sets cannot be replaced. The value is hidden from `Debug` and traces.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let headers = std::mem::take(&mut self.own_settings().headers).with(name, value);
        match headers.and_then(|headers| headers.beside_tokens(self.sender.0.user.tokens.is_some()))
        {
            Ok(headers) => self.own_settings().headers = headers,
            Err(error) => self.work = self.work.and(Err(error)),
        }
        self
    }

    /// Makes the call fail without a request if its inputs were invalid.
    pub(crate) fn made_of(mut self, checked: Result<()>) -> Self {
        if let Err(error) = checked {
            self.work = self.work.and(Err(error));
        }
        self
    }

    /// The time limit for each request including its reply, instead of the client's limit.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.own_settings().timeout = Some(limit);
        self
    }

    /// The time limit for the entire call, including retries and waits. It also aborts a running request.
    #[doc(alias = "time limit")]
    pub fn deadline(mut self, limit: Duration) -> Self {
        self.deadline = Some(limit);
        self
    }

    /// How often a request is sent, instead of the client's policy.
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.own_settings().retry = Some(policy);
        self
    }

    /// Declares that repeating this change is harmless: it is retried like a query. Do not set this when you create a
    /// record; a save that names its record may be idempotent.
    pub fn idempotent(mut self) -> Self {
        self.own_settings().idempotent = true;
        self
    }

    /// Sends a request only if this condition holds right before its first byte: after the waits for a pause, a token and a
    /// free connection, and again before each further attempt. Use it for conditions that may end in the meantime, such as
    /// a lock that expires, or the last day on which a declaration may arrive. It runs on the path of the request and must
    /// not block.
    ///
    /// ```
    /// use envd_sdk::ErrorKind;
    /// # test_support::example(async {
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicBool, Ordering};
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    /// # let origin = PartyInput::new("QAZZ7777");
    /// # let destination = PartyInput::new("QDZZ3333");
    /// # let input = ConsignmentInput::new([FormType::Lpac1], origin, destination);
    /// // A lock of the application, which clears this flag when it loses the lock.
    /// let is_ours = Arc::new(AtomicBool::new(true));
    /// let still_ours = Arc::clone(&is_ours);
    /// let save = account.save_consignment(input.clone());
    /// let save = save.only_if(move || still_ours.load(Ordering::Acquire));
    /// assert!(save.await?.value.id.is_some());
    ///
    /// is_ours.store(false, Ordering::Release);
    /// let save = account.save_consignment(input);
    /// let error = save.only_if(move || is_ours.load(Ordering::Acquire)).await.unwrap_err();
    /// assert!(error.kind() == ErrorKind::Transport && !error.may_have_applied() && !error.is_retryable());
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// If the condition does not hold, the call fails with [`Transport`](crate::ErrorKind::Transport) and is not retried.
    /// [`may_have_applied`](Error::may_have_applied) is then true only if an earlier attempt was in doubt.
    #[doc(alias("condition", "fence"))]
    pub fn only_if(mut self, condition: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.own_settings().condition = Some(Arc::new(condition));
        self
    }

    /// Keeps the JSON of the value.
    pub(crate) fn keep_json(mut self) -> Self {
        self.own_settings().keeps_json = true;
        self
    }

    /// Sets the number of the page, and a function that is called while its reply arrives.
    pub(crate) fn page(mut self, number: u64, watch: Watch) -> Self {
        let settings = self.own_settings();
        (settings.page, settings.watch) = (Some(number), Some(watch));
        self
    }

    /// The settings, cloned first if the client or other calls share them.
    pub(super) fn own_settings(&mut self) -> &mut Settings {
        Arc::make_mut(&mut self.settings)
    }

    /// The first request as it would be sent, without the token. Sends nothing, and reads no token.
    ///
    /// # Errors
    ///
    /// [`Config`](crate::ErrorKind::Config) when the variables cannot be written as JSON or a setting cannot be used.
    #[doc(alias("inspect", "curl"))]
    pub fn dry_run(&self) -> Result<DryRun> {
        let mut request = (*self.work.as_ref().map_err(Clone::clone)?.request).clone();
        self.sender.prepare(&mut request, &self.settings);
        Ok(DryRun::new(request, self.sender.0.pool.http.user_agent()))
    }

    /// Sends the call. The result includes the JSON if [`keep_json`](Self::keep_json) was set.
    pub(crate) fn exchange(mut self) -> BoxFuture<'static, Result<Exchanged<T>>> {
        if let Some(limit) = self.deadline {
            let end = self.sender.clock().monotonic().saturating_add(limit);
            self.own_settings().end = Some(end);
        }
        match self.work {
            Ok(work) => (work.start)(work.request, self.settings),
            Err(error) => Box::pin(ready(Err(error))),
        }
    }
}

impl<T: Send + 'static> Call<Outcome<T>> {
    /// Returns the value as received: typed, and as JSON with the fields that this crate does not know.
    ///
    /// Available for every call with an [`Outcome`] as its value, and for [lists](crate::Pager::received).
    ///
    /// ```
    /// # test_support::example(async {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let client = fake.client().build()?;
    /// let questions = client.questions().received().await?.value;
    /// assert!(!questions.typed().items.is_empty());
    /// let stored: String = questions.json().to_owned();
    /// # let _ = stored;
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The same as without this: at least the [kinds of any call](crate::guide::errors#kinds).
    #[doc(alias("raw", "json", "unknown fields"))]
    pub fn received(self) -> Call<Outcome<AsReceived<T>>> {
        self.keep_json().finished(|result| {
            let mut exchanged = result?;
            // OK because decoding filled it.
            let json = exchanged.json.take();
            let json =
                json.ok_or_else(|| Error::protocol("the reply has no JSON of the record"))?;
            Ok(exchanged.map(|outcome| outcome.map(|typed| AsReceived::new(typed, json))))
        })
    }

    /// Returns `None` if the service replies with null and no error, for programs that need to know that a record is gone. "Not
    /// found" stays an error: the service also sends it for a record that the user may not read, and its text matches that of
    /// any failure.
    ///
    /// ```
    /// # test_support::example(async {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # fake.on_operation("Consignment").respond(serde_json::json!({"consignment": null}));
    /// let record = account.consignment("c-1").received().optional().await?.value;
    /// assert!(record.is_none());
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The same as without this, except for null. If the reply to a change has no record, that stays an error
    /// ([`Protocol`](crate::ErrorKind::Protocol)), because the change may have been carried out.
    pub fn optional(self) -> Call<Outcome<Option<T>>> {
        self.finished(|result| match result {
            Ok(exchanged) => Ok(exchanged.map(|outcome| outcome.map(Some))),
            Err(error) => Outcome::of_null(&error).map(Exchanged::new).ok_or(error),
        })
    }
}

impl<T: Send + 'static> IntoFuture for Call<T> {
    type Output = Result<T>;
    type IntoFuture = BoxFuture<'static, Result<T>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.exchange().map_ok(|exchanged| exchanged.value))
    }
}

// Hides variables and header values.
debug_shows!(Call<T>, |it| deadline: it.deadline, error: it.work.as_ref().err());
