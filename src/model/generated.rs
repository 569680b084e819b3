// Written by tests/codegen from graphql/; change it there and run UPDATE_GENERATED=1 cargo test -p codegen.

use serde::{Deserialize, Serialize};
use super::open_enum::open_enum;
use super::redact::redacted_debug;
use super::{
    AccountId, AccountType, ConsignmentId, ConsignmentNumber, Maybe, PdfUrl, QuestionId,
    QuestionType, Role, TemplateId, Timestamp, ValidatorType,
};
/// An answer to choose.
///
/// Source: stated, specification 2.6.
///
/// One of the choices of a [`Question`]; see there for an example.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AcceptableAnswer {
    /// The text that is shown to the user.
    ///
    /// Source: stated, specification 2.6.
    pub display_name: Option<String>,
    /// The value that is sent as the answer.
    ///
    /// Source: stated, specification 2.6.
    pub value: Option<String>,
}
/// Property data of an account; its fields are not shown in the specification.
///
/// Source: stated, specification 2.8.
///
/// One of the [`properties`](UserAccount::properties) of an account. See [`UserDetails`] for an example.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AccountProperty {
    /// The name of the property.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub property_name: Option<String>,
    /// The programs to which the property is accredited.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub accreditations: Option<Accreditations>,
}
/// The accreditations to programs, of a user, an account or a property.
///
/// Source: stated, specification 2.8.
///
/// The accreditations of a user ([`UserDetails::accreditations`]) or of a property ([`AccountProperty::accreditations`]).
///
/// ```
/// use envd_sdk::model::UserDetails;
///
/// let json = r#"{"accreditations": {"lPA": true, "hRG": null}}"#;
/// let user: UserDetails = serde_json::from_str(json)?;
/// let accreditations = user.accreditations.unwrap_or_default();
/// assert_eq!((accreditations.lpa, accreditations.hrg), (Some(true), None));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Accreditations {
    /// By its name, Livestock Production Assurance.
    ///
    /// Source: stated, specification 2.8.
    #[serde(rename = "lPA")]
    pub lpa: Option<bool>,
    /// By its name, the European Union cattle accreditation.
    ///
    /// Source: stated, specification 2.8.
    #[serde(rename = "eU")]
    pub eu: Option<bool>,
    /// By its name, Meat Standards Australia.
    ///
    /// Source: stated, specification 2.8.
    #[serde(rename = "mSA")]
    pub msa: Option<bool>,
    /// By its name, grain-fed high-quality beef for the European Union.
    ///
    /// Source: stated, specification 2.8.
    #[serde(rename = "eUGFHQB")]
    pub eugfhqb: Option<bool>,
    /// By its name, the National Feedlot Accreditation Scheme.
    ///
    /// Source: stated, specification 2.8.
    #[serde(rename = "nFAS")]
    pub nfas: Option<bool>,
    /// By its name, harvested rangeland goats. When true, the user may create and view the form LPAHRG0.
    ///
    /// Source: stated, specification 2.8.
    #[serde(rename = "hRG")]
    pub hrg: Option<bool>,
}
/// A postal address in a record, of a [`Party`] or a [`Declaration`].
///
/// Source: public material (`OAuthSample`), not confirmed.
///
/// To send one, use an [`AddressInput`]. See [`Party`] for an example.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Address {
    /// Street and number, at most 300 characters when it is sent (2.2).
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub line1: Option<String>,
    /// The town, at most 100 characters when it is sent (2.2).
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub town: Option<String>,
    /// The state: ACT, NSW, NT, QLD, SA, TAS, VIC or WA.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub state: Option<String>,
    /// The postcode, four digits; 1000 to 9999 when it is sent (2.2).
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub postcode: Option<String>,
}
/// The answer to a question in a record, in [`Consignment::answers`].
///
/// Source: public material (`OAuthSample`), not confirmed.
///
/// To send one, use an [`AnswerInput`].
///
/// ```
/// use envd_sdk::model::Consignment;
///
/// let consignment: Consignment = serde_json::from_str(
///     r#"{"answers": [{"questionId": "17", "value": "Yes"},
///                     {"questionId": "3", "index": 0, "value": "24"}]}"#,
/// )?;
/// assert_eq!(consignment.answers[0].value.as_deref(), Some("Yes"));
/// // By question, and with the question's text: `Consignment::answered_questions`.
/// assert_eq!(consignment.answer("17"), Some("Yes"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Answer {
    /// The id of the question.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub question_id: Option<QuestionId>,
    /// The row inside a REPEATABLE question, counted from 0 in public records; null elsewhere.
    ///
    /// Source: public material (`OAuthSample`, `location_4.4.0`), not confirmed.
    #[serde(default, deserialize_with = "super::lenient::int")]
    pub index: Option<i64>,
    /// The answer; for a choice, the value of the acceptable answer.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub value: Option<String>,
}
/// A comment on a consignment, in a reply.
///
/// Source: stated, specification 2.9.
///
/// To send one, use a [`CommentInput`]. See [`AccountClient::comments`](crate::AccountClient::comments) for an example;
/// [`AccountClient::create_comment`](crate::AccountClient::create_comment) adds a comment.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Comment {
    /// The identifier of the comment.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub comment_id: Option<String>,
    /// The number of the consignment.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub consignment_number: Option<ConsignmentNumber>,
    /// The role of the author.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub role: Option<String>,
    /// The first name of the author.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub first_name: Option<String>,
    /// The last name of the author.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub last_name: Option<String>,
    /// The text of the comment.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub comment_text: Option<String>,
    /// The time of the comment.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub created_at: Option<Timestamp>,
}
/// A complete consignment: a movement of livestock, with the answers, the questions and the declaration.
///
/// Source: stated, specification 1.2, 2.5.
///
/// [`AccountClient::consignment`](crate::AccountClient::consignment) reads one consignment,
/// [`AccountClient::full_consignments`](crate::AccountClient::full_consignments) a list. Long lists are faster with [`ConsignmentSummary`],
/// which lacks `pdf_url`, `updated_by`, `submitted_at`, answers, questions and declaration. A save returns a [`SavedConsignment`]
/// with only id, number and status. To send a consignment, use a [`ConsignmentInput`], which you can create from the record.
///
/// ```
/// use envd_sdk::model::{Consignment, ConsignmentInput, ConsignmentStatus};
///
/// let consignment: Consignment = serde_json::from_str(
///     r#"{"id": "1", "status": "DRAFT", "heads": 24, "forms": [{"type": "LPAC1"}],
///         "origin": {"pic": "QAZZ7777"}, "destination": {"pic": "QDZZ3333"}}"#,
/// )?;
/// assert_eq!(consignment.status, Some(ConsignmentStatus::Draft));
/// let origin = consignment.origin.as_ref().and_then(|party| party.pic.as_deref());
/// assert_eq!(origin, Some("QAZZ7777"));
///
/// let input = ConsignmentInput::from(&consignment).movement("2026-11-24", "05:15");
/// assert_eq!(input.forms.len(), consignment.forms.len());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Consignment {
    /// The identifier of the consignment.
    ///
    /// Source: stated, specification 2.5.
    pub id: Option<ConsignmentId>,
    /// The number of the consignment; public records have `C-` and nine digits.
    ///
    /// Source: stated, specification 2.5.
    pub number: Option<ConsignmentNumber>,
    /// The state of the consignment.
    ///
    /// Source: stated, specification 2.5.
    pub status: Option<ConsignmentStatus>,
    /// The kind of livestock.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub species: Option<Species>,
    /// The day of the movement: yyyy-MM-dd when it is sent (2.1); a public record has a time after it.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub movement_date: Option<String>,
    /// The time of the movement, HH:mm when it is sent (2.1).
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub movement_time: Option<String>,
    /// The number of animals.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    #[doc(alias("animals", "head count"))]
    #[serde(default, deserialize_with = "super::lenient::int")]
    pub heads: Option<i64>,
    /// The address of the printed declaration. It carries a token in its query: treat it as a secret.
    ///
    /// Source: public material (`OAuthSample`, `location_4.4.0`), not confirmed.
    #[doc(alias = "print")]
    pub pdf_url: Option<PdfUrl>,
    /// The user who created the consignment.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub created_by: Option<String>,
    /// The time of the last change.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub updated_at: Option<Timestamp>,
    /// The user of the last change; seen in version 1 only.
    ///
    /// Source: public material (`location_4.4.0`), not confirmed.
    pub updated_by: Option<String>,
    /// The time of the submission; seen in version 1 only.
    ///
    /// Source: public material (`location_4.4.0`), not confirmed.
    pub submitted_at: Option<Timestamp>,
    /// The owner of the livestock.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub owner: Option<Party>,
    /// The origin of the livestock.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    #[doc(alias("consignor", "vendor"))]
    pub origin: Option<Party>,
    /// The destination of the livestock.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub destination: Option<Party>,
    /// The consignee.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub consignee: Option<Party>,
    /// The forms of the consignment.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    #[serde(default, deserialize_with = "super::lenient::list")]
    pub forms: Vec<ConsignmentForm>,
    /// The answers to the questions of the forms.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    #[serde(default, deserialize_with = "super::lenient::list")]
    pub answers: Vec<Answer>,
    /// The questions of the forms.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    #[serde(default, deserialize_with = "super::lenient::list")]
    pub questions: Vec<Question>,
    /// The vendor's declaration.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub declaration: Option<Declaration>,
}
/// A form attached to a consignment.
///
/// Source: public material (`OAuthSample`), not confirmed.
///
/// One of the forms of a [`Consignment`], a [`ConsignmentSummary`] or a [`Template`].
///
/// ```
/// use envd_sdk::model::{ConsignmentSummary, FormType};
///
/// let json = r#"{"forms": [{"type": "LPAC1"}, {"type": "MSAC1"}]}"#;
/// let record: ConsignmentSummary = serde_json::from_str(json)?;
/// let is_msa = record.forms.iter().any(|form| form.form_type == Some(FormType::Msac1));
/// assert!(is_msa);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ConsignmentForm {
    /// The type of the form.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    #[serde(rename = "type")]
    pub form_type: Option<FormType>,
    /// The serial number of the form: digits, for some forms after a letter.
    ///
    /// Source: public material (`OAuthSample`, `location_4.4.0`), not confirmed.
    pub serial_number: Option<String>,
}
/// A consignment in a list: number, status, species, movement, parties and forms.
///
/// Source: stated, specification 1.2, 2.5.
///
/// [`AccountClient::consignments`](crate::AccountClient::consignments) returns summaries. A summary lacks the answers, the questions, the declaration
/// and the address of the printed declaration: [`AccountClient::consignment`](crate::AccountClient::consignment) reads the complete [`Consignment`] by
/// its number.
///
/// ```
/// use envd_sdk::model::{ConsignmentSummary, Species};
///
/// let record: ConsignmentSummary = serde_json::from_str(
///     r#"{"number": "C-900000101", "species": "CATTLE", "heads": 24}"#,
/// )?;
/// assert_eq!(record.species, Some(Species::Cattle));
/// let heads = record.heads.map_or("unknown".to_owned(), |heads| heads.to_string());
/// assert_eq!(format!("head: {heads}"), "head: 24");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ConsignmentSummary {
    /// The identifier of the consignment.
    ///
    /// Source: stated, specification 2.5.
    pub id: Option<ConsignmentId>,
    /// The number of the consignment; public records have `C-` and nine digits.
    ///
    /// Source: stated, specification 2.5.
    pub number: Option<ConsignmentNumber>,
    /// The state of the consignment.
    ///
    /// Source: stated, specification 2.5.
    pub status: Option<ConsignmentStatus>,
    /// The kind of livestock.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub species: Option<Species>,
    /// The day of the movement: yyyy-MM-dd when it is sent (2.1); a public record has a time after it.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub movement_date: Option<String>,
    /// The time of the movement, HH:mm when it is sent (2.1).
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub movement_time: Option<String>,
    /// The number of animals.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    #[doc(alias("animals", "head count"))]
    #[serde(default, deserialize_with = "super::lenient::int")]
    pub heads: Option<i64>,
    /// The user who created the consignment.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub created_by: Option<String>,
    /// The time of the last change.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub updated_at: Option<Timestamp>,
    /// The owner of the livestock.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub owner: Option<Party>,
    /// The origin of the livestock.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    #[doc(alias("consignor", "vendor"))]
    pub origin: Option<Party>,
    /// The destination of the livestock.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub destination: Option<Party>,
    /// The consignee.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub consignee: Option<Party>,
    /// The forms of the consignment.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    #[serde(default, deserialize_with = "super::lenient::list")]
    pub forms: Vec<ConsignmentForm>,
}
/// A user who may see a consignment, with the role.
///
/// Source: stated, specification 2.9.
///
/// See [`AccountClient::user_mappings`](crate::AccountClient::user_mappings) for an example.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ConsignmentUserMapping {
    /// The identifier of the mapping.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub mapping_id: Option<String>,
    /// The email address of the user.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub email: Option<String>,
    /// The first name of the user.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub first_name: Option<String>,
    /// The last name of the user.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub last_name: Option<String>,
    /// The role of the user.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub role: Option<String>,
    /// The property identification code of the user.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub pic: Option<String>,
    /// The number of animals of the mapping.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    #[serde(default, deserialize_with = "super::lenient::int")]
    pub num_of_heads: Option<i64>,
}
/// The declaration that the vendor signs, in [`Consignment::declaration`].
///
/// Source: public material (`OAuthSample`), not confirmed.
///
/// To send one, use a [`DeclarationInput`]; see there for an example.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Declaration {
    /// Whether the vendor accepts the declaration.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub accept: Option<bool>,
    /// The name of the declarer, at most 300 characters when it is sent (2.3).
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub full_name: Option<String>,
    /// The telephone number of the declarer.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub phone: Option<String>,
    /// The email address of the declarer.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub email: Option<String>,
    /// The time of the declaration.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub date: Option<Timestamp>,
    /// The image of the signature, Base64 when it is sent (2.3); public records have a data URI.
    ///
    /// Source: public material (`OAuthSample`, `location_4.4.0`), not confirmed.
    pub signature: Option<String>,
    /// The certificate number, at most 7 characters when it is sent (2.3).
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub certificate_number: Option<String>,
    /// The address of the declarer.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub address: Option<Address>,
}
/// A declaration made in the electronic declaration system; its fields are not shown.
///
/// Source: stated, specification 2.9.
///
/// See [`AccountClient::edecs`](crate::AccountClient::edecs) for an example.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Edec {
    /// The identifier of the declaration.
    ///
    /// Source: assumed.
    pub id: Option<String>,
    /// The number of the declaration.
    ///
    /// Source: assumed.
    pub number: Option<String>,
    /// The state of the declaration.
    ///
    /// Source: assumed.
    pub status: Option<String>,
    /// The time of the declaration.
    ///
    /// Source: assumed.
    pub created_at: Option<Timestamp>,
}
/// The position of a page in its list.
///
/// Source: stated, specification 4.1.
///
/// Part of a [`Connection`](crate::model::Connection); a [`Pager`](crate::Pager) reads it for you. See
/// [`AccountClient::consignments_page`](crate::AccountClient::consignments_page) for an example.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PageInfo {
    /// Whether a page follows.
    ///
    /// Source: stated, specification 4.1.
    pub has_next_page: Option<bool>,
    /// The cursor of the last record of the page.
    ///
    /// Source: stated, specification 4.1.
    pub end_cursor: Option<String>,
}
/// A party in a consignment record: the owner, the origin, the destination or the consignee.
///
/// Source: public material (`OAuthSample`), not confirmed.
///
/// To send one, use a [`PartyInput`].
///
/// ```
/// use envd_sdk::model::{Party, Pic};
///
/// let origin: Party = serde_json::from_str(
///     r#"{"name": "Sample Station", "pic": "QAZZ7777", "address": {"town": "Roma"}}"#,
/// )?;
/// let pic = origin.pic.as_deref().and_then(|text| Pic::parse(text).ok());
/// assert_eq!(pic.map(|pic| pic.to_string()).as_deref(), Some("QAZZ7777"));
/// assert_eq!(origin.address.and_then(|address| address.town).as_deref(), Some("Roma"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Party {
    /// The name of the party, at most 300 characters when it is sent (2.2).
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub name: Option<String>,
    /// The property identification code (PIC), 8 characters.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub pic: Option<String>,
    /// The address of the party.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub address: Option<Address>,
}
/// A question of one or more forms.
///
/// Source: stated, specification 2.6.
///
/// [`Client::questions`](crate::Client::questions) reads all questions; the questions of a record are in [`Consignment::questions`]. A
/// [`Questionnaire`](crate::validate::Questionnaire) determines which of them apply to a consignment, and finds mistakes in its answers.
///
/// ```
/// use envd_sdk::model::{Question, QuestionType};
///
/// let question: Question = serde_json::from_str(
///     r#"{"id": "17", "text": "Were they born here?", "type": "SINGLE_CHOICE",
///         "triggers": [{"questionId": "3", "value": "Yes"}],
///         "validators": [{"type": "required"}],
///         "acceptableAnswers": [{"displayName": "Yes", "value": "Yes"},
///                               {"displayName": "No", "value": "No"}]}"#,
/// )?;
/// assert_eq!(question.question_type, Some(QuestionType::SingleChoice));
/// let choices = question.acceptable_answers.iter();
/// let choices = choices.filter_map(|answer| answer.display_name.as_deref());
/// assert_eq!(choices.collect::<Vec<_>>(), ["Yes", "No"]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Question {
    /// The identifier, equal to `questionId` in answers.
    ///
    /// Source: stated, specification 2.6.
    pub id: Option<QuestionId>,
    /// The position on display.
    ///
    /// Source: stated, specification 2.6.
    #[serde(default, deserialize_with = "super::lenient::int")]
    pub order: Option<i64>,
    /// The text of the question.
    ///
    /// Source: stated, specification 2.6.
    pub text: Option<String>,
    /// A longer explanation.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub help: Option<String>,
    /// A short hint.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub tip: Option<String>,
    /// Whether the question is read-only; what that means for its answer is not shown.
    ///
    /// Source: stated, specification 2.6.
    pub read_only: Option<bool>,
    /// The forms in which the question appears.
    ///
    /// Source: stated, specification 2.6.
    #[serde(default, deserialize_with = "super::lenient::list")]
    pub forms: Vec<FormType>,
    /// The type of the question; `REPEATABLE`, `SINGLE_CHOICE` and `STRING` are named, a multiple-choice type too; further kinds are not shown.
    ///
    /// Source: stated, specification 2.6.
    #[serde(rename = "type")]
    pub question_type: Option<QuestionType>,
    /// The answers on which this question depends; null or empty when it depends on none.
    ///
    /// Source: stated, specification 2.6.
    #[serde(default, deserialize_with = "super::lenient::list")]
    pub triggers: Vec<Trigger>,
    /// The rules for the answer.
    ///
    /// Source: stated, specification 2.6.
    #[serde(default, deserialize_with = "super::lenient::list")]
    pub validators: Vec<QuestionValidator>,
    /// The answers to choose from, for choice questions.
    ///
    /// Source: stated, specification 2.6.
    #[serde(default, deserialize_with = "super::lenient::list")]
    pub acceptable_answers: Vec<AcceptableAnswer>,
    /// The questions under this one.
    ///
    /// Source: stated, specification 2.6.
    #[serde(default, deserialize_with = "super::lenient::list")]
    pub child_questions: Vec<Question>,
}
/// The list of questions.
///
/// Source: stated, specification 4.1.
///
/// See [`Client::questions`](crate::Client::questions) for an example.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct QuestionList {
    /// The questions without a parent.
    ///
    /// Source: stated, specification 4.1.
    #[serde(default, deserialize_with = "super::lenient::list")]
    pub items: Vec<Question>,
}
/// A rule for the answer to a question.
///
/// Source: stated, specification 2.6.
///
/// One of the rules of a [`Question`]; see there for an example. A [`Questionnaire`](crate::validate::Questionnaire) applies them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct QuestionValidator {
    /// The kind of rule; required, minYear and maxYear are named, further kinds are not shown.
    ///
    /// Source: stated, specification 2.6.
    #[serde(rename = "type")]
    pub validator_type: Option<ValidatorType>,
    /// The parameter: empty for required, a year for minYear, a year or `now` for maxYear.
    ///
    /// Source: stated, specification 2.6.
    pub parameter: Option<String>,
    /// The text for the user when the rule is broken.
    ///
    /// Source: stated, specification 2.6.
    pub error_message: Option<String>,
}
/// The result of a change to a consignment: its id, number and status.
///
/// Source: stated, specification 1.2, 2.5.
///
/// [`AccountClient::save_consignment`](crate::AccountClient::save_consignment), [`submit_consignment`](crate::AccountClient::submit_consignment),
/// [`copy_consignment`](crate::AccountClient::copy_consignment) and [`delete_consignment`](crate::AccountClient::delete_consignment) return it. It
/// has no other fields: [`AccountClient::consignment`](crate::AccountClient::consignment) reads the complete [`Consignment`]. See
/// [`AccountClient::save_consignment`](crate::AccountClient::save_consignment) for an example.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SavedConsignment {
    /// The identifier of the consignment.
    ///
    /// Source: stated, specification 2.5.
    pub id: Option<ConsignmentId>,
    /// The number of the consignment; public records have `C-` and nine digits.
    ///
    /// Source: stated, specification 2.5.
    pub number: Option<ConsignmentNumber>,
    /// The state of the consignment.
    ///
    /// Source: stated, specification 2.5.
    pub status: Option<ConsignmentStatus>,
}
/// The result of a change to a template: its id, number and name.
///
/// Source: stated, specification 2.9.
///
/// [`AccountClient::template`](crate::AccountClient::template) reads the complete [`Template`]. See
/// [`AccountClient::save_template`](crate::AccountClient::save_template) for an example.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SavedTemplate {
    /// The identifier of the template.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub id: Option<TemplateId>,
    /// The number of the template.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub number: Option<String>,
    /// The name of the template.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub name: Option<String>,
}
/// A complete template of consignments: its name, parties and forms. No source shows all of its fields or its use.
///
/// Source: stated, specification 2.9.
///
/// [`AccountClient::template`](crate::AccountClient::template) reads one template, [`AccountClient::templates`](crate::AccountClient::templates) a list. A save
/// returns a [`SavedTemplate`] with only id, number and name. To send a template, use a [`TemplateInput`].
///
/// ```
/// use envd_sdk::model::{ConsignmentInput, FormType, Template};
///
/// let template: Template = serde_json::from_str(
///     r#"{"name": "Weaners to the yards", "forms": [{"type": "LPAC1"}],
///         "destination": {"pic": "QDZZ3333"}}"#,
/// )?;
/// let input = ConsignmentInput::from(&template).movement("2026-11-23", "05:15");
/// assert_eq!(input.forms, [FormType::Lpac1]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Template {
    /// The identifier of the template.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub id: Option<TemplateId>,
    /// The number of the template.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub number: Option<String>,
    /// The name of the template.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub name: Option<String>,
    /// The kind of livestock.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub species: Option<Species>,
    /// The owner of the livestock.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub owner: Option<Party>,
    /// The origin of the livestock.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub origin: Option<Party>,
    /// The destination of the livestock.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub destination: Option<Party>,
    /// The consignee.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub consignee: Option<Party>,
    /// The forms of the template.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    #[serde(default, deserialize_with = "super::lenient::list")]
    pub forms: Vec<ConsignmentForm>,
}
/// An answer on which a question depends.
///
/// Source: stated, specification 2.6.
///
/// Part of a [`Question`]; see there for an example. A [`Questionnaire`](crate::validate::Questionnaire) evaluates it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Trigger {
    /// The question that it depends on.
    ///
    /// Source: stated, specification 2.6.
    pub question_id: Option<QuestionId>,
    /// The answer that triggers the question.
    ///
    /// Source: stated, specification 2.6.
    pub value: Option<String>,
}
/// An account of a user, in the [`accounts`](UserDetails::accounts) of [`UserDetails`].
///
/// Source: stated, specification 2.8.
///
/// The id of an [`AccountClient`](crate::AccountClient) is its `envd_account_id`. See
/// [`UserDetails`] for an example.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UserAccount {
    /// The identifier that operations take as `envdAccountId`.
    ///
    /// Source: stated, specification 2.8.
    pub envd_account_id: Option<AccountId>,
    /// The label of the account.
    ///
    /// Source: stated, specification 2.8.
    pub account_label: Option<String>,
    /// The id of the account in its own program.
    ///
    /// Source: stated, specification 2.8.
    pub account_id: Option<String>,
    /// The kind of account; LPA is a value, further values are not shown.
    ///
    /// Source: stated, specification 2.8.
    pub account_type: Option<AccountType>,
    /// The email address of the account.
    ///
    /// Source: stated, specification 2.8.
    pub email: Option<String>,
    /// The roles of the account.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    #[serde(default, deserialize_with = "super::lenient::known_list")]
    pub roles: Option<Vec<Role>>,
    /// Requested property data; an empty object when there is none.
    ///
    /// Source: stated, specification 2.8.
    #[serde(default, deserialize_with = "super::lenient::one_or_many")]
    pub properties: Vec<AccountProperty>,
}
/// The user of the access token.
///
/// Source: stated, specification 2.8.
///
/// [`Client::user_details`](crate::Client::user_details) reads it;
/// [`Client::choose_account`](crate::Client::choose_account) reads it and chooses an account.
///
/// ```
/// use envd_sdk::model::UserDetails;
///
/// let user: UserDetails = serde_json::from_str(
///     r#"{"firstName": "Sam", "roles": ["Producer"], "defaultAccount": "envd-100201",
///         "accounts": [{"envdAccountId": "envd-100201", "accountLabel": "Sample Station",
///                       "accountType": "LPA"}]}"#,
/// )?;
/// let account = user.default_account().or_else(|| user.producer_accounts().next());
/// let label = account.and_then(|account| account.account_label.as_deref());
/// assert_eq!(label, Some("Sample Station"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UserDetails {
    /// The identity provider's id of the user.
    ///
    /// Source: stated, specification 2.8.
    pub auth0_id: Option<String>,
    /// Whether the user is not registered with the service; registration happens outside this interface.
    ///
    /// Source: stated, specification 2.8.
    pub is_new_user: Option<bool>,
    /// The email address of the user.
    ///
    /// Source: stated, specification 2.8.
    pub email: Option<String>,
    /// The first name; empty for a user who is not registered.
    ///
    /// Source: stated, specification 2.8.
    pub first_name: Option<String>,
    /// The last name; empty for a user who is not registered.
    ///
    /// Source: stated, specification 2.8.
    pub last_name: Option<String>,
    /// The mobile phone number; empty for a user who is not registered.
    ///
    /// Source: stated, specification 2.8.
    pub mobile_phone: Option<String>,
    /// The account id of the default account with the prefix `envd-`; empty for a user who is not registered.
    ///
    /// Source: stated, specification 2.8.
    pub default_account: Option<String>,
    /// The accounts of the user.
    ///
    /// Source: stated, specification 2.8.
    #[serde(default, deserialize_with = "super::lenient::list")]
    pub accounts: Vec<UserAccount>,
    /// The programs to which the user is accredited.
    ///
    /// Source: stated, specification 2.8.
    pub accreditations: Option<Accreditations>,
    /// The roles of the user.
    ///
    /// Source: stated, specification 2.8.
    #[serde(default, deserialize_with = "super::lenient::known_list")]
    pub roles: Option<Vec<Role>>,
}
/// A postal address to send, in a [`PartyInput`] or a [`DeclarationInput`].
///
/// Source: stated, specification 2.2.
///
/// A record has it as an [`Address`]. [`new`](Self::new) takes all fields. See [`DeclarationInput`] for an example.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[must_use]
#[non_exhaustive]
pub struct AddressInput {
    /// Street and number, at most 300 characters.
    ///
    /// Source: stated, specification 2.2.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub line1: Maybe<String>,
    /// The town, at most 100 characters.
    ///
    /// Source: stated, specification 2.2.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub town: Maybe<String>,
    /// The state: ACT, NSW, NT, QLD, SA, TAS, VIC or WA.
    ///
    /// Source: stated, specification 2.2.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub state: Maybe<String>,
    /// The postcode, four digits, 1000 to 9999.
    ///
    /// Source: stated, specification 2.2.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub postcode: Maybe<String>,
}
impl AddressInput {
    /// Street and number, at most 300 characters.
    ///
    /// Source: stated, specification 2.2.
    pub fn line1(mut self, line1: impl Into<Maybe<String>>) -> Self {
        self.line1 = line1.into();
        self
    }

