//! A property as the register knows it.

use std::fmt;

use super::coded::{Codes, Status};
use super::form::Int;
use super::shown::{Fields, Shown, personal};
use super::wire_record::wire_record;
use super::{PropertyContact, PropertyStatus, PropertyTypeCode, SpeciesCode};
use crate::model::List;

wire_record! {
    /// A property of the register (spec 2.10). Any field may be missing. `Debug` does not show names of people and firms.
    ///
    /// ```
    /// use envd_sdk::model::{Property, SpeciesCode};
    ///
    /// let property: Property = serde_json::from_str(
    ///     r#"{"PIC": "QAZZ7777", "PICName": "Sample Station", "Species": [{"ShortCode": "C"}],
    ///         "AdminStatus": {"ShortCode": "A", "Description": "Active"}}"#,
    /// )?;
    /// assert_eq!(property.pic.as_deref(), Some("QAZZ7777"));
    /// assert_eq!(*property.species, [SpeciesCode::Cattle]);
    /// assert!(property.is_active());
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub struct Property {
        /// The property identification code, as the register writes it.
        "PIC" => pic: Option<String>,
        /// The name of the property.
        "PICName" => name: Option<String>,
        /// The register's own identifier.
        "PICRegisterId" => register_id: Option<i64> as Int,
        /// The firm; may be empty.
        "BusinessName" => business_name: Option<String>,
        /// The first name of the manager.
        "FirstName" => first_name: Option<String>,
        /// The last name of the manager.
        "LastName" => last_name: Option<String>,
        /// The town.
        "Town" => town: Option<String>,
        /// The species that are kept.
        "Species" => species: List<SpeciesCode> as Codes,
        /// What the property is used for.
        "PropertyTypes" => property_types: List<PropertyTypeCode> as Codes,
        /// The codes of its brands.
        "Brands" => brands: List<String> as Codes,
        /// The state or territory in which it is registered, such as `QLD`.
        "RegisteredState" => registered_state: Option<String>,
        /// The state of the property in the register.
        "AdminStatus" => admin_status: Option<PropertyStatus> as Status,
        /// The code of the shire.
        "ShireCode" => shire_code: Option<String>,
        /// Who is to be asked about it.
        "ContactDetails" => contacts: List<PropertyContact>,
    }
}

impl Property {
    /// Whether the register says that the property is in use. A missing or unknown state is not active.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.admin_status
            .as_ref()
            .is_some_and(PropertyStatus::is_active)
    }

    /// The record with the names of people and firms in its `Debug`: keep it out of logs and messages.
    #[must_use]
    pub fn with_names(&self) -> impl fmt::Debug {
        Shown(self)
    }
}

impl Fields for Property {
    fn fields(&self, f: &mut fmt::Formatter<'_>, show: bool) -> fmt::Result {
        let mut fields = f.debug_struct("Property");
        fields
            .field("pic", &self.pic)
            .field("name", &personal(&self.name, show))
            .field("register_id", &self.register_id)
            .field("business_name", &personal(&self.business_name, show))
            .field("first_name", &personal(&self.first_name, show))
            .field("last_name", &personal(&self.last_name, show))
            .field("town", &personal(&self.town, show))
            .field("species", &self.species)
            .field("property_types", &self.property_types)
            .field("brands", &self.brands)
            .field("registered_state", &self.registered_state)
            .field("admin_status", &self.admin_status)
            .field("shire_code", &self.shire_code);
        if show {
            let contacts: Vec<_> = self.contacts.iter().map(Shown).collect();
            fields.field("contacts", &contacts);
        } else {
            fields.field("contacts", &self.contacts);
        }
        fields.field("unknown_fields", &self.unknown).finish()
    }
}

impl fmt::Debug for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fields(f, false)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
        assert_eq!(
            *property.species,
            [SpeciesCode::Cattle, SpeciesCode::Unrecognized("Z".into())]
        );
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
        assert_eq!(
            serde_json::from_str::<Property>("{}").unwrap(),
            Property::default()
        );
    }

    #[test]
    fn the_name_of_a_status_tells_where_its_code_does_not() {
        for (wire, status) in [
            (
                json!({"ShortCode": "M", "Description": "Amalgamated"}),
                PropertyStatus::Amalgamated,
            ),
            (json!({"Description": "Blocked"}), PropertyStatus::Blocked),
            (json!("I"), PropertyStatus::Inactive),
            (
                json!({"ShortCode": "X"}),
                PropertyStatus::Unrecognized("X".into()),
            ),
        ] {
            let property: Property = serde_json::from_value(json!({"AdminStatus": wire})).unwrap();
            assert_eq!(property.admin_status, Some(status));
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
        assert!(
            property.contacts[0]
                .unknown_fields()
                .unwrap()
                .contains_key("Email")
        );
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
    fn records_are_objects() {
        for wire in [json!([]), json!("QAZZ7777"), json!(5)] {
            assert!(serde_json::from_value::<Property>(wire).is_err());
        }
    }

    #[test]
    fn names_are_shown_to_who_asks_for_them() {
        let property: Property = serde_json::from_value(json!({
            "PICName": "seen1", "LastName": "seen2", "ContactDetails": [{"LastName": "seen3"}]
        }))
        .unwrap();
        let shown = format!("{:?}", property.with_names());
        for name in ["seen1", "seen2", "seen3"] {
            assert!(shown.contains(name), "{shown}");
        }
    }

    #[test]
    fn debug_hides_people_and_firms() {
        let property: Property = serde_json::from_value(json!({
            "PICName": "hidden1", "BusinessName": "hidden2", "FirstName": "hidden3", "LastName": "hidden4",
            "Town": "hidden5", "ContactDetails": [{"FirstName": "hidden6", "LastName": "hidden7"}]
        }))
        .unwrap();
        assert!(!format!("{property:?}").contains("hidden"));
    }
}
