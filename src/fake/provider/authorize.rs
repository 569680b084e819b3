//! The authorization endpoint. Nobody is asked: the user consents, or refuses where the caller says so.

use std::time::SystemTime;

use url::{Host, Url};

use super::parameters::Parameters;
use super::{AUDIENCE, CLIENT_ID, Code, Login, Provider};

/// What the user does in the browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::fake) enum Consent {
    Given,
    Refused,
}

/// Answers an authorization request with the address that the browser goes to next. A request without an address that
/// can be trusted is answered on the spot, with the reason (RFC 6749 section 4.1.2.1).
pub(in crate::fake) fn authorize(
    provider: &mut Provider,
    query: &str,
    consent: Consent,
    now: SystemTime,
) -> Result<Url, &'static str> {
    let request = Parameters::of_query(query);
    if request.get("client_id") != Some(CLIENT_ID) {
        return Err("client_id is not fake-client");
    }
    let redirect_uri = request
        .get("redirect_uri")
        .ok_or("redirect_uri is missing")?;
    let mut back = Url::parse(redirect_uri).map_err(|_| "redirect_uri is not an address")?;
    if !is_callback(&back) {
        return Err("redirect_uri is neither https nor http on a loopback address");
    }
    // A request that must not show a page needs somebody who is logged in already (OpenID Connect Core 3.1.2.1).
    let silent = request.get("prompt") == Some("none");
    let outcome = judge(&request).and(match consent {
        _ if silent && !provider.session => Err(("login_required", "Login required")),
        Consent::Given => Ok(()),
        Consent::Refused => Err(("access_denied", "User did not authorize the request")),
    });
    {
        let mut pairs = back.query_pairs_mut();
        match outcome {
            Ok(()) => {
                provider.session = true;
                pairs.append_pair("code", &provider.code(&request, redirect_uri, now))
            }
            Err((error, description)) => pairs
                .append_pair("error", error)
                .append_pair("error_description", description),
        };
        if let Some(state) = request.get("state") {
            pairs.append_pair("state", state);
        }
        // RFC 9207
        pairs.append_pair("iss", &provider.issuer);
    }
    Ok(back)
}

fn judge(request: &Parameters) -> Result<(), (&'static str, &'static str)> {
    if request.get("response_type") != Some("code") {
        return Err(("unsupported_response_type", "response_type must be code"));
    }
    let challenge = request.get("code_challenge");
    match request.get("code_challenge_method") {
        Some("S256") if challenge.is_some_and(|c| c.len() == 43) => {}
        None if challenge.is_none() => {}
        _ => {
            return Err((
                "invalid_request",
                "code_challenge must be there, with the method S256",
            ));
        }
    }
    match request.get("audience") {
        // Without an audience the token is good for the provider's own endpoints only.
        None | Some(AUDIENCE) => Ok(()),
        Some(_) => Err(("access_denied", "Service not found")),
    }
}

fn is_callback(url: &Url) -> bool {
    let loopback = match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    };
    url.scheme() == "https" || (url.scheme() == "http" && loopback)
}

impl Provider {
    fn code(&mut self, request: &Parameters, redirect_uri: &str, now: SystemTime) -> String {
        let own = |name: &str| request.get(name).map(str::to_owned);
        let family = self.next();
        let code = format!("fake-code-{family}-{:016x}", fastrand::u64(..));
        let login = Login {
            family,
            user: self.user,
            scope: own("scope").unwrap_or_default(),
            audience: own("audience"),
            nonce: own("nonce"),
        };
        self.codes.insert(
            code.clone(),
            Code {
                login,
                redirect_uri: redirect_uri.to_owned(),
                challenge: own("code_challenge"),
                expires: now + self.code_lifetime,
                used: false,
            },
        );
        code
    }
}
