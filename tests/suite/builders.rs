//! Inputs and records, built from outside the crate.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use envd_sdk::model::{
    AccountId, AccountType, AnswerInput, Consignment, ConsignmentId, ConsignmentInput,
    ConsignmentNumber, ConsignmentStatus, DeclarationInput, FormType, Jurisdiction, Maybe,
    PartyInput, Program, PropertyTypeCode, QuestionId, QuestionType, Role, Species, SpeciesCode,
    TemplateId, TemplateInput, ValidatorType, WithExtra,
};
use serde_json::{Value, json};

fn written(input: &impl serde::Serialize) -> Value {
    serde_json::to_value(input).unwrap()
}

#[test]
fn setters_come_before_or_inside_of_an_extra_field() {
    let party = || PartyInput::new("QAZZ7777");
    let input = ConsignmentInput::new([FormType::Lpac1], party(), party());
    let after: WithExtra<ConsignmentInput> = input
        .id("c-1")
        .number("C-900000101")
        .owner(party())
        .consignee(party())
        .declaration(DeclarationInput::default().full_name("Sam Sample"))
        .movement("2026-11-23", "05:15")
        .extra("revision", 7)
        .map(|input| {
            input
                .status(ConsignmentStatus::Draft)
                .answer(AnswerInput::new("17", "Yes"))
        })
        .extra("vendorTrackingCode", "a");
    let party = json!({"pic": "QAZZ7777"});
    let json = json!({
        "id": "c-1", "number": "C-900000101", "forms": ["LPAC1"], "origin": party, "destination": party,
        "owner": party, "consignee": party, "declaration": {"fullName": "Sam Sample"},
        "movementDate": "2026-11-23", "movementTime": "05:15", "status": "DRAFT",
        "answers": [{"questionId": "17", "index": null, "value": "Yes"}], "revision": 7, "vendorTrackingCode": "a",
    });
    assert_eq!(written(&after), json);

    let template = WithExtra::from(TemplateInput::new("a", [FormType::Lpac1]))
        .extra("b", 1)
        .map(|input| input.name("c"));
    let json = json!({"name": "c", "forms": ["LPAC1"], "b": 1});
    assert_eq!(written(&template), json);
}

#[test]
fn ids_of_records_are_accepted_by_setters() {
    let mut record = Consignment::default();
    record.id = Some("c-1".into());
    record.number = Some("C-900000101".into());
    let mut input = ConsignmentInput::default();
    input.id = record.id.clone().into();
    input.number = record.number.clone().into();
    assert_eq!(written(&input)["id"], "c-1");
    assert_eq!(written(&input)["number"], "C-900000101");
    // As values, references, options and strings.
    let id = record.id.clone().unwrap();
    let text = "c-1".to_owned();
    let ids = ConsignmentInput::default;
    let by_id = [ids().id(&id), ids().id(record.id), ids().id(id)];
    let by_text = [ids().id(&text), ids().id(text.as_str()), ids().id(text)];
    for other in by_id.into_iter().chain(by_text) {
        assert_eq!(other.id, input.id);
    }

    let owned = "x".to_owned();
    assert_eq!(AccountId::from(&owned), "x");
    assert_eq!(ConsignmentId::from(&owned), "x");
    assert_eq!(TemplateId::from(&owned), "x");
    assert_eq!(QuestionId::from(&owned), "x");
    assert_eq!("x".parse::<ConsignmentNumber>().unwrap(), "x");
}

#[test]
fn null_is_written_and_none_is_not() {
    let declaration = DeclarationInput::default()
        .signature(Maybe::Null)
        .certificate_number(None);
    assert_eq!(written(&declaration), json!({"signature": null}));
}

/// Checks that each value survives a round trip.
fn open<T: FromStr + Display + PartialEq + Debug + Clone>(known: &[T], unknown: &str)
where
    T::Err: Debug,
{
    assert!(!known.is_empty());
    for value in known {
        assert_eq!(&value.to_string().parse::<T>().unwrap(), value);
    }
    assert_eq!(unknown.parse::<T>().unwrap().to_string(), unknown);
}

#[test]
fn every_wire_enum_is_read_written_and_listed() {
    open(FormType::KNOWN, "LPAC9");
    open(ConsignmentStatus::KNOWN, "RETIRED");
    open(Species::KNOWN, "ALPACA");
    open(QuestionType::KNOWN, "MAP");
    open(ValidatorType::KNOWN, "maxLength");
    open(AccountType::KNOWN, "PIC");
    open(Role::KNOWN, "Auctioneer");
    open(SpeciesCode::KNOWN, "X");
    open(PropertyTypeCode::KNOWN, "XX");
    open(Jurisdiction::KNOWN, "QLD");
    open(Program::KNOWN, "MSA");
}
