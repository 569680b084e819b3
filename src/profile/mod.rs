//! Facts about the service that its specification leaves open: all assumptions of this crate, in one place, and replaceable.
//!
//! A [`ServiceProfile`] has an entry for each open question. Each entry is [`Sourced`], so it names its source; only renamed
//! fields have none. The default is what this crate assumes. A profile is plain data and can be stored as JSON. Pass it to
//! everything that depends on it: [`Client`](crate::Client), [`Provider`](crate::auth::Provider),
//! [`Register`](crate::register::Register), [`Questionnaire`](crate::validate::Questionnaire) and the fake, which then imitates
//! that service. The crate [`envd-sync`](crate#companions) uses the profile of its client.

mod entries;

pub use self::entries::{
    Addresses, ComparedDate, FurtherForm, ListOrder, Lists, OperationProfile, RecordNames,
    RecordShape, RegisterAuthentication, RegisterProfile,
};

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use serde::de::Error as _;
use serde::{Deserialize, Serialize};

use crate::model::json_path::path_of;
use crate::model::{OneLine, Role, json_text};

/// The source of an entry in a [`ServiceProfile`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Source {
    /// The specification.
    Stated,
    /// Public material that the specification does not confirm ([`sources`](crate::guide::sources)).
    Public,
    /// An assumption of this crate, or of a profile that names no source.
    #[default]
    Assumed,
    /// Replies of the service itself.
    Seen,
}

/// An entry of a [`ServiceProfile`], with its source.
///
/// ```
/// use envd_sdk::profile::{ComparedDate, ServiceProfile, Source, Sourced};
///
/// let mut profile = ServiceProfile::default();
/// assert_eq!(profile.lists.compared_date.source, Source::Assumed);
/// profile.lists.compared_date = Sourced::seen(Some(ComparedDate::LastChange));
/// assert_eq!(serde_json::to_value(&profile)?["lists"]["comparedDate"]["source"], "seen");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// The source; assumed if the JSON names none.
    #[serde(default)]
    pub source: Source,
}

impl<T> Sourced<T> {
    /// An entry observed at the service itself.
    pub fn seen(value: T) -> Self {
        let source = Source::Seen;
        Self { value, source }
    }
}

/// Facts about the service that the specification leaves open. The default is what this crate assumes.
///
/// Its addresses decide where tokens and client secrets are sent, so trust a profile only as far as you would trust a program.
///
/// Its JSON has the entries by name. Missing entries have their defaults; an unknown name is an error. A profile contains no
/// secrets and no personal data.
///
/// ```
/// # test_support::example(async {
/// use envd_sdk::fake::Fake;
/// use envd_sdk::profile::{RecordNames, ServiceProfile, Sourced};
///
/// // A service that identifies a consignment only by its number.
/// let mut profile = ServiceProfile::default();
/// let number = Some("number".to_owned());
/// profile.updates = Sourced::seen(RecordNames { id: None, number });
/// let file = profile.to_json();
///
/// let profile = ServiceProfile::from_json(&file)?;
/// let fake = Fake::builder().profile(&profile).start().await?;
/// let client = fake.client().profile(&profile).build()?;
/// # let _ = client;
/// # Ok(()) });
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ServiceProfile {
    /// The addresses of one environment of the service. None is assumed.
    pub addresses: Addresses,
    /// Differences from this crate's documents, by the operation's name in the specification (4.1).
    pub operations: BTreeMap<String, Sourced<OperationProfile>>,
    /// The fields that the service names differently: the service's name by type and field of [`SCHEMA`](crate::graphql::SCHEMA).
    ///
    /// The documents of this crate select such a field with our name as its alias (`number: consignmentNumber`), and inputs are sent
    /// with the service's name. All types of this crate stay the same. Your own documents and overrides are sent as they are; the
    /// inputs of an override have the service's names. Errors about an input name its fields as the service does. The location of a
    /// record is `recordAt` of its operation, and id and number of a saved consignment are in `updates`.
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::fake::Fake;
    /// use envd_sdk::profile::ServiceProfile;
    ///
    /// let profile = ServiceProfile::from_json(
    ///     r#"{"fields": {"Comment.commentText": "text", "CreateCommentInput.commentText": "text"}}"#,
    /// )?;
    /// let fake = Fake::builder().profile(&profile).start().await?;
    /// let client = fake.client().profile(&profile).build()?;
    /// let comments = client.account(fake.account_id()).comments("C-900000101");
    /// assert!(comments.dry_run()?.body.contains("commentText: text"));
    /// assert!(comments.await?.value[0].comment_text.is_some());
    /// # Ok(()) });
    /// ```
    pub fields: BTreeMap<String, String>,
    /// How a save identifies the record that it updates (spec 2.1 does not say).
    pub updates: Sourced<RecordNames>,
    /// Spellings of roles in addition to those that [`Role`] reads (spec 2.8 and 5.10 have no codes).
    pub roles: Sourced<BTreeMap<String, Role>>,
    /// Forms that are newer than this crate (spec 9 announces none).
    pub forms: Sourced<Vec<FurtherForm>>,
    /// Fields that the service fills in if a new consignment omits them, such as `consignee.name`. A record with such an extra
    /// field may still match the input.
    pub filled_in: Sourced<BTreeSet<String>>,
    /// Lists of consignments (spec 4.1).
    pub lists: Lists,
    /// The property register (spec 4.2 and 5.12).
    pub register: RegisterProfile,
}

