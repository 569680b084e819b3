//! The token endpoint (5.3 to 5.5). Errors have Auth0's statuses: 403 where RFC 6749 says 400.

use std::time::SystemTime;

use oauth2::{PkceCodeChallenge, PkceCodeVerifier};
use serde_json::{Value, json};

use super::parameters::Parameters;
use super::{CLIENT_ID, Provider};
use crate::fake::reply::Reply;

/// Answers a POST to `/oauth/token`. A client secret is neither wanted nor looked at.
pub(in crate::fake) fn token(
    provider: &mut Provider,
    media_type: &str,
    body: &[u8],
    now: SystemTime,
) -> Reply {
    provider.token_requests += 1;
    let request = Parameters::of_body(media_type, body);
    let answer = if request.get("client_id") == Some(CLIENT_ID) {
        match request.get("grant_type") {
            Some("authorization_code") => provider.exchange(&request, now),
            Some("refresh_token") => provider.refresh(&request, now),
            _ => Err(Refused(
                400,
                "unsupported_grant_type",
                "grant_type must be authorization_code or refresh_token",
            )),
        }
    } else {
        Err(Refused(
            401,
            "invalid_client",
            "client_id is not fake-client",
        ))
    };
    let reply = match answer {
        Ok(tokens) => Reply::json(200, &tokens),
        Err(Refused(status, error, description)) => {
            let body = json!({"error": error, "error_description": description});
            Reply::json(status, &body)
        }
    };
    // RFC 6749 section 5.1
    reply.header("cache-control", "no-store")
}

struct Refused(u16, &'static str, &'static str);

const BAD_CODE: Refused = Refused(403, "invalid_grant", "Invalid authorization code");
const BAD_VERIFIER: Refused = Refused(403, "invalid_grant", "Failed to verify code verifier");
const BAD_REFRESH: Refused = Refused(403, "invalid_grant", "Unknown or invalid refresh token.");

impl Provider {
    fn exchange(&mut self, request: &Parameters, now: SystemTime) -> Result<Value, Refused> {
        let code = request
            .get("code")
            .ok_or(Refused(400, "invalid_request", "code is missing"))?;
        let code = self.codes.get_mut(code).ok_or(BAD_CODE)?;
        let login = code.login.clone();
        // A code that comes twice was seen by somebody else (RFC 6749 section 4.1.2).
        if std::mem::replace(&mut code.used, true) {
            self.revoked.insert(login.family);
            return Err(BAD_CODE);
        }
        if now >= code.expires || request.get("redirect_uri") != Some(code.redirect_uri.as_str()) {
            return Err(BAD_CODE);
        }
        if let Some(challenge) = &code.challenge {
            let verifier = request.get("code_verifier");
            if !verifier.is_some_and(|verifier| matches(verifier, challenge)) {
                return Err(BAD_VERIFIER);
            }
        }
        Ok(self.token_response(login, 0, now))
    }

    fn refresh(&mut self, request: &Parameters, now: SystemTime) -> Result<Value, Refused> {
        let token = request.get("refresh_token").ok_or(Refused(
            400,
            "invalid_request",
            "refresh_token is missing",
        ))?;
        let refresh = self.refresh.get_mut(token).ok_or(BAD_REFRESH)?;
        let (login, generation) = (refresh.login.clone(), refresh.generation);
        let newest = self.retired.entry(login.family).or_default();
        match refresh.used {
            None => {
                refresh.used = Some(now);
                *newest = generation.max(*newest);
            }
            // Auth0's overlap: only the token before the current one, and only for a while.
            Some(first) if generation == *newest && now < first + self.overlap => {}
            // A retired token in use means that two hold it: the whole family goes.
            Some(_) => {
                self.revoked.insert(login.family);
            }
        }
        if now >= refresh.expires || self.revoked.contains(&login.family) {
            return Err(BAD_REFRESH);
        }
        Ok(self.token_response(login, generation + 1, now))
    }
}

/// RFC 7636 section 4.6. A verifier of another length than section 4.1 allows cannot be hashed by the library.
fn matches(verifier: &str, challenge: &str) -> bool {
    let sound = (43..=128).contains(&verifier.len());
    sound && {
        let verifier = PkceCodeVerifier::new(verifier.to_owned());
        PkceCodeChallenge::from_code_verifier_sha256(&verifier).as_str() == challenge
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_7636_appendix_b_fits() {
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
        assert!(matches(verifier, challenge));
        assert!(!matches(challenge, challenge));
        assert!(!matches("", challenge));
    }
}
