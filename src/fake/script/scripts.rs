//! All scripts of a fake, and how often each was called.

use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::Arc;

use serde_json::{Value, json};

use super::fault::Fault;
use super::received::{ParsedRequest, Received, is_graphql};
use crate::fake::problem::Problem;
use crate::fake::reply::Reply;

/// Which calls a script applies to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Operation(String),
    Path(String),
}

impl Target {
    fn matches(&self, request: &ParsedRequest) -> bool {
        match self {
            Self::Operation(name) => request.calls(name),
            Self::Path(path) => request.path == *path,
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Operation(name) | Self::Path(name) => name,
        }
    }
}

/// Makes the reply to one call. The second argument makes the reply without a script.
type Respond = dyn Fn(&ParsedRequest, &dyn Fn() -> Reply) -> Reply + Send + Sync;

/// What the fake does with one call.
#[derive(Clone)]
pub(in crate::fake) struct Step {
    respond: Arc<Respond>,
    /// Process the call after this number of further requests.
    pub(in crate::fake) late: Option<usize>,
}

impl Step {
    fn new(
        respond: impl Fn(&ParsedRequest, &dyn Fn() -> Reply) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self {
            respond: Arc::new(respond),
            late: None,
        }
    }

    pub(super) fn fault(fault: Fault) -> Self {
        Self {
            late: fault.late,
            ..Self::new(move |_, serve| fault.apply(serve))
        }
    }

    /// Replies with the data that a function makes from the variables of the call, or with the reason why it cannot.
    pub(super) fn data(
        respond: impl Fn(Value) -> Result<Value, String> + Send + Sync + 'static,
    ) -> Self {
        Self::new(move |request, _| match respond(request.variables()) {
            Ok(data) => Reply::json(200, &json!({"data": data})),
            Err(reason) => {
                let message = format!("The script of the fake failed: {reason}");
                Reply::json(500, &json!({"errors": [{"message": message}]}))
            }
        })
    }

    /// Refuses the call with a problem.
    pub(super) fn refusal(problem: Problem) -> Self {
        Self::new(move |request, _| {
            let field = request.first_field();
            let error = problem.to_json(field);
            Reply::json(200, &json!({"data": {field: null}, "errors": [error]}))
        })
    }

    /// The reply to a call; `serve` makes the reply without a script.
    pub(in crate::fake) fn reply(
        &self,
        request: &ParsedRequest,
        serve: &dyn Fn() -> Reply,
    ) -> Reply {
        (self.respond)(request, serve)
    }
}

/// The reply to a GraphQL request without a script, where one is required; none for other requests.
pub(in crate::fake) fn unscripted(request: &ParsedRequest) -> Option<Reply> {
    let name = request.operation.as_deref();
    let name = name.unwrap_or_else(|| request.first_field());
    let message = format!("The fake has no script for the operation {name}.");
    let hint = "Script it with fake.on::<Q>(), fake.on_operation(name) or fake.on_own_operation(name), or start the fake without scripted_only().";
    let error = json!({"message": message, "extensions": {"code": "UNSCRIPTED", "hint": hint}});
    is_graphql(&request.path).then(|| Reply::json(400, &json!({"errors": [error]})))
}

/// The fault of a request, if it gets one.
pub(in crate::fake) type EveryRequest = dyn Fn(&Received) -> Option<Fault> + Send + Sync;

/// The scripts, in the order in which they were added.
#[derive(Default)]
pub(in crate::fake) struct Scripts {
    scripts: Vec<Script>,
    pub(in crate::fake) every_request: Option<Arc<EveryRequest>>,
}

struct Script {
    target: Target,
    /// The remaining steps, each with the number of calls that take it.
    steps: VecDeque<(Step, usize)>,
    calls: usize,
    /// Whether a call has taken a step.
    is_used: bool,
    expected: Option<usize>,
}

impl Scripts {
    pub(in crate::fake) fn is_empty(&self) -> bool {
        self.scripts.is_empty()
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Counts a call and takes its next step.
    pub(in crate::fake) fn take(&mut self, request: &ParsedRequest) -> Option<Step> {
        let mut taken = None;
        let matching = self
            .scripts
            .iter_mut()
            .filter(|s| s.target.matches(request));
        for script in matching {
            script.calls += 1;
            taken = taken.or_else(|| script.take());
        }
        taken
    }

    pub(super) fn push(&mut self, target: &Target, step: Step) {
        self.script(target).steps.push_back((step, 1));
    }

    /// Sets how many calls take the newest step.
    pub(super) fn repeat(&mut self, target: &Target, times: usize) {
        let steps = &mut self.script(target).steps;
        match (times, steps.back_mut()) {
            (0, _) => drop(steps.pop_back()),
            (_, Some(newest)) => newest.1 = times,
            (_, None) => {}
        }
    }

    pub(super) fn expect(&mut self, target: &Target, calls: usize) {
        self.script(target).expected = Some(calls);
    }

    /// The expectations that were not met, a line each.
    pub(super) fn unmet(&self) -> Option<String> {
        let mut text = String::new();
        for script in &self.scripts {
            if let Some(expected) = script.expected.filter(|calls| *calls != script.calls) {
                let name = script.target.name();
                let (expected, received) = (count(expected), count(script.calls));
                let _ = write!(text, "\n  {name}: expected {expected}, received {received}");
            }
        }
        (!text.is_empty()).then_some(text)
    }

    /// The targets of scripts of which no step was taken.
    pub(super) fn unused(&self) -> Vec<String> {
        let mut unused: Vec<&Script> = self.scripts.iter().collect();
        unused.retain(|script| !script.is_used && !script.steps.is_empty());
        let names = unused.iter().map(|script| script.target.name().to_owned());
        names.collect()
    }

    fn script(&mut self, target: &Target) -> &mut Script {
        let known = self
            .scripts
            .iter()
            .position(|script| script.target == *target);
        let at = known.unwrap_or_else(|| {
            self.scripts.push(Script {
                target: target.clone(),
                steps: VecDeque::new(),
                calls: 0,
                is_used: false,
                expected: None,
            });
            self.scripts.len() - 1
        });
        &mut self.scripts[at]
    }
}

impl Script {
    fn take(&mut self) -> Option<Step> {
        let (step, left) = self.steps.front_mut()?;
        self.is_used = true;
        if *left == usize::MAX {
            return Some(step.clone());
        }
        *left -= 1;
        if *left > 0 {
            return Some(step.clone());
        }
        self.steps.pop_front().map(|(step, _)| step)
    }
}

fn count(calls: usize) -> String {
    match calls {
        0 => "no call".to_owned(),
        1 => "1 call".to_owned(),
        calls => format!("{calls} calls"),
    }
}
