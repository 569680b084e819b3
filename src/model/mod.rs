//! The nouns of both interfaces: records, inputs, codes, ids, days, and the errors of the server.
//!
//! Most of them are written from the schema under `graphql/`. Each names its source: *stated* by the
//! specification, seen in *public material* and not confirmed, or *assumed*. All fields of records may be missing: what
//! the server does not send is `None` or an empty list. An element that it sends as null is left out of its list,
//! and counted in [`Outcome::nulls`](crate::Outcome::nulls). Unknown codes are kept as `Unrecognized`.
//!
//! # Consignments
//!
//! A consignment is one movement of livestock. A list has it as a [`ConsignmentSummary`], a read of one as a [`Consignment`], and
//! a change takes a [`ConsignmentInput`] and returns a [`SavedConsignment`].
//!
//! | part | read | sent |
//! | --- | --- | --- |
//! | owner, origin, destination, consignee | [`Party`], [`Address`] | [`PartyInput`], [`AddressInput`] |
//! | forms | [`ConsignmentForm`] | [`FormType`] |
//! | answers | [`Answer`], with its question an [`AnsweredQuestion`] | [`AnswerInput`] |
//! | what the vendor signs | [`Declaration`] | [`DeclarationInput`] |
//! | comments | [`Comment`] | [`CommentInput`] |
//! | templates | [`Template`], [`SavedTemplate`] | [`TemplateInput`] |
//!
//! [`ConsignmentStatus`] and [`Species`] are codes of it, [`ConsignmentId`], [`ConsignmentNumber`] and [`TemplateId`] its ids, and
//! [`PdfUrl`] is the address of the printed declaration. A [`ConsignmentUserMapping`] is a user who may see it, an [`Edec`] a
//! declaration made in the electronic declaration system.
//!
//! # Forms and questions
//!
//! A [`FormType`] names a form and its version, of a [`Program`] and for a species. A [`Question`] has the [`QuestionType`] of its
//! answer, the [`AcceptableAnswer`]s, the [`Trigger`]s by which it applies, and [`QuestionValidator`]s ([`ValidatorType`]); its
//! id is a [`QuestionId`]. [`validate`](crate::validate) interprets them: mostly a program needs no more than the list.
//!
//! # People and accounts
//!
//! [`UserDetails`] is the user who is logged in, with [`Role`]s, [`Accreditations`] and a [`UserAccount`] for each account, which has
//! an [`AccountId`], an [`AccountType`] and perhaps [`AccountProperty`]s.
//!
//! # Properties
//!
//! A [`Pic`] is a property identification code; [`PicAdvice`] says why one looks mistyped, and [`TextError`] why a text is
//! not one. The register has a [`Property`] for it, with [`PropertyContact`]s, and codes: [`PropertyStatus`], [`PropertyTypeCode`],
//! [`SpeciesCode`].
//!
//! # Days, times and places
//!
//! A [`Day`] is a date without a time, a [`Timestamp`] an instant as the server writes it. Which day it is depends on the place: a
//! [`Jurisdiction`] is a state or territory, and has a [`TimeZone`].
//!
//! # Lists
//!
//! A [`Position`] is a place in a list that is read page by page, and a [`ListNotice`] an irregularity of such a list. The pages
//! themselves ([`Connection`], [`Edge`], [`PageInfo`]) and what stands around a record in other replies ([`Saved`],
//! [`QuestionList`]) matter only to operations that you run yourself.
//!
//! # Errors of the server
//!
//! A [`ServerError`] is one of the errors of a reply, as data: its [`Severity`], its [`Condition`], and the path to the
//! field.
//!
//! # Texts of the server
//!
//! Faults of single texts cost nothing else, on both interfaces: half of a surrogate pair is read as U+FFFD, and of two members of a
//! record with the same name the last one counts (RFC 8259 sections 4 and 8.2). Only `data` and `errors` themselves must not come
//! twice.
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
//! [`DeclarationInput`]. A field of it is a [`Maybe`]: absent, null, or a value. An input made from a record
//! ([`ConsignmentInput::from`]) can be changed and saved. [`WithExtra`] is an input with further fields, for what the
//! specification does not show; [`ConsignmentText`] is an input that is sent byte for byte.

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
mod record_diff;
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
pub use self::record_diff::{FieldDiff, record_diff};
pub use self::server_error::{ServerError, Severity};
#[doc(alias("state", "territory"))]
pub use self::time_zone::Jurisdiction;
pub use self::time_zone::TimeZone;
#[doc(alias("instant", "date-time"))]
pub use self::timestamp::Timestamp;
pub use self::visible_text::TextError;

#[cfg(feature = "client")]
pub(crate) use self::lenient::object;
#[allow(unused_imports)] // Only the client reads replies.
pub(crate) use self::lenient::{BorrowedText, list, places};
pub(crate) use self::redact::OneLine;
pub(crate) use self::server_error::{input_path, server_path};