    /// The town, at most 100 characters.
    ///
    /// Source: stated, specification 2.2.
    pub fn town(mut self, town: impl Into<Maybe<String>>) -> Self {
        self.town = town.into();
        self
    }

    /// The state: ACT, NSW, NT, QLD, SA, TAS, VIC or WA.
    ///
    /// Source: stated, specification 2.2.
    pub fn state(mut self, state: impl Into<Maybe<String>>) -> Self {
        self.state = state.into();
        self
    }

    /// The postcode, four digits, 1000 to 9999.
    ///
    /// Source: stated, specification 2.2.
    pub fn postcode(mut self, postcode: impl Into<Maybe<String>>) -> Self {
        self.postcode = postcode.into();
        self
    }
}
/// The answer to a question, to send.
///
/// Source: stated, specification 2.4.
///
/// A record has it as an [`Answer`]. [`new`](Self::new) answers a question, [`row`](Self::row) sets the row inside a
/// REPEATABLE question.
///
/// ```
/// use envd_sdk::model::AnswerInput;
///
/// let answer = AnswerInput::new("3", "24").row(0);
/// assert_eq!(serde_json::to_string(&answer)?, r#"{"questionId":"3","index":0,"value":"24"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[must_use]
#[non_exhaustive]
pub struct AnswerInput {
    /// The id of the question.
    ///
    /// Source: stated, specification 2.4.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub question_id: Maybe<QuestionId>,
    /// The row inside a REPEATABLE question, counted from 0 in public records; null in the samples.
    ///
    /// Source: stated, specification 2.4.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub index: Maybe<i64>,
    /// The answer; for a choice, the value of the acceptable answer.
    ///
    /// Source: stated, specification 2.4.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub value: Maybe<String>,
}
impl AnswerInput {
    /// The id of the question.
    ///
    /// Source: stated, specification 2.4.
    pub fn question_id(mut self, question_id: impl Into<Maybe<QuestionId>>) -> Self {
        self.question_id = question_id.into();
        self
    }