impl ServiceProfile {
    /// The default, plus the public addresses of the test environment. These are public: address and audience of the interface, the
    /// host of the identity provider with the paths of its software (`OAuthSample`, Auth0), and the register's address (eNVD
    /// samples). Redirect addresses are missing: they are those that your client was registered with.
    ///
    /// ```
    /// use envd_sdk::profile::{ServiceProfile, Source};
    ///
    /// let audience = ServiceProfile::test_environment().addresses.audience.unwrap();
    /// assert_eq!(audience.source, Source::Public);
    /// ```
    pub fn test_environment() -> Self {
        let public = |address: &str| {
            let value = address.to_owned();
            let source = Source::Public;
            Some(Sourced { value, source })
        };
        Self {
            addresses: Addresses {
                graphql: public("https://api.uat.integritysystems.com.au/v2/graphql"),
                audience: public("https://testlpav4.nlis.com.au"),
                issuer: public("https://sso-s.mla.com.au/"),
                authorize: public("https://sso-s.mla.com.au/authorize"),
                token: public("https://sso-s.mla.com.au/oauth/token"),
                revoke: public("https://sso-s.mla.com.au/oauth/revoke"),
                logout: public("https://sso-s.mla.com.au/v2/logout"),
                register: public("https://service.uat.nlis.com.au"),
                ..Addresses::default()
            },
            ..Self::default()
        }
    }

    /// Reads a profile from JSON.
    ///
    /// # Errors
    ///
    /// If the text is not JSON, if it has an unknown member or one of the wrong type, or if an entry is invalid: an address that is
    /// neither https nor on this machine, a largest page of 0, a first page other than 0 or 1, a `recordAt` of more than 32 parts.
    /// The error names the entry, and for unreadable entries the line and column. Control characters in quoted names are escaped.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        let profile: Self = json_text::from_str(text).map_err(|error| {
            let path = path_of(text, &error);
            // The error ends with the position.
            let what = format!("{path}: {error}");
            serde_json::Error::custom(OneLine(what.trim_start_matches(": ")))
        })?;
        profile
            .check()
            .map_err(|what| serde_json::Error::custom(OneLine(&what)))?;
        Ok(profile)
    }

    /// Rejects invalid entries, also in profiles that were built in code.
    pub(crate) fn check(&self) -> Result<(), String> {
        let wrong = |entry: String, what: &str| Err(format!("{entry} of the profile {what}"));
        for (name, address) in self.addresses.of_servers() {
            if !is_protected(&address.value) {
                return wrong(
                    format!("addresses.{name}"),
                    "must be an https address (http is for loopback addresses only)",
                );
            }
        }
        for (name, operation) in &self.operations {
            let parts = operation
                .value
                .record_at
                .iter()
                .flat_map(|at| at.split('/'));
            if parts.count() > MAX_PARTS {
                return wrong(
                    format!("operations.{name}.recordAt"),
                    "has more than 32 parts",
                );
            }
        }
        if self.lists.largest_page.value == Some(0) {
            return wrong("lists.largestPage".to_owned(), "must be at least 1");
        }
        if self
            .register
            .first_page_index
            .value
            .is_some_and(|index| index > 1)
        {
            return wrong("register.firstPageIndex".to_owned(), "must be 0 or 1");
        }
        Ok(())
    }

    /// The profile as indented JSON, with all entries.
    pub fn to_json(&self) -> String {
        // OK because all its maps have strings as keys.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// The role for a spelling of the service.
    #[cfg(feature = "client")]
    pub(crate) fn role(&self, spelled: &Role) -> Option<&Role> {
        self.roles.value.get(spelled.as_str())
    }
}

/// The most parts of a `recordAt`, counting the empty one before the first slash. Servers still read documents of that depth.
const MAX_PARTS: usize = 33;

/// Whether the connection to an address is protected from eavesdropping. The builders parse the full address later.
fn is_protected(address: &str) -> bool {
    let lower = address.to_ascii_lowercase();
    match lower.split_once("://") {
        Some(("https", rest)) => !rest.is_empty(),
        Some(("http", rest)) => is_this_machine(rest),
        _ => false,
    }
}

