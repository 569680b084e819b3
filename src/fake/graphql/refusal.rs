//! Errors before execution, in the shape and the words of GraphQL.NET (`guide::sources`).

use apollo_compiler::parser::{LineColumn, SourceMap, SourceSpan};
use serde_json::{Value, json};

use crate::fake::reply::Reply;

/// One schema-level error.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    message: String,
    locations: Vec<Value>,
    codes: Vec<&'static str>,
    number: Option<&'static str>,
}

impl Refusal {
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            locations: Vec::new(),
            codes: vec![code],
            number: None,
        }
    }

    /// The code of the exception inside.
    pub(super) fn and_code(mut self, code: &'static str) -> Self {
        self.codes.push(code);
        self
    }

    /// The section of the GraphQL specification whose rule is broken.
    pub(super) fn number(mut self, number: Option<&'static str>) -> Self {
        self.number = number;
        self
    }

    pub(super) fn at(mut self, place: Option<LineColumn>) -> Self {
        self.locations
            .extend(place.map(|place| json!({"line": place.line, "column": place.column})));
        self
    }

    pub(super) fn at_span(self, span: Option<SourceSpan>, sources: &SourceMap) -> Self {
        self.at(span.and_then(|span| span.line_column(sources)))
    }

    fn to_json(&self) -> Value {
        let mut extensions = json!({"code": self.codes[0], "codes": self.codes});
        if let Some(number) = self.number {
            extensions["number"] = number.into();
        }
        let mut error = json!({"message": self.message, "extensions": extensions});
        if !self.locations.is_empty() {
            error["locations"] = Value::from(self.locations.clone());
        }
        error
    }
}

impl From<Refusal> for Vec<Refusal> {
    fn from(refusal: Refusal) -> Self {
        vec![refusal]
    }
}

/// HTTP 400 without data. assumed: the specification does not map errors to statuses
pub(super) fn reply(refusals: &[Refusal]) -> Reply {
    let errors: Vec<Value> = refusals.iter().map(Refusal::to_json).collect();
    Reply::json(400, &json!({"errors": errors}))
}
