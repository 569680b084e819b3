//! The entries of a profile.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Sourced;
use crate::model::{Day, Program, Species};

/// Addresses of one environment of the service, in full; none is derived from another. Tokens are sent to them.
///
/// Of a [`ServiceProfile`](super::ServiceProfile), whose page has an example.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Addresses {
    /// Where operations are posted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graphql: Option<Sourced<String>>,
    /// The audience of access tokens, which need not be the address of the interface.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audience: Option<Sourced<String>>,
    /// The issuer of tokens, as the identity provider writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer: Option<Sourced<String>>,
    /// Where a login begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authorize: Option<Sourced<String>>,
    /// Where tokens are issued.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<Sourced<String>>,
    /// Where refresh tokens are revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revoke: Option<Sourced<String>>,
    /// Where the session at the identity provider ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logout: Option<Sourced<String>>,
    /// Where a login with a second device begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_authorization: Option<Sourced<String>>,
    /// Where the browser returns after a login, as registered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirect: Option<Sourced<String>>,
    /// Where the browser returns after a logout, as registered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub return_to: Option<Sourced<String>>,
    /// The register, without the path of `PICRegister`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub register: Option<Sourced<String>>,
}

impl Addresses {
    /// Those that something is sent to, with their names.
    pub(super) fn of_servers(&self) -> impl Iterator<Item = (&'static str, &Sourced<String>)> {
        let all = [
            ("graphql", &self.graphql),
            ("issuer", &self.issuer),
            ("authorize", &self.authorize),
            ("token", &self.token),
            ("revoke", &self.revoke),
            ("logout", &self.logout),
            ("deviceAuthorization", &self.device_authorization),
            ("register", &self.register),
        ];
        all.into_iter()
            .filter_map(|(name, address)| Some((name, address.as_ref()?)))
    }
}

/// What differs from our document of an operation.
///
/// With a `document`, that is sent in place of ours. Without one, ours is sent, without the fields of `left_out` and with the
/// field names of `record_at`.
///
/// ```
/// # equipment::example(async {
/// use envd_sdk::fake::Fake;
/// use envd_sdk::profile::{OperationProfile, ServiceProfile, Sourced};
///
/// // A service that has the user details elsewhere, and no roles in them.
/// let mut details = OperationProfile::default();
/// details.record_at = Some("/userDetailsQuery/data".to_owned());
/// details.left_out = vec!["roles".to_owned()];
/// let mut profile = ServiceProfile::default();
/// profile.operations.insert("userDetails".to_owned(), Sourced::seen(details));
///
/// let fake = Fake::builder().profile(&profile).start().await?;
/// let client = fake.client().profile(&profile).build()?;
/// assert_eq!(client.user_details().await?.value.first_name.as_deref(), Some("Sam"));
/// # Ok(()) });
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[non_exhaustive]
pub struct OperationProfile {
    /// The document that is sent in place of ours: one operation of the same kind, with our variables or fewer
    /// ([`override_operation`](crate::ClientBuilder::override_operation)).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// Where the record stands in the reply: a JSON pointer (RFC 6901) from its `data`, such as `/producer/copy/0`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_at: Option<String>,
    /// Fields of the record that the service does not have, such as `accounts.roles`: their values are `None` or empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

impl OperationProfile {
    /// This document is sent in place of ours.
    pub fn of_document(document: impl Into<String>) -> Self {
        Self {
            document: Some(document.into()),
            ..Self::default()
        }
    }
}

/// The names of the fields by which an input says which record it updates; `None`: there is no such field, or none is needed.
///
/// With the default a save sends `id` and `number` as the caller has set them.
///
/// See [`ServiceProfile`](super::ServiceProfile) for an example.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RecordNames {
    /// The field for the id, `id` by default.
    pub id: Option<String>,
    /// The field for the number.
    pub number: Option<String>,
}

impl Default for RecordNames {
    fn default() -> Self {
        Self {
            id: Some("id".to_owned()),
            number: None,
        }
    }
}

