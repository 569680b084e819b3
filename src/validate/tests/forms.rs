//! Forms, species and dates (spec 2.7, 9), the user's accreditations (1.3, 2.8), and question 185 (2.6).

use serde_json::json;

use super::questions::{list, today};
use crate::model::{
    Accreditations, AnswerInput, ConsignmentInput, ConsignmentStatus, Day, FormType, PartyInput,
    Species,
};
use crate::profile::{FurtherForm, ServiceProfile, Sourced};
use crate::validate::{Context, Operation, Policy, Questionnaire, Rule, Severity, validate_fields};

fn on(day: &str) -> Context {
    Context::on(Day::parse(day).unwrap())
}

fn bare(forms: &[&str]) -> ConsignmentInput {
    let origin = PartyInput::new("QAZZ7777");
    let destination = PartyInput::new("QDZZ3333");
    let forms: Vec<FormType> = forms.iter().map(|form| FormType::from(*form)).collect();
    ConsignmentInput::new(forms, origin, destination)
}

/// With the answer that LPAHRG0 requires.
fn input(forms: &[&str]) -> ConsignmentInput {
    bare(forms).answer(AnswerInput::new("185", "Yes"))
}

fn rules(forms: &[&str], context: &Context) -> Vec<Rule> {
    validate_fields(&input(forms), context)
        .findings()
        .iter()
        .map(|finding| finding.rule)
        .collect()
}

#[test]
fn forms_open_and_close_on_their_days_for_new_consignments_only() {
    for (form, day, is_open) in [
        ("LPAG2", "2024-11-18", true),
        ("LPAG2", "2024-11-19", false),
        ("LPAG3", "2024-11-18", false),
        ("LPAG3", "2024-11-19", true),
        ("LPAHRG0", "2024-09-30", false),
        ("LPAHRG0", "2024-10-01", true),
        ("LPAC1", "2024-09-30", true),
    ] {
        let found = rules(&[form], &on(day));
        assert_eq!(found, [Rule::FormOpen][usize::from(is_open)..], "{form}");
        assert_eq!(rules(&[form], &on(day).operation(Operation::Update)), []);
    }
}

#[test]
fn all_forms_have_one_species() {
    let same = [
        "LPAC1", "EUC1", "HSC2", "MSAC1", "NFASC0", "NFASDDC1", "NFASEUC1",
    ];
    assert_eq!(rules(&same, &today()), []);
    for other in ["LPABC1", "LPASL1", "HSSL1", "LPAG3", "HSG0"] {
        assert_eq!(rules(&["LPAC1", other], &today()), [Rule::OneSpecies]);
    }
}

/// The user's flags: all true except the listed ones.
fn user(lacking: &[&str]) -> Accreditations {
    let mut user =
        json!({"lPA": true, "eU": true, "mSA": true, "eUGFHQB": true, "nFAS": true, "hRG": true});
    for flag in lacking {
        user[flag] = json!(false);
    }
    serde_json::from_value(user).unwrap()
}

#[test]
fn each_form_needs_the_accreditation_of_its_program() {
    for (form, needed) in [
        ("LPAC1", &["lPA"][..]),
        ("LPABC1", &["lPA"]),
        ("LPASL1", &["lPA"]),
        ("LPAG3", &["lPA"]),
        ("EUC1", &["lPA", "eU"]),
        ("LPAHRG0", &["lPA", "hRG"]),
        ("MSAC1", &["mSA"]),
        ("NFASC0", &["nFAS"]),
        ("NFASDDC1", &["nFAS"]),
        ("NFASEUC1", &["nFAS"]),
        ("HSC2", &[]),
        ("HSSL1", &[]),
        ("HSG0", &[]),
    ] {
        for flag in ["lPA", "eU", "mSA", "nFAS", "hRG"] {
            let refused = usize::from(needed.contains(&flag));
            let found = rules(&[form], &today().accreditations(&user(&[flag])));
            assert_eq!(found, [Rule::Accredited][..refused], "{form} {flag}");
        }
        // Unknown flags make only LPAHRG0 an error.
        let unknown = today().accreditations(&Accreditations::default());
        let refused = usize::from(form == "LPAHRG0");
        let found = rules(&[form], &unknown);
        assert_eq!(found, [Rule::Accredited][..refused], "{form}");
        assert_eq!(rules(&[form], &today()), []);
    }
    // Two missing accreditations make one error.
    let context = today().accreditations(&user(&["lPA", "eU"]));
    let report = validate_fields(&input(&["EUC1"]), &context);
    let said = report
        .errors()
        .map(|f| (&*f.message, f.description.as_deref()));
    let refused = Some("The user is not accredited for EUC1.");
    assert_eq!(said.collect::<Vec<_>>(), [("Access denied", refused)]);
}

#[test]
fn an_unknown_accreditation_is_advice_and_a_missing_one_if_the_policy_says_so() {
    let unknown = Accreditations::default();
    let cattle = Accreditations {
        lpa: Some(true),
        ..Accreditations::default()
    };
    let none = user(&["lPA", "eU", "mSA", "hRG"]);
    let kept = Policy::default();
    let lowered = kept.accreditations_are_advice(true);
    let all = "LPAC1 lPA, NFASC0 nFAS, MSAC1 mSA";
    for (policy, user, forms, errors, advice) in [
        (kept, &unknown, &["LPAC1", "NFASC0", "MSAC1"][..], 0, all),
        (kept, &cattle, &["LPAC1", "EUC1"], 0, "EUC1 eU"),
        (kept, &user(&[]), &["LPAC1", "EUC1", "LPAHRG0"], 1, ""),
        (kept, &none, &["EUC1"], 1, ""),
        // The specification does not require the European Union flag for NFASEUC1.
        (kept, &none, &["NFASEUC1"], 0, "NFASEUC1 eU"),
        (lowered, &none, &["EUC1"], 0, "EUC1 lPA, EUC1 eU"),
        (lowered, &none, &["LPAHRG0"], 0, "LPAHRG0 lPA, LPAHRG0 hRG"),
    ] {
        let context = today().accreditations(user).advice(true);
        let report = Questionnaire::prepare_with(&[], policy).validate(&input(forms), &context);
        assert_eq!(report.errors().count(), errors, "{forms:?} {report}");
        let about = report.advice().iter();
        let about = about.filter(|f| f.rule == Rule::Accredited);
        let about = about.inspect(|f| assert_eq!(f.severity, Severity::Advice));
        let said = about.map(|f| f.to_string().replace("needs the accreditation ", ""));
        assert_eq!(said.collect::<Vec<_>>().join(", "), advice, "{forms:?}");
    }
}

