//! The nouns of both interfaces: records, inputs, codes, ids, days, and the errors of the server.
//!
//! Most of them are written from the schema under `graphql/`. Each names its source: *stated* by the
//! specification, seen in *public material* and not confirmed, or *assumed*. All fields of records may be missing: what
//! the server does not send is `None` or an empty [`List`]. Unknown codes are kept as
//! `Unrecognized`.
//!
//! # Records in tests
//!
//! A test of your own builds a record field by field or from the JSON of the wire. Records can be compared, and written as
//! JSON again.
//!
//! ```
//! use envd_sdk::model::{Consignment, ConsignmentStatus, Property};
//!
//! let mut record = Consignment::default();
//! record.number = Some("C-900000101".into());
//! record.status = Some(ConsignmentStatus::Draft);
//! let same: Consignment = serde_json::from_str(r#"{"number": "C-900000101", "status": "DRAFT"}"#)?;
//! assert_eq!(record, same);
//!
//! let property: Property = serde_json::from_str(r#"{"PIC": "QAZZ7777", "Town": "Roma"}"#)?;
//! assert_eq!(property.town.as_deref(), Some("Roma"));
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! # Inputs
//!
//! `new` takes what is required, and every field has a setter of its name; see [`ConsignmentInput::new`] and
//! [`DeclarationInput`]. An input made from a record ([`ConsignmentInput::from`]) can be changed and saved.

mod codes;
mod condition;
mod day;
mod edit;
mod extra;
mod forms;
#[rustfmt::skip]
mod generated;
mod ids;
mod input;
mod input_path;
mod jurisdiction;
mod lenient;
mod list;
mod maybe;
mod open_enum;
mod pdf_url;
mod pic;
mod pic_advice;
mod property;
pub(crate) mod redact;
mod server_error;
mod time_zone;
mod timestamp;
mod user_details;
mod written_time;

pub use self::codes::{
    AccountType, PropertyStatus, PropertyTypeCode, QuestionType, Role, SpeciesCode, ValidatorType,
};
pub use self::condition::Condition;
pub use self::day::Day;
pub use self::extra::WithExtra;
pub use self::forms::Program;
pub use self::generated::*;
pub use self::ids::{AccountId, ConsignmentId, ConsignmentNumber, QuestionId, TemplateId};
pub use self::jurisdiction::Jurisdiction;
pub use self::lenient::record_or_data;
pub use self::list::{List, ListNotice, Position};
pub use self::maybe::Maybe;
pub use self::pdf_url::PdfUrl;
pub use self::pic::{Pic, TextError};
pub use self::pic_advice::PicAdvice;
pub use self::property::{Property, PropertyContact};
pub use self::server_error::{Location, PathSegment, ServerError, Severity};
pub use self::time_zone::TimeZone;
pub use self::timestamp::Timestamp;

pub(crate) use self::input_path::input_path;
pub(crate) use self::redact::OneLine;