    /// The row inside a REPEATABLE question, counted from 0 in public records; null in the samples.
    ///
    /// Source: stated, specification 2.4.
    pub fn index(mut self, index: impl Into<Maybe<i64>>) -> Self {
        self.index = index.into();
        self
    }

    /// The answer; for a choice, the value of the acceptable answer.
    ///
    /// Source: stated, specification 2.4.
    pub fn value(mut self, value: impl Into<Maybe<String>>) -> Self {
        self.value = value.into();
        self
    }
}
/// A comment to add; its fields are not shown.
///
/// Source: assumed.
///
/// See [`AccountClient::create_comment`](crate::AccountClient::create_comment) for an example.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[must_use]
#[non_exhaustive]
pub struct CommentInput {
    /// The number of the consignment.
    ///
    /// Source: assumed.
    #[serde(deserialize_with = "super::lenient::or_default")]
    pub consignment_number: ConsignmentNumber,
    /// The text of the comment.
    ///
    /// Source: assumed.
    #[serde(deserialize_with = "super::lenient::or_default")]
    pub comment_text: String,
}
impl CommentInput {
    /// The number of the consignment.
    ///
    /// Source: assumed.
    pub fn consignment_number(mut self, consignment_number: impl Into<ConsignmentNumber>) -> Self {
        self.consignment_number = consignment_number.into();
        self
    }