#[test]
fn only_yes_lets_rangeland_goats_be_created_whether_or_not_questions_are_loaded() {
    let with = list("185 SINGLE_CHOICE @LPAHRG0 [Yes|No]");
    let without = list("3 SINGLE_CHOICE @LPAHRG0 optional [Yes|No]");
    let goats = Some(Rule::GoatsWithDevices);
    let required = Some(Rule::Required);
    for (form, answer, status, rule) in [
        ("LPAHRG0", "Yes", "DRAFT", None),
        ("LPAHRG0", "Yes", "SUBMITTED", None),
        ("LPAHRG0", "No", "DRAFT", goats),
        ("LPAHRG0", "Perhaps", "DRAFT", goats),
        ("LPAHRG0", "yes", "DRAFT", goats),
        ("LPAHRG0", "", "DRAFT", required),
        ("LPAHRG0", "", "SUBMITTED", goats),
        ("LPAHRG0", "", "LOCKED", goats),
        ("LPAG3", "No", "SUBMITTED", None),
        ("LPAG3", "", "SUBMITTED", None),
    ] {
        let mut input = bare(&[form]).status(ConsignmentStatus::from(status));
        if !answer.is_empty() {
            input = input.answer(AnswerInput::new("185", answer));
        }
        for report in [
            validate_fields(&input, &today()),
            with.validate(&input, &today()),
            without.validate(&input, &today()),
            with.form(&input, &today()).report().clone(),
        ] {
            let case = format!("{form} {answer:?} {status}\n{report}");
            let about = report.question("185").map(|f| f.rule);
            let about = about.filter(|rule| *rule != Rule::Acceptable);
            assert_eq!(about.collect::<Vec<_>>(), Vec::from_iter(rule), "{case}");
            let is_warning = rule == required;
            assert_eq!(report.is_valid(), rule.is_none() || is_warning, "{case}");
            // The draft is saved, but the consignment cannot be created.
            assert_eq!(report.can_create(), rule.is_none(), "{case}");
            let mut blockers = report.create_blockers().map(|f| f.rule);
            let blocker = blockers.find(|rule| *rule != Rule::Acceptable);
            assert_eq!(blocker, rule, "{case}");
            let said = report.to_string().starts_with("valid, but question 185 ");
            assert_eq!(said, is_warning, "{case}");
        }
    }
}

#[test]
fn a_form_has_the_findings_about_question_185_that_the_report_has() {
    let list = list("185 @LPAHRG0,LPAG3 ?1=A; 1 @LPAHRG0,LPAG3 optional");
    for (form, reported) in [("LPAHRG0", 0), ("LPAG3", 1)] {
        let mut form = list.form(&bare(&[form]), &today());
        let before = form.report().findings().len();
        let change = form.answer("1", "A").unwrap();
        assert_eq!(change.appeared.len(), 1);
        assert_eq!((change.added.len(), before), (reported, 1 - reported));
        assert_eq!(form.report().question("185").count(), 1);
    }
}

#[test]
fn a_value_that_the_schema_cannot_take_is_the_only_finding() {
    let odd = input(&["LPAC1"])
        .status(ConsignmentStatus::from("SENT"))
        .movement("never", "never");
    let report = validate_fields(&odd, &today());
    let said = report
        .errors()
        .map(|f| format!("{} {} {f}", f.code, f.path.join(".")));
    let message = "INVALID_VALUE status Variable '$input.status' is invalid. Unable to convert 'SENT' to 'ConsignmentStatus'";
    assert_eq!(said.collect::<Vec<_>>(), [message]);
}

#[test]
fn a_form_that_is_newer_than_the_crate_is_known_if_the_list_or_the_profile_names_it() {
    let newer = |named: FurtherForm| ServiceProfile {
        forms: Sourced::seen(vec![named]),
        ..ServiceProfile::default()
    };
    let mut goat = FurtherForm::new("LPAC2");
    goat.species = Some(Species::Goat);
    let nothing = list("1 optional");
    let named = newer(FurtherForm::new("LPAC2"));
    let context = today().advice(true);
    for (questionnaire, advised, errors) in [
        (nothing.clone(), 1, 0),
        (list("1 @LPAC2 optional"), 0, 0),
        (nothing.clone().with_profile(&named), 0, 0),
        // The profile's facts about the form are checked.
        (nothing.with_profile(&newer(goat)), 0, 1),
    ] {
        let report = questionnaire.validate(&input(&["LPAC1", "LPAC2"]), &context);
        let advice = report.advice().iter();
        let advice = advice.filter(|finding| finding.rule == Rule::FormKnown);
        assert_eq!(advice.count(), advised, "{report}");
        assert_eq!(report.errors().count(), errors, "{report}");
        assert_eq!(report.can_create(), errors == 0, "{report}");
    }
}
