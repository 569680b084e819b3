//! One call with settings of its own.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use serde::de::DeserializeOwned;

use super::plan::Plan;
use super::{Client, DryRun, Response};
use crate::error::{Error, Result};
use crate::graphql::Encoded;
use crate::transport::header::{HeaderName, HeaderValue};
use crate::transport::{RetryPolicy, Watch};

/// Headers that are the client's business.
const OURS: [&str; 6] = [
    "authorization",
    "accept",
    "content-type",
    "content-length",
    "host",
    "user-agent",
];

/// One call with settings of its own, from [`Client::request`] or [`Client::request_document`].
///
/// The variables are encoded already: the call can be sent more than once, or looked at without sending it. What was
/// wrong with them or with a setting is told by [`send`](Self::send).
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
/// use envd_sdk::RetryPolicy;
/// use envd_sdk::graphql::generated::{UserDetails, user_details};
///
/// let fake = envd_sdk::fake::Fake::start().await;
/// let client = fake.client().build()?;
/// let response = client
///     .request::<UserDetails>(user_details::Variables {})
///     .header("x-office", "Roma")
///     .deadline(Duration::from_secs(5))
///     .retry(RetryPolicy::none())
///     .send()
///     .await?;
/// assert_eq!((response.status, response.attempts), (200, 1));
/// # Ok(()) }
/// ```
#[must_use = "a call does nothing until it is sent"]
pub struct Call<T> {
    client: Client,
    plan: Result<Plan>,
    data: PhantomData<fn() -> T>,
}

impl<T> Call<T> {
    pub(super) fn new(client: &Client, encoded: Result<Encoded>) -> Self {
        Self {
            client: client.clone(),
            plan: encoded.map(Plan::from),
            data: PhantomData,
        }
    }

    /// A further header. Those that the client itself sends cannot be replaced.
    pub fn header(self, name: &str, value: &str) -> Self {
        self.planned(|plan| {
            let wrong = |what: &str| Error::config(format!("a header of the call: {what}"));
            let name = HeaderName::try_from(name).map_err(|_| wrong("the name is not one"))?;
            if OURS.contains(&name.as_str()) {
                return Err(wrong(&format!("{name} is set by the client")));
            }
            // The value is not repeated: it may be a key.
            let mut value =
                HeaderValue::try_from(value).map_err(|_| wrong("the value cannot be sent"))?;
            value.set_sensitive(true);
            plan.headers.insert(name, value);
            Ok(())
        })
    }

    /// The time limit of one request with its whole reply, in place of the client's.
    pub fn timeout(self, limit: Duration) -> Self {
        self.planned(|plan| {
            plan.timeout = Some(limit);
            Ok(())
        })
    }

    /// The time limit of the whole call, with its retries and waits. It ends a request that is on the way.
    pub fn deadline(self, limit: Duration) -> Self {
        self.planned(|plan| {
            plan.deadline = Some(limit);
            Ok(())
        })
    }

    /// How often the request is sent, in place of the client's policy.
    pub fn retry(self, policy: RetryPolicy) -> Self {
        self.planned(|plan| {
            plan.retry = Some(policy);
            Ok(())
        })
    }

    /// Says that carrying out this change twice does no harm: it is sent again like a query. Nothing that the
    /// specification shows makes the creation of a record so; a save that names its record may be.
    pub fn idempotent(self) -> Self {
        self.planned(|plan| {
            plan.idempotent = true;
            Ok(())
        })
    }

    /// The page that is asked for, and who wants to see its reply arrive.
    pub(crate) fn page(self, number: u64, watch: Watch) -> Self {
        self.planned(|plan| {
            plan.page = Some(number);
            plan.watch = Some(watch);
            Ok(())
        })
    }

    fn planned(mut self, set: impl FnOnce(&mut Plan) -> Result<()>) -> Self {
        self.plan = self.plan.and_then(|mut plan| {
            set(&mut plan)?;
            Ok(plan)
        });
        self
    }

    /// The request as it would be sent, without the token. Nothing is sent, and no token is asked for.
    ///
    /// # Errors
    ///
    /// [`is_config`](Error::is_config) when the variables cannot be written as JSON or a setting cannot be used.
    pub fn dry_run(&self) -> Result<DryRun> {
        let plan = self.plan.as_ref().map_err(Clone::clone)?;
        let request = self.client.0.request(plan);
        Ok(DryRun::of(request, self.client.0.http.user_agent()))
    }

    /// Sends the request and reads the reply.
    ///
    /// # Errors
    ///
    /// As [`dry_run`](Self::dry_run), and any other predicate of [`Error`]; for a change, ask
    /// [`may_have_applied`](Error::may_have_applied) before sending it again. A future that is dropped before its end, by
    /// a `select!` or a time-out around it, cannot tell: treat a change as one that may have been carried out, or set
    /// a [`deadline`](Self::deadline) in place of a time-out.
    pub async fn send(&self) -> Result<Response<T>>
    where
        T: DeserializeOwned,
    {
        let plan = self.plan.as_ref().map_err(Clone::clone)?;
        self.client.0.run(plan).await
    }
}

/// Without the variables.
impl<T> fmt::Debug for Call<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operation = self.plan.as_ref().map(|plan| &plan.encoded.operation);
        f.debug_struct("Call")
            .field("operation", &operation.ok())
            .finish_non_exhaustive()
    }
}
