//! The verdict on one document, as JSON and as text.

use envd_sdk::validate::{Finding, Report};
use serde_json::{Value, json};

use super::cli;
use super::wire::Unreadable;

/// A line of JSON.
pub(crate) fn for_programs(
    line: usize,
    id: &Value,
    verdict: &Result<Report, Unreadable>,
) -> String {
    let json = match verdict {
        Ok(report) => {
            let findings: Vec<Value> = report.findings().iter().map(|f| finding(f)).collect();
            json!({"id": id, "valid": report.is_valid(), "findings": findings})
        }
        Err(Unreadable { path, reason }) => {
            json!({"id": id, "rejected": true, "path": path, "line": line, "reason": reason})
        }
    };
    cli::json(&json.to_string())
}

fn finding(finding: &Finding) -> Value {
    json!({
        "severity": finding.severity,
        "code": finding.code,
        "path": finding.path,
        "message": finding.message,
        "question_id": finding.question.as_ref().map(|question| &question.id),
        "index": finding.question.as_ref().and_then(|question| question.row),
    })
}

/// The verdict, then a line for each finding.
pub(crate) fn for_people(line: usize, id: &Value, verdict: &Result<Report, Unreadable>) -> String {
    let name = match id {
        Value::Null => format!("line {line}"),
        id => cli::json(&id.to_string()),
    };
    match verdict {
        Ok(report) => format!("{name}: {report}"),
        Err(Unreadable { path, reason }) => {
            let at = if path.is_empty() { "" } else { " at " };
            let why = cli::printable(format!("{at}{}: {reason}", path.join(".")));
            format!("line {line}: cannot be read{why}")
        }
    }
}
