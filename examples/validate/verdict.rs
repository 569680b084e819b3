//! What is said about one line, to programs and to people.

use std::io::{self, Write};

use envd_sdk::validate::{Finding, Report};
use serde_json::{Value, json};

/// The report on one line, or the path to what cannot be read.
pub(crate) type Verdict = Result<Report, Vec<String>>;

pub(crate) fn for_programs(id: &Value, verdict: Verdict) -> Value {
    let report = match verdict {
        Ok(report) => report,
        Err(path) => return json!({"id": id, "rejected": true, "path": path}),
    };
    let finding = |finding: &Finding| {
        json!({
            "severity": finding.severity,
            "code": finding.code,
            "path": finding.path,
            "message": finding.message,
            "question_id": finding.question.as_ref().map(|question| &question.id),
            "index": finding.question.as_ref().and_then(|question| question.row),
        })
    };
    let findings: Vec<Value> = report.findings().iter().map(|f| finding(f)).collect();
    json!({"id": id, "valid": report.is_valid(), "findings": findings})
}

pub(crate) fn for_people(out: &mut impl Write, id: &Value, verdict: Verdict) -> io::Result<()> {
    let report = match verdict {
        Ok(report) => report,
        Err(path) if path.is_empty() => return writeln!(out, "{id}: cannot be read"),
        Err(path) => return writeln!(out, "{id}: cannot be read at {}", path.join(".")),
    };
    writeln!(out, "{id}: {report}")
}
