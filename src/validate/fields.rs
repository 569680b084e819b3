//! Checks the fields of a consignment, its parties and its declaration (spec 2.1 to 2.3).

use super::format::Format;
use super::forms::NamedForms;
use super::{
    Context, Expected, Finding, Policy, QuestionRules, Report, Rule, advice, devices, forms,
};
use crate::model::visible_text::trimmed;
use crate::model::{
    AddressInput, AnswerInput, ConsignmentInput, DeclarationInput, Maybe, PartyInput,
};

/// Checks everything that does not need a list of questions.
///
/// ```
/// use envd_sdk::model::{ConsignmentInput, Day, FormType, PartyInput};
/// use envd_sdk::validate::{Context, validate_fields};
///
/// let origin = PartyInput::new("QAZZ7777");
/// let destination = PartyInput::new("QDZZ3333");
/// let input = ConsignmentInput::new([FormType::Lpag2], origin, destination);
/// assert!(validate_fields(&input, &Context::on(Day::parse("2024-11-18")?)).is_valid());
/// assert!(!validate_fields(&input, &Context::on(Day::parse("2024-11-19")?)).is_valid());
/// # Ok::<(), envd_sdk::model::TextError>(())
/// ```
pub fn validate_fields(input: &ConsignmentInput, context: &Context) -> Report {
    let mut report = Report::new(QuestionRules::NoQuestionsLoaded);
    let named = NamedForms::default();
    let answers = input.answers().iter();
    check(
        input,
        answers,
        context,
        Policy::default(),
        named,
        &mut report,
    );
    report.stopped_by(forms::refused_values(input), &[])
}

/// Collects the findings. `answers`: those of the input that are sent.
pub(super) fn check<'a>(
    input: &ConsignmentInput,
    answers: impl Iterator<Item = &'a AnswerInput>,
    context: &Context,
    policy: Policy,
    named: NamedForms<'_>,
    report: &mut Report,
) {
    forms::check(input, context, policy, named, report);
    check_party(&input.origin, "origin", true, report);
    check_account(input, context, report);
    check_party(&input.destination, "destination", true, report);
    for (name, party) in [("owner", &input.owner), ("consignee", &input.consignee)] {
        if let Some(party) = party.value() {
            check_party(party, name, false, report);
        }
    }
    if let Some(declaration) = input.declaration.value() {
        check_declaration(declaration, report);
    }
    let movement = [
        ("movementDate", &input.movement_date),
        ("movementTime", &input.movement_time),
    ];
    check_texts(&[], movement, report);
    devices::check(input, answers, report);
    if context.advice {
        forms::advise(&input.forms, named, &mut report.advice);
        advice::of_fields(input, context.today, &mut report.advice);
    }
}

fn check_party(party: &PartyInput, name: &str, pic_required: bool, report: &mut Report) {
    check_texts(&[name], [("name", &party.name)], report);
    if pic_required && party.pic.value().is_none() {
        let message = "invalid type, expected String but got Null";
        let code = format!("{name}.pic");
        report.push(Finding::field(Rule::PicPresent, code, message));
    }
    check_texts(&[name], [("pic", &party.pic)], report);
    check_address(party.address.value(), &[name, "address"], report);
}

/// The origin PIC must be that of the selected LPA account (spec 7.2). A malformed PIC already has a finding.
fn check_account(input: &ConsignmentInput, context: &Context, report: &mut Report) {
    if let (Some(pic), Some(own)) = (input.origin.pic.value(), &context.account_pic)
        && Format::Pic.accepts(pic)
        && !pic.eq_ignore_ascii_case(trimmed(own))
    {
        let message = format!("{pic} is not associated with user");
        let finding = Finding::field(Rule::PicOfAccount, "consignorPic", message);
        let expected = Expected::one_of([trimmed(own)]);
        report.push(finding.of_value(pic).expecting(expected));
    }
}

fn check_address(address: Option<&AddressInput>, path: &[&str], report: &mut Report) {
    if let Some(address) = address {
        let texts = [
            ("line1", &address.line1),
            ("town", &address.town),
            ("state", &address.state),
            ("postcode", &address.postcode),
        ];
        check_texts(path, texts, report);
    }
}

fn check_declaration(declaration: &DeclarationInput, report: &mut Report) {
    let texts = [
        ("fullName", &declaration.full_name),
        ("phone", &declaration.phone),
        ("email", &declaration.email),
        ("date", &declaration.date),
        ("signature", &declaration.signature),
        ("certificateNumber", &declaration.certificate_number),
    ];
    check_texts(&["declaration"], texts, report);
    let path = ["declaration", "address"];
    check_address(declaration.address.value(), &path, report);
}

/// Checks the text fields below a path; absent and null are valid. The code is built only for a finding.
fn check_texts<const N: usize>(
    path: &[&str],
    texts: [(&str, &Maybe<String>); N],
    report: &mut Report,
) {
    for (name, value) in texts {
        if let (Some(text), Some(format)) = (value.value(), Format::of_field(name))
            && !format.accepts(text)
        {
            let code = [path, &[name]].concat().join(".");
            report.push(format.finding(code, text));
        }
    }
}