    /// The text of the comment.
    ///
    /// Source: assumed.
    pub fn comment_text(mut self, comment_text: impl Into<String>) -> Self {
        self.comment_text = comment_text.into();
        self
    }
}
/// A consignment to create or save.
///
/// Source: stated, specification 2.1.
///
/// [`new`](Self::new) takes the required fields, and has an example of the setters; [`from`](Self::from)
/// creates an input from a record. [`Questionnaire::validate`](crate::validate::Questionnaire::validate) finds its mistakes, and
/// [`AccountClient::save_consignment`](crate::AccountClient::save_consignment) sends it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[must_use]
#[non_exhaustive]
pub struct ConsignmentInput {
    /// The id of the record to update. How an update names its record is not shown.
    ///
    /// Source: assumed.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub id: Maybe<ConsignmentId>,
    /// The number of the record to update. How an update names its record is not shown.
    ///
    /// Source: assumed.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub number: Maybe<ConsignmentNumber>,
    /// The forms, at least one, all of the same species.
    ///
    /// Source: stated, specification 2.1.
    #[serde(deserialize_with = "super::lenient::or_default")]
    pub forms: Vec<FormType>,
    /// The origin of the livestock; its PIC is required.
    ///
    /// Source: stated, specification 2.1.
    #[doc(alias("consignor", "vendor"))]
    #[serde(deserialize_with = "super::lenient::or_default")]
    pub origin: PartyInput,
    /// The destination of the livestock; its PIC is required.
    ///
    /// Source: stated, specification 2.1.
    #[serde(deserialize_with = "super::lenient::or_default")]
    pub destination: PartyInput,
    /// The owner of the livestock.
    ///
    /// Source: stated, specification 2.1.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub owner: Maybe<PartyInput>,
    /// The consignee.
    ///
    /// Source: stated, specification 2.1.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub consignee: Maybe<PartyInput>,
    /// The vendor's declaration.
    ///
    /// Source: stated, specification 2.1.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub declaration: Maybe<DeclarationInput>,
    /// The day of the movement, ISO 8601 date (yyyy-MM-dd).
    ///
    /// Source: stated, specification 2.1.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub movement_date: Maybe<String>,
    /// The time of the movement, 24-hour time (HH:mm).
    ///
    /// Source: stated, specification 2.1.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub movement_time: Maybe<String>,
    /// The state of the consignment.
    ///
    /// Source: stated, specification 2.1.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub status: Maybe<ConsignmentStatus>,
    /// The answers to the questions of the forms.
    ///
    /// Source: stated, specification 2.1.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub answers: Maybe<Vec<AnswerInput>>,
}
impl ConsignmentInput {
    /// The id of the record to update. How an update names its record is not shown.
    ///
    /// Source: assumed.
    pub fn id(mut self, id: impl Into<Maybe<ConsignmentId>>) -> Self {
        self.id = id.into();
        self
    }

