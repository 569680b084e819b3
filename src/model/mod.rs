//! The data types of both interfaces: records, inputs, codes, ids, days, and server errors.
//!
//! Most of them are generated from the schema under `graphql/`. Each names its source: *stated* by the specification, seen in
//! *public material* and not confirmed, or *assumed*. All fields of records are optional: if the server does not send one, it
//! is `None` or an empty list. Null elements of a list are dropped, and counted in [`Outcome::nulls`](crate::Outcome::nulls).
//! Unknown codes are kept as `Unrecognized`.
//!
//! # Consignments
//!
//! A consignment is one movement of livestock. A list returns [`ConsignmentSummary`]s, a read of a single one a
//! [`Consignment`], and a change takes a [`ConsignmentInput`] and returns a [`SavedConsignment`].
//!
//! | part | read | sent |
//! | --- | --- | --- |
//! | owner, origin, destination, consignee | [`Party`], [`Address`] | [`PartyInput`], [`AddressInput`] |
//! | forms | [`ConsignmentForm`] | [`FormType`] |
//! | answers | [`Answer`], with its question an [`AnsweredQuestion`] | [`AnswerInput`] |
//! | the vendor's declaration | [`Declaration`] | [`DeclarationInput`] |
//! | comments | [`Comment`] | [`CommentInput`] |
//! | templates | [`Template`], [`SavedTemplate`] | [`TemplateInput`] |
//!
//! [`ConsignmentStatus`] and [`Species`] are its codes; [`ConsignmentId`], [`ConsignmentNumber`] and [`TemplateId`] are ids,
//! and [`PdfUrl`] is the address of the printed declaration. A [`ConsignmentUserMapping`] is a user who may view it, an
//! [`Edec`] a declaration made in the electronic declaration system.
//!
//! # Forms and questions
//!
//! A [`FormType`] identifies a form and its version, for a [`Program`] and a species. A [`Question`] has the [`QuestionType`]
//! of its answer, [`AcceptableAnswer`]s, [`Trigger`]s that make it apply, and [`QuestionValidator`]s ([`ValidatorType`]); its
//! id is a [`QuestionId`]. [`validate`](crate::validate) interprets them, so most programs only pass the list on.
//!
//! # People and accounts
//!
//! [`UserDetails`] is the logged-in user, with [`Role`]s, [`Accreditations`] and [`UserAccount`]s. An account has an
//! [`AccountId`], an [`AccountType`] and possibly [`AccountProperty`]s.
//!
//! # Properties
//!
//! A [`Pic`] is a property identification code; [`PicAdvice`] states why a code looks mistyped, and [`TextError`] why a text is
//! not a code. The register has a [`Property`] for each code, with [`PropertyContact`]s and codes: [`PropertyStatus`],
//! [`PropertyTypeCode`], [`SpeciesCode`].
//!
//! # Days, times and places
//!
//! A [`Day`] is a date without a time, a [`Timestamp`] an instant as the server writes it. The day of an instant depends on the
//! place: a [`Jurisdiction`] is a state or territory, and has a [`TimeZone`].
//!
//! # Lists
//!
//! A [`Position`] is a position in a paged list, and a [`ListNotice`] reports an irregularity. The pages themselves
//! ([`Connection`], [`Edge`], [`PageInfo`]) and the wrappers in other replies ([`Saved`], [`QuestionList`]) are relevant only
//! to operations that you run yourself.
//!
//! # Server errors
//!
//! A [`ServerError`] is one error of a reply, as data: its [`Severity`], its [`Condition`], and the path to the field.
//!
//! # Malformed text
//!
//! A fault in a single string does not affect the rest of a reply, on either interface: an unpaired surrogate is decoded as
//! U+FFFD, and of several members of a record with the same name, the last one wins (RFC 8259 sections 4 and 8.2). Only `data`
//! and `errors` themselves must not be duplicated.
//!
//! # Records in tests
//!
//! Your tests can build records field by field or from wire JSON. Records can be compared, and serialized back to JSON.
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
//! `new` takes the required data, and every field has a setter of the same name; see [`ConsignmentInput::new`] and
//! [`DeclarationInput`]. An optional field is a [`Maybe`]: absent, null, or a value. An input created from a record
//! ([`ConsignmentInput::from`]) can be changed and saved. [`WithExtra`] is an input with additional fields, for features
//! missing in the specification; [`ConsignmentText`] is an input that is sent byte for byte.

