//! Builders of inputs and records, used from outside the crate.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use envd_sdk::model::{
    AccountId, AccountType, AddressInput, Answer, AnswerInput, CommentInput, Consignment,
    ConsignmentForm, ConsignmentId, ConsignmentInput, ConsignmentNumber, ConsignmentStatus, Day,
    Declaration, DeclarationInput, FormType, Jurisdiction, Maybe, Party, PartyInput, Pic, Program,
    PropertyTypeCode, QuestionId, QuestionType, Role, Species, SpeciesCode, Template, TemplateId,
    TemplateInput, Timestamp, ValidatorType, WithExtra,
};
use serde_json::{Value, json};

fn written(input: &impl serde::Serialize) -> Value {
    serde_json::to_value(input).unwrap()
}

/// The wire names of all fields of an input, from the schema.
fn fields_of(input: &str) -> Vec<String> {
    let (_, rest) = envd_sdk::graphql::SCHEMA
        .split_once(&format!("input {input} {{"))
        .unwrap();
    let (body, _) = rest.split_once("\n}").unwrap();
    // A description has a space before its colon, or no colon.
    let names = body
        .lines()
        .filter_map(|line| Some(line.trim().split_once(':')?.0));
    let mut names: Vec<String> = names
        .filter(|name| name.chars().all(char::is_alphanumeric))
        .map(str::to_owned)
        .collect();
    names.sort();
    names
}

fn names_in(json: &Value) -> Vec<String> {
    let mut names: Vec<String> = json.as_object().unwrap().keys().cloned().collect();
    names.sort();
    names
}

fn address() -> AddressInput {
    AddressInput::default()
        .line1("1 Sample Road")
        .town("Roma")
        .state(Jurisdiction::Qld)
        .postcode("4455")
}

fn declaration() -> DeclarationInput {
    DeclarationInput::default()
        .accept(true)
        .full_name("Sam Sample")
        .phone("0491570156")
        .email("sam.sample@example.com")
        .date("2026-11-20T09:45:00")
        .signature(Maybe::Null)
        .certificate_number(None)
        .address(address())
}

#[test]
fn inputs_of_parties_and_declarations_have_setters_for_all_their_fields() {
    let party = PartyInput::default()
        .name("Sample Station")
        .pic(Pic::parse("QAZZ7777").unwrap())
        .address(address());
    let json = written(&party);
    assert_eq!(names_in(&json), fields_of("PartyInput"));
    assert_eq!(names_in(&json["address"]), fields_of("AddressInput"));
    assert_eq!(json["address"]["state"], "QLD");

    let json = written(&declaration().certificate_number("A1"));
    assert_eq!(names_in(&json), fields_of("DeclarationInput"));
    assert_eq!(json["signature"], Value::Null);
    assert_eq!(json["certificateNumber"], "A1");
    assert!(written(&declaration()).get("certificateNumber").is_none());
}

#[test]
fn inputs_of_answers_and_comments_have_setters_for_all_their_fields() {
    let answer = AnswerInput::default().question_id("3").index(0).value("24");
    assert_eq!(
        written(&answer),
        written(&AnswerInput::new("3", "24").row(0))
    );
    assert_eq!(names_in(&written(&answer)), fields_of("AnswerInput"));

    let comment = CommentInput::default()
        .consignment_number("C-900000101")
        .comment_text("The truck comes at five.");
    assert_eq!(
        names_in(&written(&comment)),
        fields_of("CreateCommentInput")
    );
}

#[test]
fn inputs_of_templates_and_consignments_have_setters_for_all_their_fields() {
    let party = PartyInput::new("QAZZ7777");
    let template = TemplateInput::default()
        .id("t-1")
        .number("T-1")
        .name("To the works")
        .forms([FormType::Lpac1])
        .origin(party.clone())
        .destination(PartyInput::new("QDZZ3333"))
        .owner(party.clone())
        .consignee(Maybe::Null);
    assert_eq!(
        names_in(&written(&template)),
        fields_of("CreateOrSaveTemplateInput")
    );

    let consignment = ConsignmentInput::default()
        .id("c-1")
        .number("C-900000101")
        .forms([FormType::Lpac1, FormType::Hsc2])
        .origin(party.clone())
        .destination(PartyInput::new("QDZZ3333"))
        .owner(party.clone())
        .consignee(party)
        .declaration(declaration())
        .movement_date(Day::parse("2026-11-23").unwrap())
        .movement_time("05:15")
        .status(ConsignmentStatus::Draft)
        .with_answers([AnswerInput::new("3", "24").row(0)]);
    let json = written(&consignment);
    assert_eq!(names_in(&json), fields_of("CreateOrSaveConsignmentInput"));
    assert_eq!(json["movementDate"], "2026-11-23");
}

