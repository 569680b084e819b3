//! Checks the forms: known, compatible, open on this day, and allowed for this user (spec 1.3, 2.7, 2.8, 7.2, 9).

use std::sync::Arc;

use super::format::excerpt;
use super::question_tree::QuestionTree;
use super::{Context, Expected, Finding, Operation, Policy, Report, Rule};
use crate::model::{Accreditations, ConsignmentInput, ConsignmentStatus, FormType, Program};
use crate::profile::FurtherForm;

/// The forms known outside this crate: from a profile, and from a list of questions.
#[derive(Clone, Copy, Default)]
pub(super) struct NamedForms<'a> {
    pub(super) further: &'a [FurtherForm],
    pub(super) questions: Option<&'a QuestionTree>,
}

impl NamedForms<'_> {
    // profile: forms
    fn further(&self, form: &FormType) -> Option<&FurtherForm> {
        self.further
            .iter()
            .find(|further| further.id == form.as_str())
    }

    fn has(&self, form: &FormType) -> bool {
        form.is_known()
            || self.further(form).is_some()
            || self.questions.is_some_and(|tree| tree.names_form(form))
    }

    /// Facts about a form. The profile may be newer than this crate, so its values take precedence.
    fn facts(&self, form: &FormType) -> FurtherForm {
        let mut facts = self.further(form).cloned().unwrap_or_default();
        facts.species = facts.species.or(form.species());
        facts.program = facts.program.or(form.program());
        facts.from = facts.from.or(form.first_day());
        facts.until = facts.until.or(form.closed_from());
        facts
    }
}

/// A status that the server's schema cannot take. The server then checks nothing else (spec 7.2; assumed: as it does for forms).
pub(super) fn refused_values(input: &ConsignmentInput) -> Vec<Finding> {
    let status = input.status.value().filter(|status| !status.is_known());
    let refused = status.map(|status| {
        let shown = excerpt(status.as_str());
        let message = format!(
            "Variable '$input.status' is invalid. Unable to convert '{shown}' to 'ConsignmentStatus'"
        );
        Finding::schema(Rule::StatusKnown, vec!["status".to_owned()], message)
            .of_value(status.as_str())
            .expecting(Expected::one_of(ConsignmentStatus::KNOWN))
    });
    refused.into_iter().collect()
}

/// Checks the forms together, then each distinct form.
pub(super) fn check(
    input: &ConsignmentInput,
    context: &Context,
    policy: Policy,
    named: NamedForms<'_>,
    report: &mut Report,
) {
    let forms = &input.forms;
    if forms.is_empty() {
        // The species follows from the forms, so the server reports it as missing too.
        let no_species = "invalid type, expected String but got Null";
        let no_form = "array item count 0 is less than minimum count of 1";
        for (code, message) in [("species", no_species), ("programs", no_form)] {
            report.push(Finding::field(Rule::FormsNotEmpty, code, message));
        }
    }
    let mut species = forms.iter().filter_map(|form| named.facts(form).species);
    let first = species.next();
    if species.any(|other| Some(other) != first) {
        let description = "The programs are linked to more than one species.";
        report.push(Finding::whole(Rule::OneSpecies, "Bad request").described(description));
    }
    if context.operation == Operation::Create {
        for form in distinct(forms) {
            let closed = closed(form, &named.facts(form), context);
            report.findings.extend(closed.map(Arc::new));
        }
    }
    // Without the user's accreditations these rules are not checked.
    if let Some(known) = &context.accreditations {
        for form in distinct(forms) {
            let program = named.facts(form).program;
            check_accreditation((form, program), known, context, policy, report);
        }
    }
}

/// Advises on forms named twice, and on forms unknown to the crate, the profile and the list: newer, or mistyped.
pub(super) fn advise(forms: &[FormType], named: NamedForms<'_>, advice: &mut Vec<Arc<Finding>>) {
    for (position, form) in forms.iter().enumerate() {
        if !named.has(form) {
            let shown = excerpt(form.as_str());
            let message = format!("no list of questions and no profile names the form {shown}");
            let open = FormType::KNOWN.iter();
            let open = open.filter(|form| form.closed_from().is_none());
            let finding = Finding::field(Rule::FormKnown, "forms[]", message);
            let finding = finding.of_value(form.as_str());
            let finding = finding.expecting(Expected::one_of(open));
            advice.push(finding.advice());
        }
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

fn closed(form: &FormType, facts: &FurtherForm, context: &Context) -> Option<Finding> {
    let today = context.today;
    let description = if facts.until.is_some_and(|day| today >= day) {
        match form.replaced_by() {
            Some(newer) => format!("{form} can no longer be created. Use {newer}."),
            None => format!("{form} can no longer be created."),
        }
    } else {
        let first = facts.from.filter(|day| today < *day)?;
        format!("{form} cannot be created before {first}.")
    };
    let finding = Finding::whole(Rule::FormOpen, "Bad request")
        .described(description)
        .of_value(form.as_str());
    Some(finding.expecting(Expected::Created {
        from: facts.from,
        before: facts.until,
    }))
}

/// When a missing accreditation makes a form an error.
#[derive(Clone, Copy)]
enum FormRefusal {
    /// The service states that the user does not have it.
    WhenFalse,
    /// The service does not state that the user has it (spec 2.8, 9.3).
    UnlessTrue,
    /// Never: the specification does not require the accreditation for the form.
    Never,
}

/// Users create forms only of the programs that they are accredited for.
fn check_accreditation(
    (form, program): (&FormType, Option<Program>),
    known: &Accreditations,
    context: &Context,
    policy: Policy,
    report: &mut Report,
) {
    let program = match program {
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
