//! How the provider checks the client.

use std::time::UNIX_EPOCH;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use envd_sdk::fake::{Fake, FakeBuilder};
use serde_json::{Value, json};

use super::http::{fixture_day, form_with};

async fn start(builder: FakeBuilder) -> Fake {
    builder.clock(fixture_day()).start().await.unwrap()
}

/// Status, error and challenge of a request with an unknown grant, whose error tells that the client was accepted.
async fn answer(
    fake: &Fake,
    authorization: Option<&str>,
    body: String,
) -> (u16, String, Option<String>) {
    let reply = form_with(fake.token_url(), authorization, &body).await;
    let challenge = reply.header("www-authenticate").map(str::to_owned);
    let code = reply.body["error"].as_str().unwrap().to_owned();
    (reply.status, code, challenge)
}

#[tokio::test]
async fn rfc_6749_5_2_invalid_client_is_401_and_names_the_scheme_of_the_header() {
    let fake = start(Fake::builder().client_secret("s+1")).await;
    let basic = |pair: &str| format!("Basic {}", STANDARD.encode(pair));
    let (right, wrong) = (basic("fake-client:s%2B1"), basic("fake-client:s+1"));
    let right = Some(right.as_str());
    let challenge = Some("Basic realm=\"fake\"");
    let accepted = (400, "unsupported_grant_type", None);
    let refused = |challenge| (401, "invalid_client", challenge);
    let (id, secret) = ("client_id=fake-client", "client_secret=s%2B1");
    for (header, body, (status, code, challenge)) in [
        (None, format!("{id}&{secret}"), accepted),
        (right, String::new(), accepted),
        (right, id.to_owned(), accepted),
        (None, id.to_owned(), refused(None)),
        (None, format!("{id}&client_secret=s"), refused(None)),
        (None, secret.to_owned(), refused(None)),
        (Some(&wrong), String::new(), refused(challenge)),
        (Some("Bearer x"), id.to_owned(), refused(challenge)),
        (right, "client_id=other".to_owned(), refused(challenge)),
        // Section 2.3.
        (right, secret.to_owned(), (400, "invalid_request", None)),
    ] {
        let expected = (status, code.to_owned(), challenge.map(str::to_owned));
        let answer = answer(&fake, header, body.clone()).await;
        assert_eq!(answer, expected, "{header:?} {body}");
    }
}

fn jwt(header: &Value, claims: &Value) -> String {
    let part = |part: &Value| URL_SAFE_NO_PAD.encode(part.to_string());
    format!("{}.{}.c2ln", part(header), part(claims))
}

#[tokio::test]
async fn rfc_7523_3_an_assertion_that_breaks_a_rule_is_refused() {
    let fake = start(Fake::builder().client_assertions()).await;
    let (id, issuer) = (fake.client_id(), fake.issuer());
    let now = fixture_day().now().duration_since(UNIX_EPOCH);
    let now = now.unwrap().as_secs();
    let header = json!({"alg": "ES256"});
    let claims = json!({
        "iss": id, "sub": id, "aud": issuer, "jti": "1",
        "iat": now, "exp": now + 120,
    });
    let changed = |name: &str, value: Value| {
        let mut claims = claims.clone();
        claims["jti"] = name.into();
        claims[name] = value;
        jwt(&header, &claims)
    };
    let good = jwt(&header, &claims);
    let refused = [
        changed("iss", "other".into()),
        changed("sub", "other".into()),
        changed("sub", Value::Null),
        changed("aud", "http://other.example/".into()),
        changed("aud", json!([issuer, "x"])),
        changed("exp", (now - 1).into()),
        changed("exp", (now + 3_600).into()),
        changed("exp", Value::Null),
        changed("jti", "".into()),
        jwt(&json!({"alg": "none"}), &claims),
        jwt(&json!({}), &claims),
        good.trim_end_matches("c2ln").to_owned(),
        "x".to_owned(),
    ];
    let refused = refused.into_iter().map(|assertion| (assertion, false));
    // The second time its `jti` was used.
    for (assertion, accepted) in refused.chain([(good.clone(), true), (good, false)]) {
        let kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
        let body = format!("client_assertion={assertion}&client_assertion_type={kind}");
        let (_, code, _) = answer(&fake, None, body).await;
        assert_eq!(code == "unsupported_grant_type", accepted, "{assertion}");
        assert_eq!(code == "invalid_client", !accepted, "{assertion}");
    }
}
