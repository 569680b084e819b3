//! The SDK without its client: model and validator.

#[cfg(test)]
mod tests {
    use envd_sdk::model::{ConsignmentInput, FormType, Jurisdiction, Pic};

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
}
