//! What is worth saying of the fields although the server is not known to say it.

use std::sync::Arc;

use super::{Finding, Rule, Severity, Source};
use crate::model::{ConsignmentInput, Maybe, Pic};

pub(super) fn of_fields(input: &ConsignmentInput, found: &mut Vec<Arc<Finding>>) {
    for (position, form) in input.forms.iter().enumerate() {
        if input.forms[..position].contains(form) {
            let message = format!("{form} is named more than once");
            found.push(Arc::new(advice(Rule::FormOnce, "forms[]", message)));
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

pub(super) fn advice(rule: Rule, code: &str, message: String) -> Finding {
    let mut finding = Finding::field(rule, code, message);
    // An array field ends in [] in the code (spec 7.2), not in the path.
    for name in &mut finding.path {
        name.truncate(name.trim_end_matches("[]").len());
    }
    finding.severity = Severity::Advice;
    finding.source = Source::Advice;
    finding
}
