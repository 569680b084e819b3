//! What is worth saying of the fields although the server is not known to say it.

use std::sync::Arc;

use super::{Context, Finding, Rule, Severity, Source};
use crate::model::{Accreditations, ConsignmentInput, FormType, Maybe, Pic, Program};

pub(super) fn of_fields(
    input: &ConsignmentInput,
    context: &Context,
    found: &mut Vec<Arc<Finding>>,
) {
    for (position, form) in input.forms.iter().enumerate() {
        if input.forms[..position].contains(form) {
            let message = format!("{form} is named more than once");
            found.push(Arc::new(advice(Rule::FormOnce, "forms[]", message)));
            continue;
        }
        let known = context.accreditations.as_ref();
        for missing in known.into_iter().flat_map(|known| missing(form, known)) {
            let message = format!("{form} needs the accreditation {missing}");
            found.push(Arc::new(advice(Rule::Accredited, "forms[]", message)));
        }
    }
    let parties = [
        ("origin.pic", Some(&input.origin)),
        ("destination.pic", Some(&input.destination)),
        ("owner.pic", input.owner.value()),
        ("consignee.pic", input.consignee.value()),
    ];
    for (code, party) in parties {
        let pic = party.map(|party| &party.pic).and_then(Maybe::value);
        let pic = pic.filter(|text| Pic::has_format(text));
        let pic = pic.and_then(|text| Pic::parse(text).ok());
        if pic.is_some_and(|pic| pic.jurisdiction().is_none()) {
            let message = "The first character names no state or territory".to_owned();
            found.push(Arc::new(advice(Rule::PicState, code, message)));
        }
    }
}

/// The accreditations that a form needs and the user lacks (spec 1.3); `hRG` is an error elsewhere.
fn missing(form: &FormType, known: &Accreditations) -> impl Iterator<Item = &'static str> {
    let lacks = |held: Option<bool>| held != Some(true);
    let program = match form.program() {
        Some(Program::Lpa) => lacks(known.lpa).then_some("lPA"),
        Some(Program::Nfas) => lacks(known.nfas).then_some("nFAS"),
        Some(Program::Msa) => lacks(known.msa).then_some("mSA"),
        _ => None,
    };
    let export = *form == FormType::Euc1 && lacks(known.eu);
    program.into_iter().chain(export.then_some("eU"))
}

fn advice(rule: Rule, code: &str, message: String) -> Finding {
    let mut finding = Finding::field(rule, code, message);
    // An array field ends in [] in the code (spec 7.2), not in the path.
    for name in &mut finding.path {
        name.truncate(name.trim_end_matches("[]").len());
    }
    finding.severity = Severity::Advice;
    finding.source = Source::Advice;
    finding
}
