//! Converts server errors to findings, and compares two reports.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::format::{ELLIPSIS, Format};
use super::{Finding, QuestionRef, QuestionRules, Report, Rule, Severity};
use crate::model::{Condition, ServerError, server_path};

/// Findings that only one of two reports has: see [`compare`].
///
/// See [`compare`] for an example.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Comparison {
    /// Findings of the validator that the server did not report.
    pub only_mirror: Vec<Arc<Finding>>,
    /// Findings of the server that the validator did not report.
    pub only_server: Vec<Arc<Finding>>,
}

impl Comparison {
    /// Whether both reports have the same findings.
    pub fn is_equal(&self) -> bool {
        self.only_mirror.is_empty() && self.only_server.is_empty()
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mirror = self.only_mirror.iter().map(|finding| ("mirror", finding));
        let server = self.only_server.iter().map(|finding| ("server", finding));
        let lines = mirror.chain(server).map(|(side, finding)| {
            let line = format!("only the {side}: {}: {finding}", finding.severity);
            match finding.code.as_str() {
                "" => line,
                code => format!("{line} ({code})"),
            }
        });
        match lines.collect::<Vec<_>>().join("\n").as_str() {
            "" => f.write_str("mirror and server say the same"),
            lines => f.write_str(lines),
        }
    }
}

/// Lists the findings that only one report has. Findings match by severity, code, and message regardless of case.
///
/// A message of the validator repeats at most 60 characters of a value, and no part of a signature. It matches the server's
/// message with the full value.
///
/// ```
/// use envd_sdk::model::{ConsignmentInput, Day};
/// use envd_sdk::validate::{Context, Report, compare, validate_fields};
///
/// let mirror = validate_fields(&ConsignmentInput::default(), &Context::on(Day::parse("2026-11-20")?));
/// let server = Report::from_server_errors(&[]);
/// let comparison = compare(&mirror, &server);
/// assert_eq!(comparison.only_mirror.len(), mirror.findings().len());
/// assert!(comparison.only_server.is_empty());
/// # Ok::<(), envd_sdk::model::TextError>(())
/// ```
pub fn compare(mirror: &Report, server: &Report) -> Comparison {
    let mut only_mirror: Vec<&Arc<Finding>> = mirror.findings().iter().collect();
    let mut only_server: Vec<Option<&Arc<Finding>>> = server.findings().iter().map(Some).collect();
    // Match exact messages first, so that an excerpt cannot claim a finding that has an exact match.
    let mut same: HashMap<(Severity, &str, String), VecDeque<usize>> = HashMap::new();
    for (position, finding) in server.findings().iter().enumerate() {
        same.entry(key(finding)).or_default().push_back(position);
    }
    only_mirror.retain(|finding| {
        let position = same.get_mut(&key(finding)).and_then(VecDeque::pop_front);
        let found = position.and_then(|at| only_server.get_mut(at));
        found.map(Option::take).is_none()
    });
    let mut rest: HashMap<(Severity, &str), Vec<(usize, String)>> = HashMap::new();
    for ((severity, code, message), positions) in same {
        let whole = positions.into_iter().map(|at| (at, message.clone()));
        rest.entry((severity, code)).or_default().extend(whole);
    }
    for same_code in rest.values_mut() {
        same_code.sort_unstable();
    }
    only_mirror.retain(|finding| {
        let (severity, code, cut) = key(finding);
        let rest = rest.get_mut(&(severity, code));
        let position = rest.and_then(|rest| {
            let at = rest
                .iter()
                .position(|(_, whole)| is_cut_from(&cut, whole))?;
            Some(rest.remove(at).0)
        });
        let found = position.and_then(|at| only_server.get_mut(at));
        found.map(Option::take).is_none()
    });
    Comparison {
        only_mirror: only_mirror.into_iter().cloned().collect(),
        only_server: only_server.into_iter().flatten().cloned().collect(),
    }
}

/// Severity, code and message. Public material has the same messages with different capitalization.
fn key(finding: &Finding) -> (Severity, &str, String) {
    let message = finding.message.to_lowercase();
    (finding.severity, &finding.code, message)
}

