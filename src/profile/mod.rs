//! What the service is like where its specification does not say: every guess of this crate, in one file that can be replaced.
//!
//! A [`ServiceProfile`] has an entry for each guess, and each entry is [`Sourced`]: it says where it comes from. The default is
//! what this crate assumes. A profile is plain data, is kept as JSON, and is given to what depends on it:
//! [`Client`](crate::Client), [`Provider`](crate::auth::Provider), [`Register`](crate::register::Register),
//! [`Questionnaire`](crate::validate::Questionnaire) and the fake, which then behaves in that way. The crate
//! [`envd-sync`](crate#companions) goes by the profile of the client that it is given.

mod entries;

pub use self::entries::{
    Addresses, ComparedDate, FurtherForm, ListOrder, Lists, OperationProfile, RecordNames,
    RecordShape, RegisterAuthentication, RegisterProfile,
};

use std::collections::{BTreeMap, BTreeSet};

use serde::de::Error as _;
use serde::{Deserialize, Serialize};

use crate::model::json_path::path_of;
use crate::model::{OneLine, Role, json_text};

/// Where an entry of a [`ServiceProfile`] comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Source {
    /// The specification.
    Stated,
    /// Public material, which the specification does not confirm ([`sources`](crate::guide::sources)).
    Public,
    /// A guess, of this crate or of a profile that does not say.
    #[default]
    Assumed,
    /// The service itself, as it answered.
    Seen,
}

/// An entry of a [`ServiceProfile`], and where it comes from.
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
    /// What it is.
    pub value: T,
    /// Where it comes from; assumed in JSON that does not say.
    #[serde(default)]
    pub source: Source,
}

impl<T> Sourced<T> {
    /// An entry that the service has shown.
    pub fn seen(value: T) -> Self {
        let source = Source::Seen;
        Self { value, source }
    }
}

/// What the service is like where the specification does not say. The default is what this crate assumes.
///
/// Its addresses decide where tokens and client secrets are sent: take a profile only from where you would take a program.
///
/// As JSON it holds the entries by name, those that are left out are the defaults, and a name that is not one of a profile is an
/// error. It has no secrets and no personal data.
///
/// ```
/// # equipment::example(async {
/// use envd_sdk::fake::Fake;
/// use envd_sdk::profile::{RecordNames, ServiceProfile, Sourced};
///
/// // A service that knows a consignment by its number only.
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
    /// Addresses of one environment of the service. None is assumed.
    pub addresses: Addresses,
    /// What differs from our documents, by the name of the operation in the specification (4.1).
    pub operations: BTreeMap<String, Sourced<OperationProfile>>,
    /// How a save names the record that it updates (spec 2.1 does not say).
    pub updates: Sourced<RecordNames>,
    /// Spellings of roles beside those that [`Role`] reads (spec 2.8 and 5.10 have no codes).
    pub roles: Sourced<BTreeMap<String, Role>>,
    /// Forms that are newer than this crate (spec 9 announces none).
    pub forms: Sourced<Vec<FurtherForm>>,
    /// Fields of an input that the service fills in where a new consignment does not have them, such as `consignee.name`: a record
    /// that has one more than was sent may be ours all the same.
    pub filled_in: Sourced<BTreeSet<String>>,
    /// Lists of consignments (spec 4.1).
    pub lists: Lists,
    /// The property register (spec 4.2 and 5.12).
    pub register: RegisterProfile,
}

impl ServiceProfile {
    /// The default with the public addresses of the test environment. Address and audience of the interface, and the host of the
    /// identity provider with the paths of its software, are public (`OAuthSample`, Auth0); the register's address is public (eNVD
    /// samples). Addresses for redirects are those that the client was registered with.
    ///
    /// ```
    /// use envd_sdk::profile::{ServiceProfile, Source};
    ///
    /// let audience = ServiceProfile::test_environment().addresses.audience.unwrap();
    /// assert_eq!(audience.source, Source::Public);
    /// ```
    pub fn test_environment() -> Self {
        let public = |address: &str| {
            let (value, source) = (address.to_owned(), Source::Public);
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

    /// Reads a profile.
    ///
    /// # Errors
    ///
    /// When the text is no JSON, or has a member that is none of a profile or of another type, or an entry that cannot hold: an
    /// address that is neither https nor one of this machine, a largest page of 0, a `recordAt` of more than 32 parts. The error
    /// names the entry, and the line and column of one that cannot be read. Names of the text are shown with control characters
    /// escaped.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        let profile: Self = json_text::from_str(text).map_err(|error| {
            let path = path_of(text, &error);
            // The position stays at the end.
            let what = format!("{path}: {error}");
            serde_json::Error::custom(OneLine(what.trim_start_matches(": ")))
        })?;
        profile
            .check()
            .map_err(|what| serde_json::Error::custom(OneLine(&what)))?;
        Ok(profile)
    }

    /// Refuses entries that cannot hold, whoever made them.
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

    /// The profile as JSON, on many lines, with all entries.
    pub fn to_json(&self) -> String {
        // OK because all its maps have texts as keys.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// The role that a text of the service names.
    #[cfg(feature = "client")]
    pub(crate) fn role(&self, spelled: &Role) -> Option<&Role> {
        self.roles.value.get(spelled.as_str())
    }
}

/// The most parts of a `recordAt`: a document with as many levels is still read by a server.
const MAX_PARTS: usize = 33;

/// Whether what is sent to an address cannot be read on the way. The builders read the whole address.
fn is_protected(address: &str) -> bool {
    let host = |rest: &str| {
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        rest.get(..end).unwrap_or_default().to_ascii_lowercase()
    };
    let is_loopback = |host: String| {
        host.starts_with("[::1]")
            || ["127.", "localhost"]
                .iter()
                .any(|start| host.starts_with(start))
                && !host.contains('@')
    };
    let lower = address.to_ascii_lowercase();
    match lower.split_once("://") {
        Some(("https", rest)) => !rest.is_empty(),
        Some(("http", rest)) => is_loopback(host(rest)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use equipment::script::rows;

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
    fn a_profile_is_what_was_written() {
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
    fn what_is_no_entry_is_an_error_that_names_it() {
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
    fn names_of_the_text_control_no_terminal() {
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
        for address in
            "https://id.example/token HTTPS://id.example http://127.0.0.1:1/x http://[::1]:5/ \
            http://localhost:8080"
                .split(' ')
        {
            let text = format!(
                r#"{{"addresses": {{"token": {{"value": "{address}", "source": "seen"}}}}}}"#
            );
            assert!(ServiceProfile::from_json(&text).is_ok(), "{address}");
        }
    }
}
