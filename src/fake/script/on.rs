//! Scripts calls and looks at what came.

use std::fmt;
use std::marker::PhantomData;

use graphql_client::GraphQLQuery;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::called::same;
use super::fault::{Fault, json};
use super::plan::{Plan, Target};
use super::received::Received;
use super::step::Step;
use super::times::Times;
use crate::fake::Fake;
use crate::fake::graphql::root_fields;
use crate::graphql::catalogue::operation_names;

/// In place of an operation's type: a script that knows its operation or path by name only.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Untyped;

/// A script for the calls of one operation, or to one path. Steps are taken in the order in which they are added; when
/// none is left, the fake answers by itself.
///
/// ```
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// use envd_sdk::fake::{Fake, Fault};
/// use envd_sdk::graphql::generated::Comments;
///
/// let fake = Fake::start().await;
/// fake.on::<Comments>()
///     .fault(Fault::status(503).header("retry-after", "0"))
///     .respond(serde_json::json!({"comments": [{"commentText": "hello"}]}))
///     .expect(2);
///
/// let account = fake.client().build().unwrap().account(fake.account_id());
/// let comments = account.comments("C-900000101").await.unwrap().value;
/// assert_eq!(comments[0].comment_text.as_deref(), Some("hello"));
/// # });
/// ```
pub struct On<'f, Q = Untyped> {
    fake: &'f Fake,
    target: Target,
    operation: PhantomData<fn() -> Q>,
}

impl Fake {
    /// Scripts an operation of this crate or of yours, known by its type, which has the name of the operation as
    /// `graphql_client` derives it. The operation need not fit the fake's schema.
    #[must_use]
    pub fn on<Q: GraphQLQuery>(&self) -> On<'_, Q> {
        On::new(self, Target::Operation(name_of::<Q>().to_owned()))
    }

    /// Scripts an operation by its name, or all operations that ask for a field of this name at their root. The case does
    /// not matter.
    ///
    /// It is an operation of this crate or a root field of the fake's schema; for others there are [`on`](Self::on) and
    /// [`on_own_operation`](Self::on_own_operation).
    ///
    /// # Panics
    ///
    /// When there is no such operation: a script that is misspelt would never be used. The message lists what there is.
    #[track_caller]
    pub fn on_operation(&self, name: impl Into<String>) -> On<'_> {
        let name = name.into();
        let mut known: Vec<_> = operation_names().collect();
        let others = root_fields(&self.state().library.schema);
        let others: Vec<_> = others.filter(|other| !known.contains(other)).collect();
        known.extend(others);
        if known.iter().any(|known| same(known, &name)) {
            return self.on_own_operation(name);
        }
        panic!(
            "the fake has no operation {name}; it knows {}. Script an operation of your own with on::<Q>() or on_own_operation(name)",
            known.join(", ")
        );
    }

    /// Scripts an operation of your own by the name in its document, whatever the fake's schema has.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new().unwrap().block_on(async {
    /// use envd_sdk::fake::Fake;
    /// use serde_json::{Value, json};
    ///
    /// let fake = Fake::start().await;
    /// fake.on_own_operation("Herds").respond(json!({"herds": 3}));
    /// let client = fake.client().build().unwrap();
    /// let herds = client.execute_document::<Value>("query Herds { herds }", "Herds", &json!({})).await.unwrap();
    /// assert_eq!(herds.value["herds"], 3);
    /// # });
    /// ```
    pub fn on_own_operation(&self, name: impl Into<String>) -> On<'_> {
        On::new(self, Target::Operation(name.into()))
    }

    /// Scripts all calls to a path, such as `/oauth/token`.
    pub fn on_path(&self, path: impl Into<String>) -> On<'_> {
        On::new(self, Target::Path(path.into()))
    }

    /// Forgets all scripts and expectations.
    pub fn clear_scripts(&self) {
        self.state().parts().plan.clear();
    }

    /// The operations and paths of scripts of which no call has used a step, in the order in which they were scripted.
    ///
    /// Dropping the fake prints them to standard error; make the test fail with
    /// `assert!(fake.unused_scripts().is_empty())`, or with [`On::expect`].
    #[must_use]
    pub fn unused_scripts(&self) -> Vec<String> {
        self.state().parts().plan.unused()
    }

    /// The newest 1,000 requests, oldest first.
    #[must_use]
    pub fn requests(&self) -> Vec<Received> {
        self.state().parts().log.all()
    }

    /// The newest requests of an operation, oldest first.
    #[must_use]
    pub fn requests_of<Q: GraphQLQuery>(&self) -> Vec<Received> {
        let mut requests = self.requests();
        requests.retain(|received| {
            let name = received.operation();
            name.is_some_and(|name| same(&name, name_of::<Q>()))
        });
        requests
    }

    /// The variables that an operation was called with, oldest first. With `graphql_client`'s derive the type of the
    /// variables needs `variables_derives = "Deserialize"`.
    ///
    /// # Panics
    ///
    /// When variables came that do not fit their type.
    #[must_use]
    #[track_caller]
    pub fn variables_of<Q>(&self) -> Vec<Q::Variables>
    where
        Q: GraphQLQuery,
        Q::Variables: DeserializeOwned,
    {
        let read = |received: Received| match received.variables() {
            Ok(variables) => variables,
            Err(error) => panic!("{}: {error}", name_of::<Q>()),
        };
        self.requests_of::<Q>().into_iter().map(read).collect()
    }

    /// Checks the expectations now; otherwise they are checked when the fake is dropped.
    ///
    /// # Panics
    ///
    /// When calls did not come as often as was expected; the message lists what was expected and what came.
    #[track_caller]
    pub fn verify(&self) {
        if let Some(text) = self.unmet() {
            panic!("{text}");
        }
    }

    pub(in crate::fake) fn unmet(&self) -> Option<String> {
        let parts = self.state().parts();
        let unmet = parts.plan.unmet()?;
        let received = parts.log.summary();
        Some(format!(
            "the fake expected other calls:{unmet}\nreceived in all: {received}"
        ))
    }
}

