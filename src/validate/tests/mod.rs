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

use std::collections::BTreeSet;

use serde_json::json;

use super::{Report, Rule};
use crate::model::{ServerError, Severity};

/// The names of all rules, as serde lists them in an error.
fn rule_names() -> BTreeSet<String> {
    let error = serde_json::from_value::<Rule>(json!("no rule")).unwrap_err();
    let listed = error.to_string();
    let (_, listed) = listed.split_once("expected one of ").unwrap();
    let names = listed.split(", ").map(|name| name.trim_matches('`'));
    names.map(str::to_owned).collect()
}

/// Fails with the names of the rules that are not among those that were found.
fn assert_has_each_rule(found: &BTreeSet<String>, what: &str) {
    let names = rule_names();
    let missing: Vec<&String> = names.difference(found).collect();
    assert!(
        missing.is_empty(),
        "these rules have no {what}: {missing:?}"
    );
    let unknown: Vec<&String> = found.difference(&names).collect();
    assert!(unknown.is_empty(), "there are no such rules: {unknown:?}");
}

/// The name of a rule in JSON.
fn name(rule: Rule) -> String {
    serde_json::to_value(rule)
        .unwrap()
        .as_str()
        .unwrap()
        .to_owned()
}

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
