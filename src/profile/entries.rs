//! The entries of a profile.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Sourced;
use crate::model::{Day, Program, Species};

/// The addresses of one environment of the service, in full. None is derived from another. Tokens are sent to them.
///
/// Part of a [`ServiceProfile`](super::ServiceProfile), whose page has an example.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Addresses {
    /// The address that operations are posted to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graphql: Option<Sourced<String>>,
    /// The audience of access tokens; it may differ from the address of the interface.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audience: Option<Sourced<String>>,
    /// The issuer of tokens, as the identity provider writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer: Option<Sourced<String>>,
    /// The authorization endpoint, where a login starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authorize: Option<Sourced<String>>,
    /// The token endpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<Sourced<String>>,
    /// The endpoint that revokes refresh tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revoke: Option<Sourced<String>>,
    /// The endpoint that ends the session at the identity provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logout: Option<Sourced<String>>,
    /// The endpoint where a login with a second device starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_authorization: Option<Sourced<String>>,
    /// The address to which the browser returns after a login, as registered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirect: Option<Sourced<String>>,
    /// The address to which the browser returns after a logout, as registered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub return_to: Option<Sourced<String>>,
    /// The base address of the register, without the path of `PICRegister`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub register: Option<Sourced<String>>,
}

impl Addresses {
    /// The addresses that requests are sent to, with their names.
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

/// Differences from this crate's document for an operation.
///
/// If there is a `document`, it is sent instead. Otherwise the crate's document is sent without the fields in `left_out`, and
/// with the field names of `record_at`.
///
/// ```
/// # test_support::example(async {
/// use envd_sdk::fake::Fake;
/// use envd_sdk::profile::{OperationProfile, ServiceProfile, Sourced};
///
/// // A service with the user details elsewhere, and without roles in them.
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
    /// The document to send instead: one operation of the same kind, with the same variables or fewer
    /// ([`override_operation`](crate::ClientBuilder::override_operation)).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// The location of the record in the reply: a JSON pointer (RFC 6901) from `data`, such as `/producer/copy/0`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_at: Option<String>,
    /// Fields of the record that the service does not have, such as `accounts.roles`. They read as `None` or empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

impl OperationProfile {
    /// Replaces the document of an operation.
    pub fn of_document(document: impl Into<String>) -> Self {
        Self {
            document: Some(document.into()),
            ..Self::default()
        }
    }
}

/// The field names by which an input identifies the record to update; `None` if updates do not have that field.
///
/// With the default, a save sends `id` and `number` as set by the caller.
///
/// See [`ServiceProfile`](super::ServiceProfile) for an example.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RecordNames {
    /// The name of the id field, `id` by default.
    pub id: Option<String>,
    /// The name of the number field.
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

/// A form that is newer than this crate. Only the facts that are set are checked.
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
    /// The program of the form.
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
    /// A form with only its id known.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            ..Self::default()
        }
    }
}

/// Facts about lists of consignments.
///
/// Part of a [`ServiceProfile`](super::ServiceProfile). See [`Sourced`] for an example.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Lists {
    /// The date that `fromDate` and `toDate` are compared with; `None` if not known.
    pub compared_date: Sourced<Option<ComparedDate>>,
    /// The order in which records are listed. The crate does not rely on it.
    pub order: Sourced<ListOrder>,
    /// The largest page that the service accepts; page sizes are limited to it. `None` for no limit.
    pub largest_page: Sourced<Option<u32>>,
}

impl Lists {
    /// Sets the compared date. assumed
    #[must_use]
    pub fn comparing(mut self, date: ComparedDate) -> Self {
        self.compared_date = Sourced::default();
        self.compared_date.value = Some(date);
        self
    }

    /// Sets the order. assumed
    #[must_use]
    pub fn ordered(mut self, order: ListOrder) -> Self {
        self.order = Sourced::default();
        self.order.value = order;
        self
    }
}

/// The date of a consignment that lists compare with `fromDate` and `toDate`.
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
    /// The date of the movement. A record without that date is not listed if either argument is given.
    Movement,
}

/// The order of lists. Records with equal dates or numbers follow the order of creation, in the same direction.
///
/// Part of [`Lists`]. See [`Assumptions`](crate::fake::controls::Assumptions) for an example.
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

/// Facts about the property register.
///
/// Part of a [`ServiceProfile`](super::ServiceProfile). See
/// [`RegisterBuilder::profile`](crate::register::RegisterBuilder::profile) for an example.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[non_exhaustive]
pub struct RegisterProfile {
    /// The `pageindex` of the first page, 0 or 1. If `None`, the client finds it out with one extra request.
    pub first_page_index: Sourced<Option<u32>>,
    /// The codes that a search sends for statuses, by status name, such as `Amalgamated`. A status without a code is sent by name.
    pub status_codes: Sourced<BTreeMap<String, String>>,
    /// The shape of the reply to a look-up. The client reads all shapes.
    pub record_shape: Sourced<RecordShape>,
    /// Whether an empty 404 at the address of a PIC means that the register does not have the property. If `None`, it does once the
    /// same register has sent a readable reply, since a wrong address looks the same.
    pub empty_not_found: Sourced<Option<bool>>,
    /// How requests are authenticated.
    pub authentication: Sourced<RegisterAuthentication>,
}

/// The shape of a single record from the register.
///
/// Part of a [`RegisterProfile`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RecordShape {
    /// As a page with a single record.
    #[default]
    List,
    /// As the object under `Value`.
    Value,
    /// Without a wrapper.
    Bare,
}

/// How requests to the register are authenticated.
///
/// Part of a [`RegisterProfile`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RegisterAuthentication {
    /// Not known; the client sends whatever the caller configures.
    #[default]
    Unknown,
    /// By the access token.
    Bearer,
    /// By a key in the header of this name.
    Header(String),
}
