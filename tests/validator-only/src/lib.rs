//! The SDK without its client: model and validator.

#[cfg(test)]
mod tests {
    use envd_sdk::model::{
        ConsignmentInput, Day, FormType, Jurisdiction, PartyInput, Pic, Question,
    };
    use envd_sdk::validate::{Context, Questionnaire};

    #[test]
    fn a_pic_is_read_without_a_client() {
        let pic = Pic::parse("qazz7777").unwrap();
        assert_eq!(pic.as_str(), "QAZZ7777");
        assert_eq!(pic.jurisdiction(), Some(Jurisdiction::Qld));
        assert!(Pic::parse("QAZZ-777").is_err());
    }

    #[test]
    fn a_consignment_keeps_its_wire_names_without_a_client() {
        let wire = serde_json::json!({
            "forms": ["LPAC1"],
            "origin": { "pic": "QAZZ7777" },
            "destination": { "pic": "QBZZ2222" },
            "movementDate": "2024-11-20",
        });
        let input: ConsignmentInput = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(input.forms, [FormType::Lpac1]);
        assert_eq!(serde_json::to_value(&input).unwrap(), wire);
    }

    #[test]
    fn findings_and_a_form_need_neither_clock_nor_client() {
        let questions = serde_json::json!([
            {"id": "17", "forms": ["LPAC1"], "type": "SINGLE_CHOICE", "text": "Born here?",
             "validators": [{"type": "required"}],
             "acceptableAnswers": [{"value": "Yes"}, {"value": "No"}]},
        ]);
        let questions: Vec<Question> = serde_json::from_value(questions).unwrap();
        let questionnaire = Questionnaire::prepare(&questions);
        let context = Context::on(Day::parse("2026-11-20").unwrap());
        let origin = PartyInput::new("QAZZ777");
        let destination = PartyInput::new("QDZZ3333");
        let input = ConsignmentInput::new([FormType::Lpac1], origin, destination);
        let report = questionnaire.validate(&input, &context);
        let errors: Vec<String> = report.errors().map(ToString::to_string).collect();
        assert_eq!(errors, ["QAZZ777 is not a valid value for PIC"]);
        assert_eq!(report.warnings().count(), 1);

        let mut form = questionnaire.form(&input, &context);
        form.answer("17", "Yes").unwrap();
        let json = serde_json::to_value(form.items()).unwrap();
        assert!(json.to_string().contains("Born here?"));
        assert_eq!(form.to_input().answers().len(), 1);
    }
}
