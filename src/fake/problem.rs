//! What the service finds wrong, in the shape of section 7.2.

use serde_json::{Value, json};

/// One item of `errors`, without the name of the operation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Problem {
    path: Vec<String>,
    code: String,
    message: String,
    description: Option<String>,
    weight: Weight,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weight {
    /// `OutcomeStatus` null: the record is saved all the same.
    Warning,
    /// `Error`: a field.
    Field,
    /// `ERROR`: the request as a whole.
    Refusal,
    /// `ERROR`, with HTTP 403.
    Denial,
}

impl Problem {
    /// A field breaks a rule; the code is its dotted path.
    pub(super) fn field(code: &str, message: impl Into<String>) -> Self {
        Self::at(code, message.into(), Weight::Field)
    }

    /// As [`field`](Self::field), but classed as a warning.
    pub(super) fn warning(code: &str, message: impl Into<String>) -> Self {
        Self::at(code, message.into(), Weight::Warning)
    }

    /// The request as a whole is refused, because of what stands at a path (empty for none).
    pub(super) fn bad_request(path: &[&str], description: impl Into<String>) -> Self {
        Self {
            path: path.iter().copied().map(str::to_owned).collect(),
            description: Some(description.into()),
            ..Self::at("", "Bad request".to_owned(), Weight::Refusal)
        }
    }

    /// The user may not do this.
    pub(super) fn denied(description: impl Into<String>) -> Self {
        Self {
            description: Some(description.into()),
            ..Self::at("", "Access denied".to_owned(), Weight::Denial)
        }
    }

    /// The record does not exist, or may not be touched: the service does not tell which (7.2, row 2).
    pub(super) fn not_found() -> Self {
        Self::at("", "Internal server error".to_owned(), Weight::Refusal)
    }

    /// The access token is missing, unknown or expired (7.2, row 1).
    pub(super) fn unauthorized() -> Self {
        Self {
            path: Vec::new(),
            ..Self::at(
                "Unauthorized",
                "The access token is invalid".to_owned(),
                Weight::Refusal,
            )
        }
    }

    fn at(code: &str, message: String, weight: Weight) -> Self {
        let path = code.split('.').filter(|name| !name.is_empty());
        Self {
            path: path.map(str::to_owned).collect(),
            code: code.to_owned(),
            message,
            description: None,
            weight,
        }
    }

    /// Whether the record is saved in spite of it.
    pub(super) fn is_warning(&self) -> bool {
        self.weight == Weight::Warning
    }

    /// Whether a required answer is missing.
    pub(super) fn is_required(&self) -> bool {
        self.is_warning() && self.message == "Required"
    }

    /// Whether HTTP says 403.
    pub(super) fn is_denial(&self) -> bool {
        self.weight == Weight::Denial
    }

    /// The item of `errors`, for an operation.
    pub(super) fn to_json(&self, operation: &str) -> Value {
        let path: Vec<&str> = std::iter::once(operation)
            .chain(self.path.iter().map(String::as_str))
            .collect();
        let outcome = match self.weight {
            Weight::Warning => None,
            Weight::Field => Some("Error"),
            Weight::Refusal | Weight::Denial => Some("ERROR"),
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
