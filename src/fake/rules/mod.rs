//! A second implementation of the rules of spec 2 and 7, on the wire JSON.
//!
//! It shares no code with the validator or the typed model: if the two differ, one of them has a bug.

mod answers;
mod fields;

use chrono::NaiveDate;
use serde_json::Value;

pub(super) use self::answers::{questions_of, with_forms};
use super::problem::ErrorItem;
use super::records::list;
use crate::profile::FurtherForm;

/// The data that the rules need in addition to the input.
pub(super) struct RuleContext<'a> {
    pub(super) today: NaiveDate,
    /// The PIC of the account, if it is of the type LPA.
    pub(super) account_pic: Option<&'a str>,
    /// The flags of the user (spec 2.8).
    pub(super) accreditations: &'a Value,
    pub(super) questions: &'a [Value],
    /// The current forms of the record, which may remain.
    pub(super) kept_forms: &'a [Value],
    /// Forms that the profile adds.
    pub(super) further: &'a [FurtherForm],
}

/// All problems of a consignment.
pub(super) fn consignment(input: &Value, context: &RuleContext<'_>) -> Vec<ErrorItem> {
    let mut problems = form_problems(input, context);
    problems.extend(fields::of_consignment(input, context.account_pic));
    problems.extend(answers::problems(input, context));
    problems
}

/// All problems of a template: those of its parties, and a mix of species.
pub(super) fn template(input: &Value) -> Vec<ErrorItem> {
    let mut problems: Vec<_> = mixed_species(input, &[]).into_iter().collect();
    problems.extend(fields::of_parties(input, &[]));
    problems
}

/// A problem for each form that the user cannot create today.
pub(super) fn forms_of_copy(
    input: &Value,
    today: NaiveDate,
    accreditations: &Value,
) -> Vec<ErrorItem> {
    let mut problems = out_of_date(input, today, &[]);
    problems.extend(not_accredited(input, accreditations));
    problems
}

/// The species of a form (spec 2.7, names as in public material).
pub(super) fn species(form: &str) -> Option<&'static str> {
    Some(match form {
        "LPAC1" | "EUC1" | "NFASC0" | "NFASDDC1" | "NFASEUC1" | "MSAC1" | "HSC2" => "CATTLE",
        "LPABC1" => "BOBBY_CALVES",
        "LPASL1" | "HSSL1" => "SHEEP_LAMB",
        "LPAG2" | "LPAG3" | "LPAHRG0" | "HSG0" => "GOAT",
        _ => return None,
    })
}

/// The letter before the eight digits of a serial number (public; none seen for most forms).
pub(super) fn serial_prefix(form: &str) -> &'static str {
    match form {
        "EUC1" => "D",
        "NFASC0" => "Z",
        "NFASEUC1" => "E",
        "NFASDDC1" => "A",
        _ => "",
    }
}

fn form_problems(input: &Value, context: &RuleContext<'_>) -> Vec<ErrorItem> {
    let mut problems = Vec::new();
    if form_names(input).is_empty() {
        // The forms imply the species, so it is missing too (spec 7.2, row 3).
        problems.push(ErrorItem::field(
            "species",
            "invalid type, expected String but got Null",
        ));
        problems.push(ErrorItem::field(
            "programs",
            "array item count 0 is less than minimum count of 1",
        ));
    }
    problems.extend(mixed_species(input, context.further));
    problems.extend(out_of_date(input, context.today, context.kept_forms));
    problems.extend(further_out_of_date(input, context));
    problems.extend(not_accredited(input, context.accreditations));
    problems
}

/// Users may create only forms of programs for which they are accredited (spec 1.3). A missing flag only affects LPAHRG0 (spec
/// 2.8, 9.3). assumed: the texts
fn not_accredited(input: &Value, accreditations: &Value) -> Vec<ErrorItem> {
    let lacks = |name: &str| accreditations[name] == false;
    let denied = |form: &str| match form {
        "LPAC1" | "LPABC1" | "LPASL1" | "LPAG2" | "LPAG3" => lacks("lPA"),
        "EUC1" => lacks("lPA") || lacks("eU"),
        "LPAHRG0" => lacks("lPA") || accreditations["hRG"] != true,
        "NFASC0" | "NFASDDC1" | "NFASEUC1" => lacks("nFAS"),
        "MSAC1" => lacks("mSA"),
        // The specification shows no program for the others.
        _ => false,
    };
    let forms = form_names(input).into_iter().filter(|form| denied(form));
    forms
        .map(|form| ErrorItem::denied(format!("The user is not accredited for {form}.")))
        .collect()
}

