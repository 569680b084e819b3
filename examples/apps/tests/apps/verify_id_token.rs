//! The choice of keys for tokens, and fetching of keys.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::routing::get;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, Header};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::keys::{Keys, algorithm};

/// The public key of RFC 7517 appendix A.1, with an additional member.
fn key(member: &str, value: Value) -> Jwk {
    let mut key = json!({
        "kty": "EC", "crv": "P-256", "kid": "1",
        "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
        "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
    });
    key[member] = value;
    serde_json::from_value(key).unwrap()
}

#[test]
fn a_key_verifies_what_it_is_published_for_and_no_token_with_conditions() {
    let header = Header::new(Algorithm::ES256);
    for (member, value, fine) in [
        ("kid", json!("1"), true),
        ("use", json!("sig"), true),
        ("use", json!("enc"), false),
        ("use", json!("tls"), false),
        ("alg", json!("ES256"), true),
        ("alg", json!("ES384"), false),
        ("alg", json!("RS256"), false),
        ("alg", json!("unknown"), false),
        ("key_ops", json!(["verify"]), true),
        ("key_ops", json!(["sign", "verify"]), true),
        ("key_ops", json!(["deriveKey"]), false),
        ("key_ops", json!([]), false),
        ("crv", json!("P-384"), false),
    ] {
        let found = algorithm(&header, &key(member, value.clone()));
        assert_eq!(found.is_ok(), fine, "{member}: {value}");
    }
    for critical in [vec!["exp".to_owned()], vec!["b64".to_owned()], vec![]] {
        let mut header = header.clone();
        header.crit = Some(critical);
        assert!(algorithm(&header, &key("use", json!("sig"))).is_err());
    }
}

/// A server with this key set, and the number of requests that it has answered.
async fn provider(body: String) -> (Keys, Arc<AtomicUsize>) {
    let requests = Arc::new(AtomicUsize::new(0));
    let count = requests.clone();
    let answer = move || {
        count.fetch_add(1, Ordering::SeqCst);
        let body = body.clone();
        async move { body }
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/jwks", listener.local_addr().unwrap());
    let app = Router::new().route("/jwks", get(answer));
    tokio::spawn(async move { axum::serve(listener, app).await });
    (Keys::new(address.parse().unwrap()).unwrap(), requests)
}

#[tokio::test]
async fn the_keys_are_fetched_once_for_many_logins() {
    let (keys, requests) = provider(json!({"keys": [key("use", json!("sig"))]}).to_string()).await;
    let keys = Arc::new(keys);
    let mut logins = JoinSet::new();
    for _ in 0..20 {
        let keys = keys.clone();
        logins.spawn(async move { keys.prepare().await.is_ok() });
    }
    assert!(logins.join_all().await.into_iter().all(|is_ready| is_ready));
    assert_eq!(requests.load(Ordering::SeqCst), 1);
    assert!(keys.verify("not a token").is_err());
}

#[tokio::test]
async fn a_set_of_keys_without_an_end_is_not_read() {
    let padding = " ".repeat(1 << 20);
    let (keys, _) = provider(format!("{{\"keys\": []{padding}}}")).await;
    let error = keys.prepare().await.unwrap_err();
    assert!(error.to_string().contains("too large"), "{error}");
}
