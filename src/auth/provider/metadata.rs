//! The metadata of an identity provider (RFC 8414 section 2, OIDC Discovery 1.0 section 3). Does no I/O.

use std::time::Duration;

use serde::Deserialize;
use url::Url;

use crate::error::{Error, Result, json_fault};
use crate::model::json_text;
use crate::transport::header::HeaderMap;
use crate::transport::{is_loopback, is_private, max_age, parse_endpoint};

/// assumed: used if servers send no `Cache-Control`. A provider that moves an address keeps the old one working for longer.
const DEFAULT_LIFETIME: Duration = Duration::from_secs(3_600);

/// Limits the effect of wrong metadata to one day after the provider corrects it.
const LONGEST_LIFETIME: Duration = Duration::from_secs(86_400);

/// The relevant fields, under their published names. All are decoded before any is used.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Metadata {
    issuer: Option<String>,
    pub(super) authorization_endpoint: Option<String>,
    pub(super) token_endpoint: Option<String>,
    pub(super) revocation_endpoint: Option<String>,
    /// RFC 8628 section 4.
    pub(super) device_authorization_endpoint: Option<String>,
    pub(super) mtls_endpoint_aliases: Option<Box<Self>>,
    code_challenge_methods_supported: Option<Vec<String>>,
    /// RFC 9207 section 3.
    authorization_response_iss_parameter_supported: Option<bool>,
}

impl Metadata {
    /// Parses the metadata of an issuer, and rejects unsafe values.
    pub(super) fn read(body: &[u8], issuer: &str, may_be_private: bool) -> Result<Self> {
        let metadata: Self = json_text::from_slice(body).map_err(|error| {
            let fault = json_fault(&error);
            Error::protocol(format!("the provider's metadata cannot be read: {fault}"))
        })?;
        metadata.check_issuer(issuer)?;
        metadata.check_addresses(issuer, may_be_private)?;
        let methods = metadata.code_challenge_methods_supported.as_deref();
        // The list is optional (RFC 8414 section 2): a provider without it may support the method.
        if methods.is_some_and(|methods| methods.iter().all(|method| method != "S256")) {
            return Err(Error::config(
                "the provider's metadata does not list S256 in code_challenge_methods_supported; each login uses it",
            ));
        }
        Ok(metadata)
    }

    /// RFC 8414 section 3.3: otherwise one provider could impersonate another.
    fn check_issuer(&self, issuer: &str) -> Result<()> {
        let found = self.issuer.as_deref().unwrap_or_default();
        if found == issuer {
            return Ok(());
        }
        // Paths may be private, and the reply may contain any text, so neither issuer is shown.
        let hint = match (found.strip_suffix('/'), issuer.strip_suffix('/')) {
            _ if found.is_empty() => "it names none",
            (Some(without), _) if without == issuer => "that one ends in a slash",
            (_, Some(without)) if without == found => "that one does not end in a slash",
            _ => "set issuer exactly as the provider writes it",
        };
        Err(Error::config(format!(
            "issuer is not the one that the provider's metadata names: {hint}"
        )))
    }

    fn check_addresses(&self, issuer: &str, may_be_private: bool) -> Result<()> {
        let none = Box::default();
        let aliases = self.mtls_endpoint_aliases.as_ref().unwrap_or(&none);
        let device = "device_authorization_endpoint";
        let addresses = [
            ("authorization_endpoint", &self.authorization_endpoint),
            ("token_endpoint", &self.token_endpoint),
            ("revocation_endpoint", &self.revocation_endpoint),
            (device, &self.device_authorization_endpoint),
            ("token_endpoint", &aliases.token_endpoint),
            ("revocation_endpoint", &aliases.revocation_endpoint),
            (device, &aliases.device_authorization_endpoint),
        ];
        let is_local = Url::parse(issuer).is_ok_and(|issuer| is_loopback(&issuer));
        for (field, address) in addresses {
            let Some(address) = address else { continue };
            let name = format!("{field} of the provider's metadata");
            let url = parse_endpoint(&name, address)?;
            // Only loopback addresses may use plain http, and a provider elsewhere must not direct requests to them.
            if is_loopback(&url) && !is_local {
                return Err(Error::config(format!("{name} must not be on this machine")));
            }
            check_private(&name, &url, may_be_private)?;
        }
        Ok(())
    }