// profile: forms
fn mixed_species(input: &Value, further: &[FurtherForm]) -> Option<ErrorItem> {
    let added = |form: &str| {
        further
            .iter()
            .find(|added| added.id == form)?
            .species
            .as_ref()
    };
    let of = |form| species(form).or_else(|| Some(added(form)?.as_str()));
    let mut kinds = form_names(input).into_iter().filter_map(of);
    let first = kinds.next();
    kinds
        .any(|kind| Some(kind) != first)
        .then(|| ErrorItem::bad_request("", "The programs are linked to more than one species."))
}

/// Spec 9: LPAG2 until 2024-11-18, LPAG3 afterwards, LPAHRG0 from 2024-10-01.
fn out_of_date(input: &Value, today: NaiveDate, kept: &[Value]) -> Vec<ErrorItem> {
    let from =
        |year, month, day| NaiveDate::from_ymd_opt(year, month, day).is_some_and(|d| today >= d);
    let goats_changed = from(2024, 11, 19);
    form_names(input)
        .into_iter()
        .filter(|form| !kept.iter().any(|kept| kept == form))
        .filter_map(|form| match form {
            "LPAG2" if goats_changed => Some("LPAG2 can no longer be created. Use LPAG3."),
            "LPAG3" if !goats_changed => Some("LPAG3 cannot be created before 2024-11-19."),
            "LPAHRG0" if !from(2024, 10, 1) => Some("LPAHRG0 cannot be created before 2024-10-01."),
            _ => None,
        })
        .map(|description| ErrorItem::bad_request("", description))
        .collect()
}

/// The date limits of forms that the profile adds. assumed: the text
// profile: forms
fn further_out_of_date(input: &Value, context: &RuleContext<'_>) -> Vec<ErrorItem> {
    let names = form_names(input);
    let today = context.today.to_string();
    let is_new = |form: &&FurtherForm| {
        names.contains(&&*form.id) && !context.kept_forms.iter().any(|kept| *kept == form.id)
    };
    let is_closed = |form: &&FurtherForm| {
        form.from.is_some_and(|from| today < from.to_string())
            || form.until.is_some_and(|until| today >= until.to_string())
    };
    let closed = context.further.iter().filter(is_new).filter(is_closed);
    closed
        .map(|form| ErrorItem::bad_request("", format!("{} cannot be created today.", form.id)))
        .collect()
}

/// The names of all forms, without duplicates.
fn form_names(input: &Value) -> Vec<&str> {
    let mut names = Vec::new();
    for name in list(&input["forms"]).iter().filter_map(Value::as_str) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::reading::{APPLICABLE, JUDGED, check, check_fields, check_years};

    fn codes(problems: &[ErrorItem]) -> Vec<String> {
        let code = |problem: &ErrorItem| {
            let error = problem.to_json("save");
            let code = error["extensions"]["data"]["Code"].as_str();
            let mark = if problem.is_warning() { "" } else { "!" };
            code.unwrap().to_owned() + mark
        };
        problems.iter().map(code).collect()
    }

    fn judged(list: &Value, input: &Value) -> Vec<String> {
        let questions = with_forms(list.as_array().unwrap(), &[]);
        let context = RuleContext {
            today: NaiveDate::from_ymd_opt(2026, 11, 20).unwrap(),
            account_pic: None,
            accreditations: &Value::Null,
            questions: &questions,
            kept_forms: &[],
            further: &[],
        };
        let codes = codes(&answers::problems(input, &context));
        let short = |code: &String| code.strip_prefix("answers.").unwrap().to_owned();
        codes.iter().map(short).collect()
    }

    #[test]
    fn questions_apply_and_are_judged_as_the_specification_says() {
        check(APPLICABLE, |list, input| {
            let questions = with_forms(list.as_array().unwrap(), &[]);
            let mut seen = Vec::new();
            let applicability = answers::Applicability::new(input, &questions);
            applicability.for_each(&questions, &mut |question, row, _| {
                let id = question["id"].as_str().unwrap();
                seen.push(row.map_or(id.to_owned(), |row| format!("{id}.{row}")));
            });
            seen
        });
        check(JUDGED, judged);
        check_years(judged);
    }

    #[test]
    fn fields_are_judged_as_the_specification_says() {
        check_fields(|input| {
            let codes = codes(&fields::of_consignment(input, None));
            codes
                .iter()
                .map(|code| code.trim_end_matches('!').to_owned())
                .collect()
        });
    }
}
