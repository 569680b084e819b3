//! The fields of a consignment, its parties and its declaration (spec 2.1 to 2.3).

use std::sync::Arc;

use super::formats::{self, Complaint};
use super::{
    Context, Finding, Policy, QuestionRef, QuestionRules, Report, Rule, Severity, accreditation,
    advice, answers, forms,
};
use crate::model::{
    AddressInput, ConsignmentInput, ConsignmentStatus, DeclarationInput, FormType, Maybe,
    PartyInput,
};

/// Whether rangeland goats have devices: the question of LPAHRG0 that spec 2.6 speaks of.
pub(super) const DEVICES_QUESTION: &str = "185";

/// Checks everything that needs no questions.
///
/// ```
/// use envd_sdk::model::{ConsignmentInput, Day, FormType, PartyInput};
/// use envd_sdk::validate::{Context, validate_fields};
///
/// let input = ConsignmentInput::new([FormType::Lpag2], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
/// assert!(validate_fields(&input, &Context::on(Day::parse("2024-11-18")?)).is_valid());
/// assert!(!validate_fields(&input, &Context::on(Day::parse("2024-11-19")?)).is_valid());
/// # Ok::<(), envd_sdk::model::TextError>(())
/// ```
#[must_use]
pub fn validate_fields(input: &ConsignmentInput, context: &Context) -> Report {
    let mut report = Report::new(QuestionRules::NoQuestionsLoaded);
    check(input, context, Policy::default(), &mut report);
    report
}

/// Collects the findings; false when the server would not look any further.
pub(super) fn check(
    input: &ConsignmentInput,
    context: &Context,
    policy: Policy,
    report: &mut Report,
) -> bool {
    forms::of_schema(input, &mut report.findings);
    if !report.findings.is_empty() {
        return false;
    }
    forms::of_forms(input, context, &mut report.findings);
    accreditation::check(input, context, policy, report);
    let found = &mut report.findings;
    of_party(Some(&input.origin), "origin", true, found);
    of_account(input, context, found);
    of_party(Some(&input.destination), "destination", true, found);
    of_party(input.owner.value(), "owner", false, found);
    of_party(input.consignee.value(), "consignee", false, found);
    of_declaration(input.declaration.value(), found);
    let none: &[&str] = &[];
    text(
        &input.movement_date,
        none,
        "movementDate",
        found,
        formats::date,
    );
    text(
        &input.movement_time,
        none,
        "movementTime",
        found,
        formats::time,
    );
    of_goats(input, found);
    if context.advice {
        advice::of_fields(input, &mut report.advice);
    }
    true
}

fn of_party(
    party: Option<&PartyInput>,
    name: &str,
    pic_required: bool,
    found: &mut Vec<Arc<Finding>>,
) {
    let Some(party) = party else { return };
    let at: &[&str] = &[name];
    text(&party.name, at, "name", found, |name| {
        formats::max_length(name, 300)
    });
    if pic_required && party.pic.value().is_none() {
        let message = "invalid type, expected String but got Null";
        found.push(Arc::new(Finding::field(
            Rule::PicPresent,
            format!("{name}.pic"),
            message,
        )));
    }
    text(&party.pic, at, "pic", found, formats::pic);
    of_address(party.address.value(), &[name, "address"], found);
}

/// The origin PIC is that of the selected LPA account (spec 7.2). A PIC that is none was reported already.
fn of_account(input: &ConsignmentInput, context: &Context, found: &mut Vec<Arc<Finding>>) {
    if let (Some(pic), Some(own)) = (input.origin.pic.value(), &context.account_pic)
        && formats::pic(pic).is_none()
        && !pic.eq_ignore_ascii_case(own.trim())
    {
        let message = format!("{pic} is not associated with user");
        found.push(Arc::new(Finding::field(
            Rule::PicOfAccount,
            "consignorPic",
            message,
        )));
    }
}

fn of_address(address: Option<&AddressInput>, at: &[&str], found: &mut Vec<Arc<Finding>>) {
    let Some(address) = address else { return };
    text(&address.line1, at, "line1", found, |line| {
        formats::max_length(line, 300)
    });
    text(&address.town, at, "town", found, |town| {
        formats::max_length(town, 100)
    });
    text(&address.state, at, "state", found, formats::state);
    text(&address.postcode, at, "postcode", found, formats::postcode);
}

fn of_declaration(declaration: Option<&DeclarationInput>, found: &mut Vec<Arc<Finding>>) {
    let Some(declaration) = declaration else {
        return;
    };
    let at: &[&str] = &["declaration"];
    text(&declaration.full_name, at, "fullName", found, |name| {
        formats::max_length(name, 300)
    });
    text(&declaration.phone, at, "phone", found, formats::phone);
    text(&declaration.email, at, "email", found, formats::email);
    text(&declaration.date, at, "date", found, formats::date_time);
    text(
        &declaration.signature,
        at,
        "signature",
        found,
        formats::base64,
    );
    text(
        &declaration.certificate_number,
        at,
        "certificateNumber",
        found,
        |number| formats::max_length(number, 7),
    );
    of_address(
        declaration.address.value(),
        &["declaration", "address"],
        found,
    );
}

/// Only Yes to question 185 lets a consignment of rangeland goats be created (spec 2.6). It needs no questions to know
/// that. assumed: the wordings, and that a draft without an answer is saved with a warning.
fn of_goats(input: &ConsignmentInput, found: &mut Vec<Arc<Finding>>) {
    if !input.forms.contains(&FormType::Lpahrg0) {
        return;
    }
    let question = || QuestionRef::new(DEVICES_QUESTION, None);
    let given = input.answers().iter().filter(|answer| {
        let id = answer.question_id.value();
        id.is_some_and(|id| *id == DEVICES_QUESTION)
    });
    let given = given.map(answers::text).filter(|value| !value.is_empty());
    let mut given = given.peekable();
    let status = input.status.value();
    let is_draft = status.is_none_or(|status| *status == ConsignmentStatus::Draft);
    let description = if given.peek().is_some() {
        if given.all(|value| value == "Yes") {
            return;
        }
        "The goats are not eligible to be moved without devices. The accreditation is at risk."
    } else if is_draft {
        let message = "Required".to_owned();
        let finding = Finding::answer(Severity::Warning, Rule::Required, question(), message);
        return found.push(Arc::new(finding));
    } else {
        "Question 185 must be answered Yes."
    };
    found.push(Arc::new(Finding {
        path: vec!["answers".to_owned(), DEVICES_QUESTION.to_owned()],
        question: Some(question()),
        ..Finding::whole(Rule::GoatsWithDevices, "Bad request").described(description)
    }));
}

/// Judges a text that is there; absent and null are fine. The code is built only when there is something to say.
fn text(
    value: &Maybe<String>,
    at: &[&str],
    name: &str,
    found: &mut Vec<Arc<Finding>>,
    judge: impl FnOnce(&str) -> Option<Complaint>,
) {
    if let Some((rule, message, expected)) = value.value().and_then(|text| judge(text)) {
        let code = at
            .iter()
            .copied()
            .chain([name])
            .collect::<Vec<_>>()
            .join(".");
        let finding = Finding::field(rule, code, message).expecting(expected);
        found.push(Arc::new(finding));
    }
}