    /// Whether callbacks are guaranteed to have the parameter `iss`.
    pub(super) fn announces_iss(&self) -> bool {
        self.authorization_response_iss_parameter_supported == Some(true)
    }
}

/// Rejects an issuer that would make this program call hosts that only it can reach.
fn check_private(name: &str, url: &Url, allowed: bool) -> Result<()> {
    if is_private(url) && !allowed {
        return Err(Error::config(format!(
            "{name} is a private or link-local address, see ProviderBuilder::allow_private_addresses"
        )));
    }
    Ok(())
}

/// The addresses of an issuer's metadata, in the order to try: OIDC Discovery 1.0 section 4 appends to the path, RFC 8414
/// section 3.1 inserts before it.
pub(super) fn addresses(issuer: &str, may_be_private: bool) -> Result<[Url; 2]> {
    let base = parse_endpoint("issuer", issuer)?;
    check_private("issuer", &base, may_be_private)?;
    if base.query().is_some() || base.fragment().is_some() {
        // RFC 8414 section 2.
        return Err(Error::config("issuer must have no query and no fragment"));
    }
    let path = base.path();
    let path = path.strip_suffix('/').unwrap_or(path);
    let at = |path: String| {
        let mut url = base.clone();
        url.set_path(&path);
        url
    };
    Ok([
        at(format!("{path}/.well-known/openid-configuration")),
        at(format!("/.well-known/oauth-authorization-server{path}")),
    ])
}

