//! Forms, species and dates (spec 2.7, 9).

use crate::model::{
    Accreditations, AnswerInput, ConsignmentInput, ConsignmentStatus, Day, FormType, PartyInput,
    Question,
};
use crate::validate::{Context, Operation, Policy, Questionnaire, Rule, validate_fields};

fn on(year: i32, month: u32, day: u32) -> Context {
    Context::on(Day::new(year, month, day).unwrap())
}

fn bare(forms: &[FormType]) -> ConsignmentInput {
    let (origin, destination) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    ConsignmentInput::new(forms.to_vec(), origin, destination)
}

/// With the answer that LPAHRG0 wants.
fn input(forms: &[FormType]) -> ConsignmentInput {
    bare(forms).answer(AnswerInput::new("185", "Yes"))
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
    let mut user = Accreditations {
        lpa: Some(true),
        ..Accreditations::default()
    };
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
fn each_form_needs_the_accreditation_of_its_program() {
    type Withdraw = fn(&mut Accreditations);
    let lpa: Withdraw = |user| user.lpa = Some(false);
    let eu: Withdraw = |user| user.eu = Some(false);
    let msa: Withdraw = |user| user.msa = Some(false);
    let nfas: Withdraw = |user| user.nfas = Some(false);
    let hrg: Withdraw = |user| user.hrg = Some(false);
    let all: Accreditations = serde_json::from_value(serde_json::json!(
        {"lPA": true, "eU": true, "mSA": true, "eUGFHQB": true, "nFAS": true, "hRG": true}
    ))
    .unwrap();
    for (name, form, needed) in [
        ("lPA", "LPAC1", &[lpa][..]),
        ("lPA", "LPABC1", &[lpa]),
        ("lPA", "LPASL1", &[lpa]),
        ("lPA", "LPAG3", &[lpa]),
        ("lPA and eU", "EUC1", &[lpa, eu]),
        ("lPA and hRG", "LPAHRG0", &[lpa, hrg]),
        ("mSA", "MSAC1", &[msa]),
        ("nFAS", "NFASC0", &[nfas]),
        ("nFAS", "NFASDDC1", &[nfas]),
        ("nFAS", "NFASEUC1", &[nfas]),
        ("none", "HSC2", &[]),
        ("none", "HSSL1", &[]),
        ("none", "HSG0", &[]),
    ] {
        for withdraw in [lpa, eu, msa, nfas, hrg] {
            let mut user = all.clone();
            withdraw(&mut user);
            let refused = needed.iter().any(|need| {
                let mut needed = all.clone();
                need(&mut needed);
                needed == user
            });
            let context = on(2026, 11, 20).accreditations(&user);
            let expected = if refused {
                &[Rule::Accredited][..]
            } else {
                &[]
            };
            assert_eq!(rules(&[form.into()], &context), expected, "{form}: {name}");
        }
    }
    // What the service does not say of the user is not held against the consignment, and a form is refused once.
    let unknown = on(2026, 11, 20).accreditations(&Accreditations::default());
    assert_eq!(rules(&[FormType::Euc1], &unknown), []);
    let mut none = all;
    (none.lpa, none.eu) = (Some(false), Some(false));
    let context = on(2026, 11, 20).accreditations(&none);
    let said: Vec<_> = validate_fields(&input(&[FormType::Euc1]), &context)
        .errors()
        .map(|f| (f.message.clone(), f.description.clone().unwrap()))
        .collect();
    let refused = "The user is not accredited for EUC1.".to_owned();
    assert_eq!(said, [("Access denied".to_owned(), refused)]);
}

#[test]
fn a_missing_accreditation_is_advice_if_the_policy_says_so() {
    let user: Accreditations =
        serde_json::from_str(r#"{"lPA": false, "eU": false, "nFAS": true, "hRG": false}"#).unwrap();
    let context = on(2026, 11, 20).accreditations(&user).advice(true);
    let shown = |policy: Policy, form: FormType| {
        let list = Questionnaire::prepare_with(&[], policy);
        let report = list.validate(&input(&[form]), &context);
        let advice: Vec<String> = report.advice().iter().map(ToString::to_string).collect();
        let needs = |text: &String| text.contains("accreditation");
        let advice: Vec<String> = advice.into_iter().filter(needs).collect();
        (report.errors().count(), advice)
    };
    let lowered = Policy::default().accreditations_are_advice(true);
    let needs = |form: &str, names: &[&str]| -> Vec<String> {
        let names = names.iter();
        names
            .map(|name| format!("{form} needs the accreditation {name}"))
            .collect()
    };
    assert_eq!(shown(Policy::default(), FormType::Euc1), (1, vec![]));
    assert_eq!(
        shown(lowered, FormType::Euc1),
        (0, needs("EUC1", &["lPA", "eU"]))
    );
    assert_eq!(
        shown(lowered, FormType::Lpahrg0),
        (0, needs("LPAHRG0", &["lPA", "hRG"]))
    );
    // The specification ties NFASEUC1 to no flag of the European Union.
    let export = needs("NFASEUC1", &["eU"]);
    assert_eq!(shown(Policy::default(), FormType::Nfaseuc1), (0, export));
}

#[test]
fn only_yes_lets_rangeland_goats_be_created_whether_or_not_questions_are_loaded() {
    let list = |id: &str| {
        let question = serde_json::json!([{"id": id, "type": "SINGLE_CHOICE", "forms": ["LPAHRG0"],
            "validators": [{"type": "required"}], "acceptableAnswers": [{"value": "Yes"}, {"value": "No"}]}]);
        let questions: Vec<Question> = serde_json::from_value(question).unwrap();
        Questionnaire::prepare(&questions)
    };
    let (with, without) = (list("185"), list("3"));
    let today = on(2026, 11, 20);
    for (form, answer, status, rule) in [
        (FormType::Lpahrg0, "Yes", "DRAFT", None),
        (FormType::Lpahrg0, "Yes", "SUBMITTED", None),
        (
            FormType::Lpahrg0,
            "No",
            "DRAFT",
            Some(Rule::GoatsWithDevices),
        ),
        (
            FormType::Lpahrg0,
            "Perhaps",
            "DRAFT",
            Some(Rule::GoatsWithDevices),
        ),
        (
            FormType::Lpahrg0,
            "yes",
            "DRAFT",
            Some(Rule::GoatsWithDevices),
        ),
        (FormType::Lpahrg0, "", "DRAFT", Some(Rule::Required)),
        (
            FormType::Lpahrg0,
            "",
            "SUBMITTED",
            Some(Rule::GoatsWithDevices),
        ),
        (
            FormType::Lpahrg0,
            "",
            "LOCKED",
            Some(Rule::GoatsWithDevices),
        ),
        (FormType::Lpag3, "No", "SUBMITTED", None),
        (FormType::Lpag3, "", "SUBMITTED", None),
    ] {
        let mut input = bare(std::slice::from_ref(&form)).status(ConsignmentStatus::from(status));
        if !answer.is_empty() {
            input = input.answer(AnswerInput::new("185", answer));
        }
        let reports = [
            validate_fields(&input, &today),
            with.validate(&input, &today),
            without.validate(&input, &today),
            with.form(&input, &today).report().clone(),
        ];
        for report in reports {
            let case = format!("{form} {answer:?} {status}\n{report}");
            let mut about = report
                .question("185")
                .filter(|f| f.rule != Rule::Acceptable);
            assert_eq!(about.next().map(|f| f.rule), rule, "{case}");
            assert!(about.next().is_none(), "{case}");
            let is_warning = rule == Some(Rule::Required);
            let acceptable = answer.is_empty() || form == FormType::Lpag3 || answer == "Yes";
            assert_eq!(
                report.is_valid(),
                rule.is_none() || is_warning && acceptable,
                "{case}"
            );
            // As a reason of its own: the draft is saved, the consignment not created.
            assert_eq!(report.can_create(), rule.is_none(), "{case}");
            let mut blockers = report.create_blockers().map(|f| f.rule);
            let blocker = blockers.find(|rule| *rule != Rule::Acceptable);
            assert_eq!(blocker, rule, "{case}");
            if is_warning {
                assert!(
                    report.to_string().starts_with("valid, but question 185 "),
                    "{case}"
                );
            }
        }
    }
}

#[test]
fn a_form_has_the_findings_about_question_185_that_the_report_has() {
    let question = serde_json::json!([{"id": "185", "type": "STRING", "forms": ["LPAHRG0", "LPAG3"],
        "triggers": [{"questionId": "1", "value": "A"}], "validators": [{"type": "required"}]},
        {"id": "1", "type": "STRING", "forms": ["LPAHRG0", "LPAG3"]}]);
    let questions: Vec<Question> = serde_json::from_value(question).unwrap();
    let list = Questionnaire::prepare(&questions);
    for (form, told) in [(FormType::Lpahrg0, 0), (FormType::Lpag3, 1)] {
        let mut form = list.form(&bare(&[form]), &on(2026, 11, 20));
        let before = form.report().findings().len();
        let change = form.answer("1", None, "A").unwrap();
        assert_eq!(change.appeared.len(), 1);
        assert_eq!((change.added.len(), before), (told, 1 - told));
        assert_eq!(form.report().question("185").count(), 1);
    }
}

#[test]
fn a_value_that_the_schema_cannot_take_is_the_only_finding() {
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

#[test]
fn question_185_is_reported_once_also_in_a_row_without_a_number() {
    let question = serde_json::json!([{"id": "1", "type": "REPEATABLE", "forms": ["LPAHRG0"], "childQuestions": [
        {"id": "185", "type": "STRING", "validators": [{"type": "required"}]}, {"id": "2", "type": "STRING"}]}]);
    let questions: Vec<Question> = serde_json::from_value(question).unwrap();
    let input = bare(&[FormType::Lpahrg0]).answer(AnswerInput::new("2", "x"));
    let report = Questionnaire::prepare(&questions).validate(&input, &on(2026, 11, 20));
    assert_eq!(report.at("answers.185").count(), 1, "{report}");
}