#[test]
fn setters_can_follow_an_extra_field() {
    let party = || PartyInput::new("QAZZ7777");
    let input = ConsignmentInput::new([FormType::Lpac1], party(), party());
    let after: WithExtra<ConsignmentInput> = input
        .clone()
        .extra("revision", 7)
        .id("c-1")
        .number("C-900000101")
        .owner(party())
        .consignee(party())
        .declaration(declaration())
        .movement("2026-11-23", "05:15")
        .status(ConsignmentStatus::Draft)
        .answer(AnswerInput::new("17", "Yes"))
        .extra("vendorTrackingCode", "a");
    let before = input
        .id("c-1")
        .number("C-900000101")
        .owner(party())
        .consignee(party())
        .declaration(declaration())
        .movement("2026-11-23", "05:15")
        .status(ConsignmentStatus::Draft)
        .answer(AnswerInput::new("17", "Yes"))
        .extra("revision", 7)
        .extra("vendorTrackingCode", "a");
    assert_eq!(written(&after), written(&before));
    assert_eq!(written(&after)["declaration"]["fullName"], "Sam Sample");

    let template = WithExtra::from(TemplateInput::new("a", [FormType::Lpac1]))
        .extra("b", 1)
        .name("c");
    assert_eq!(
        written(&template),
        json!({"name": "c", "forms": ["LPAC1"], "b": 1})
    );
}

#[test]
fn ids_of_records_are_accepted_by_setters() {
    let mut record = Consignment::default();
    record.id = Some("c-1".into());
    record.number = Some("C-900000101".into());
    let mut input = ConsignmentInput::default();
    input.id = record.id.clone().into();
    input.number = record.number.clone().into();
    let expected = json!({"id": "c-1", "number": "C-900000101"});
    assert_eq!(
        (&written(&input)["id"], &written(&input)["number"]),
        (&expected["id"], &expected["number"])
    );
    // As values, references, options and strings.
    let id = record.id.clone().unwrap();
    let text = "c-1".to_owned();
    let same = input.clone();
    assert_eq!(input.clone().id(&id), same);
    assert_eq!(input.clone().id(record.id), same);
    assert_eq!(input.clone().id(id), same);
    assert_eq!(input.clone().id(&text), same);
    assert_eq!(input.clone().id(text.as_str()), same);
    assert_eq!(input.clone().id(text), same);

    let owned = "x".to_owned();
    assert_eq!(AccountId::from(&owned), "x");
    assert_eq!(ConsignmentId::from(&owned), "x");
    assert_eq!(TemplateId::from(&owned), "x");
    assert_eq!(QuestionId::from(&owned), "x");
    assert_eq!("x".parse::<ConsignmentNumber>().unwrap(), "x");
}

/// Checks that each value is written as it is read.
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

#[test]
fn a_record_for_a_test_is_built_field_by_field_and_compared_as_json() {
    let mut origin = Party::default();
    origin.pic = Some("QAZZ7777".to_owned());
    let mut form = ConsignmentForm::default();
    form.form_type = Some(FormType::Lpac1);
    let mut answer = Answer::default();
    answer.question_id = Some("17".into());
    answer.value = Some("Yes".to_owned());
    let mut declaration = Declaration::default();
    declaration.date = Some(Timestamp::from("2026-11-20T09:45:00"));
    let mut record = Consignment::default();
    record.number = Some("C-900000101".into());
    record.origin = Some(origin);
    record.forms = vec![form].into();
    record.answers = vec![answer].into();
    record.declaration = Some(declaration);
    record.pdf_url = Some("https://print.example/C-900000101".into());

    let json = json!({
        "number": "C-900000101", "origin": {"pic": "QAZZ7777"}, "forms": [{"type": "LPAC1"}],
        "answers": [{"questionId": "17", "value": "Yes"}], "declaration": {"date": "2026-11-20T09:45:00"},
        "pdfUrl": "https://print.example/C-900000101",
    });
    assert_eq!(record, serde_json::from_value(json).unwrap());
    let again: Consignment = serde_json::from_value(written(&record)).unwrap();
    assert_eq!(again, record);
    assert_eq!(
        Template::default(),
        serde_json::from_value(json!({})).unwrap()
    );
}
