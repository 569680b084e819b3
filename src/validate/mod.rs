//! Checks a consignment before it is sent, by the rules that the server applies (spec 2, 7.2, 7.3, 8, 9).
//!
//! The mirror judges; it does not gate: nothing here is called behind your back. A finding is an error or a warning only
//! where the specification says that the server gives one, with the server's words; everything else is advice, kept
//! apart and off by default. No clock, no network: today is an argument.
//!
//! - [`validate_fields`] checks what needs no questions, [`Questionnaire::validate`] both layers.
//! - [`Questionnaire::applicable`] and [`Questionnaire::next_questions`] say what to ask.
//! - [`Finding::from_server`] brings what the server said into the same shape, and [`compare`] names what only one side
//!   said.
//!
//! ```
//! use envd_sdk::model::{ConsignmentInput, Day, FormType, PartyInput, Question};
//! use envd_sdk::validate::{Context, Questionnaire};
//!
//! let questions: Vec<Question> = serde_json::from_str(
//!     r#"[{"id": "17", "forms": ["LPAC1"], "type": "SINGLE_CHOICE",
//!          "validators": [{"type": "required", "parameter": ""}],
//!          "acceptableAnswers": [{"value": "Yes"}, {"value": "No"}]}]"#,
//! )?;
//! let questionnaire = Questionnaire::prepare(&questions);
//! let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ777"), PartyInput::new("QDZZ3333"));
//! let report = questionnaire.validate(&input, &Context::on(Day::parse("2026-11-20")?));
//!
//! let errors: Vec<String> = report.errors().map(ToString::to_string).collect();
//! assert_eq!(errors, ["QAZZ777 is not a valid value for PIC"]);
//! assert_eq!(report.at("answers.17").count(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod advice;
mod answers;
mod applied;
mod context;
mod drift;
mod explain;
mod fields;
mod finding;
mod formats;
mod forms;
mod ids;
mod judge;
mod lint;
mod node;
mod order;
mod play;
mod pool;
mod prepare;
mod prune;
mod questionnaire;
mod report;
mod server;
mod session;
#[cfg(test)]
mod tests;
mod view;
mod wire;
mod year;

pub use self::applied::{AppliedQuestion, Because, Choice, Progress};
pub use self::context::{Context, Operation};
pub use self::drift::{Drift, compare};
pub use self::explain::Explanation;
pub use self::fields::validate_fields;
pub use self::finding::{Finding, QuestionRef, Rule, Severity, Source};
pub use self::lint::{Lint, LintKind};
pub use self::questionnaire::Questionnaire;
pub use self::report::{QuestionRules, Report, Unchecked, UncheckedReason};

pub use self::session::{Change, Session};
pub use self::wire::{Draft, validate_fields_json};
