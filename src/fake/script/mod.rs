//! The scripts of a test (faults, replies, expectations), and the requests that the fake received.
//!
//! A script is a queue of steps for one operation or one path. Each call takes the next step; without a step, the fake answers
//! as usual.

mod fault;
mod received;
mod scripts;

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use self::fault::Fault;
pub(super) use self::fault::{checked_header, checked_status, json};
pub use self::received::Received;
pub(super) use self::received::{GraphqlBody, Log, ParsedRequest, is_graphql};
use self::scripts::{Script, ScriptStep, ScriptTarget};
pub(super) use self::scripts::{Scripts, unscripted};
use super::Fake;
use super::problem::ErrorItem;
use super::reference_data::root_fields;
use crate::graphql::{OperationDocument, TypedOperation};

/// A script for the calls of one operation, or to one path. Calls take the steps in the order in which they were added; without
/// a step, the fake answers as usual.
///
/// ```
/// # test_support::example(async {
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
/// # Ok(()) });
/// ```
pub struct On<'f> {
    fake: &'f Fake,
    target: ScriptTarget,
    /// Checks data against the type of the operation, if known.
    check: fn(&Value) -> Result<(), String>,
}

impl Fake {
    /// Scripts an operation, identified by its type. Your own operations need not match the fake's schema. With the derive of
    /// `graphql_client`, they need `variables_derives = "Default"`, or a script by [name](Self::on_own_operation).
    #[must_use]
    pub fn on<Q>(&self) -> On<'_>
    where
        Q: TypedOperation<Variables: Default>,
    {
        On {
            check: check_data::<Q>,
            ..On::new(self, ScriptTarget::Operation(name_of::<Q>().to_owned()))
        }
    }

    /// Scripts an operation of this crate by name, or all operations with this root field of the fake's schema. Ignores case.
    /// To script other operations, use [`on`](Self::on) or [`on_own_operation`](Self::on_own_operation).
    ///
    /// # Panics
    ///
    /// If the name is unknown, because a misspelt script would never be used. The message lists the known names.
    #[track_caller]
    pub fn on_operation(&self, name: impl Into<String>) -> On<'_> {
        let name = name.into();
        let mut known: Vec<_> = OperationDocument::names().collect();
        let others = root_fields(&self.state.data.schema);
        let others: Vec<_> = others.filter(|other| !known.contains(other)).collect();
        known.extend(others);
        if known.iter().any(|known| known.eq_ignore_ascii_case(&name)) {
            return self.on_own_operation(name);
        }
        panic!(
            "the fake has no operation {name}; it has {}. Script an operation of your own with on::<Q>() or on_own_operation(name)",
            known.join(", ")
        );
    }

    /// Scripts one of your own operations by its name in the document. It need not match the fake's schema.
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::fake::Fake;
    /// use serde_json::{Value, json};
    ///
    /// let fake = Fake::start().await;
    /// fake.on_own_operation("Herds").respond(json!({"herds": 3}));
    /// let client = fake.client().build().unwrap();
    /// let document = "query Herds { herds }";
    /// let none = json!({});
    /// let herds = client.execute_document::<Value>(document, "Herds", &none).await.unwrap();
    /// assert_eq!(herds.value["herds"], 3);
    /// # Ok(()) });
    /// ```
    pub fn on_own_operation(&self, name: impl Into<String>) -> On<'_> {
        On::new(self, ScriptTarget::Operation(name.into()))
    }

    /// Scripts all calls to a path, such as `/oauth/token`.
    pub fn on_path(&self, path: impl Into<String>) -> On<'_> {
        On::new(self, ScriptTarget::Path(path.into()))
    }

    /// Calls a function that may return a fault for each request, replacing an earlier function. The fault applies to the reply
    /// that the request would otherwise get, which may be scripted. A fault that replaces the reply takes no step of a script.
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::ErrorKind;
    /// use envd_sdk::fake::{Fake, Fault};
    ///
    /// let fake = Fake::start().await;
    /// // The gateway in front of the service is down for one network.
    /// fake.on_every_request(|received| {
    ///     let is_weak = received.header("x-network") == Some("barn");
    ///     is_weak.then(|| Fault::html(503).header("retry-after", "0"))
    /// });
    /// let client = |network: &str| fake.client().header("x-network", network).build().unwrap();
    /// assert!(client("house").user_details().await.is_ok());
    /// assert!(client("barn").user_details().await.unwrap_err().kind() == ErrorKind::Unavailable);
    /// # Ok(()) });
    /// ```
    pub fn on_every_request(
        &self,
        fault: impl Fn(&Received) -> Option<Fault> + Send + Sync + 'static,
    ) {
        self.state.parts().scripts.every_request = Some(Arc::new(fault));
    }

    /// Removes all scripts and expectations, and the function set with [`on_every_request`](Self::on_every_request).
    pub fn clear_scripts(&self) {
        self.state.parts().scripts = Scripts::default();
    }

    /// The operations and paths of scripts that no call has used, in the order in which they were scripted.
    ///
    /// Dropping the fake prints them to standard error. To make the test fail, use `assert!(fake.unused_scripts().is_empty())`
    /// or [`On::expect`].
    pub fn unused_scripts(&self) -> Vec<String> {
        self.state.parts().scripts.unused()
    }

    /// The number of requests since the start that call this operation, ignoring case. [`requests`](Self::requests) only keeps
    /// the last requests.
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::fake::Fake;
    ///
    /// let fake = Fake::start().await;
    /// fake.client().build().unwrap().user_details().await.unwrap();
    /// assert_eq!(fake.request_count("UserDetails"), 1);
    /// # Ok(()) });
    /// ```
    pub fn request_count(&self, operation: &str) -> usize {
        self.state.parts().log.count(operation)
    }

    /// The last 1,000 requests, oldest first.
    pub fn requests(&self) -> Vec<Received> {
        self.state.parts().log.all()
    }

    /// The requests among the last 1,000 that call an operation, oldest first.
    pub fn requests_of<Q>(&self) -> Vec<Received>
    where
        Q: TypedOperation<Variables: Default>,
    {
        let mut requests = self.requests();
        requests.retain(|received| received.operation().as_deref() == Some(name_of::<Q>()));
        requests
    }

    /// The variables of all calls of an operation, oldest first. With the derive of `graphql_client`, the operation needs
    /// `variables_derives = "Default, Deserialize"`.
    ///
    /// # Panics
    ///
    /// If received variables do not fit their type.
    #[track_caller]
    pub fn variables_of<Q>(&self) -> Vec<Q::Variables>
    where
        Q: TypedOperation<Variables: Default + DeserializeOwned>,
    {
        let read = |received: Received| match received.variables() {
            Ok(variables) => variables,
            Err(error) => panic!("{}: {error}", name_of::<Q>()),
        };
        self.requests_of::<Q>().into_iter().map(read).collect()
    }

    /// Checks the expectations now. Dropping the fake also checks them.
    ///
    /// # Panics
    ///
    /// If the number of calls differs from the expected number. The message lists both, and all received operations.
    #[track_caller]
    pub fn verify(&self) {
        let parts = self.state.parts();
        if let Some(unmet) = parts.scripts.unmet() {
            let received = parts.log.summary();
            panic!("the fake expected other calls:{unmet}\nreceived in all: {received}");
        }
    }
}

