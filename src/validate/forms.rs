//! Forms: whether they exist, go together, can be created on this day and by this user (spec 1.3, 2.7, 2.8, 7.2, 9).

use std::sync::Arc;

use super::format::excerpt;
use super::{Context, Expected, Finding, Operation, Policy, Report, Rule};
use crate::model::{Accreditations, ConsignmentInput, ConsignmentStatus, FormType, Program};

/// Forms and states that the server's schema cannot take. After one of them the server looks at nothing else (spec 7.2).
pub(super) fn refused_values(input: &ConsignmentInput) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut refuse = |rule, path: Vec<String>, value: &str, name: &str, expected: Expected| {
        let variable = match path.as_slice() {
            [list, position] => format!("{list}[{position}]"),
            field => field.join("."),
        };
        let shown = excerpt(value);
        let message = format!(
            "Variable '$input.{variable}' is invalid. Unable to convert '{shown}' to '{name}'"
        );
        let finding = Finding::schema(rule, path, message).of_value(value);
        found.push(finding.expecting(expected));
    };
    for (position, form) in input.forms.iter().enumerate() {
        if !form.is_known() {
            let path = vec!["forms".to_owned(), position.to_string()];
            let open = FormType::KNOWN
                .iter()
                .filter(|form| form.closed_from().is_none());
            let expected = Expected::one_of(open);
            refuse(Rule::FormKnown, path, form.as_str(), "EFormType", expected);
        }
    }
    if let Some(status) = input.status.value().filter(|status| !status.is_known()) {
        // assumed: as for forms.
        let path = vec!["status".to_owned()];
        let expected = Expected::one_of(ConsignmentStatus::KNOWN);
        let name = "ConsignmentStatus";
        refuse(Rule::StatusKnown, path, status.as_str(), name, expected);
    }
    found
}

/// Checks the forms together, then each of them once.
pub(super) fn check(
    input: &ConsignmentInput,
    context: &Context,
    policy: Policy,
    report: &mut Report,
) {
    let forms = &input.forms;
    if forms.is_empty() {
        // The species follows from the forms, so it is missing too.
        let no_species = "invalid type, expected String but got Null";
        let no_form = "array item count 0 is less than minimum count of 1";
        for (code, message) in [("species", no_species), ("programs", no_form)] {
            report.push(Finding::field(Rule::FormsNotEmpty, code, message));
        }
    }
    let mut species = forms.iter().filter_map(FormType::species);
    let first = species.next();
    if species.any(|other| Some(other) != first) {
        let description = "The programs are linked to more than one species.";
        report.push(Finding::whole(Rule::OneSpecies, "Bad request").described(description));
    }
    if context.operation == Operation::Create {
        for form in distinct(forms) {
            report.findings.extend(closed(form, context).map(Arc::new));
        }
    }
    // Without the accreditations of a user these rules are not checked.
    if let Some(known) = &context.accreditations {
        for form in distinct(forms) {
            check_accreditation(form, known, context, policy, report);
        }
    }
}

/// A form is named once.
pub(super) fn advise(forms: &[FormType], advice: &mut Vec<Arc<Finding>>) {
    for (position, form) in forms.iter().enumerate() {
        if forms.iter().take(position).any(|other| other == form) {
            let message = format!("{form} is named more than once");
            let finding = Finding::field(Rule::FormOnce, "forms[]", message);
            advice.push(finding.of_value(form.as_str()).advice());
        }
    }
}

fn distinct(forms: &[FormType]) -> impl Iterator<Item = &FormType> {
    forms
        .iter()
        .enumerate()
        .filter(|(position, form)| forms.iter().take(*position).all(|other| other != *form))
        .map(|(_, form)| form)
}

fn closed(form: &FormType, context: &Context) -> Option<Finding> {
    let today = context.today;
    let description = if form.closed_from().is_some_and(|day| today >= day) {
        match form.replaced_by() {
            Some(newer) => format!("{form} can no longer be created. Use {newer}."),
            None => format!("{form} can no longer be created."),
        }
    } else {
        let first = form.first_day().filter(|day| today < *day)?;
        format!("{form} cannot be created before {first}.")
    };
    let finding = Finding::whole(Rule::FormOpen, "Bad request")
        .described(description)
        .of_value(form.as_str());
    Some(finding.expecting(Expected::Created {
        from: form.first_day(),
        before: form.closed_from(),
    }))
}

/// When an accreditation that the user may lack refuses a form.
#[derive(Clone, Copy)]
enum FormRefusal {
    /// The user does not have it.
    WhenFalse,
    /// The form is refused unless the service states that the user has it (spec 2.8, 9.3).
    UnlessTrue,
    /// The specification ties the form to no such accreditation.
    Never,
}

/// A user creates forms only of programs that they are accredited to.
fn check_accreditation(
    form: &FormType,
    known: &Accreditations,
    context: &Context,
    policy: Policy,
    report: &mut Report,
) {
    let program = match form.program() {
        Some(Program::Lpa) => Some(("lPA", known.lpa, FormRefusal::WhenFalse)),
        Some(Program::Nfas) => Some(("nFAS", known.nfas, FormRefusal::WhenFalse)),
        Some(Program::Msa) => Some(("mSA", known.msa, FormRefusal::WhenFalse)),
        None => None,
    };
    let further = match form {
        FormType::Euc1 => Some(("eU", known.eu, FormRefusal::WhenFalse)),
        FormType::Nfaseuc1 => Some(("eU", known.eu, FormRefusal::Never)),
        FormType::Lpahrg0 => Some(("hRG", known.hrg, FormRefusal::UnlessTrue)),
        _ => None,
    };
    let lacking = [program, further]
        .into_iter()
        .flatten()
        .filter(|(_, held, _)| *held != Some(true));
    let refuses = |(_, held, refusal): (_, Option<bool>, FormRefusal)| match refusal {
        FormRefusal::WhenFalse => held == Some(false),
        FormRefusal::UnlessTrue => true,
        FormRefusal::Never => false,
    };
    if !policy.accreditations_are_advice && lacking.clone().any(refuses) {
        // assumed: the wording.
        let description = format!("The user is not accredited for {form}.");
        let finding = Finding::whole(Rule::Accredited, "Access denied").described(description);
        report.push(finding.of_value(form.as_str()));
    } else if context.advice {
        report.advice.extend(lacking.map(|(name, ..)| {
            let message = format!("{form} needs the accreditation {name}");
            Finding::field(Rule::Accredited, "forms[]", message)
                .of_value(form.as_str())
                .advice()
        }));
    }
}
