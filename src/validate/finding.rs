//! One thing that is wrong, in one shape for the mirror and for the server, and what would be right.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Sentences;
use super::format::excerpt;
use crate::model::{Day, OneLine, QuestionId, Severity, input_path};

/// What would have been right, where the rule has a parameter: see [`Finding::expected`](super::Finding::expected).
///
/// `Display` is plain English; [`Sentences::expected`] has other languages.
///
/// ```
/// use envd_sdk::model::{AddressInput, ConsignmentInput, Day, FormType, PartyInput};
/// use envd_sdk::validate::{Context, Expected, validate_fields};
///
/// let (origin, destination) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
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
    /// A text of so many characters, not bytes ([`Rule::MaxLength`](super::Rule::MaxLength)).
    Characters {
        /// The longest that will do.
        at_most: usize,
    },
    /// One of some values ([`Rule::State`](super::Rule::State), [`Rule::Acceptable`](super::Rule::Acceptable)).
    OneOf {
        /// The values, in the order of display.
        values: Vec<String>,
        /// What people see of the values, one by one; empty where that is the same.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        names: Vec<String>,
    },
    /// A day, month or year within bounds ([`Rule::Year`](super::Rule::Year)).
    Years {
        /// The first year that will do.
        from: Option<i32>,
        /// The last year that will do.
        to: Option<i32>,
        /// The last day that will do: today, where the future is excluded.
        until: Option<Day>,
    },
    /// The same, written as it should be ([`Rule::Date`](super::Rule::Date), [`Rule::Time`](super::Rule::Time),
    /// [`Rule::DateTime`](super::Rule::DateTime)).
    Corrected {
        /// The value to be entered.
        value: String,
    },
    /// A text in a form of which this is an example.
    Example {
        /// A value of that form.
        value: String,
    },
    /// A text; this and the next four belong to [`Rule::WireType`](super::Rule::WireType).
    Text,
    /// A whole number.
    WholeNumber,
    /// True or false.
    YesOrNo,
    /// A list.
    List,
    /// An object: fields with values.
    Fields,
    /// Another day of creation ([`Rule::FormOpen`](super::Rule::FormOpen)).
    Created {
        /// The first day on which the form can be created.
        from: Option<Day>,
        /// The first day on which it can no longer be created.
        before: Option<Day>,
    },
}

impl Expected {
    /// One of some values that people see as they are.
    pub(super) fn one_of(values: impl IntoIterator<Item = impl ToString>) -> Self {
        Self::OneOf {
            values: values.into_iter().map(|value| value.to_string()).collect(),
            names: Vec::new(),
        }
    }
}

impl fmt::Display for Expected {
    /// What would be right, in plain English.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&Sentences::default().expected(self))
    }
}

/// Which rule is broken.
///
/// ```
/// use envd_sdk::model::{ConsignmentInput, Day, FormType, PartyInput};
/// use envd_sdk::validate::{Context, Rule, validate_fields};
///
/// let (origin, destination) = (PartyInput::new("QAZZ777"), PartyInput::new("QDZZ3333"));
/// let input = ConsignmentInput::new([FormType::Lpac1], origin, destination);
/// let report = validate_fields(&input, &Context::on(Day::parse("2026-11-20")?));
/// assert!(report.findings().iter().any(|finding| finding.rule == Rule::PicFormat));
/// # Ok::<(), envd_sdk::model::TextError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Rule {
    /// At least one form (spec 2.1, 7.2).
    FormsNotEmpty,
    /// Only known forms (spec 7.2).
    FormKnown,
    /// Only known states of a consignment (spec 3.1).
    StatusKnown,
    /// A value has the kind that the field takes: a text, a number, a list (spec 2.1 to 2.4, 7.2).
    WireType,
    /// Forms of one species (spec 2.1).
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
    /// At most so many characters (spec 8).
    MaxLength,
    /// Four digits, 1000 to 9999 (spec 2.2).
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
    /// The year of the answer is in bounds (spec 2.6).
    Year,
    /// Advice: the form is named once.
    FormOnce,
    /// Advice (public: the PIC pages of `guide::sources`): the first character of a PIC names a state or territory.
    PicState,
    /// Advice (public: the PIC pages): the other characters of a PIC are as its state makes them, by [`Pic::advice`](crate::model::Pic::advice).
    PicForm,
    /// Advice (assumed): the animals go to another property.
    PicsDiffer,
    /// Advice (assumed): the movement and the declaration are at most half a year from today.
    DayNear,
    /// Advice (assumed): the declaration is accepted.
    DeclarationAccepted,
    /// Advice (assumed): the first section with rows that no answer hides lists the animals, and has a row.
    RowsPresent,
    /// Advice (assumed): an answer is written as its question type says: a number such as 24, a date, a time, a month.
    AnswerForm,
    /// Advice (assumed): a row counts at least one animal and at most 9,999, and no more of them with ear tags or rumen devices.
    HeadCount,
    /// Advice: the question applies.
    AnswerApplies,
    /// Advice: the question exists.
    QuestionKnown,
    /// Advice: one answer to a question, or one in a row.
    AnsweredOnce,
    /// Questions, rows and choices are few enough to be judged. The limits are this crate's: see the [module](crate::validate).
    Size,
    /// Another error of the server.
    Other,
}

