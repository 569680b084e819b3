//! The records of the property register (spec 2.10).

#[cfg(test)]
mod tests;
mod wire_record;

use std::fmt;

use serde::Serialize;
use serde::de::MapAccess;
use serde_json::{Map, Value};

use self::wire_record::{AnyValue, Codes, Int, Status, WireRecords, wire_record};
use super::redact::redacted_debug;
use super::{PropertyStatus, PropertyTypeCode, SpeciesCode, reply_memory};

wire_record! {
    /// A property in the register (spec 2.10). Any field may be missing. `Debug` hides the names of people and firms.
    ///
    /// ```
    /// use envd_sdk::model::{Property, SpeciesCode};
    ///
    /// let property: Property = serde_json::from_str(
    ///     r#"{"PIC": "QAZZ7777", "PICName": "Sample Station", "Species": [{"ShortCode": "C"}],
    ///         "AdminStatus": {"ShortCode": "A", "Description": "Active"}}"#,
    /// )?;
    /// assert_eq!(property.pic.as_deref(), Some("QAZZ7777"));
    /// assert_eq!(property.species, [SpeciesCode::Cattle]);
    /// assert!(property.is_active());
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub struct Property {
        /// The property identification code, as written by the register.
        "PIC" => pic: Option<String>,
        /// The name of the property.
        "PICName" => name: Option<String>,
        /// The register's own id.
        "PICRegisterId" => register_id: Option<i64> as Int,
        /// The firm; may be empty.
        "BusinessName" => business_name: Option<String>,
        /// The first name of the manager.
        "FirstName" => first_name: Option<String>,
        /// The last name of the manager.
        "LastName" => last_name: Option<String>,
        /// The town.
        "Town" => town: Option<String>,
        /// The species kept on the property.
        #[serde(serialize_with = "wire_record::write_codes")]
        "Species" => species: Vec<SpeciesCode> as Codes,
        /// The use of the property.
        #[serde(serialize_with = "wire_record::write_codes")]
        "PropertyTypes" => property_types: Vec<PropertyTypeCode> as Codes,
        /// The codes of the brands.
        #[serde(serialize_with = "wire_record::write_codes")]
        "Brands" => brands: Vec<String> as Codes,
        /// The state or territory of registration, such as `QLD`.
        "RegisteredState" => registered_state: Option<String>,
        /// The state of the property in the register.
        #[serde(serialize_with = "wire_record::write_status")]
        "AdminStatus" => admin_status: Option<PropertyStatus> as Status,
        /// The code of the shire.
        "ShireCode" => shire_code: Option<String>,
        /// The contact persons.
        "ContactDetails" => contacts: Vec<PropertyContact> as WireRecords,
    }
}

impl Property {
    /// Whether the register lists the property as in use. A missing or unknown state counts as not active.
    pub fn is_active(&self) -> bool {
        self.admin_status
            .as_ref()
            .is_some_and(PropertyStatus::is_active)
    }
}

wire_record! {
    /// A contact person of a property (spec 2.10). `Debug` hides the name.
    ///
    /// ```
    /// use envd_sdk::model::Property;
    ///
    /// let property: Property = serde_json::from_str(
    ///     r#"{"ContactDetails": [{"FirstName": "Sam", "LastName": "Sample",
    ///                             "ContactTypeShortCode": "PICMANAGERCONTACT"}]}"#,
    /// )?;
    /// let mut contacts = property.contacts.iter();
    /// let kind = Some("PICMANAGERCONTACT");
    /// let manager = contacts.find(|contact| contact.contact_type.as_deref() == kind);
    /// assert_eq!(manager.and_then(|contact| contact.last_name.as_deref()), Some("Sample"));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub struct PropertyContact {
        /// The first name.
        "FirstName" => first_name: Option<String>,
        /// The last name.
        "LastName" => last_name: Option<String>,
        /// The role of the person; `PICMANAGERCONTACT` is the manager, other codes are unknown.
        "ContactTypeShortCode" => contact_type: Option<String>,
    }
}

redacted_debug! {
    Property {
        pic, name: hidden, register_id, business_name: hidden, first_name: hidden, last_name: hidden, town: hidden, species,
        property_types, brands, registered_state, admin_status, shire_code, contacts, unknown
    }
    PropertyContact { first_name: hidden, last_name: hidden, contact_type, unknown }
}

/// Fields unknown to this version of the crate. Usually empty, which only takes a null pointer.
#[derive(Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
struct Unknown(Option<Box<Map<String, Value>>>);

impl Unknown {
    fn read<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        let AnyValue(value) = map.next_value()?;
        reply_memory::charge_member(self.0.is_none(), name)?;
        let fields = self.0.get_or_insert_default();
        fields.insert(name.to_owned(), value);
        Ok(())
    }

    fn get(&self) -> Option<&Map<String, Value>> {
        self.0.as_deref()
    }

    fn iter(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.get().into_iter().flatten()
    }
}

/// Shows only the names, because values may be personal.
impl fmt::Debug for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.iter().map(|(name, _)| name))
            .finish()
    }
}