/// How long a reply may be cached.
pub(super) fn lifetime(headers: &HeaderMap) -> Duration {
    max_age(headers)
        .unwrap_or(DEFAULT_LIFETIME)
        .min(LONGEST_LIFETIME)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::error::tests::assert_fails;
    use crate::model::json_text::work;
    use crate::transport::header::CACHE_CONTROL;

    const ISSUER: &str = "https://id.example/tenant/";

    fn read(changes: Value) -> Result<Metadata> {
        let mut document = json!({
            "issuer": ISSUER,
            "authorization_endpoint": "https://id.example/authorize",
            "token_endpoint": "https://tokens.example/token",
            "response_types_supported": ["code"],
        });
        for (name, value) in changes.as_object().unwrap() {
            document[name] = value.clone();
        }
        Metadata::read(document.to_string().as_bytes(), ISSUER, false)
    }

    #[test]
    fn the_work_of_the_metadata_grows_as_the_text() {
        let around = [["", ""], ["{\"mtls_endpoint_aliases\":", "}"]];
        work::assert_linear(&around, |text| {
            drop(Metadata::read(text.as_bytes(), ISSUER, false));
        });
    }

    /// OIDC Discovery 1.0 section 4.1, RFC 8414 section 3.1.
    #[test]
    fn the_two_addresses_are_those_of_their_specifications() {
        let (openid, oauth) = ("openid-configuration", "oauth-authorization-server");
        for (host, path, end) in [
            ("https://id.example", "", ""),
            ("https://id.example", "", "/"),
            ("https://id.example:8443", "/realms/a%20b", "/"),
        ] {
            let expected = [
                format!("{host}{path}/.well-known/{openid}"),
                format!("{host}/.well-known/{oauth}{path}"),
            ];
            let found = addresses(&format!("{host}{path}{end}"), false).unwrap();
            assert_eq!(found.map(String::from), expected);
        }
    }

    #[test]
    fn rfc_8414_2_an_issuer_is_https_without_query_or_fragment() {
        for issuer in "http://id.example/|https://id.example/?tenant=1|https://id.example/#x|https://sam:pw@id.example/\
            |id.example|"
            .split('|')
        {
            assert_fails(addresses(issuer, false), "Config: issuer  & !pw");
        }
        addresses("http://127.0.0.1:8400/", false).unwrap();
    }

    #[test]
    fn rfc_8414_3_3_another_issuer_is_refused() {
        let tenant = |end: &str| json!(format!("https://id.example/{end}"));
        for (issuer, hint) in [
            (tenant("tenant"), "does not end in a slash"),
            (tenant("tenant//"), "ends in a slash"),
            (tenant("TENANT/"), "exactly"),
            (json!("https://evil.example/"), "exactly"),
            (json!(""), "names none"),
            (Value::Null, "names none"),
        ] {
            let expected = format!("Config: issuer  & {hint} & !enant & !evil");
            assert_fails(read(json!({ "issuer": issuer })), &expected);
        }
    }

    #[test]
    fn rfc_8414_2_addresses_are_https() {
        for field in "authorization_endpoint token_endpoint revocation_endpoint device_authorization_endpoint"
            .split(' ')
        {
            for address in "http://id.example/pr1vate|http://127.0.0.1/pr1vate|https://sam:pr1vate@id.example/\
                |javascript:pr1vate|/pr1vate|"
                .split('|')
            {
                let expected = format!("Config: {field} & !pr1vate");
                assert_fails(read(json!({ (field): address })), &expected);
            }
            read(json!({ (field): null })).unwrap();
            let aliases = json!({ (field): "http://id.example/pr1vate" });
            // Aliases for other fields are not read.
            let is_alias = field != "authorization_endpoint";
            let refused = read(json!({ "mtls_endpoint_aliases": aliases })).is_err();
            assert_eq!(refused, is_alias, "{field}");
        }
        // A provider on this machine may use plain http.
        let local = json!({"issuer": "http://[::1]:80/", "token_endpoint": "http://[::1]/token"});
        Metadata::read(local.to_string().as_bytes(), "http://[::1]:80/", false).unwrap();
    }

    #[test]
    fn rfc_7636_4_2_a_provider_without_s256_is_refused() {
        for (methods, is_fine) in [
            (json!([]), false),
            (json!(["plain"]), false),
            (json!(["s256"]), false),
            (json!(["plain", "S256"]), true),
            (Value::Null, true),
        ] {
            let read = read(json!({ "code_challenge_methods_supported": methods }));
            if is_fine {
                read.unwrap();
            } else {
                assert_fails(read, "Config: S256");
            }
        }
    }

    #[test]
    fn what_is_not_metadata_is_refused_and_not_repeated() {
        for body in [
            "",
            "<!doctype html>pr1vate",
            "\"pr1vate\"",
            r#"{"issuer": "pr1vate"#,
            r#"{"issuer": {"pr1vate": 1}}"#,
            r#"{"token_endpoint": 5}"#,
            r#"{"code_challenge_methods_supported": "pr1vate"}"#,
            r#"{"issuer": "pr1vate", "issuer": "pr1vate"}"#,
        ] {
            let read = Metadata::read(body.as_bytes(), ISSUER, false);
            assert_fails(read, "Protocol: !pr1vate");
        }
    }

    #[test]
    fn rfc_9207_3_iss_is_announced_by_true_alone() {
        for (value, announced) in [
            (json!(true), true),
            (json!(false), false),
            (Value::Null, false),
        ] {
            let field = "authorization_response_iss_parameter_supported";
            let metadata = read(json!({ (field): value })).unwrap();
            assert_eq!(metadata.announces_iss(), announced);
        }
    }

    #[test]
    fn the_lifetime_is_that_of_cache_control() {
        for (lines, expected) in [
            (&[][..], 3_600),
            (&["public"], 3_600),
            (&["public, max-age=15, stale-if-error=86400"], 15),
            (&["Max-Age = \"60\""], 60),
            (&["public", "max-age=70"], 70),
            (&["max-age=0"], 0),
            (&["max-age=31536000"], 86_400),
            (&["max-age=99999999999999999999999"], 86_400),
            (&["max-age=soon"], 0),
            (&["max-age=-1"], 0),
            (&["no-cache, must-revalidate, no-transform, no-store"], 0),
            (&["max-age=60", "no-store"], 0),
        ] {
            let line = |line: &&'static str| (CACHE_CONTROL, line.parse().unwrap());
            let mut headers = HeaderMap::new();
            for (name, value) in lines.iter().map(line) {
                headers.append(name, value);
            }
            assert_eq!(lifetime(&headers).as_secs(), expected, "{lines:?}");
        }
    }
}