mod answered_question;
mod codes;
mod condition;
mod connection;
mod consignment_text;
mod day;
mod edit;
mod extra;
mod forms;
#[rustfmt::skip]
mod generated;
mod ids;
mod input;
pub(crate) mod json_path;
pub(crate) mod json_repair;
pub(crate) mod json_text;
pub mod lenient;
mod nesting;
mod open_enum;
mod pdf_url;
mod pic;
mod property;
pub(crate) mod redact;
pub(crate) mod reply_memory;
mod server_error;
mod time_zone;
mod timestamp;
mod user_details;
pub(crate) mod visible_text;

pub use self::answered_question::AnsweredQuestion;
#[doc(alias = "processor")]
pub use self::codes::PropertyTypeCode;
#[doc(alias = "agent")]
pub use self::codes::Role;
pub use self::codes::{AccountType, PropertyStatus, QuestionType, SpeciesCode, ValidatorType};
pub use self::condition::Condition;
#[doc(alias("page", "nodes"))]
pub use self::connection::Connection;
pub use self::connection::ListNotice;
#[doc(alias("cursor", "resume", "bookmark"))]
pub use self::connection::Position;
pub use self::connection::{Edge, Saved};
pub use self::consignment_text::ConsignmentText;
#[doc(alias = "date")]
pub use self::day::Day;
pub use self::extra::WithExtra;
pub use self::forms::Program;
#[doc(alias("LPA", "MSA", "EU", "NFAS", "accreditation"))]
pub use self::generated::Accreditations;
#[doc(alias = "CreateCommentInput")]
pub use self::generated::CommentInput;
#[doc(alias("NVD", "eNVD", "waybill", "movement"))]
pub use self::generated::Consignment;
#[doc(alias("NVD", "eNVD", "waybill", "movement", "CreateOrSaveConsignmentInput"))]
pub use self::generated::ConsignmentInput;
#[doc(alias = "state")]
pub use self::generated::ConsignmentStatus;
#[doc(alias("NVD", "eNVD", "EFormType", "LPA", "MSA", "EU", "NFAS"))]
pub use self::generated::FormType;
#[doc(alias("animals", "livestock", "ConsignmentSpecies"))]
pub use self::generated::Species;
#[doc(alias = "CreateOrSaveTemplateInput")]
pub use self::generated::TemplateInput;
#[doc(alias = "condition")]
pub use self::generated::Trigger;
#[doc(alias("profile", "me"))]
pub use self::generated::UserDetails;
pub use self::generated::*;
#[doc(alias = "vendor declaration")]
pub use self::generated::{Declaration, DeclarationInput};
#[doc(alias("vendor", "consignor", "seller", "buyer"))]
pub use self::generated::{Party, PartyInput};
#[doc(alias = "envdAccountId")]
pub use self::ids::AccountId;
pub use self::ids::{ConsignmentId, ConsignmentNumber, QuestionId, TemplateId};
#[doc(alias("null", "optional"))]
pub use self::input::Maybe;
pub use self::lenient::record_or_data;
#[doc(alias = "print")]
pub use self::pdf_url::PdfUrl;
#[doc(alias("property identification code", "property number"))]
pub use self::pic::Pic;
pub use self::pic::PicAdvice;
#[doc(alias("farm", "premises"))]
pub use self::property::Property;
pub use self::property::PropertyContact;
#[doc(alias("compare", "similarity"))]
pub use self::server_error::{ServerError, Severity};
#[doc(alias("state", "territory"))]
pub use self::time_zone::Jurisdiction;
pub use self::time_zone::TimeZone;
#[doc(alias("instant", "date-time"))]
pub use self::timestamp::Timestamp;
pub use self::visible_text::TextError;

#[cfg(feature = "client")]
pub(crate) use self::consignment_text::rename_fields;
#[cfg(feature = "client")]
pub(crate) use self::lenient::object;
#[allow(unused_imports)] // Only the client reads replies.
pub(crate) use self::lenient::{BorrowedText, list, places};
pub(crate) use self::redact::OneLine;
pub(crate) use self::server_error::{input_path, server_path};