    /// The number of the record to update. How an update names its record is not shown.
    ///
    /// Source: assumed.
    pub fn number(mut self, number: impl Into<Maybe<ConsignmentNumber>>) -> Self {
        self.number = number.into();
        self
    }

    /// The forms, at least one, all of the same species.
    ///
    /// Source: stated, specification 2.1.
    pub fn forms(mut self, forms: impl IntoIterator<Item = FormType>) -> Self {
        self.forms = forms.into_iter().collect();
        self
    }

    /// The origin of the livestock; its PIC is required.
    ///
    /// Source: stated, specification 2.1.
    pub fn origin(mut self, origin: impl Into<PartyInput>) -> Self {
        self.origin = origin.into();
        self
    }

    /// The destination of the livestock; its PIC is required.
    ///
    /// Source: stated, specification 2.1.
    pub fn destination(mut self, destination: impl Into<PartyInput>) -> Self {
        self.destination = destination.into();
        self
    }

    /// The owner of the livestock.
    ///
    /// Source: stated, specification 2.1.
    pub fn owner(mut self, owner: impl Into<Maybe<PartyInput>>) -> Self {
        self.owner = owner.into();
        self
    }

    /// The consignee.
    ///
    /// Source: stated, specification 2.1.
    pub fn consignee(mut self, consignee: impl Into<Maybe<PartyInput>>) -> Self {
        self.consignee = consignee.into();
        self
    }

