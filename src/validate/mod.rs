//! Checks a consignment before it is sent, by the rules that the server applies (spec 2, 7.2, 7.3, 8, 9).
//!
//! A [`Questionnaire`] is a list of questions that was read once, as a tree. A [`Finding`] is one thing that is wrong, a
//! [`Report`] has all findings about a consignment. A [`Form`] is a consignment while it is filled in. A *row* is a set of
//! answers inside a REPEATABLE question, which is a *section* on a screen.
//!
//! All checks go one way: the fields are checked; a walk over the questions decides by forms, questions above and triggers which
//! of them apply in which rows; findings, items of a form, explanations and superfluous answers are read from it.
//!
//! The validator mirrors the server and blocks nothing: no other part of the crate calls it. A finding is an error or a warning
//! only where the specification shows that the server gives one, with the server's message; everything else is advice, separate
//! and off by default. It reads no clock and no network: today is an argument.
//!
//! | task | see |
//! | --- | --- |
//! | check the fields without a list of questions | [`validate_fields`], [`validate_fields_json`] |
//! | check fields and answers | [`Questionnaire::validate`], [`Report`], [`Finding`] |
//! | check JSON of any shape, each value of the wrong type at its path | [`Questionnaire::validate_json`] |
//! | say in a plain sentence what is wrong and what is right, in English or another language | [`Finding::sentence`], [`Sentences`] |
//! | show a form while it is filled in | [`Questionnaire::form`], [`Form`], [`Item`], [`SavedForm`] |
//! | ask about what the server does not refuse and looks odd: "two dozen" head, no animals, a mistyped PIC | [`Context::advice`], [`Report::advice`] |
//! | list the questions that apply, with reasons, and count the answered ones | [`Form::items`], [`Item::descendants`], [`Form::progress`] |
//! | say why a question, or that of an answer, does not apply | [`Questionnaire::explain`], [`explain_answers`](Questionnaire::explain_answers), [`Explanation`] |
//! | take a form over to a newer list of questions | [`Questionnaire::adopt`] |
//! | remove stale answers | [`Questionnaire::prune`] |
//! | show a form in a front end in another language | [`Form::items`], which serialize |
//! | show errors of the server in the same way | [`Finding::from_server`], [`Report::from_server_errors`] |
//! | find where the validator and the server differ | [`compare`], [`Comparison`] |
//! | set the facts and readings that the rules need | [`Context`], [`Policy`] |
//!
//! What a report can say, by example:
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
//! let (origin, destination) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
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
//! The rules, and what a broken one keeps the consignment from ([`Report::can_create`], [`Report::ready_to_submit`],
//! [`Form::blockers`]):
//!
#![doc = include_str!("rules.md")]
//!
//! The server may class a rule otherwise than the validator: any error blocks creating, and any warning about a known rule
//! blocks submitting.
//!
//! # What is assumed
//!
//! Where the specification is open, the validator assumes:
//!
//! * Of several triggers, any value of one source question is enough, and all source questions must match. Answers of a
//!   question that does not apply do not count; [`Policy`] can change that.
//! * A question inside a `REPEATABLE` question looks for the answer to its trigger in its own row first, then anywhere else.
//!   The rows are the indexes that answers below the REPEATABLE question have; answers without an index make a row too,
//!   because the samples of section 2.4 show null. Outside of rows an index does not matter.
//! * A child without triggers applies when the question above it applies and is answered; headings and REPEATABLE
//!   questions need no answer for that. A child that names no forms has those of the question above.
//! * Questions 23, 24 and 87 are no part of LPAG3, even if a list still names them for it (spec 2.6, 9.4).
//! * Of a question of an unknown type the validators and acceptable answers that are known count; it may be a choice of
//!   several.
//! * Questions that depend on each other never apply ([`Explanation::Cycle`]).
//! * An answer to a `MULTIPLE_CHOICE` question may be a list with commas, and there may be several answers. Of choices that
//!   have commas themselves the longest counts that stands in the list.
//! * An empty text is no answer: it triggers nothing, and what is required is still missing.
//! * Second 60 is invalid: RFC 3339 has leap seconds, the format of spec 2.3 does not mention them.
//! * A phone number has 6 to 15 digits, after a plus at least 7.
//! * A form of a program for which the accreditation of the user is known to be false is an error (spec 1.3); [`Policy`] can
//!   make it advice.
//! * Question 185 of LPAHRG0 without an answer leaves a draft valid, with a warning, but nothing can be created from it.
//! * At a value that the server's schema cannot take the server stops: what else is wrong is in [`Report::not_judged`].
//!
//! # Limits
//!
//! Questions come from a server, and rows, choices, triggers and repeated ids multiply each other. A list beyond any
//! declaration is refused with an error of the rule [`Rule::Size`] and not judged: more than 100,000 questions, or 64 levels of them,
//! or a million steps, of which a question in a row and an answer take ten, and one more for each of their choices and triggers. (The
//! sample list has 175 questions on 3 levels, at most 16 in a row.) Up to there work grows as questions and answers do.
//!
//! # Speed
//!
//! A list is read once and walked with the answers of each consignment, in some microseconds for a list of the service. A form
//! judges everything again after each change; `cargo bench --bench validate` measures both.

mod advice;
mod answers;
mod comparison;
mod content_hash;
mod context;
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
