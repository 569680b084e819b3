//! What the server said, in the shape of findings.

use super::{Finding, QuestionRef, QuestionRules, Report, Rule, Source};
use crate::model::{Condition, ServerError};

impl Finding {
    /// What the server said, as a finding. The name of the operation is left out of the path.
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
    #[must_use]
    pub fn from_server(error: &ServerError) -> Self {
        let condition = error.condition();
        let code = error.code().or_else(|| error.schema_code());
        let code = code.unwrap_or_default().to_owned();
        let mut path: Vec<String> = error.path().iter().map(ToString::to_string).collect();
        // The first name is the operation's, unless the path alone makes up the code.
        if !path.is_empty() && path.join(".") != code {
            path.remove(0);
        }
        let question = match path.as_slice() {
            [answers, id, row @ ..] if answers == "answers" => {
                let row = row.first().and_then(|row| row.parse().ok());
                Some(QuestionRef::new(id, row))
            }
            _ => None,
        };
        Self {
            severity: error.severity(),
            rule: rule(condition),
            path,
            code,
            message: error.message().to_owned(),
            description: error.description().map(str::to_owned),
            question,
            source: Source::Server,
        }
    }
}

impl From<&ServerError> for Finding {
    fn from(error: &ServerError) -> Self {
        Self::from_server(error)
    }
}

impl Report {
    /// What the server said, as a report, in the server's order.
    #[must_use]
    pub fn from_server_errors(errors: &[ServerError]) -> Self {
        Self {
            findings: errors.iter().map(Finding::from_server).collect(),
            // The server has the questions.
            ..Self::new(QuestionRules::Checked)
        }
    }
}

fn rule(condition: Condition) -> Rule {
    match condition {
        Condition::EmptyForms => Rule::FormsNotEmpty,
        Condition::UnknownForm => Rule::FormKnown,
        Condition::MixedSpecies => Rule::OneSpecies,
        Condition::InvalidPic => Rule::PicFormat,
        Condition::PicNotAssociated => Rule::PicOfAccount,
        Condition::RequiredAnswerMissing => Rule::Required,
        Condition::InvalidAnswerValue => Rule::Year,
        Condition::OutsideAcceptableAnswers => Rule::Acceptable,
        Condition::Lpag2Rejected => Rule::FormOpen,
        Condition::Question185No => Rule::GoatsWithDevices,
        _ => Rule::Other,
    }
}

/// What only one of two reports says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Drift {
    /// Findings of the mirror that the server did not give.
    pub only_mirror: Vec<Finding>,
    /// Findings of the server that the mirror did not give.
    pub only_server: Vec<Finding>,
}

impl Drift {
    /// Whether both said the same.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.only_mirror.is_empty() && self.only_server.is_empty()
    }
}

/// Names what only one side said: findings match by severity, code, and message whatever its case.
///
/// ```
/// use envd_sdk::model::{ConsignmentInput, Day};
/// use envd_sdk::validate::{Context, Report, compare, validate_fields};
///
/// let mirror = validate_fields(&ConsignmentInput::default(), &Context::on(Day::parse("2026-11-20")?));
/// let server = Report::from_server_errors(&[]);
/// let drift = compare(&mirror, &server);
/// assert_eq!(drift.only_mirror.len(), mirror.findings().len());
/// assert!(drift.only_server.is_empty());
/// # Ok::<(), envd_sdk::model::TextError>(())
/// ```
#[must_use]
pub fn compare(mirror: &Report, server: &Report) -> Drift {
    let mut only_server: Vec<&Finding> = server.findings().iter().collect();
    let mut only_mirror = Vec::new();
    for finding in mirror.findings() {
        match only_server.iter().position(|other| same(finding, other)) {
            Some(position) => {
                only_server.remove(position);
            }
            None => only_mirror.push(finding.clone()),
        }
    }
    Drift {
        only_mirror,
        only_server: only_server.into_iter().cloned().collect(),
    }
}

fn same(one: &Finding, other: &Finding) -> bool {
    one.severity == other.severity
        && one.code == other.code
        && one.message.to_lowercase() == other.message.to_lowercase()
}
