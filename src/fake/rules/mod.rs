//! The rules of section 2 and 7, read a second time and applied to the wire JSON.
//!
//! Nothing here knows the validator or the typed model: where the two readings differ, one of them is wrong.

mod answers;
mod fields;
mod forms;
mod play;
mod tree;

use chrono::NaiveDate;
use serde_json::Value;

use super::problem::Problem;

pub(super) use self::forms::{serial_prefix, species};
pub(super) use self::tree::{questions_of, with_forms};

/// What a consignment is judged against beside itself.
pub(super) struct Setting<'a> {
    pub(super) today: NaiveDate,
    /// The PIC of the selected account, when it is of the type LPA.
    pub(super) account_pic: Option<&'a str>,
    /// The flags of the user (2.8).
    pub(super) accreditations: &'a Value,
    pub(super) questions: &'a [Value],
    /// The forms that the record has already: they may stay.
    pub(super) kept_forms: &'a [Value],
}

/// Everything that is wrong with a consignment, all layers at once.
pub(super) fn consignment(input: &Value, setting: &Setting<'_>) -> Vec<Problem> {
    let mut problems = forms::problems(input, setting);
    problems.extend(fields::of_consignment(input, setting.account_pic));
    problems.extend(answers::problems(input, setting));
    problems
}

/// Everything that is wrong with a template: its parties and the mix of its forms.
pub(super) fn template(input: &Value) -> Vec<Problem> {
    let mut problems: Vec<_> = forms::mixed_species(input).into_iter().collect();
    problems.extend(fields::of_parties(input, &[]));
    problems
}

/// The forms among these that the user cannot create today.
pub(super) fn forms_of_copy(
    input: &Value,
    today: NaiveDate,
    accreditations: &Value,
) -> Vec<Problem> {
    let mut problems = forms::out_of_date(input, today, &[]);
    problems.extend(forms::not_accredited(input, accreditations));
    problems
}
