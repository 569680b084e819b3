//! Forms, species and dates (spec 2.7, 9).

use crate::model::{
    Accreditations, AnswerInput, ConsignmentInput, ConsignmentStatus, Day, FormType, PartyInput,
};
use crate::validate::{Context, Operation, Rule, validate_fields};

fn on(year: i32, month: u32, day: u32) -> Context {
    Context::on(Day::new(year, month, day).unwrap())
}

fn input(forms: &[FormType]) -> ConsignmentInput {
    let (origin, destination) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    ConsignmentInput::new(forms.to_vec(), origin, destination)
}

fn rules(forms: &[FormType], context: &Context) -> Vec<Rule> {
    let report = validate_fields(&input(forms), context);
    report
        .findings()
        .iter()
        .map(|finding| finding.rule)
        .collect()
}

#[test]
fn forms_open_and_close_on_their_days_for_new_consignments_only() {
    for (form, day, rule) in [
        (FormType::Lpag2, on(2024, 11, 18), None),
        (FormType::Lpag2, on(2024, 11, 19), Some(Rule::FormOpen)),
        (FormType::Lpag3, on(2024, 11, 18), Some(Rule::FormOpen)),
        (FormType::Lpag3, on(2024, 11, 19), None),
        (FormType::Lpahrg0, on(2024, 9, 30), Some(Rule::FormOpen)),
        (FormType::Lpahrg0, on(2024, 10, 1), None),
        (FormType::Lpac1, on(2024, 9, 30), None),
    ] {
        assert_eq!(
            rules(std::slice::from_ref(&form), &day),
            Vec::from_iter(rule),
            "{form}"
        );
        let update = day.operation(Operation::Update);
        assert_eq!(rules(&[form], &update), []);
    }
}

#[test]
fn all_forms_have_one_species() {
    let today = on(2026, 11, 20);
    let same = [
        FormType::Lpac1,
        FormType::Euc1,
        FormType::Hsc2,
        FormType::Msac1,
    ];
    assert_eq!(rules(&same, &today), []);
    for other in [
        FormType::Lpabc1,
        FormType::Lpasl1,
        FormType::Hssl1,
        FormType::Lpag3,
        FormType::Hsg0,
    ] {
        assert_eq!(rules(&[FormType::Lpac1, other], &today), [Rule::OneSpecies]);
    }
}

#[test]
fn rangeland_goats_need_the_accreditation() {
    let today = on(2026, 11, 20);
    let mut user = Accreditations::default();
    for (hrg, expected) in [
        (None, vec![Rule::Accredited]),
        (Some(false), vec![Rule::Accredited]),
        (Some(true), vec![]),
    ] {
        user.hrg = hrg;
        let context = today.clone().accreditations(&user);
        assert_eq!(rules(&[FormType::Lpahrg0], &context), expected);
        assert_eq!(rules(&[FormType::Lpag3], &context), []);
    }
    assert_eq!(rules(&[FormType::Lpahrg0], &today), []);
}

#[test]
fn goats_without_devices_do_not_move_whether_or_not_questions_are_loaded() {
    for (form, answer, valid) in [
        (FormType::Lpahrg0, "No", false),
        (FormType::Lpahrg0, "Yes", true),
        (FormType::Lpag3, "No", true),
    ] {
        let input = input(&[form]).answer(AnswerInput::new("185", answer));
        assert_eq!(validate_fields(&input, &on(2026, 11, 20)).is_valid(), valid);
    }
}

#[test]
fn the_server_looks_at_nothing_else_after_a_value_it_cannot_take() {
    let odd = input(&["LPAC1".into(), "LPAC9".into(), "lpac1".into()])
        .status(ConsignmentStatus::from("SENT"))
        .movement("never", "never");
    let report = validate_fields(&odd, &on(2026, 11, 20));
    let said: Vec<String> = report.errors().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "Variable '$input.forms[1]' is invalid. Unable to convert 'LPAC9' to 'EFormType'",
            "Variable '$input.forms[2]' is invalid. Unable to convert 'lpac1' to 'EFormType'",
            "Variable '$input.status' is invalid. Unable to convert 'SENT' to 'ConsignmentStatus'",
        ]
    );
    assert!(report.errors().all(|f| f.code == "INVALID_VALUE"));
    let paths: Vec<String> = report.errors().map(|f| f.path.join(".")).collect();
    assert_eq!(paths, ["forms.1", "forms.2", "status"]);
}

#[test]
fn debug_does_not_repeat_what_the_user_entered() {
    let report = validate_fields(&input(&[]).movement("my secret", "x"), &on(2026, 11, 20));
    assert!(
        report
            .at("movementDate")
            .any(|f| f.to_string().contains("my secret"))
    );
    assert!(!format!("{report:?}").contains("my secret"));
}