impl Rule {
    /// Whether the rule is about the forms, also where the server names no field.
    fn is_about_forms(self) -> bool {
        matches!(self, Self::OneSpecies | Self::FormOpen | Self::Accredited)
    }
}

/// The texts of a question in the list of questions.
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
/// let (origin, destination) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
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
    /// The text of the question; empty where it has none.
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
/// An id alone, or an id with a row, can be given where one is expected.
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

/// One thing that is wrong with a consignment.
///
/// `Display` is the message on one line, with control characters escaped. `Debug` leaves the texts out, because they repeat what the user entered.
///
/// ```
/// use envd_sdk::model::{ConsignmentInput, Day, FormType, PartyInput};
/// use envd_sdk::validate::{Context, Severity, validate_fields};
///
/// let (origin, destination) = (PartyInput::new("QAZZ777"), PartyInput::new("QDZZ3333"));
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
    /// How much it matters.
    pub severity: Severity,
    /// The rule that is broken.
    pub rule: Rule,
    /// Where, as names, without the name of the operation; empty when the consignment as a whole is meant.
    pub path: Vec<String>,
    /// The server's Code: the dotted path of the field, or empty (spec 7.2).
    pub code: String,
    /// The text for people, in the server's words where the specification shows them.
    ///
    /// Of a value that the user entered the mirror repeats at most 60 characters, and nothing of a signature; an ellipsis
    /// stands for the rest. Messages of the server are complete.
    pub message: String,
    /// A longer text, where the server gives one.
    pub description: Option<String>,
    /// The question, where the finding is about an answer.
    pub question: Option<QuestionRef>,
    /// The position of its row among those that are left, from 1, as people count: the numbers of rows have gaps once one was
    /// removed. `None` outside rows, and in findings of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_number: Option<usize>,
    /// What would be right, where the rule shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Expected>,
    /// The value that is wrong, as far as [`message`](Self::message) repeats it; `None` in findings of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The texts of the question, where a list of questions is loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question_text: Option<Box<QuestionText>>,
}

impl Finding {
    /// An error at a field; its path is its code, cut at the dots.
    pub(super) fn field(rule: Rule, code: impl Into<String>, message: impl Into<String>) -> Self {
        let code = code.into();
        // An array field ends in [] in the code (spec 7.2), not in the path.
        let names = code.split('.').map(|name| name.trim_end_matches("[]"));
        Self {
            path: names.map(str::to_owned).collect(),
            code,
            ..Self::whole(rule, message)
        }
    }

    /// An error about the consignment as a whole.
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

    /// A value that the server's schema cannot take: it stops there (spec 7.2).
    ///
    /// The server names the place in the message only; it is the path here.
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

    /// Makes this advice: the server is not known to report it.
    pub(super) fn advice(mut self) -> Arc<Self> {
        self.severity = Severity::Advice;
        Arc::new(self)
    }

    /// Keeps the beginning of the value that is wrong.
    pub(super) fn of_value(mut self, value: &str) -> Self {
        self.value = Some(excerpt(value).into_owned());
        self
    }

    pub(super) fn described(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// The field of the input that this is about, from the input down, so that a form can mark it; empty when it is about
    /// no single field.
    ///
    /// The path is the server's, which has older names for some fields; see
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
        // It may repeat a text of the list or of the user.
        write!(f, "{}", OneLine(&self.message))
    }
}

debug_shows!(Finding, |it| severity: it.severity, rule: it.rule, code: it.code, path: it.path);
