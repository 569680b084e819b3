//! A problem that the service reports, in the format of spec 7.2.

use serde_json::{Value, json};

/// One item of `errors`, without the name of the operation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ErrorItem {
    /// A dotted path below the operation; empty for the operation itself.
    path: String,
    code: String,
    message: String,
    description: Option<String>,
    severity: ItemSeverity,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ItemSeverity {
    /// The record is saved anyway.
    Warning,
    /// A field is invalid.
    Field,
    /// The entire request is refused.
    Refusal,
    /// Like `Refusal`, with HTTP 403.
    Denial,
}

impl ErrorItem {
    fn new(path: &str, code: &str, message: impl Into<String>, severity: ItemSeverity) -> Self {
        Self {
            path: path.to_owned(),
            code: code.to_owned(),
            message: message.into(),
            description: None,
            severity,
        }
    }

    /// A field violates a rule. The code is its dotted path.
    pub(super) fn field(code: &str, message: impl Into<String>) -> Self {
        Self::new(code, code, message, ItemSeverity::Field)
    }

    /// Like [`field`](Self::field), but a warning.
    pub(super) fn warning(code: &str, message: impl Into<String>) -> Self {
        Self::new(code, code, message, ItemSeverity::Warning)
    }

    /// Refuses the request because of the value at a path.
    pub(super) fn bad_request(path: &str, description: impl Into<String>) -> Self {
        let refusal = Self::new(path, "", "Bad request", ItemSeverity::Refusal);
        refusal.describe(description)
    }

    /// The user lacks a permission.
    pub(super) fn denied(description: impl Into<String>) -> Self {
        Self::new("", "", "Access denied", ItemSeverity::Denial).describe(description)
    }

    /// The record does not exist or cannot be changed; the service does not distinguish the two (spec 7.2, row 2).
    pub(super) fn not_found() -> Self {
        Self::new("", "", "Internal server error", ItemSeverity::Refusal)
    }

    /// The access token is missing, unknown or expired (spec 7.2, row 1).
    pub(super) fn unauthorized() -> Self {
        let message = "The access token is invalid";
        Self::new("", "Unauthorized", message, ItemSeverity::Refusal)
    }

    fn describe(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    pub(super) fn is_warning(&self) -> bool {
        self.severity == ItemSeverity::Warning
    }

    /// Whether a required answer is missing.
    pub(super) fn is_required(&self) -> bool {
        self.is_warning() && self.message == "Required"
    }

    pub(super) fn is_denial(&self) -> bool {
        self.severity == ItemSeverity::Denial
    }

    /// The item of `errors` for an operation. An empty name stands for the entire request.
    pub(super) fn to_json(&self, operation: &str) -> Value {
        let path = std::iter::once(operation).chain(self.path.split('.'));
        let path: Vec<&str> = path.filter(|name| !name.is_empty()).collect();
        let outcome = match self.severity {
            ItemSeverity::Warning => None,
            ItemSeverity::Field => Some("Error"),
            ItemSeverity::Refusal | ItemSeverity::Denial => Some("ERROR"),
        };
        json!({
            "message": self.message,
            "path": path,
            "extensions": {"data": {
                "Code": self.code,
                "Message": self.message,
                "Description": self.description,
                "OutcomeStatus": outcome,
            }},
        })
    }
}
