//! Which tokens a set of keys verifies.

use ring::hmac;
use serde_json::{Value, json};

use super::signer::{Signer, base64url, set};
use crate::auth::jwks::jwk::{Jwk, read_set};
use crate::auth::jwks::jws::{Jws, Refusal};

/// The payload of RFC 7515 appendices A.2 and A.3.
const PAYLOAD: &str = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";

const RS256_SIGNATURE: &str = "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds\
    9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi1\
    2jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";

const ES256_SIGNATURE: &str =
    "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";

fn keys(keys: &[Value]) -> Vec<Jwk> {
    read_set(set(keys).as_bytes()).unwrap()
}

fn check(token: &str, keys: &[Jwk]) -> Result<(), Refusal> {
    Jws::read(token)?.check(keys)
}

fn claims() -> Value {
    json!({"sub": "sam"})
}

/// A key without an id.
fn anonymous(signer: &Signer) -> Value {
    let mut key = signer.jwk();
    key.as_object_mut().unwrap().remove("kid");
    key
}

#[test]
fn the_examples_of_rfc_7515_appendices_a_2_and_a_3_pass() {
    let keys = keys(&[anonymous(&Signer::rs256("")), anonymous(&Signer::es256(""))]);
    for (header, signature) in [
        (r#"{"alg":"RS256"}"#, RS256_SIGNATURE),
        (r#"{"alg":"ES256"}"#, ES256_SIGNATURE),
    ] {
        let token = format!("{}.{PAYLOAD}.{signature}", base64url(header));
        check(&token, &keys).unwrap();
        let other = PAYLOAD.replace("pc3Mi", "pc3Mj");
        let token = format!("{}.{other}.{signature}", base64url(header));
        assert_eq!(check(&token, &keys), Err(Refusal::Signature), "{header}");
    }
}

#[test]
fn tokens_of_both_algorithms_pass_with_their_own_key_only() {
    let (rs256, es256) = (Signer::rs256("r"), Signer::es256("e"));
    let both = keys(&[rs256.jwk(), es256.jwk()]);
    for signer in [&rs256, &es256] {
        check(&signer.sign(&claims()), &both).unwrap();
    }
    let rotated = keys(&[rs256.jwk(), Signer::other_es256("e").jwk()]);
    let token = es256.sign(&claims());
    assert_eq!(check(&token, &rotated), Err(Refusal::Signature));
}

#[test]
fn rfc_8725_3_1_none_is_refused() {
    let signer = Signer::es256("e");
    let keys = keys(&[signer.jwk()]);
    for algorithm in ["none", "None", "NONE", "nOnE", ""] {
        let header = json!({"alg": algorithm, "kid": "e"});
        let whole = signer.sign_with(&header, &claims());
        let unsigned = whole.rsplit_once('.').unwrap().0.to_owned() + ".";
        for token in [whole, unsigned] {
            assert_eq!(check(&token, &keys), Err(Refusal::Algorithm), "{algorithm}");
        }
    }
}

#[test]
fn rfc_8725_3_1_a_public_key_is_no_hmac_secret() {
    for signer in [Signer::rs256("k"), Signer::es256("k")] {
        let (key, keys) = (signer.jwk(), keys(&[signer.jwk()]));
        let text = |member: &str| key[member].as_str().unwrap_or_default().to_owned();
        for secret in [text("n"), text("x"), key.to_string(), String::new()] {
            let signed = format!(
                "{}.{}",
                base64url(json!({"alg": "HS256", "kid": "k"}).to_string()),
                base64url(claims().to_string())
            );
            let secret = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
            let tag = hmac::sign(&secret, signed.as_bytes());
            let token = format!("{signed}.{}", base64url(tag));
            assert_eq!(check(&token, &keys), Err(Refusal::Algorithm));
        }
    }
}

#[test]
fn rfc_8725_3_1_the_algorithm_is_that_of_the_key() {
    let (rs256, es256) = (Signer::rs256("k"), Signer::es256("k"));
    for (signer, key, algorithm) in [(&rs256, &es256, "RS256"), (&es256, &rs256, "ES256")] {
        let keys = keys(&[key.jwk()]);
        // A key of another type is none for this token, also under its id.
        assert_eq!(
            check(&signer.sign(&claims()), &keys),
            Err(Refusal::UnknownKey)
        );
        // The header names an algorithm, and the signature is of the other.
        let header = json!({"alg": algorithm, "kid": "k"});
        let keys = self::keys(&[signer.jwk(), key.jwk()]);
        let token = key.sign_with(&header, &claims());
        assert_eq!(check(&token, &keys), Err(Refusal::Signature));
    }
}

#[test]
fn rfc_8725_3_2_other_algorithms_are_refused() {
    let signer = Signer::rs256("r");
    let keys = keys(&[signer.jwk()]);
    for algorithm in [
        "RS1", "RS384", "RS512", "PS256", "ES384", "EdDSA", "HS512", "rs256",
    ] {
        let token = signer.sign_with(&json!({"alg": algorithm, "kid": "r"}), &claims());
        assert_eq!(check(&token, &keys), Err(Refusal::Algorithm), "{algorithm}");
    }
}

#[test]
fn rfc_8725_3_10_a_token_does_not_bring_its_own_key() {
    let (provider, attacker) = (Signer::es256("e"), Signer::other_es256("e"));
    let keys = keys(&[provider.jwk()]);
    for (member, value) in [
        ("jwk", attacker.jwk()),
        ("jku", json!("https://attacker.example/jwks.json")),
        ("x5u", json!("https://attacker.example/cert.pem")),
        ("x5c", json!(["MIIB"])),
    ] {
        let mut header = json!({"alg": "ES256", "kid": "e"});
        header[member] = value;
        let token = attacker.sign_with(&header, &claims());
        assert_eq!(check(&token, &keys), Err(Refusal::Signature), "{member}");
    }
}

#[test]
fn rfc_7515_4_1_11_a_critical_header_is_refused() {
    let signer = Signer::es256("e");
    let keys = keys(&[signer.jwk()]);
    for critical in [
        json!(["b64"]),
        json!(["exp"]),
        json!([]),
        json!(null),
        json!("x"),
    ] {
        let header = json!({"alg": "ES256", "kid": "e", "crit": critical, "b64": true});
        let token = signer.sign_with(&header, &claims());
        assert_eq!(
            check(&token, &keys),
            Err(Refusal::CriticalHeader),
            "{critical}"
        );
    }
}

#[test]
fn oidc_core_10_1_with_several_keys_a_token_must_name_one() {
    let (first, second) = (Signer::es256("1"), Signer::other_es256("2"));
    let token = first.sign_with(&json!({"alg": "ES256"}), &claims());
    // A key of another type cannot be meant.
    let one = keys(&[first.jwk(), Signer::rs256("3").jwk()]);
    check(&token, &one).unwrap();
    let two = keys(&[first.jwk(), second.jwk()]);
    assert_eq!(check(&token, &two), Err(Refusal::UnknownKey));
    assert_eq!(check(&token, &[]), Err(Refusal::UnknownKey));
    let unknown = first.sign_with(&json!({"alg": "ES256", "kid": "4"}), &claims());
    assert_eq!(check(&unknown, &one), Err(Refusal::UnknownKey));
}

/// RFC 7517 section 4.5: keys of different types may have the same id; those of one type should not, and each may be meant.
#[test]
fn keys_with_the_same_id_are_all_tried() {
    let (old, new) = (Signer::es256("k"), Signer::other_es256("k"));
    let keys = keys(&[Signer::rs256("k").jwk(), old.jwk(), new.jwk()]);
    for signer in [&old, &new, &Signer::rs256("k")] {
        check(&signer.sign(&claims()), &keys).unwrap();
    }
}

#[test]
fn what_is_not_a_signed_token_is_unreadable() {
    let token = Signer::es256("e").sign(&claims());
    let [header, payload, signature] = token.split('.').collect::<Vec<_>>()[..] else {
        panic!("{token}");
    };
    let two = base64url(r#"{"alg":"none","alg":"ES256"}"#);
    for bad in [
        String::new(),
        "..".to_owned(),
        format!("{header}.{payload}"),
        // Encrypted: five parts.
        format!("{header}.{payload}.{signature}.{signature}.{signature}"),
        format!("{header}.{payload}.{signature}="),
        format!("{header}.{payload}.{signature}\n"),
        format!("{header}=.{payload}.{signature}"),
        format!("{header}.{payload}!.{signature}"),
        format!("{}.{payload}.{signature}", base64url("[]")),
        format!("{}.{payload}.{signature}", base64url("{}")),
        format!(
            "{}.{payload}.{signature}",
            base64url(r#"{"alg":["ES256"]}"#)
        ),
        format!("{two}.{payload}.{signature}"),
    ] {
        assert_eq!(Jws::read(&bad).err(), Some(Refusal::Unreadable), "{bad}");
    }
}

#[test]
fn rfc_8725_3_3_a_signature_of_another_form_is_refused() {
    let zeros = base64url([0; 64]);
    for signer in [Signer::rs256("k"), Signer::es256("k")] {
        let keys = keys(&[signer.jwk()]);
        let token = signer.sign(&claims());
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let longer = format!("{signature}AAAA");
        // The last character may hold unused bits, so change one before it.
        let shorter = &signature[..signature.len() - 4];
        for signature in ["", &zeros, &longer, shorter] {
            let token = format!("{signed}.{signature}");
            assert!(check(&token, &keys).is_err(), "{signature}");
        }
    }
}