/// Whether an address without its scheme begins with the name or a loopback number of this machine, and a port or nothing.
fn is_this_machine(rest: &str) -> bool {
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = rest.get(..end).unwrap_or_default();
    let (host, port) = match authority.strip_prefix("[::1]") {
        Some(port) => ("localhost", port),
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    let digits = port.strip_prefix(':').unwrap_or(port);
    let is_loopback = host.parse::<Ipv4Addr>().is_ok_and(|ip| ip.is_loopback());
    (is_loopback || host == "localhost") && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use test_support::script::rows;

    use super::*;
    use crate::model::json_text::work;

    #[test]
    fn the_work_of_a_profile_grows_as_its_text() {
        let around = [
            ["", ""],
            ["{\"operations\":{\"", "\":{}}}"],
            ["{\"lists\":", "}"],
        ];
        work::assert_linear(&around, |text| drop(ServiceProfile::from_json(text)));
    }

    #[test]
    fn a_profile_survives_writing_and_reading() {
        let test = ServiceProfile::test_environment();
        for profile in [ServiceProfile::default(), test] {
            let read = ServiceProfile::from_json(&profile.to_json());
            assert_eq!(read.unwrap(), profile);
        }
        for default in ["{}", r#"{"lists": {"comparedDate": {"value": null}}}"#] {
            let read = ServiceProfile::from_json(default).unwrap();
            assert_eq!(read, ServiceProfile::default());
        }
    }

    #[test]
    fn an_unknown_entry_is_named_in_the_error() {
        for row in rows(
            r#"
            {"adresses": {}}                                                           | adresses
            {"lists": {"comparedDates": 1}}                                            | comparedDates
            {"updates": {"source": "seen"}}                                            | value
            {"lists": {"order": {"value": "sideways", "source": "seen"}}}              | sideways
            {"forms": {"value": [{"id": "LPAC2", "program": "LPB"}], "source": "seen"}} | LPB
            "#,
        ) {
            let error = ServiceProfile::from_json(row[0]).unwrap_err().to_string();
            let is_named = error.contains(row[1]) && error.contains("line 1");
            assert!(is_named, "{row:?}: {error}");
        }
    }

    #[test]
    fn control_characters_in_names_are_escaped() {
        for text in [
            r#"{"\u001b[2J\u202e": 1}"#,
            r#"{"lists": {"order": {"value": "\u001b[2J\nFORGED", "source": "seen"}}}"#,
            r#"{"roles": {"value": {"\u001b[2J\n": 5}}}"#,
            &format!(
                r#"{{"operations": {{"\u001b[2J\n": {{"value": {{"recordAt": "{}"}}}}}}}}"#,
                "/a".repeat(40)
            ),
        ] {
            let error = ServiceProfile::from_json(text).unwrap_err();
            let shown = error.to_string();
            assert!(shown.contains(r"\u{1b}[2J"), "{shown}");
            assert!(!shown.chars().any(|it| it.is_control() || it == '\u{202e}'));
        }
    }

    #[test]
    fn an_entry_that_cannot_hold_is_named() {
        let deep = format!(r#"{{"recordAt": "{}"}}"#, "/a".repeat(20_000));
        for (room, entry, value, named) in [
            ("lists", "largestPage", "0", ""),
            ("lists", "largestPage", "\"1\"", ".value: "),
            ("register", "firstPageIndex", "2", ""),
            ("addresses", "token", "\"http://id.example/token\"", ""),
            (
                "addresses",
                "graphql",
                "\"http://localhost@evil.example/\"",
                "",
            ),
            ("operations", "template", &deep, ".recordAt"),
        ] {
            let text =
                format!(r#"{{"{room}": {{"{entry}": {{"value": {value}, "source": "seen"}}}}}}"#);
            let error = ServiceProfile::from_json(&text).unwrap_err().to_string();
            let named = format!("{room}.{entry}{named}");
            assert!(error.contains(&named), "{named}: {error}");
        }
        let protected = "https://id.example/token HTTPS://id.example http://127.0.0.1:1/x http://[::1]:5/ \
            http://localhost:8080";
        let open = "http://id.example http://localhost.evil.example http://127.evil.example http://[::1].evil.example \
            http://localhost:80@evil.example http://localhost@evil.example";
        let protected = protected.split(' ').map(|address| (address, true));
        let open = open.split(' ').map(|address| (address, false));
        for (address, is_accepted) in protected.chain(open) {
            let text = format!(
                r#"{{"addresses": {{"token": {{"value": "{address}", "source": "seen"}}}}}}"#
            );
            let is_read = ServiceProfile::from_json(&text).is_ok();
            assert_eq!(is_read, is_accepted, "{address}");
        }
    }
}
