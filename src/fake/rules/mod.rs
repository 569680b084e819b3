//! A second implementation of the rules of spec 2 and 7, on the wire JSON.
//!
//! It shares no code with the validator or the typed model: where the two differ, one of them has a bug.

mod answers;
mod applicability;
mod fields;
mod forms;

use chrono::NaiveDate;
use serde_json::Value;

use super::problem::Problem;

pub(super) use self::applicability::{questions_of, with_forms};
pub(super) use self::forms::{serial_prefix, species};

/// What the rules need beside the input.
pub(super) struct RuleContext<'a> {
    pub(super) today: NaiveDate,
    /// The PIC of the account, if it is of the type LPA.
    pub(super) account_pic: Option<&'a str>,
    /// The flags of the user (spec 2.8).
    pub(super) accreditations: &'a Value,
    pub(super) questions: &'a [Value],
    /// The current forms of the record, which may stay.
    pub(super) kept_forms: &'a [Value],
}

/// All problems of a consignment.
pub(super) fn consignment(input: &Value, context: &RuleContext<'_>) -> Vec<Problem> {
    let mut problems = forms::problems(input, context);
    problems.extend(fields::of_consignment(input, context.account_pic));
    problems.extend(answers::problems(input, context));
    problems
}

/// All problems of a template: of its parties, and of the mix of its forms.
pub(super) fn template(input: &Value) -> Vec<Problem> {
    let mut problems: Vec<_> = forms::mixed_species(input).into_iter().collect();
    problems.extend(fields::of_parties(input, &[]));
    problems
}

/// A problem for each form that the user cannot create today.
pub(super) fn forms_of_copy(
    input: &Value,
    today: NaiveDate,
    accreditations: &Value,
) -> Vec<Problem> {
    let mut problems = forms::out_of_date(input, today, &[]);
    problems.extend(forms::not_accredited(input, accreditations));
    problems
}
