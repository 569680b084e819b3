//! Whether the user may create the forms (spec 1.3, 2.7, 2.8, 9.3).

use std::sync::Arc;

use super::{Context, Finding, Policy, Report, Rule, advice};
use crate::model::{Accreditations, ConsignmentInput, FormType, Program};

/// A user creates forms only of programs that they are accredited to. Nothing is known of a user who is not given.
pub(super) fn check(
    input: &ConsignmentInput,
    context: &Context,
    policy: Policy,
    report: &mut Report,
) {
    let Some(known) = &context.accreditations else {
        return;
    };
    for (position, form) in input.forms.iter().enumerate() {
        if input.forms[..position].contains(form) {
            continue;
        }
        let needs = needs(form, known);
        if !policy.accreditations_are_advice && needs.iter().flatten().any(Need::is_refused) {
            // assumed: the wording.
            let description = format!("The user is not accredited for {form}.");
            let finding = Finding::whole(Rule::Accredited, "Access denied").described(description);
            report.findings.push(Arc::new(finding));
        } else if context.advice {
            let lacking = needs
                .iter()
                .flatten()
                .filter(|need| need.held != Some(true));
            report.advice.extend(lacking.map(|need| {
                let message = format!("{form} needs the accreditation {}", need.name);
                Arc::new(advice::advice(Rule::Accredited, "forms[]", message))
            }));
        }
    }
}

/// An accreditation that a form needs.
struct Need {
    name: &'static str,
    held: Option<bool>,
    refusal: Refusal,
}

/// When the server refuses a form.
enum Refusal {
    /// The user does not have the accreditation.
    WhenFalse,
    /// It does not say that the user has it: spec 2.8 and 9.3 are about users who have.
    UnlessTrue,
    /// The specification ties the form to no such accreditation.
    Never,
}

impl Need {
    fn is_refused(&self) -> bool {
        match self.refusal {
            Refusal::WhenFalse => self.held == Some(false),
            Refusal::UnlessTrue => self.held != Some(true),
            Refusal::Never => false,
        }
    }
}

fn needs(form: &FormType, known: &Accreditations) -> [Option<Need>; 2] {
    let need = |name, held, refusal| {
        Some(Need {
            name,
            held,
            refusal,
        })
    };
    let program = match form.program() {
        Some(Program::Lpa) => need("lPA", known.lpa, Refusal::WhenFalse),
        Some(Program::Nfas) => need("nFAS", known.nfas, Refusal::WhenFalse),
        Some(Program::Msa) => need("mSA", known.msa, Refusal::WhenFalse),
        None => None,
    };
    let further = match form {
        FormType::Euc1 => need("eU", known.eu, Refusal::WhenFalse),
        FormType::Nfaseuc1 => need("eU", known.eu, Refusal::Never),
        FormType::Lpahrg0 => need("hRG", known.hrg, Refusal::UnlessTrue),
        _ => None,
    };
    [program, further]
}
