//! One step of a script: what the fake does with one call.

use std::sync::Arc;

use serde_json::{Value, json};

use super::called::Called;
use super::fault::Fault;
use crate::fake::problem::Problem;
use crate::fake::reply::Reply;

/// Makes data from the variables of a call, or says why it cannot.
pub(super) type Respond = dyn Fn(Value) -> Result<Value, String> + Send + Sync;

#[derive(Clone)]
pub(in crate::fake) enum Step {
    Fault(Fault),
    Data(Arc<Respond>),
    Refuse { code: String, message: String },
}

impl Step {
    /// The answer to a call; `serve` is what the fake would say without a script.
    pub(in crate::fake) fn answer(&self, called: &Called, serve: impl FnOnce() -> Reply) -> Reply {
        match self {
            Self::Fault(fault) => fault.apply(serve),
            Self::Data(respond) => match respond(called.variables()) {
                Ok(data) => Reply::json(200, &json!({"data": data})),
                Err(why) => Reply::json(
                    500,
                    &json!({"errors": [{"message": format!("The script of the fake failed: {why}")}]}),
                ),
            },
            Self::Refuse { code, message } => {
                let field = called.field();
                let error = Problem::field(code, message).to_json(field);
                Reply::json(200, &json!({"data": {field: null}, "errors": [error]}))
            }
        }
    }
}
