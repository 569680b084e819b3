//! All findings about one consignment.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Finding, Rule, Severity, devices};
use crate::model::{OneLine, QuestionId};

/// Whether the rules of the questions were checked.
///
/// ```
/// use envd_sdk::model::{ConsignmentInput, Day};
/// use envd_sdk::validate::{Context, QuestionRules, validate_fields};
///
/// let report = validate_fields(&ConsignmentInput::default(), &Context::on(Day::parse("2026-11-20")?));
/// assert_eq!(report.question_rules(), QuestionRules::NoQuestionsLoaded);
/// # Ok::<(), envd_sdk::model::TextError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum QuestionRules {
    /// They were checked.
    Checked,
    /// No list of questions was loaded, or an error ended the check early. The answers may still be wrong.
    NoQuestionsLoaded,
}

/// A rule that could not be checked, of a question that applies.
///
/// From [`Report::unchecked`]. The [module](crate::validate) has an example.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Unchecked {
    /// The question.
    pub question: QuestionId,
    /// Why, in English.
    pub reason: String,
}

/// All findings about one consignment: fields in the order of the input, then questions in display order.
///
/// ```
/// use envd_sdk::model::{ConsignmentInput, Day};
/// use envd_sdk::validate::{Context, QuestionRules, validate_fields};
///
/// let report = validate_fields(&ConsignmentInput::default(), &Context::on(Day::parse("2026-11-20")?));
/// assert!(!report.is_valid());
/// assert!(report.at("programs").next().is_some());
/// assert_eq!(report.question_rules(), QuestionRules::NoQuestionsLoaded);
/// # Ok::<(), envd_sdk::model::TextError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[must_use]
pub struct Report {
    pub(super) findings: Vec<Arc<Finding>>,
    pub(super) advice: Vec<Arc<Finding>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) not_judged: Vec<Arc<Finding>>,
    pub(super) unchecked: Vec<Unchecked>,
    pub(super) question_rules: QuestionRules,
}

impl fmt::Display for Report {
    /// One line for the verdict, then one for each finding, each piece of advice, and each unchecked rule. Control characters are
    /// escaped, so that no text of a server can forge a line or control a terminal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if !self.is_valid() {
            "not valid"
        } else if !self.can_create() {
            "valid, but question 185 must be answered Yes before it can be created"
        } else if !self.ready_to_submit() {
            "valid, but not ready to be submitted"
        } else {
            "valid"
        })?;
        let lists = [
            (&self.findings, ""),
            (&self.not_judged, " (not checked by the server)"),
            (&self.advice, ""),
        ];
        let shown = lists
            .iter()
            .flat_map(|(list, end)| list.iter().map(move |one| (one, end)));
        for (finding, end) in shown {
            let code = match finding.code.as_str() {
                "" => "-",
                code => code,
            };
            let mut line = format!("{:7}  {code:24}  {finding}", finding.severity);
            if let Some(description) = &finding.description {
                line.extend([": ", description]);
            }
            write!(f, "\n  {}", OneLine(&(line + end)))?;
        }
        for rule in &self.unchecked {
            let line = format!("unchecked: question {}: {}", rule.question, rule.reason);
            write!(f, "\n  {}", OneLine(&line))?;
        }
        if self.question_rules == QuestionRules::NoQuestionsLoaded {
            f.write_str("\n  the answers were not checked against questions")?;
        }
        Ok(())
    }
}

/// The step that a finding blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blocks {
    /// The service refuses to save the consignment.
    Creating,
    /// The service saves the consignment, but it must be corrected before it is submitted.
    Submitting,
    /// Nothing. A person may want to take a look.
    Nothing,
}

impl Finding {
    /// The step that the finding blocks. `rules.md` documents this as a table, and a test compares the two.
    pub(super) fn blocks(&self) -> Blocks {
        let question = self.question.as_ref();
        let is_devices = question.is_some_and(|question| devices::is_devices(&question.id));
        match (self.severity, self.rule) {
            (Severity::Error, _) => Blocks::Creating,
            // Only Yes to question 185 lets a consignment be created (spec 2.6).
            (Severity::Warning, Rule::Required) if is_devices => Blocks::Creating,
            // The server saved the consignment with a warning that this crate does not know.
            (Severity::Warning, Rule::Other) | (Severity::Advice, _) => Blocks::Nothing,
            (Severity::Warning, _) => Blocks::Submitting,
        }
    }
}

impl Report {
    pub(super) fn new(question_rules: QuestionRules) -> Self {
        Self {
            findings: Vec::new(),
            advice: Vec::new(),
            not_judged: Vec::new(),
            unchecked: Vec::new(),
            question_rules,
        }
    }

