//! The records of the property register (spec 2.10).

mod coded;
mod codes;
mod contact;
mod form;
mod record;
mod shown;
mod unknown;
mod wire_record;

pub use self::codes::{PropertyStatus, PropertyTypeCode, SpeciesCode};
pub use self::contact::PropertyContact;
pub use self::record::Property;
