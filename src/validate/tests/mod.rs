//! Test cases that span the validator.

mod blocks;
mod bodies;
mod drafts;
mod fields;
mod findings;
mod forms;
mod properties;
pub(super) mod questions;
mod reports;
mod sentences;
pub(super) mod shapes;
mod work;

use serde_json::json;

use super::Report;
use crate::model::{ServerError, Severity};

/// The findings as errors in the server's format (spec 7.2).
fn server_errors(report: &Report) -> Vec<ServerError> {
    let errors = report.findings().iter().map(|finding| {
        let code = &finding.code;
        let message = &finding.message;
        if code == "INVALID_VALUE" {
            let extensions = json!({"code": code, "codes": [code, "INVALID_OPERATION"], "number": "5.8"});
            return json!({"message": message, "extensions": extensions});
        }
        let names = finding.path.iter().map(String::as_str);
        let path: Vec<&str> = ["save"].into_iter().chain(names).collect();
        // assumed: which of the known values each error has.
        let outcome = match finding.severity {
            Severity::Error if code.is_empty() => Some("ERROR"),
            Severity::Error => Some("Error"),
            _ => None,
        };
        let data = json!({
            "Code": code, "Message": message, "Description": finding.description, "OutcomeStatus": outcome,
        });
        json!({"message": message, "path": path, "extensions": {"data": data}})
    });
    errors.map(ServerError::from_value).collect()
}
