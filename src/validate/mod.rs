//! Checks a consignment before it is sent, by the rules that the server applies (spec 2, 7.2, 7.3, 8, 9).
//!
//! A [`Questionnaire`] is a list of questions, read once into a tree. A [`Finding`] is one problem, and a [`Report`] has all
//! findings about a consignment. A [`Form`] is a consignment that is being filled in. A *row* is one set of answers inside a
//! REPEATABLE question, which is called a *section* on a screen.
//!
//! Every check takes one path. First the fields are checked. Then a walk over the questions decides which of them apply, and in
//! which rows, from the forms, the parent questions and the triggers. Findings, form items, explanations and superfluous answers
//! are all read from that walk.
//!
//! The validator mirrors the server but enforces nothing: no other part of the crate calls it. A finding is an error or a warning
//! only where the specification shows that the server reports one, and it has the server's message. Everything else is advice,
//! which is listed separately and is off by default. The validator reads neither clock nor network: today is an argument.
//!
//! | task | see |
//! | --- | --- |
//! | check the fields without a list of questions | [`validate_fields`], [`validate_fields_json`] |
//! | check fields and answers | [`Questionnaire::validate`], [`Report`], [`Finding`] |
//! | check JSON of any shape, and report each value of the wrong type at its path | [`Questionnaire::validate_json`] |
//! | explain a finding in a plain sentence, in English or another language | [`Finding::sentence`], [`Sentences`] |
//! | show a form while it is filled in | [`Questionnaire::form`], [`Form`], [`Item`], [`SavedForm`] |
//! | query odd values that the server accepts: "two dozen" head, no animals, a mistyped PIC | [`Context::advice`], [`Report::advice`] |
//! | list the questions that apply, with reasons, and count the answered ones | [`Form::items`], [`Item::descendants`], [`Form::progress`] |
//! | explain why a question does not apply | [`Questionnaire::explain`], [`Questionnaire::explain_answers`], [`Explanation`] |
//! | move a form to a newer list of questions | [`Questionnaire::adopt`] |
//! | remove stale answers | [`Questionnaire::prune`] |
//! | show a form in a front end written in another language | [`Form::items`], which serialize |
//! | show server errors in the same way | [`Finding::from_server`], [`Report::from_server_errors`] |
//! | find where the validator and the server differ | [`compare`], [`Comparison`] |
//! | set the facts that the rules need, and choose between readings of the specification | [`Context`], [`Policy`] |
//!
//! A report by example:
//!
//! ```
//! use envd_sdk::model::{AnswerInput, ConsignmentInput, Day, FormType, PartyInput, Question};
//! use envd_sdk::validate::{Context, Questionnaire, Rule};
//!
//! let questions: Vec<Question> = serde_json::from_str(
//!     r#"[{"id": "17", "forms": ["LPAC1"], "type": "SINGLE_CHOICE",
//!          "validators": [{"type": "required", "parameter": ""}],
//!          "acceptableAnswers": [{"value": "Yes"}, {"value": "No"}]},
//!         {"id": "20", "forms": ["LPAC1"], "type": "COLOUR",
//!          "triggers": [{"questionId": "17", "value": "No"}]}]"#,
//! )?;
//! let questionnaire = Questionnaire::prepare(&questions);
//! let today = Context::on(Day::parse("2026-11-20")?);
//! let origin = PartyInput::new("QAZZ7777");
//! let destination = PartyInput::new("QDZZ3333");
//! let good = ConsignmentInput::new([FormType::Lpac1], origin, destination)
//!     .answer(AnswerInput::new("17", "Yes"));
//! assert!(questionnaire.validate(&good, &today).ready_to_submit());
//!
//! // Errors: the server refuses the consignment.
//! let mut wrong = good.clone();
//! wrong.origin = PartyInput::new("QAZZ777");
//! let report = questionnaire.validate(&wrong, &today);
//! let errors: Vec<String> = report.errors().map(ToString::to_string).collect();
//! assert_eq!(errors, ["QAZZ777 is not a valid value for PIC"]);
//! assert!(!report.is_valid());
//!
//! // Warnings: the server saves the consignment and reports them. It is valid, but not ready to be
//! // submitted.
//! let mut unanswered = good.clone();
//! unanswered.answers = Vec::new().into();
//! let report = questionnaire.validate(&unanswered, &today);
//! assert_eq!(report.warnings().next().unwrap().rule, Rule::Required);
//! assert!(report.is_valid() && !report.ready_to_submit());
//!
//! // Advice: the server is not known to report it. It is collected on request, apart from the
//! // findings.
//! let stale = good.clone().answer(AnswerInput::new("20", "brown"));
//! let report = questionnaire.validate(&stale, &today.clone().advice(true));
//! assert!(report.advice().iter().any(|advice| advice.rule == Rule::AnswerApplies));
//! assert!(report.findings().is_empty());
//!
//! // Unchecked: a rule that this version of the crate does not know. It is neither right nor wrong.
//! let mut bought = good.clone();
//! bought.answers = vec![AnswerInput::new("17", "No"), AnswerInput::new("20", "brown")].into();
//! let report = questionnaire.validate(&bought, &today);
//! assert_eq!(report.unchecked()[0].reason, "its type is unknown: COLOUR");
//! assert!(report.findings().is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What blocks
//!
//! The rules, and the step that a broken rule blocks ([`Report::can_create`], [`Report::ready_to_submit`],
//! [`Form::blockers`]):
//!
#![doc = include_str!("rules.md")]
//!
//! The server may classify a rule differently: any error blocks creating, and any warning about a known rule blocks submitting.
//!
//! # What is assumed
//!
//! Where the specification leaves something open, the validator assumes:
//!
//! * Triggers on the same source question are alternatives: any of their values will do. All source questions must match.
//!   Answers to questions that do not apply are ignored; [`Policy`] can change that.
//! * A question inside a `REPEATABLE` question looks for the answer to its trigger in its own row first, then anywhere else.
//!   The rows are the indexes of the answers below the REPEATABLE question. Answers without an index form a row too, because
//!   the samples of section 2.4 show null. Outside rows, an index is ignored.
//! * A child without triggers applies when its parent applies and is answered. Headings and REPEATABLE questions count as
//!   answered. A child that names no forms inherits those of its parent.
//! * Questions 23, 24 and 87 are not part of LPAG3, even if a list still names them for it (spec 2.6, 9.4).
//! * For a question of an unknown type, the known validators and the acceptable answers still apply. It may take several
//!   choices.
//! * Questions that depend on each other never apply ([`Explanation::Cycle`]).
//! * The answer to a `MULTIPLE_CHOICE` question may be a comma-separated list, and there may be several answers. If choices
//!   contain commas themselves, the longest matching choice wins.
//! * An empty text does not count as an answer: it triggers nothing, and a required question is still unanswered.
//! * Second 60 is invalid: RFC 3339 allows leap seconds, but the format in spec 2.3 does not mention them.
//! * A phone number has 6 to 15 digits; with a leading plus, at least 7.
//! * A form is an error if the user is known not to be accredited for its program (spec 1.3); [`Policy`] can make it advice.
//! * Without an answer to question 185, an LPAHRG0 draft is valid with a warning, but it cannot be created.
//! * The server stops at a value that its schema rejects; the remaining problems are in [`Report::not_judged`].
//!
//! # Limits
//!
//! The server supplies the questions, and rows, choices, triggers and repeated ids multiply. A list far larger than any real
//! declaration gets an error of the rule [`Rule::Size`], and the answers are not checked. The limits are 100,000 questions,
//! 64 levels and a million steps. A question in a row takes ten steps, and so does an answer, plus one for each of its choices
//! and triggers. (The sample list has 175 questions on 3 levels, at most 16 in a row.) Below the limits, the work is proportional
//! to the number of questions and answers.
//!
//! # Speed
//!
//! A list is read once. Checking a consignment against a list of the service takes some microseconds. A form checks everything
//! again after each change; `cargo bench --bench validate` measures both.

