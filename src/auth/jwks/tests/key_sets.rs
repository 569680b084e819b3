//! Which keys of a JWK Set are used.

use ring::signature::{RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY, RsaPublicKeyComponents};
use serde_json::{Value, json};

use super::signer::{Signer, base64url, bytes, set};
use crate::auth::jwks::jwk::read_set;
use crate::auth::jwks::jws::{Jws, Refusal};

/// Whether a token of this signer passes with this one key.
fn verifies(signer: &Signer, key: &Value) -> bool {
    let keys = read_set(set(std::slice::from_ref(key)).as_bytes()).unwrap();
    let token = signer.sign(&json!({"sub": "sam"}));
    Jws::read(&token).unwrap().check(&keys).is_ok()
}

fn with(mut key: Value, member: &str, value: Value) -> Value {
    key[member] = value;
    key
}

#[test]
fn only_keys_for_signatures_of_their_algorithm_are_used() {
    for (signer, own) in [(Signer::rs256("k"), "RS256"), (Signer::es256("k"), "ES256")] {
        let key = || signer.jwk();
        for good in [
            key(),
            with(key(), "alg", json!(own)),
            with(key(), "alg", Value::Null),
            with(key(), "use", Value::Null),
            with(key(), "key_ops", json!(["sign", "verify"])),
            with(key(), "x5c", json!(["MIIB"])),
        ] {
            assert!(verifies(&signer, &good), "{good}");
        }
        for bad in [
            with(key(), "use", json!("enc")),
            with(key(), "use", json!("SIG")),
            with(key(), "key_ops", json!(["encrypt"])),
            with(key(), "alg", json!("RS512")),
            with(key(), "alg", json!("HS256")),
            with(key(), "alg", json!("none")),
            with(key(), "kty", json!("oct")),
            with(key(), "kty", json!("OKP")),
            with(key(), "kty", Value::Null),
            with(key(), "kid", json!("other")),
            with(key(), "kid", json!(1)),
        ] {
            assert!(!verifies(&signer, &bad), "{bad}");
        }
    }
}

#[test]
fn rfc_8725_3_4_a_point_that_is_not_on_the_curve_verifies_nothing() {
    let signer = Signer::es256("k");
    let (x, y) = (signer.jwk()["x"].clone(), signer.jwk()["y"].clone());
    assert!(!verifies(
        &signer,
        &with(with(signer.jwk(), "x", y.clone()), "y", x.clone())
    ));
    for (member, value) in [
        ("x", json!(base64url([0; 32]))),
        ("x", json!(base64url([255; 32]))),
        ("x", json!(base64url([1; 31]))),
        ("y", json!(base64url([1; 33]))),
        ("y", json!("")),
        ("y", Value::Null),
        ("crv", json!("P-384")),
        ("crv", Value::Null),
    ] {
        let key = with(signer.jwk(), member, value);
        assert!(!verifies(&signer, &key), "{key}");
    }
}

#[test]
fn rfc_7518_3_3_an_rsa_key_has_at_least_2048_bits() {
    let signer = Signer::rs256("k");
    // A signature that is valid but for the 1,024 bits of its key; both were made with OpenSSL.
    let modulus = "yKMCzIhSBqsp3ff0FuFaLTQbwsFLPtsJgTRNDCcRdKn0aR8fOm7fDbCVRUEQ5hhs4uZS7DhHbovKMhzXrQNcF85qLlkPFZsT3xs5\
        lRBqsVuasX8bmRTzVD2QXHrh54weByaDh8c43Z2gCtL9melYdNa4b8gdo400T59uYVe17Us";
    let signature = "KZhrm5Hqbdug-KIUZVXvVrGqVPW38IaBXqHeu6PFDGSwgiTUky20UnFSs4k9XL0jrrnCSaEFGIlZC_H5rwJkCLWo_m9fVSEJGgw3\
        EWvW8njpXKLgrp7vFfmVD4y17TXfL2jrTjDI5nz2NEv11mrrHdSt6AK7NPZp0C9A1hOMrIY";
    let message = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzYW0ifQ";
    let public = RsaPublicKeyComponents {
        n: bytes(modulus),
        e: vec![1, 0, 1],
    };
    public
        .verify(
            &RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY,
            message.as_bytes(),
            &bytes(signature),
        )
        .unwrap();
    let keys =
        read_set(set(&[json!({"kty": "RSA", "n": modulus, "e": "AQAB"})]).as_bytes()).unwrap();
    let token = format!("{message}.{signature}");
    assert_eq!(
        Jws::read(&token).unwrap().check(&keys),
        Err(Refusal::Signature)
    );

    for (member, value) in [("e", "AQ"), ("e", ""), ("e", "Ag"), ("n", ""), ("n", "!")] {
        let key = with(signer.jwk(), member, json!(value));
        assert!(!verifies(&signer, &key), "{member}: {value}");
    }
    // Section 6.3.1.1: an extra zero octet, which some writers add, is tolerated.
    let modulus = signer.jwk()["n"].as_str().unwrap().to_owned();
    let padded = [&[0], bytes(&modulus).as_slice()].concat();
    assert!(verifies(
        &signer,
        &with(signer.jwk(), "n", json!(base64url(padded)))
    ));
}

#[test]
fn rfc_7517_5_keys_that_are_not_understood_are_ignored() {
    let signer = Signer::es256("k");
    let odd = [
        json!(null),
        json!([]),
        json!({}),
        json!({"kty": "RSA"}),
        json!({"kty": "EC", "crv": "P-256", "x": 1, "y": 2}),
        json!({"kty": "oct", "k": "AAAA", "kid": "k", "alg": "HS256"}),
    ];
    let keys = read_set(set(&[&odd[..], &[signer.jwk()]].concat()).as_bytes()).unwrap();
    assert_eq!(keys.len(), 1);
}

#[test]
fn what_is_not_a_set_is_none() {
    for text in [
        "",
        "<html>",
        "[]",
        "{}",
        r#"{"keys":{}}"#,
        r#"{"keys":null}"#,
    ] {
        assert!(read_set(text.as_bytes()).is_none(), "{text}");
    }
    assert!(read_set(br#"{"keys":[]}"#).unwrap().is_empty());
}