/// Whether a message with an excerpt and a message with the full value are otherwise equal.
fn is_cut_from(cut: &str, whole: &str) -> bool {
    cut.match_indices(ELLIPSIS).any(|(at, ellipsis)| {
        let (before, after) = cut.split_at(at);
        let after = after.strip_prefix(ellipsis).unwrap_or_default();
        let rest = whole.strip_prefix(before);
        rest.is_some_and(|rest| rest.ends_with(after))
    })
}

impl Finding {
    /// Converts an error of the server. The path omits the name of the operation.
    ///
    /// ```
    /// use envd_sdk::model::ServerError;
    /// use envd_sdk::validate::{Finding, Severity};
    ///
    /// let error: ServerError = serde_json::from_str(
    ///     r#"{"message": "Required", "path": ["createOrSaveConsignment", "answers", "3", "1"],
    ///         "extensions": {"data": {"Code": "answers.3.1"}}}"#,
    /// )?;
    /// let finding = Finding::from_server(&error);
    /// assert_eq!(finding.severity, Severity::Warning);
    /// assert_eq!(finding.path, ["answers", "3", "1"]);
    /// assert_eq!(finding.question.unwrap().row, Some(1));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn from_server(error: &ServerError) -> Self {
        let condition = error.condition();
        let code = error
            .code()
            .or_else(|| error.schema_code())
            .unwrap_or_default()
            .to_owned();
        let path = server_path(error);
        let question = match path.as_slice() {
            // The path of a variable has the position of an answer instead of its question.
            [answers, id, row @ ..] if answers == "answers" && code != "INVALID_VALUE" => {
                let row = row.first().and_then(|row| row.parse().ok());
                Some(QuestionRef::new(id.as_str(), row))
            }
            _ => None,
        };
        Self {
            severity: error.severity(),
            rule: rule(condition, &code),
            path,
            code,
            description: error.description().map(str::to_owned),
            question,
            ..Self::whole(Rule::Other, error.message())
        }
    }
}

impl Report {
    /// Converts the errors of the server to a report, in their order.
    pub fn from_server_errors(errors: &[ServerError]) -> Self {
        let findings = errors.iter().map(Finding::from_server).map(Arc::new);
        Self {
            findings: findings.collect(),
            // The server checks the questions too.
            ..Self::new(QuestionRules::Checked)
        }
    }
}

fn rule(condition: Condition, code: &str) -> Rule {
    match condition {
        Condition::EmptyForms => Rule::FormsNotEmpty,
        Condition::UnknownForm => Rule::FormKnown,
        Condition::InvalidVariable => Rule::WireType,
        // A field that the schema does not have.
        Condition::SchemaMismatch if code == "INVALID_VALUE" => Rule::WireType,
        Condition::MixedSpecies => Rule::OneSpecies,
        Condition::InvalidPic => Rule::PicFormat,
        Condition::PicNotAssociated => Rule::PicOfAccount,
        Condition::RequiredAnswerMissing => Rule::Required,
        Condition::InvalidAnswerValue => Rule::Year,
        Condition::OutsideAcceptableAnswers => Rule::Acceptable,
        Condition::Lpag2Rejected => Rule::FormOpen,
        Condition::Question185No => Rule::GoatsWithDevices,
        Condition::FieldRule => match code.rsplit('.').next().unwrap_or_default() {
            // A PIC in a wrong format has its own condition.
            "pic" => Rule::PicPresent,
            name => Format::of_field(name).map_or(Rule::Other, Format::rule),
        },
        _ => Rule::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_matches_the_full_message() {
        for (cut, whole, same) in [
            ("Answer: ab… is bad", "Answer: abcd is bad", true),
            ("Answer: ab… is bad", "Answer: ab is bad", true),
            ("Answer: a…b… is bad", "Answer: a…bcd is bad", true),
            (
                "Answer: ab… is bad: a…, b",
                "Answer: abcd is bad: a…, b",
                true,
            ),
            ("Answer: ab… is bad", "Answer: acd is bad", false),
            ("Answer: ab… is bad", "Answer: abcd is not bad", false),
            ("ab…b", "ab", false),
            ("ab", "ab", false),
        ] {
            assert_eq!(is_cut_from(cut, whole), same, "{cut} {whole}");
        }
    }
}