    /// The vendor's declaration.
    ///
    /// Source: stated, specification 2.1.
    pub fn declaration(mut self, declaration: impl Into<Maybe<DeclarationInput>>) -> Self {
        self.declaration = declaration.into();
        self
    }

    /// The day of the movement, ISO 8601 date (yyyy-MM-dd).
    ///
    /// Source: stated, specification 2.1.
    pub fn movement_date(mut self, movement_date: impl Into<Maybe<String>>) -> Self {
        self.movement_date = movement_date.into();
        self
    }

    /// The time of the movement, 24-hour time (HH:mm).
    ///
    /// Source: stated, specification 2.1.
    pub fn movement_time(mut self, movement_time: impl Into<Maybe<String>>) -> Self {
        self.movement_time = movement_time.into();
        self
    }

    /// The state of the consignment.
    ///
    /// Source: stated, specification 2.1.
    pub fn status(mut self, status: impl Into<Maybe<ConsignmentStatus>>) -> Self {
        self.status = status.into();
        self
    }

    /// The answers to the questions of the forms.
    ///
    /// Source: stated, specification 2.1.
    pub fn with_answers(mut self, answers: impl IntoIterator<Item = AnswerInput>) -> Self {
        self.answers = Maybe::Value(answers.into_iter().collect());
        self
    }
}
/// The declaration that the vendor signs, to send.
///
/// Source: stated, specification 2.3.
///
/// A record has it as a [`Declaration`].
///
/// ```
/// use envd_sdk::model::{AddressInput, DeclarationInput, Maybe};
///
/// let declaration = DeclarationInput::default()
///     .accept(true)
///     .full_name("Sam Sample")
///     .phone("0491570156")
///     .email("sam.sample@example.com")
///     .date("2026-11-20T09:45:00")
///     .certificate_number(Maybe::Null)
///     .address(AddressInput::default().town("Roma").state("QLD"));
/// let json = serde_json::to_value(&declaration)?;
/// assert!(json["certificateNumber"].is_null() && json.get("signature").is_none());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[must_use]
#[non_exhaustive]
pub struct DeclarationInput {
    /// Whether the vendor accepts the declaration.
    ///
    /// Source: stated, specification 2.3.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub accept: Maybe<bool>,
    /// The name of the declarer, at most 300 characters.
    ///
    /// Source: stated, specification 2.3.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub full_name: Maybe<String>,
    /// The telephone number of the declarer, in national form or in international form with a leading plus.
    ///
    /// Source: stated, specification 2.3.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub phone: Maybe<String>,
    /// The email address of the declarer.
    ///
    /// Source: stated, specification 2.3.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub email: Maybe<String>,
    /// The time of the declaration, yyyy-MM-ddTHH:mm:ss.
    ///
    /// Source: stated, specification 2.3.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub date: Maybe<String>,
    /// The image of the signature, Base64 without `data:image/png;base64,` before it.
    ///
    /// Source: stated, specification 2.3.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub signature: Maybe<String>,
    /// The certificate number, at most 7 characters.
    ///
    /// Source: stated, specification 2.3.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub certificate_number: Maybe<String>,
    /// The address of the declarer.
    ///
    /// Source: stated, specification 2.3.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub address: Maybe<AddressInput>,
}
impl DeclarationInput {
    /// Whether the vendor accepts the declaration.
    ///
    /// Source: stated, specification 2.3.
    pub fn accept(mut self, accept: impl Into<Maybe<bool>>) -> Self {
        self.accept = accept.into();
        self
    }

