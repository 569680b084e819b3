//! Errors before execution, in the shape and the wording of GraphQL.NET (`guide::sources`).

use apollo_compiler::parser::{LineColumn, SourceMap, SourceSpan};
use serde_json::{Value, json};

use crate::fake::reply::Reply;

/// An error that refuses the whole request.
#[derive(Clone, Debug)]
pub(super) struct RequestError {
    message: String,
    locations: Vec<LineColumn>,
    codes: Vec<&'static str>,
    rule: Option<&'static str>,
}

impl RequestError {
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            locations: Vec::new(),
            codes: vec![code],
            rule: None,
        }
    }

    /// Adds the code of an inner exception.
    pub(super) fn inner_code(mut self, code: &'static str) -> Self {
        self.codes.push(code);
        self
    }

    /// The section of the GraphQL specification with the violated rule.
    pub(super) fn rule(mut self, section: Option<&'static str>) -> Self {
        self.rule = section;
        self
    }

    /// Adds a location, if it is known.
    pub(super) fn at(mut self, location: Option<LineColumn>) -> Self {
        self.locations.extend(location);
        self
    }

    pub(super) fn at_span(self, span: Option<SourceSpan>, sources: &SourceMap) -> Self {
        self.at(span.and_then(|span| span.line_column(sources)))
    }

    fn to_json(&self) -> Value {
        let mut extensions = json!({"code": self.codes[0], "codes": self.codes});
        if let Some(rule) = self.rule {
            extensions["number"] = rule.into();
        }
        let mut error = json!({"message": self.message, "extensions": extensions});
        if !self.locations.is_empty() {
            let to_json = |at: &LineColumn| json!({"line": at.line, "column": at.column});
            error["locations"] = self.locations.iter().map(to_json).collect();
        }
        error
    }
}

impl From<RequestError> for Vec<RequestError> {
    fn from(error: RequestError) -> Self {
        vec![error]
    }
}

/// HTTP 400 without data. assumed: the specification does not map errors to statuses
pub(super) fn reply(errors: &[RequestError]) -> Reply {
    let errors: Vec<Value> = errors.iter().map(RequestError::to_json).collect();
    Reply::json(400, &json!({"errors": errors}))
}