mod advice;
mod answers;
mod comparison;
mod content_hash;
mod context;
mod devices;
mod draft;
mod explanation;
mod fields;
mod finding;
mod form;
mod format;
mod forms;
mod judge;
mod prune;
mod question_tree;
mod questionnaire;
mod report;
mod sentences;
#[cfg(test)]
mod tests;
mod typed;
mod walk;
mod year;

pub use self::comparison::{Comparison, compare};
pub use self::content_hash::ContentHash;
pub use self::context::{Context, Operation, Policy};
pub use self::draft::validate_fields_json;
#[doc(alias = "why")]
pub use self::explanation::{ExplainedAnswer, Explanation};
pub use self::fields::validate_fields;
pub use self::finding::Expected;
#[doc(alias("problem", "violation", "validation error"))]
pub use self::finding::Finding;
pub use self::finding::{QuestionRef, QuestionText, Rule};
#[doc(alias("wizard", "screen", "view model"))]
pub use self::form::Form;
pub use self::form::{
    Blocker, Change, EditError, Item, ItemRow, Progress, QuestionsChanged, SavedForm,
};
pub use self::question_tree::{Choice, ItemKind};
#[doc(alias("validator", "validation", "rules"))]
pub use self::questionnaire::Questionnaire;
pub use self::report::{QuestionRules, Report, Unchecked};
#[doc(alias("translation", "localization", "i18n"))]
pub use self::sentences::Sentences;
pub use crate::model::Severity;