    /// If the server's schema rejects values, they become the only findings: the server checks nothing else.
    ///
    /// `unread`: questions whose answers failed to parse, `None` if the question is unknown. An unknown question could be any of
    /// those without an answer.
    pub(super) fn stopped_by(
        mut self,
        refused: Vec<Finding>,
        unread: &[Option<QuestionId>],
    ) -> Self {
        if refused.is_empty() {
            return self;
        }
        let mut others = std::mem::take(&mut self.findings);
        others.retain(|finding| {
            let path = finding.input_path();
            let is_missing = matches!(finding.rule, Rule::FormsNotEmpty | Rule::PicPresent);
            let in_refused = refused.iter().any(|refused| {
                path.starts_with(&refused.path) || is_missing && refused.path.starts_with(&path)
            });
            let question = finding.question.as_ref();
            let is_unread = question.is_some_and(|question| {
                let is_missing = matches!(finding.rule, Rule::Required | Rule::GoatsWithDevices);
                unread
                    .iter()
                    .any(|id| id.as_ref().map_or(is_missing, |id| *id == question.id))
            });
            !in_refused && !is_unread
        });
        Self {
            findings: refused.into_iter().map(Arc::new).collect(),
            not_judged: others,
            ..Self::new(QuestionRules::NoQuestionsLoaded)
        }
    }

    pub(super) fn push(&mut self, finding: Finding) {
        self.findings.push(Arc::new(finding));
    }

    /// Errors and warnings, in shared pointers so that they are cheap to keep. [`Form::blockers`](super::Form::blockers) repeats
    /// those that block, with the same sentences, and adds empty sections and rows.
    pub fn findings(&self) -> &[Arc<Finding>] {
        &self.findings
    }

    /// Findings that make the server refuse the consignment.
    pub fn errors(&self) -> impl Iterator<Item = &Finding> {
        self.of(Severity::Error)
    }

    /// Findings that do not stop the server from saving the consignment. Most of them block submitting: see the
    /// [table of rules](super#what-blocks).
    pub fn warnings(&self) -> impl Iterator<Item = &Finding> {
        self.of(Severity::Warning)
    }

    /// Findings that the server is not known to report. Empty unless [`Context::advice`](super::Context::advice) is set. They never
    /// block creating or submitting the consignment.
    pub fn advice(&self) -> &[Arc<Finding>] {
        &self.advice
    }

    /// The remaining problems of a consignment that has a value that the server's schema cannot take, such as an unknown form. The
    /// server stops at that value and checks nothing else. Empty for any other consignment.
    pub fn not_judged(&self) -> &[Arc<Finding>] {
        &self.not_judged
    }

    /// Rules that could not be checked, of questions that apply; they are not findings.
    pub fn unchecked(&self) -> &[Unchecked] {
        &self.unchecked
    }

    /// Whether the report is free of errors. A missing required answer leaves the report valid.
    pub fn is_valid(&self) -> bool {
        self.errors().next().is_none()
    }

    /// Whether the consignment can be created: the report is free of errors, and question 185 of LPAHRG0 is answered.
    ///
    /// Without that answer, a draft is valid and is saved with a warning, but only Yes lets the consignment be created (spec 2.6).
    /// [`create_blockers`](Self::create_blockers) lists the reasons.
    ///
    /// ```
    /// use envd_sdk::model::{AnswerInput, ConsignmentInput, Day, FormType, PartyInput};
    /// use envd_sdk::validate::{Context, Rule, validate_fields};
    ///
    /// let today = Context::on(Day::parse("2026-11-20")?);
    /// let origin = PartyInput::new("QAZZ7777");
    /// let destination = PartyInput::new("QDZZ3333");
    /// let goats = ConsignmentInput::new([FormType::Lpahrg0], origin, destination);
    /// let report = validate_fields(&goats, &today);
    /// assert!(report.is_valid() && !report.can_create());
    /// assert_eq!(report.create_blockers().next().unwrap().rule, Rule::Required);
    /// assert!(validate_fields(&goats.answer(AnswerInput::new("185", "Yes")), &today).can_create());
    /// # Ok::<(), envd_sdk::model::TextError>(())
    /// ```
    pub fn can_create(&self) -> bool {
        self.create_blockers().next().is_none()
    }

    /// The findings that block creating the consignment: see [`can_create`](Self::can_create).
    pub fn create_blockers(&self) -> impl Iterator<Item = &Finding> {
        self.all()
            .filter(|finding| finding.blocks() == Blocks::Creating)
    }

    /// Whether no finding blocks submitting: see the [table of rules](super#what-blocks). Missing required answers and impossible
    /// answers do. For a screen, use [`Form::blockers`](super::Form::blockers), which also lists rows that were added and left
    /// empty.
    ///
    /// Without questions, it is not known which answers are required: see [`question_rules`](Self::question_rules).
    pub fn ready_to_submit(&self) -> bool {
        self.all()
            .all(|finding| finding.blocks() == Blocks::Nothing)
    }

    /// Errors and warnings with this code, such as `origin.address.postcode`.
    pub fn at<'a>(&'a self, code: &'a str) -> impl Iterator<Item = &'a Finding> {
        self.all().filter(move |f| f.code == code)
    }

    /// Errors and warnings about the answers to a question, in all rows.
    pub fn question<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a Finding> {
        self.all()
            .filter(move |f| f.question.as_ref().is_some_and(|q| q.id == id))
    }

    /// Whether the rules of the questions were checked.
    pub fn question_rules(&self) -> QuestionRules {
        self.question_rules
    }

    fn of(&self, severity: Severity) -> impl Iterator<Item = &Finding> {
        self.all().filter(move |f| f.severity == severity)
    }

    fn all(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().map(Arc::as_ref)
    }
}
