//! What the server said, in the shape of findings.

use serde_json::json;

use super::{Finding, QuestionRef, QuestionRules, Report, Rule, Severity, Source};
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
        if let Some(schema_code) = error.schema_code().filter(|_| path.is_empty()) {
            path = variable_path(schema_code, error.message());
        }
        let question = match path.as_slice() {
            [answers, id, row @ ..] if answers == "answers" => {
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
            message: error.message().to_owned(),
            description: error.description().map(str::to_owned),
            question,
            source: Source::Server,
            expected: None,
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
            findings: errors
                .iter()
                .map(|error| Finding::from_server(error).into())
                .collect(),
            // The server has the questions.
            ..Self::new(QuestionRules::Checked)
        }
    }
}

impl Report {
    /// Errors and warnings as the server would send them for an operation, in the type that the client decodes.
    ///
    /// ```
    /// use envd_sdk::model::{Condition, ConsignmentInput, Day};
    /// use envd_sdk::validate::{Context, Report, compare, validate_fields};
    ///
    /// let report = validate_fields(&ConsignmentInput::default(), &Context::on(Day::parse("2026-11-20")?));
    /// let errors = report.to_server_errors("createOrSaveConsignment");
    /// assert_eq!(errors[0].condition(), Condition::EmptyForms);
    /// assert!(compare(&report, &Report::from_server_errors(&errors)).is_none());
    /// # Ok::<(), envd_sdk::model::TextError>(())
    /// ```
    #[must_use]
    pub fn to_server_errors(&self, operation: &str) -> Vec<ServerError> {
        let findings = self.findings().iter();
        findings.map(|f| f.to_server_error(operation)).collect()
    }
}

impl Finding {
    /// The finding as the server would send it for an operation (spec 7.2).
    #[must_use]
    pub fn to_server_error(&self, operation: &str) -> ServerError {
        if self.code == "INVALID_VALUE" {
            return ServerError::from_value(json!({
                "message": self.message,
                "extensions": {"code": self.code, "codes": [self.code, "INVALID_OPERATION"], "number": "5.8"},
            }));
        }
        let path: Vec<&str> = std::iter::once(operation)
            .chain(self.path.iter().map(String::as_str))
            .collect();
        // assumed: which of the stated values stands where.
        let outcome = match self.severity {
            Severity::Error if self.code.is_empty() => Some("ERROR"),
            Severity::Error => Some("Error"),
            _ => None,
        };
        ServerError::from_value(json!({
            "message": self.message,
            "path": path,
            "extensions": {"data": {
                "Code": self.code,
                "Message": self.message,
                "Description": self.description,
                "OutcomeStatus": outcome,
            }},
        }))
    }
}

/// The place in the variables. Schema-level errors name it in their message only (spec 7.2).
fn variable_path(code: &str, message: &str) -> Vec<String> {
    let place = message
        .strip_prefix("Variable '$input")
        .filter(|_| code == "INVALID_VALUE")
        .and_then(|rest| rest.split_once('\''));
    let names = place.map_or("", |(place, _)| place).split(['.', '[', ']']);
    names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

fn rule(condition: Condition, code: &str) -> Rule {
    match condition {
        Condition::EmptyForms => Rule::FormsNotEmpty,
        Condition::UnknownForm => Rule::FormKnown,
        Condition::InvalidVariable => Rule::WireType,
        Condition::MixedSpecies => Rule::OneSpecies,
        Condition::InvalidPic => Rule::PicFormat,
        Condition::PicNotAssociated => Rule::PicOfAccount,
        Condition::RequiredAnswerMissing => Rule::Required,
        Condition::InvalidAnswerValue => Rule::Year,
        Condition::OutsideAcceptableAnswers => Rule::Acceptable,
        Condition::Lpag2Rejected => Rule::FormOpen,
        Condition::Question185No => Rule::GoatsWithDevices,
        Condition::FieldRule => rule_of_field(code.rsplit('.').next().unwrap_or_default()),
        _ => Rule::Other,
    }
}

/// Each of these fields has one rule (spec 2.1 to 2.3).
fn rule_of_field(name: &str) -> Rule {
    match name {
        "name" | "fullName" | "line1" | "town" | "certificateNumber" => Rule::MaxLength,
        "pic" => Rule::PicPresent,
        "postcode" => Rule::Postcode,
        "state" => Rule::State,
        "email" => Rule::Email,
        "phone" => Rule::Phone,
        "signature" => Rule::Base64,
        "date" => Rule::DateTime,
        "movementDate" => Rule::Date,
        "movementTime" => Rule::Time,
        _ => Rule::Other,
    }
}
