//! Findings, from the validator or the server, with their rule and the correct value.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Sentences;
use super::format::excerpt;
use crate::model::{Day, OneLine, QuestionId, Severity, input_path};

/// The correct value, if the rule defines one: see [`Finding::expected`](super::Finding::expected).
///
/// `Display` is plain English; [`Sentences::expected`] has other languages.
///
/// ```
/// use envd_sdk::model::{AddressInput, ConsignmentInput, Day, FormType, PartyInput};
/// use envd_sdk::validate::{Context, Expected, validate_fields};
///
/// let origin = PartyInput::new("QAZZ7777");
/// let destination = PartyInput::new("QDZZ3333");
/// let mut input = ConsignmentInput::new([FormType::Lpac1], origin, destination);
/// let mut address = AddressInput::default();
/// address.town = "x".repeat(101).into();
/// input.origin.address = address.into();
/// let report = validate_fields(&input, &Context::on(Day::parse("2026-11-20")?));
/// let finding = report.at("origin.address.town").next().unwrap();
/// assert_eq!(finding.expected, Some(Expected::Characters { at_most: 100 }));
/// # Ok::<(), envd_sdk::model::TextError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Expected {
    /// A text of at most this many characters, not bytes ([`Rule::MaxLength`](super::Rule::MaxLength)).
    Characters {
        /// The maximum length.
        at_most: usize,
    },
    /// One of these values ([`Rule::State`](super::Rule::State), [`Rule::Acceptable`](super::Rule::Acceptable)).
    OneOf {
        /// The values, in display order.
        values: Vec<String>,
        /// The names to show for the values, in the same order; empty if they are the values.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        names: Vec<String>,
    },
    /// A day, month or year within bounds ([`Rule::Year`](super::Rule::Year)).
    Years {
        /// The first accepted year.
        from: Option<i32>,
        /// The last accepted year.
        to: Option<i32>,
        /// The last accepted day: today, if the future is excluded.
        until: Option<Day>,
    },
    /// The same value in the correct notation ([`Rule::Date`](super::Rule::Date), [`Rule::Time`](super::Rule::Time),
    /// [`Rule::DateTime`](super::Rule::DateTime)).
    Corrected {
        /// The corrected value.
        value: String,
    },
    /// A text in the format of this example.
    Example {
        /// A valid value.
        value: String,
    },
    /// A text. This and the next four are for [`Rule::WireType`](super::Rule::WireType).
    Text,
    /// A whole number.
    WholeNumber,
    /// True or false.
    YesOrNo,
    /// A list.
    List,
    /// An object: fields with values.
    Fields,
    /// A day on which the form can be created ([`Rule::FormOpen`](super::Rule::FormOpen)).
    Created {
        /// The first day on which the form can be created.
        from: Option<Day>,
        /// The first day on which it can no longer be created.
        before: Option<Day>,
    },
}

impl Expected {
    /// One of these values, shown unchanged.
    pub(super) fn one_of(values: impl IntoIterator<Item = impl ToString>) -> Self {
        Self::OneOf {
            values: values.into_iter().map(|value| value.to_string()).collect(),
            names: Vec::new(),
        }
    }
}

impl fmt::Display for Expected {
    /// The correct value in plain English.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&Sentences::default().expected(self))
    }
}