/// The last part of the type's path.
fn name_of<Q>() -> &'static str {
    let name = std::any::type_name::<Q>();
    name.rsplit("::").next().unwrap_or(name)
}

// What these return is for the next step; the work is done at once.
#[allow(clippy::must_use_candidate)]
impl<'f, Q> On<'f, Q> {
    fn new(fake: &'f Fake, target: Target) -> Self {
        Self {
            fake,
            target,
            operation: PhantomData,
        }
    }

    /// The next call meets this fault.
    pub fn fault(&self, fault: Fault) -> &Self {
        self.push(Step::Fault(fault))
    }

    /// The next call is refused as the service refuses a field: without data, with this `Code` and message (spec 7.2).
    pub fn refuse(&self, code: impl Into<String>, message: impl Into<String>) -> &Self {
        let (code, message) = (code.into(), message.into());
        self.push(Step::Refuse { code, message })
    }

    /// The next call is answered with what the function makes of its variables. Calls whose variables do not fit the
    /// function's argument are answered with HTTP 500 and the reason.
    pub fn respond_with<V, D>(&self, respond: impl Fn(V) -> D + Send + Sync + 'static) -> &Self
    where
        V: DeserializeOwned,
        D: Serialize,
    {
        let respond = move |variables| {
            let variables = serde_json::from_value(variables).map_err(|error| error.to_string())?;
            serde_json::to_value(respond(variables)).map_err(|error| error.to_string())
        };
        self.push(Step::Data(std::sync::Arc::new(respond)))
    }

    /// The newest step is taken by this many calls; by none with 0.
    pub fn times(&self, times: usize) -> &Self {
        self.change(|plan| plan.repeat(&self.target, times))
    }

    /// The newest step is taken by all further calls.
    pub fn forever(&self) -> &Self {
        self.times(usize::MAX)
    }

    /// How often this is called in all, checked by [`Fake::verify`] and when the fake is dropped.
    pub fn expect(&self, times: impl Into<Times>) -> &Self {
        let times = times.into();
        self.change(|plan| plan.expect(&self.target, times))
    }

    fn push(&self, step: Step) -> &Self {
        self.change(|plan| plan.push(&self.target, step))
    }

    fn change(&self, change: impl FnOnce(&mut Plan)) -> &Self {
        change(&mut self.fake.state().parts().plan);
        self
    }
}

impl<Q: GraphQLQuery> On<'_, Q> {
    /// The next call is answered with this `data`, which may be JSON or the operation's own type. No token is asked for,
    /// and nothing is executed.
    ///
    /// # Panics
    ///
    /// When the data could not be read as the reply of this operation: the mistake is in the test.
    #[track_caller]
    pub fn respond(&self, data: impl Serialize) -> &Self {
        let data = json(data);
        let read: Result<Q::ResponseData, _> = serde_path_to_error::deserialize(&data);
        if let Err(error) = read {
            panic!("this cannot be the data of {}: {error}", name_of::<Q>());
        }
        self.push(Step::Data(std::sync::Arc::new(move |_| Ok(data.clone()))))
    }
}

impl On<'_, Untyped> {
    /// The next call is answered with this `data`. No token is asked for, and nothing is executed.
    ///
    /// # Panics
    ///
    /// When the data cannot be written as JSON.
    #[track_caller]
    pub fn respond(&self, data: impl Serialize) -> &Self {
        let data = json(data);
        self.push(Step::Data(std::sync::Arc::new(move |_| Ok(data.clone()))))
    }
}

impl<Q> fmt::Debug for On<'_, Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("On")
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}
