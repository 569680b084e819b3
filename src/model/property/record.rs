//! A property as the register knows it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::coded::{codes, status};
use super::{PropertyContact, PropertyStatus, PropertyTypeCode, SpeciesCode};
use crate::model::hidden::Hidden;
use crate::model::{List, lenient};

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
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Property {
    /// The property identification code, as the register writes it.
    #[serde(rename = "PIC")]
    #[doc(alias = "PIC")]
    pub pic: Option<String>,
    /// The name of the property.
    #[serde(rename = "PICName")]
    #[doc(alias = "PICName")]
    pub name: Option<String>,
    /// The register's own identifier.
    #[serde(rename = "PICRegisterId", deserialize_with = "lenient::int")]
    #[doc(alias = "PICRegisterId")]
    pub register_id: Option<i64>,
    /// The firm; may be empty.
    #[serde(rename = "BusinessName")]
    #[doc(alias = "BusinessName")]
    pub business_name: Option<String>,
    /// The first name of the manager.
    #[serde(rename = "FirstName")]
    #[doc(alias = "FirstName")]
    pub first_name: Option<String>,
    /// The last name of the manager.
    #[serde(rename = "LastName")]
    #[doc(alias = "LastName")]
    pub last_name: Option<String>,
    /// The town.
    #[serde(rename = "Town")]
    #[doc(alias = "Town")]
    pub town: Option<String>,
    /// The species that are kept.
    #[serde(rename = "Species", with = "codes")]
    #[doc(alias = "Species")]
    pub species: List<SpeciesCode>,
    /// What the property is used for.
    #[serde(rename = "PropertyTypes", with = "codes")]
    #[doc(alias = "PropertyTypes")]
    pub property_types: List<PropertyTypeCode>,
    /// The codes of its brands.
    #[serde(rename = "Brands", with = "codes")]
    #[doc(alias = "Brands")]
    pub brands: List<String>,
    /// The state or territory in which it is registered, such as `QLD`.
    #[serde(rename = "RegisteredState")]
    #[doc(alias = "RegisteredState")]
    pub registered_state: Option<String>,
    /// The state of the property in the register.
    #[serde(rename = "AdminStatus", with = "status")]
    #[doc(alias = "AdminStatus")]
    pub admin_status: Option<PropertyStatus>,
    /// The code of the shire.
    #[serde(rename = "ShireCode")]
    #[doc(alias = "ShireCode")]
    pub shire_code: Option<String>,
    /// Who is to be asked about it.
    #[serde(rename = "ContactDetails")]
    #[doc(alias = "ContactDetails")]
    pub contacts: List<PropertyContact>,
}

impl Property {
    /// Whether the register says that the property is in use. A missing or unknown state is not active.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.admin_status
            .as_ref()
            .is_some_and(PropertyStatus::is_active)
    }
}

impl fmt::Debug for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Property")
            .field("pic", &self.pic)
            .field("name", &Hidden::of(&self.name))
            .field("register_id", &self.register_id)
            .field("business_name", &Hidden::of(&self.business_name))
            .field("first_name", &Hidden::of(&self.first_name))
            .field("last_name", &Hidden::of(&self.last_name))
            .field("town", &Hidden::of(&self.town))
            .field("species", &self.species)
            .field("property_types", &self.property_types)
            .field("brands", &self.brands)
            .field("registered_state", &self.registered_state)
            .field("admin_status", &self.admin_status)
            .field("shire_code", &self.shire_code)
            .field("contacts", &self.contacts)
            .finish()
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
    fn debug_hides_people_and_firms() {
        let property: Property = serde_json::from_value(json!({
            "PICName": "hidden1", "BusinessName": "hidden2", "FirstName": "hidden3", "LastName": "hidden4",
            "Town": "hidden5", "ContactDetails": [{"FirstName": "hidden6", "LastName": "hidden7"}]
        }))
        .unwrap();
        assert!(!format!("{property:?}").contains("hidden"));
    }
}