/// A form that is newer than this crate. What it says of the form is checked; what it leaves open is not.
///
/// See [`Questionnaire::with_profile`](crate::validate::Questionnaire::with_profile) for an example.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[non_exhaustive]
pub struct FurtherForm {
    /// The id, such as `LPAC2`.
    pub id: String,
    /// The species.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub species: Option<Species>,
    /// The program that owns it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<Program>,
    /// The first day on which it can be created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Day>,
    /// The first day on which it can no longer be created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Day>,
}

impl FurtherForm {
    /// A form of which only the id is known.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            ..Self::default()
        }
    }
}

/// Lists of consignments.
///
/// Of a [`ServiceProfile`](super::ServiceProfile). See [`Sourced`] for an example.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Lists {
    /// The date that the arguments `fromDate` and `toDate` are compared with; `None`: not known.
    pub compared_date: Sourced<Option<ComparedDate>>,
    /// The order in which records are listed. Nothing relies on it.
    pub order: Sourced<ListOrder>,
    /// The largest page that the service accepts; larger ones are not asked for. `None`: any.
    pub largest_page: Sourced<Option<u32>>,
}

impl Lists {
    /// Compares this date. assumed
    #[must_use]
    pub fn comparing(mut self, date: ComparedDate) -> Self {
        self.compared_date = Sourced::default();
        self.compared_date.value = Some(date);
        self
    }

    /// Has this order. assumed
    #[must_use]
    pub fn ordered(mut self, order: ListOrder) -> Self {
        self.order = Sourced::default();
        self.order.value = order;
        self
    }
}

/// Which date of a consignment the arguments `fromDate` and `toDate` of lists are compared with.
///
/// See [`Sourced`] for an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ComparedDate {
    /// The time of the last change.
    LastChange,
    /// The time of the creation.
    Creation,
    /// The date of the movement. A record without one is not listed when a date is given.
    Movement,
}

/// The order of lists. Records with the same date or number are in order of creation, in the same direction.
///
/// Of [`Lists`]. See [`Assumptions`](crate::fake::levers::Assumptions) for an example.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ListOrder {
    /// By creation, descending.
    #[default]
    NewestFirst,
    /// By creation, ascending.
    OldestFirst,
    /// By the last change, descending: a changed record moves to the front.
    LatestUpdateFirst,
    /// By the last change, ascending: a changed record moves to the end.
    EarliestUpdateFirst,
    /// By number, ascending.
    Number,
}

/// The property register.
///
/// Of a [`ServiceProfile`](super::ServiceProfile). See [`RegisterBuilder::profile`](crate::register::RegisterBuilder::profile)
/// for an example.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[non_exhaustive]
pub struct RegisterProfile {
    /// The `pageindex` of the first page, 0 or 1; `None`: not known, and the client finds it out with one request more.
    pub first_page_index: Sourced<Option<u32>>,
    /// The code that a search sends for a status, by its name, such as `Amalgamated`; names are sent where there is none.
    pub status_codes: Sourced<BTreeMap<String, String>>,
    /// How the reply to a look-up shows its record. The client reads all of them.
    pub record_shape: Sourced<RecordShape>,
    /// Whether a reply of status 404 without a body, at the address of a PIC, says that there is no such property. `None`: not
    /// known; it counts once the client has had a good answer of the same register, since a wrong address looks the same.
    pub empty_not_found: Sourced<Option<bool>>,
    /// How requests are authenticated.
    pub authentication: Sourced<RegisterAuthentication>,
}

/// How the register shows one record.
///
/// Of a [`RegisterProfile`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RecordShape {
    /// In a page of one.
    #[default]
    List,
    /// As the object under `Value`.
    Value,
    /// As it is.
    Bare,
}

/// How requests to the register are authenticated.
///
/// Of a [`RegisterProfile`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RegisterAuthentication {
    /// Not known; what the caller gives is sent.
    #[default]
    Unknown,
    /// By the access token.
    Bearer,
    /// By a key in the header of this name.
    Header(String),
}
