use serde_json::json;

use crate::model::{Property, PropertyContact, PropertyStatus, SpeciesCode};

#[test]
fn a_record_keeps_its_wire_form() {
    let wire = json!({
        "PIC": "QAZZ7777", "PICName": "Sample Station", "PICRegisterId": 900_001,
        "BusinessName": "", "FirstName": "Sam", "LastName": "Sample", "Town": "Sampleton",
        "Species": [{"ShortCode": "C"}, {"ShortCode": "Z"}], "PropertyTypes": [{"ShortCode": "PR"}],
        "Brands": [{"ShortCode": "ZS1"}], "RegisteredState": "QLD",
        "AdminStatus": {"ShortCode": "A", "Description": "Active"}, "ShireCode": "Z02",
        "ContactDetails": [{"FirstName": "Sam", "LastName": "Sample", "ContactTypeShortCode": "PICMANAGERCONTACT"}]
    });
    let property: Property = serde_json::from_value(wire.clone()).unwrap();
    assert_eq!(property.register_id, Some(900_001));
    let species = [SpeciesCode::Cattle, SpeciesCode::Unrecognized("Z".into())];
    assert_eq!(*property.species, species);
    assert_eq!(serde_json::to_value(&property).unwrap(), wire);
}

#[test]
fn nothing_need_be_there() {
    let nulls = json!({
        "PIC": null, "PICRegisterId": null, "Species": null, "Brands": [null, {}, {"ShortCode": null}, "ZB9"],
        "AdminStatus": null, "ContactDetails": null, "SomethingNew": {"a": 1}
    });
    let property: Property = serde_json::from_value(nulls).unwrap();
    assert_eq!(*property.brands, ["ZB9"]);
    assert!(!property.is_active());
    let empty: Property = serde_json::from_str("{}").unwrap();
    assert_eq!(empty, Property::default());
    for other in ["[]", "\"QAZZ7777\"", "5"] {
        assert!(serde_json::from_str::<Property>(other).is_err());
    }
}

#[test]
fn the_name_of_a_status_tells_where_its_code_does_not() {
    let both = json!({"ShortCode": "M", "Description": "Amalgamated"});
    for (wire, status) in [
        (both, "Amalgamated"),
        (json!({"Description": "Blocked"}), "Blocked"),
        (json!("I"), "Inactive"),
        (json!({"ShortCode": "X"}), "X"),
    ] {
        let property: Property = serde_json::from_value(json!({"AdminStatus": wire})).unwrap();
        assert_eq!(property.admin_status, Some(PropertyStatus::from(status)));
    }
}

#[test]
fn a_description_of_another_type_is_an_error() {
    for field in ["Species", "Brands"] {
        let record = json!({field: [{"ShortCode": "C", "Description": 5}]});
        let error = serde_json::from_value::<Property>(record).unwrap_err();
        assert!(error.to_string().contains("expected a string"), "{error}");
    }
}

#[test]
fn unknown_fields_come_back() {
    let wire = json!({
        "PIC": "QAZZ7777", "Latitude": -27.5, "Nested": {"a": [1, null]},
        "ContactDetails": [{"LastName": "Sample", "Email": "sam@example.com"}]
    });
    let property: Property = serde_json::from_value(wire.clone()).unwrap();
    let unknown = property.unknown_fields().unwrap();
    assert_eq!((unknown.len(), &unknown["Latitude"]), (2, &json!(-27.5)));
    let of_contact = property.contacts[0].unknown_fields().unwrap();
    assert!(of_contact.contains_key("Email"));
    let written = serde_json::to_value(&property).unwrap();
    for name in ["PIC", "Latitude", "Nested"] {
        assert_eq!(written[name], wire[name]);
    }
    assert_eq!(written["ContactDetails"][0]["Email"], "sam@example.com");
    let shown = format!("{property:?}");
    assert!(shown.contains("Latitude") && !shown.contains("27.5") && !shown.contains("sam@"));
    let known: Property = serde_json::from_str(r#"{"PIC": "QAZZ7777"}"#).unwrap();
    assert!(known.unknown_fields().is_none());
}

#[test]
fn debug_hides_people_and_firms() {
    let property: Property = serde_json::from_value(json!({
        "PICName": "hidden1", "BusinessName": "hidden2", "FirstName": "hidden3", "LastName": "hidden4",
        "Town": "hidden5", "ContactDetails": [{"FirstName": "hidden6", "LastName": "hidden7"}]
    }))
    .unwrap();
    test_support::hides_text::<Property>(&property, "hidden");
    test_support::hides_text::<PropertyContact>(&property.contacts[0], "hidden");
}
