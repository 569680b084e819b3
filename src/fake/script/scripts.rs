//! All scripts of a fake, with their numbers of calls.

use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::Arc;

use serde_json::{Value, json};

use super::fault::Fault;
use super::received::{ParsedRequest, Received, is_graphql};
use crate::fake::problem::ErrorItem;
use crate::fake::reply::FakeReply;

/// The calls to which a script applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ScriptTarget {
    Operation(String),
    Path(String),
}

impl ScriptTarget {
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

/// Creates the data of a reply from the variables of the call, or returns why it cannot.
type MakeData = dyn Fn(Value) -> Result<Value, String> + Send + Sync;

/// How the fake handles one call.
#[derive(Clone)]
pub(in crate::fake) enum ScriptStep {
    Fault(Box<Fault>),
    Data(Arc<MakeData>),
    Refusal(ErrorItem),
}

impl ScriptStep {
    /// The number of further requests after which the call is processed.
    pub(in crate::fake) fn late(&self) -> Option<usize> {
        match self {
            Self::Fault(fault) => fault.late,
            _ => None,
        }
    }

    /// The reply to a call. `serve` creates the reply as if there were no script.
    pub(in crate::fake) fn reply(
        &self,
        request: &ParsedRequest,
        serve: impl FnOnce() -> FakeReply,
    ) -> FakeReply {
        let (status, body) = match self {
            Self::Fault(fault) => return fault.apply(serve),
            Self::Data(data) => match data(request.variables()) {
                Ok(data) => (200, json!({"data": data})),
                Err(reason) => {
                    let message = format!("The script of the fake failed: {reason}");
                    (500, json!({"errors": [{"message": message}]}))
                }
            },
            Self::Refusal(problem) => {
                let field = request.first_field();
                let error = problem.to_json(field);
                (200, json!({"data": {field: null}, "errors": [error]}))
            }
        };
        FakeReply::json(status, &body)
    }
}

/// The reply to a GraphQL request without a required script; `None` for other requests.
pub(in crate::fake) fn unscripted(request: &ParsedRequest) -> Option<FakeReply> {
    let name = request.operation.as_deref();
    let name = name.unwrap_or_else(|| request.first_field());
    let message = format!("The fake has no script for the operation {name}.");
    let hint = "Script it with fake.on::<Q>(), fake.on_operation(name) or fake.on_own_operation(name), or start the fake without scripted_only().";
    let error = json!({"message": message, "extensions": {"code": "UNSCRIPTED", "hint": hint}});
    is_graphql(&request.path).then(|| FakeReply::json(400, &json!({"errors": [error]})))
}

/// Returns the fault of a request, if any.
pub(in crate::fake) type EveryRequest = dyn Fn(&Received) -> Option<Fault> + Send + Sync;

/// The scripts, in the order in which they were added.
#[derive(Default)]
pub(in crate::fake) struct Scripts {
    scripts: Vec<Script>,
    pub(in crate::fake) every_request: Option<Arc<EveryRequest>>,
}

pub(super) struct Script {
    target: ScriptTarget,
    /// The remaining steps, each with its remaining number of calls.
    pub(super) steps: VecDeque<(ScriptStep, usize)>,
    calls: usize,
    /// Whether a call has taken a step.
    is_used: bool,
    pub(super) expected: Option<usize>,
}

impl Scripts {
    pub(in crate::fake) fn is_empty(&self) -> bool {
        self.scripts.is_empty()
    }

    /// Counts a call and takes its next step.
    pub(in crate::fake) fn take(&mut self, request: &ParsedRequest) -> Option<ScriptStep> {
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

    /// The expectations that were not met, one per line.
    pub(super) fn unmet(&self) -> Option<String> {
        let mut text = String::new();
        for script in &self.scripts {
            if let Some(expected) = script.expected.filter(|calls| *calls != script.calls) {
                let name = script.target.name();
                let expected = count(expected);
                let received = count(script.calls);
                let _ = write!(text, "\n  {name}: expected {expected}, received {received}");
            }
        }
        (!text.is_empty()).then_some(text)
    }

    /// The targets of unused scripts.
    pub(super) fn unused(&self) -> Vec<String> {
        let scripts = self.scripts.iter();
        let unused = scripts.filter(|script| !script.is_used && !script.steps.is_empty());
        unused
            .map(|script| script.target.name().to_owned())
            .collect()
    }

    pub(super) fn script(&mut self, target: &ScriptTarget) -> &mut Script {
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
    fn take(&mut self) -> Option<ScriptStep> {
        let (step, left) = self.steps.front_mut()?;
        self.is_used = true;
        let taken = step.clone();
        if *left != usize::MAX {
            *left -= 1;
        }
        if *left == 0 {
            self.steps.pop_front();
        }
        Some(taken)
    }
}

fn count(calls: usize) -> String {
    match calls {
        0 => "no call".to_owned(),
        1 => "1 call".to_owned(),
        calls => format!("{calls} calls"),
    }
}