    /// The name of the declarer, at most 300 characters.
    ///
    /// Source: stated, specification 2.3.
    pub fn full_name(mut self, full_name: impl Into<Maybe<String>>) -> Self {
        self.full_name = full_name.into();
        self
    }

    /// The telephone number of the declarer, in national form or in international form with a leading plus.
    ///
    /// Source: stated, specification 2.3.
    pub fn phone(mut self, phone: impl Into<Maybe<String>>) -> Self {
        self.phone = phone.into();
        self
    }

    /// The email address of the declarer.
    ///
    /// Source: stated, specification 2.3.
    pub fn email(mut self, email: impl Into<Maybe<String>>) -> Self {
        self.email = email.into();
        self
    }

    /// The time of the declaration, yyyy-MM-ddTHH:mm:ss.
    ///
    /// Source: stated, specification 2.3.
    pub fn date(mut self, date: impl Into<Maybe<String>>) -> Self {
        self.date = date.into();
        self
    }

    /// The image of the signature, Base64 without `data:image/png;base64,` before it.
    ///
    /// Source: stated, specification 2.3.
    pub fn signature(mut self, signature: impl Into<Maybe<String>>) -> Self {
        self.signature = signature.into();
        self
    }

    /// The certificate number, at most 7 characters.
    ///
    /// Source: stated, specification 2.3.
    pub fn certificate_number(mut self, certificate_number: impl Into<Maybe<String>>) -> Self {
        self.certificate_number = certificate_number.into();
        self
    }

    /// The address of the declarer.
    ///
    /// Source: stated, specification 2.3.
    pub fn address(mut self, address: impl Into<Maybe<AddressInput>>) -> Self {
        self.address = address.into();
        self
    }
}
/// A party to a consignment, to send: the owner, the origin, the destination or the consignee.
///
/// Source: stated, specification 2.2.
///
/// A record has it as a [`Party`].
///
/// ```
/// use envd_sdk::model::{AddressInput, PartyInput};
///
/// let origin = PartyInput::new("QAZZ7777")
///     .name("Sample Pastoral")
///     .address(AddressInput::new("1 Sample Road", "Roma", "QLD", "4455"));
/// assert_eq!(origin.pic.value().map(String::as_str), Some("QAZZ7777"));
/// ```
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[must_use]
#[non_exhaustive]
pub struct PartyInput {
    /// The name of the party, at most 300 characters.
    ///
    /// Source: stated, specification 2.2.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub name: Maybe<String>,
    /// The property identification code (PIC), 8 characters; required for origin and destination.
    ///
    /// Source: stated, specification 2.2.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub pic: Maybe<String>,
    /// The address of the party.
    ///
    /// Source: stated, specification 2.2.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub address: Maybe<AddressInput>,
}
impl PartyInput {
    /// The name of the party, at most 300 characters.
    ///
    /// Source: stated, specification 2.2.
    pub fn name(mut self, name: impl Into<Maybe<String>>) -> Self {
        self.name = name.into();
        self
    }

    /// The property identification code (PIC), 8 characters; required for origin and destination.
    ///
    /// Source: stated, specification 2.2.
    pub fn pic(mut self, pic: impl Into<Maybe<String>>) -> Self {
        self.pic = pic.into();
        self
    }

    /// The address of the party.
    ///
    /// Source: stated, specification 2.2.
    pub fn address(mut self, address: impl Into<Maybe<AddressInput>>) -> Self {
        self.address = address.into();
        self
    }
}
/// A template to create or save; its fields are not shown.
///
/// Source: assumed.
///
/// See [`AccountClient::save_template`](crate::AccountClient::save_template) for an example.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[must_use]
#[non_exhaustive]
pub struct TemplateInput {
    /// The id of the record to update.
    ///
    /// Source: assumed.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub id: Maybe<TemplateId>,
    /// The number of the record to update.
    ///
    /// Source: assumed.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub number: Maybe<String>,
    /// The name of the template.
    ///
    /// Source: assumed.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub name: Maybe<String>,
    /// The forms of the template.
    ///
    /// Source: assumed.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub forms: Maybe<Vec<FormType>>,
    /// The origin of the livestock.
    ///
    /// Source: assumed.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub origin: Maybe<PartyInput>,
    /// The destination of the livestock.
    ///
    /// Source: assumed.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub destination: Maybe<PartyInput>,
    /// The owner of the livestock.
    ///
    /// Source: assumed.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub owner: Maybe<PartyInput>,
    /// The consignee.
    ///
    /// Source: assumed.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub consignee: Maybe<PartyInput>,
}
impl TemplateInput {
    /// The id of the record to update.
    ///
    /// Source: assumed.
    pub fn id(mut self, id: impl Into<Maybe<TemplateId>>) -> Self {
        self.id = id.into();
        self
    }

    /// The number of the record to update.
    ///
    /// Source: assumed.
    pub fn number(mut self, number: impl Into<Maybe<String>>) -> Self {
        self.number = number.into();
        self
    }

    /// The name of the template.
    ///
    /// Source: assumed.
    pub fn name(mut self, name: impl Into<Maybe<String>>) -> Self {
        self.name = name.into();
        self
    }

    /// The forms of the template.
    ///
    /// Source: assumed.
    pub fn forms(mut self, forms: impl IntoIterator<Item = FormType>) -> Self {
        self.forms = Maybe::Value(forms.into_iter().collect());
        self
    }

    /// The origin of the livestock.
    ///
    /// Source: assumed.
    pub fn origin(mut self, origin: impl Into<Maybe<PartyInput>>) -> Self {
        self.origin = origin.into();
        self
    }

    /// The destination of the livestock.
    ///
    /// Source: assumed.
    pub fn destination(mut self, destination: impl Into<Maybe<PartyInput>>) -> Self {
        self.destination = destination.into();
        self
    }

    /// The owner of the livestock.
    ///
    /// Source: assumed.
    pub fn owner(mut self, owner: impl Into<Maybe<PartyInput>>) -> Self {
        self.owner = owner.into();
        self
    }