fn check_data<Q: TypedOperation<Variables: Default>>(data: &Value) -> Result<(), String> {
    let read: Result<Q::ResponseData, _> = serde_path_to_error::deserialize(data);
    read.map(drop)
        .map_err(|error| format!("invalid data for {}: {error}", name_of::<Q>()))
}

/// The name with which calls refer to an operation.
fn name_of<Q: TypedOperation<Variables: Default>>() -> &'static str {
    Q::body(Q::Variables::default()).name
}

// The return value only serves to add further steps.
impl<'f> On<'f> {
    fn new(fake: &'f Fake, target: ScriptTarget) -> Self {
        Self {
            fake,
            target,
            check: |_| Ok(()),
        }
    }

    /// Answers the next call with this `data`, as JSON or as the operation's own type. The call needs no token, and nothing is
    /// executed.
    ///
    /// # Panics
    ///
    /// If the operation of [`Fake::on`] cannot decode the data, or it cannot be serialized as JSON.
    #[track_caller]
    pub fn respond(&self, data: impl Serialize) -> &Self {
        let data = json(data);
        if let Err(error) = (self.check)(&data) {
            panic!("{error}");
        }
        self.push(ScriptStep::Data(Arc::new(move |_| Ok(data.clone()))))
    }

    /// Applies this fault to the next call.
    pub fn fault(&self, fault: Fault) -> &Self {
        self.push(ScriptStep::Fault(Box::new(fault)))
    }

    /// Refuses the next call like an invalid field, without data and with this `Code` and message (spec 7.2).
    pub fn refuse(&self, code: impl Into<String>, message: impl Into<String>) -> &Self {
        let problem = ErrorItem::field(&code.into(), message);
        self.push(ScriptStep::Refusal(problem))
    }

    /// Answers the next call with data that the function creates from its variables. If the variables do not fit the function's
    /// argument, the reply is HTTP 500 with the reason.
    pub fn respond_with<V, D>(&self, respond: impl Fn(V) -> D + Send + Sync + 'static) -> &Self
    where
        V: DeserializeOwned,
        D: Serialize,
    {
        self.push(ScriptStep::Data(Arc::new(move |variables| {
            let variables = serde_json::from_value(variables).map_err(|error| error.to_string())?;
            serde_json::to_value(respond(variables)).map_err(|error| error.to_string())
        })))
    }

    /// Repeats the latest step for this many calls; 0 removes it.
    pub fn times(&self, times: usize) -> &Self {
        self.change(|script| match (times, script.steps.back_mut()) {
            (0, _) => drop(script.steps.pop_back()),
            (_, Some(newest)) => newest.1 = times,
            (_, None) => {}
        })
    }

    /// Repeats the latest step for all further calls.
    pub fn forever(&self) -> &Self {
        self.times(usize::MAX)
    }

    /// Expects this total number of calls. [`Fake::verify`] checks it, and so does dropping the fake.
    pub fn expect(&self, calls: usize) -> &Self {
        self.change(|script| script.expected = Some(calls))
    }

    fn push(&self, step: ScriptStep) -> &Self {
        self.change(|script| script.steps.push_back((step, 1)))
    }

    fn change(&self, change: impl FnOnce(&mut Script)) -> &Self {
        change(self.fake.state.parts().scripts.script(&self.target));
        self
    }
}

impl fmt::Debug for On<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("On")
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}