/// The rule that a finding is about.
///
/// ```
/// use envd_sdk::model::{ConsignmentInput, Day, FormType, PartyInput};
/// use envd_sdk::validate::{Context, Rule, validate_fields};
///
/// let origin = PartyInput::new("QAZZ777");
/// let destination = PartyInput::new("QDZZ3333");
/// let input = ConsignmentInput::new([FormType::Lpac1], origin, destination);
/// let report = validate_fields(&input, &Context::on(Day::parse("2026-11-20")?));
/// assert!(report.findings().iter().any(|finding| finding.rule == Rule::PicFormat));
/// # Ok::<(), envd_sdk::model::TextError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Rule {
    /// There is at least one form (spec 2.1, 7.2).
    FormsNotEmpty,
    /// All forms are known (spec 7.2).
    FormKnown,
    /// The status is known (spec 3.1).
    StatusKnown,
    /// A value has the type of its field: a text, a number, a list (spec 2.1 to 2.4, 7.2).
    WireType,
    /// All forms are for one species (spec 2.1).
    OneSpecies,
    /// The form can be created on this day (spec 9.3, 9.4).
    FormOpen,
    /// The user is accredited for the form (spec 1.3, 2.8).
    Accredited,
    /// Origin and destination have a PIC (spec 2.2).
    PicPresent,
    /// A PIC has 8 letters or digits (spec 2.2, 8).
    PicFormat,
    /// The origin has the PIC of the account (spec 7.2).
    PicOfAccount,
    /// A text is not too long (spec 8).
    MaxLength,
    /// A postcode has four digits, 1000 to 9999 (spec 2.2).
    Postcode,
    /// A state or territory (spec 2.2).
    State,
    /// An email address (spec 2.3).
    Email,
    /// A phone number (spec 2.3).
    Phone,
    /// A date and time, yyyy-MM-ddTHH:mm:ss (spec 2.3).
    DateTime,
    /// A date, yyyy-MM-dd (spec 2.1).
    Date,
    /// A time, HH:mm (spec 2.1).
    Time,
    /// Base64 (spec 2.3).
    Base64,
    /// Question 185 is answered Yes (spec 2.6).
    GoatsWithDevices,
    /// The question must be answered (spec 2.6).
    Required,
    /// The answer is one of the acceptable ones (spec 2.4).
    Acceptable,
    /// The year of the answer is within bounds (spec 2.6).
    Year,
    /// Advice: no form is named twice.
    FormOnce,
    /// Advice (public: the PIC pages of `guide::sources`): the first character of a PIC names a state or territory.
    PicState,
    /// Advice (public: the PIC pages): the other characters of a PIC follow the pattern of its state; see
    /// [`Pic::advice`](crate::model::Pic::advice).
    PicForm,
    /// Advice (assumed): the animals go to another property.
    PicsDiffer,
    /// Advice (assumed): the movement and the declaration are at most half a year from today.
    DayNear,
    /// Advice (assumed): the declaration is accepted.
    DeclarationAccepted,
    /// Advice (assumed): the first section without triggers lists the animals, and has a row.
    RowsPresent,
    /// Advice (assumed): an answer has the notation of its question type: a number such as 24, a date, a time, a month.
    AnswerForm,
    /// Advice (assumed): a row has 1 to 9,999 animals, and no more ear tags or rumen devices than animals.
    HeadCount,
    /// Advice: the question of an answer applies.
    AnswerApplies,
    /// Advice: the question of an answer exists.
    QuestionKnown,
    /// Advice: a question has one answer, or one in each row.
    AnsweredOnce,
    /// Questions, rows and choices are few enough to check. The limits are those of this crate: see the [module](crate::validate).
    Size,
    /// Any other error of the server.
    Other,
}

impl Rule {
    /// Whether the rule is about the forms, even if the server names no field.
    fn is_about_forms(self) -> bool {
        matches!(self, Self::OneSpecies | Self::FormOpen | Self::Accredited)
    }
}

/// The texts that the list of questions has for a question.
///
/// In [`Finding::question_text`].
///
/// ```
/// use envd_sdk::model::{ConsignmentInput, Day, FormType, PartyInput, Question};
/// use envd_sdk::validate::{Context, Questionnaire};
///
/// let questions: Vec<Question> = serde_json::from_str(
///     r#"[{"id": "17", "forms": ["LPAC1"], "type": "STRING", "text": "Held since",
///          "tip": "The year will do.",
///          "validators": [{"type": "required", "errorMessage": "Enter a year."}]}]"#,
/// )?;
/// let origin = PartyInput::new("QAZZ7777");
/// let destination = PartyInput::new("QDZZ3333");
/// let input = ConsignmentInput::new([FormType::Lpac1], origin, destination);
/// let context = Context::on(Day::parse("2026-11-20")?);
/// let report = Questionnaire::prepare(&questions).validate(&input, &context);
/// let text = report.findings()[0].question_text.as_deref().ok_or("no texts")?;
/// assert_eq!(text.text, "Held since");
/// assert_eq!(text.error_message.as_deref(), Some("Enter a year."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct QuestionText {
    /// The text of the question; may be empty.
    pub text: String,
    /// A longer explanation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// A hint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tip: Option<String>,
    /// The `errorMessage` of the validator that failed (spec 2.6); `None` for other rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
}

/// A question, with its row if it is inside a REPEATABLE question.
///
/// Functions that expect one accept an id, or an id with a row.
///
/// ```
/// use envd_sdk::validate::QuestionRef;
///
/// let outside_rows: QuestionRef = "17".into();
/// assert_eq!((outside_rows.id.as_str(), outside_rows.row), ("17", None));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct QuestionRef {
    /// The question.
    pub id: QuestionId,
    /// The row, from 0; `None` outside rows.
    pub row: Option<i64>,
}

impl QuestionRef {
    pub(super) fn new(id: impl Into<QuestionId>, row: Option<i64>) -> Self {
        Self { id: id.into(), row }
    }
}

impl fmt::Display for QuestionRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.row {
            // People count from 1.
            Some(row) => write!(f, "{} in row {}", self.id, row.saturating_add(1)),
            None => self.id.fmt(f),
        }
    }
}