    /// The consignee.
    ///
    /// Source: assumed.
    pub fn consignee(mut self, consignee: impl Into<Maybe<PartyInput>>) -> Self {
        self.consignee = consignee.into();
        self
    }
}
redacted_debug! {
    AccountProperty { property_name: hidden, accreditations }
    Address { line1: hidden, town: hidden, state, postcode: hidden }
    AddressInput { line1: hidden, town: hidden, state, postcode: hidden }
    Answer { question_id, index, value: hidden }
    AnswerInput { question_id, index, value: hidden }
    Comment { comment_id, consignment_number, role, first_name: hidden, last_name: hidden,
        comment_text: hidden, created_at }
    CommentInput { consignment_number, comment_text: hidden }
    Consignment { id, number, status, species, movement_date, movement_time, heads, pdf_url,
        created_by: hidden, updated_at, updated_by: hidden, submitted_at, owner, origin,
        destination, consignee, forms, answers, questions, declaration }
    ConsignmentSummary { id, number, status, species, movement_date, movement_time, heads,
        created_by: hidden, updated_at, owner, origin, destination, consignee, forms }
    ConsignmentUserMapping { mapping_id, email: hidden, first_name: hidden, last_name: hidden, role,
        pic, num_of_heads }
    Declaration { accept, full_name: hidden, phone: hidden, email: hidden, date, signature: hidden,
        certificate_number: hidden, address }
    DeclarationInput { accept, full_name: hidden, phone: hidden, email: hidden, date,
        signature: hidden, certificate_number: hidden, address }
    Party { name: hidden, pic, address }
    PartyInput { name: hidden, pic, address }
    SavedTemplate { id, number, name: hidden }
    Template { id, number, name: hidden, species, owner, origin, destination, consignee, forms }
    TemplateInput { id, number, name: hidden, forms, origin, destination, owner, consignee }
    UserAccount { envd_account_id, account_label: hidden, account_id, account_type, email: hidden,
        roles, properties }
    UserDetails { auth0_id: hidden, is_new_user, email: hidden, first_name: hidden,
        last_name: hidden, mobile_phone: hidden, default_account, accounts, accreditations, roles }
}
open_enum! {
    /// The state of a consignment; transitions between the states are not shown.
    ///
    /// Source: stated, specification 3.1.
    ///
    /// ```
    /// use envd_sdk::model::ConsignmentStatus;
    ///
    /// assert_eq!(ConsignmentStatus::from("SUBMITTED"), ConsignmentStatus::Submitted);
    /// // A status that the service adds later is kept unchanged.
    /// let unknown = ConsignmentStatus::from("ARCHIVED");
    /// assert_eq!((unknown.is_known(), unknown.as_str()), (false, "ARCHIVED"));
    /// ```
    ConsignmentStatus {
        /// The meaning is not shown: by its name, deleted.
        ///
        /// Source: stated, specification 3.1.
        Deleted = "DELETED",
        /// The status with which the sample of a new consignment is sent; by its name, being written.
        ///
        /// Source: stated, specification 3.1.
        Draft = "DRAFT",
        /// The meaning is not shown: by its name, handed over by the vendor.
        ///
        /// Source: stated, specification 3.1.
        Submitted = "SUBMITTED",
        /// The meaning is not shown: by its name, closed to changes.
        ///
        /// Source: stated, specification 3.1.
        Locked = "LOCKED",
    }
}
open_enum! {
    /// The kind of livestock of a consignment.
    ///
    /// Source: public material (`location_4.4.0`), not confirmed.
    ///
    /// For animals kept on a property see [`SpeciesCode`](super::SpeciesCode).
    ///
    /// ```
    /// use envd_sdk::model::{FormType, Species};
    ///
    /// assert_eq!(FormType::Lpac1.species(), Some(Species::Cattle));
    /// assert_eq!(Species::SheepLamb.as_str(), "SHEEP_LAMB");
    /// ```
    Species {
        /// Cattle.
        ///
        /// Source: public material (`location_4.4.0`), not confirmed.
        Cattle = "CATTLE",
        /// Goats.
        ///
        /// Source: public material (`location_4.4.0`), not confirmed.
        Goat = "GOAT",
        /// Bobby calves.
        ///
        /// Source: public material (`location_4.4.0`), not confirmed.
        BobbyCalves = "BOBBY_CALVES",
        /// Sheep and lambs.
        ///
        /// Source: public material (`location_4.4.0`), not confirmed.
        SheepLamb = "SHEEP_LAMB",
    }
}
open_enum! {
    /// A form: one declaration required for a movement. The digit at the end is its version; a new version gets a new value.
    ///
    /// Source: stated, specification 2.1, 9.2.
    ///
    /// ```
    /// use envd_sdk::model::{FormType, Species};
    ///
    /// let forms = FormType::KNOWN.iter();
    /// let sheep = forms.filter(|form| form.species() == Some(Species::SheepLamb));
    /// assert_eq!(sheep.collect::<Vec<_>>(), [&FormType::Hssl1, &FormType::Lpasl1]);
    /// assert_eq!(FormType::Lpag2.replaced_by(), Some(FormType::Lpag3));
    /// ```
    FormType {
        /// Program LPA, cattle; by its name, the European Union vendor declaration.
        ///
        /// Source: stated, specification 2.7.
        Euc1 = "EUC1",
        /// Cattle; the program is not shown. By its name, a health declaration.
        ///
        /// Source: stated, specification 2.7.
        Hsc2 = "HSC2",
        /// Goats; the program is not shown. By its name, a health declaration.
        ///
        /// Source: stated, specification 2.7.
        Hsg0 = "HSG0",
        /// Sheep; the program is not shown. By its name, a health declaration.
        ///
        /// Source: stated, specification 2.7.
        Hssl1 = "HSSL1",
        /// Program LPA (Livestock Production Assurance), bobby calves.
        ///
        /// Source: stated, specification 2.7.
        Lpabc1 = "LPABC1",
        /// Program LPA, cattle.
        ///
        /// Source: stated, specification 2.7.
        Lpac1 = "LPAC1",
        /// Program LPA, goats; cannot be created from 2024-11-19 on.
        ///
        /// Source: stated, specification 2.7, 9.4.
        Lpag2 = "LPAG2",
        /// Program LPA, sheep.
        ///
        /// Source: stated, specification 2.7.
        Lpasl1 = "LPASL1",
        /// Program MSA (Meat Standards Australia), cattle.
        ///
        /// Source: stated, specification 2.7.
        Msac1 = "MSAC1",
        /// Program NFAS (National Feedlot Accreditation Scheme), cattle.
        ///
        /// Source: stated, specification 2.7.
        Nfasc0 = "NFASC0",
        /// Program NFAS, cattle; by its name, a delivery docket.
        ///
        /// Source: stated, specification 2.7.
        Nfasddc1 = "NFASDDC1",
        /// Program NFAS, cattle; by its name, of the European Union.
        ///
        /// Source: stated, specification 2.7.
        Nfaseuc1 = "NFASEUC1",
        /// Program LPA, rangeland goats; from 2024-10-01, for users with the hRG accreditation.
        ///
        /// Source: stated, specification 2.7, 9.3, 9.4.
        Lpahrg0 = "LPAHRG0",
        /// Program LPA, goats; from 2024-11-19, replaces LPAG2.
        ///
        /// Source: stated, specification 2.7, 9.4.
        Lpag3 = "LPAG3",
    }
}
