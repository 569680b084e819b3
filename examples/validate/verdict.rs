//! The result for one document, as JSON and as text.

use console::Term;
use envd_sdk::validate::{Finding, QuestionRules, Report};
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

/// The line width, unless the terminal is narrower.
const WIDTH: usize = 101;

/// The verdict, then the mistakes as sentences, then the values that could not be checked.
pub(crate) fn for_people(line: usize, id: &Value, verdict: &Result<Report, Unreadable>) -> String {
    let name = match id {
        Value::Null => format!("line {line}"),
        id => cli::json(&id.to_string()),
    };
    match verdict {
        Ok(report) => lines(&name, report),
        Err(Unreadable { path, reason }) => {
            let at = if path.is_empty() { "" } else { " at " };
            let why = cli::printable(format!("{at}{}: {reason}", path.join(".")));
            format!("line {line}: cannot be read{why}")
        }
    }
}

fn lines(name: &str, report: &Report) -> String {
    let verdict = if !report.is_valid() {
        "not valid"
    } else if !report.can_create() {
        "valid, but question 185 must be answered Yes before it can be created"
    } else if !report.ready_to_submit() {
        "valid, but not ready to be submitted"
    } else {
        "valid"
    };
    let terminal = Term::stdout();
    let mut text = cli::fitted(&format!("{name}: {verdict}"), &terminal);
    let width = terminal
        .size_checked()
        .map_or(WIDTH, |(_, width)| width.into());
    // After the severity.
    let room = width.min(WIDTH).saturating_sub(13).max(20);
    let mut add = |kind: &str, sentence: &str| {
        let sentence = cli::printable(sentence);
        for (at, line) in cli::wrapped(&sentence, room).iter().enumerate() {
            let kind = if at == 0 { kind } else { "" };
            text.extend(["\n", &format!("  {kind:10} {line}")]);
        }
    };
    for finding in report.findings() {
        add(&finding.severity.to_string(), &finding.sentence());
    }
    for finding in report.not_judged() {
        let sentence = finding.sentence();
        add(
            "then",
            &format!("{sentence} (The server stops before this.)"),
        );
    }
    for rule in report.unchecked() {
        add(
            "unchecked",
            &format!("question {}: {}", rule.question, rule.reason),
        );
    }
    if report.question_rules() == QuestionRules::NoQuestionsLoaded {
        add(
            "unchecked",
            "the answers, since there is no list of questions",
        );
    }
    text
}