/// One problem with a consignment.
///
/// `Display` is the message on one line, with control characters escaped. `Debug` omits the texts, which repeat what the user
/// entered.
///
/// ```
/// use envd_sdk::model::{ConsignmentInput, Day, FormType, PartyInput};
/// use envd_sdk::validate::{Context, Severity, validate_fields};
///
/// let origin = PartyInput::new("QAZZ777");
/// let destination = PartyInput::new("QDZZ3333");
/// let input = ConsignmentInput::new([FormType::Lpac1], origin, destination);
/// let report = validate_fields(&input, &Context::on(Day::parse("2026-11-20")?));
/// let finding = &report.findings()[0];
/// assert_eq!((finding.severity, finding.code.as_str()), (Severity::Error, "origin.pic"));
/// assert_eq!(finding.message, "QAZZ777 is not a valid value for PIC");
/// // For people.
/// let right = "Enter 8 letters and digits, without spaces.";
/// assert_eq!(finding.sentence(), format!("PIC of origin QAZZ777 is not a PIC. {right}"));
/// # Ok::<(), envd_sdk::model::TextError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Finding {
    /// The severity.
    pub severity: Severity,
    /// The broken rule.
    pub rule: Rule,
    /// The location as a list of names, without the name of the operation; empty for the consignment itself.
    pub path: Vec<String>,
    /// The server's Code: the dotted path of the field, or empty (spec 7.2).
    pub code: String,
    /// The message, in the server's words if the specification shows them.
    ///
    /// Messages of the validator repeat at most 60 characters of a value that the user entered, and no part of a signature; an
    /// ellipsis marks the rest. Messages of the server are complete.
    pub message: String,
    /// A longer text, if the server gives one.
    pub description: Option<String>,
    /// The question, if the finding is about an answer.
    pub question: Option<QuestionRef>,
    /// The position of its row among the remaining rows, from 1. It differs from the index once a row was removed. `None` outside
    /// rows, and in findings of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_number: Option<usize>,
    /// The correct value, if the rule defines one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Expected>,
    /// The wrong value, truncated as in [`message`](Self::message); `None` in findings of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The texts of the question, if a list of questions is loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question_text: Option<Box<QuestionText>>,
}

impl Finding {
    /// An error in a field; its path is its code, split at the dots.
    pub(super) fn field(rule: Rule, code: impl Into<String>, message: impl Into<String>) -> Self {
        let code = code.into();
        // The code of an array field ends in [] (spec 7.2), its path does not.
        let names = code.split('.').map(|name| name.trim_end_matches("[]"));
        Self {
            path: names.map(str::to_owned).collect(),
            code,
            ..Self::whole(rule, message)
        }
    }

    /// An error about the consignment itself.
    pub(super) fn whole(rule: Rule, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            rule,
            path: Vec::new(),
            code: String::new(),
            message: message.into(),
            description: None,
            question: None,
            row_number: None,
            expected: None,
            value: None,
            question_text: None,
        }
    }

    /// A value that the server's schema cannot take. The server stops there (spec 7.2).
    ///
    /// The server gives the location only in its message; the path has it here.
    pub(super) fn schema(rule: Rule, path: Vec<String>, message: String) -> Self {
        Self {
            code: "INVALID_VALUE".to_owned(),
            path,
            ..Self::whole(rule, message)
        }
    }

    /// A finding about an answer, at `answers.<id>` or `answers.<id>.<row>`.
    pub(super) fn answer(
        severity: Severity,
        rule: Rule,
        question: QuestionRef,
        message: String,
    ) -> Self {
        let mut path = vec!["answers".to_owned(), question.id.to_string()];
        path.extend(question.row.map(|row| row.to_string()));
        Self {
            severity,
            code: path.join("."),
            path,
            question: Some(question),
            ..Self::whole(rule, message)
        }
    }

    pub(super) fn expecting(mut self, expected: impl Into<Option<Expected>>) -> Self {
        self.expected = expected.into();
        self
    }

    /// Turns this into advice: the server is not known to report it.
    pub(super) fn advice(mut self) -> Arc<Self> {
        self.severity = Severity::Advice;
        Arc::new(self)
    }

    /// Records the start of the wrong value.
    pub(super) fn of_value(mut self, value: &str) -> Self {
        self.value = Some(excerpt(value).into_owned());
        self
    }

    pub(super) fn described(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// The field of the input to mark in a form, from the root of the input; empty if there is no single field.
    ///
    /// [`path`](Self::path) has the server's names, some of which are older than those of the input; see
    /// [`ServerError::input_path`](crate::model::ServerError::input_path).
    ///
    /// ```
    /// use envd_sdk::model::{ConsignmentInput, Day};
    /// use envd_sdk::validate::{Context, validate_fields};
    ///
    /// let today = Day::parse("2026-11-20")?;
    /// let report = validate_fields(&ConsignmentInput::default(), &Context::on(today));
    /// let finding = report.at("programs").next().unwrap();
    /// assert_eq!(finding.input_path(), ["forms"]);
    /// # Ok::<(), envd_sdk::model::TextError>(())
    /// ```
    pub fn input_path(&self) -> Vec<String> {
        if self.path.is_empty() && self.rule.is_about_forms() {
            return vec!["forms".to_owned()];
        }
        input_path(self.path.clone(), &self.code)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The message may repeat text of the list or of the user.
        write!(f, "{}", OneLine(&self.message))
    }
}

debug_shows!(Finding, |it| severity: it.severity, rule: it.rule, code: it.code, path: it.path);
