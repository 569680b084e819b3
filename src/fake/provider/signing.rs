//! Signs id tokens with ES256.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use serde_json::{Value, json};

use crate::fake::Fake;

/// Coordinates and private values of the keys published in RFC 7515 appendix A.3 and RFC 7517 appendix A.2.
const KEYS: [[&str; 3]; 2] = [
    [
        "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
        "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI",
    ],
    [
        "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
        "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
        "870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE",
    ],
];

/// The algorithm of id tokens.
pub(super) const ALGORITHM: &str = "ES256";

/// The signing key.
#[derive(Default)]
pub(in crate::fake) struct Signing {
    rotations: usize,
}

impl Signing {
    fn id(&self) -> String {
        format!("fake-{}", self.rotations + 1)
    }

    fn members(&self) -> [&'static str; 3] {
        KEYS[self.rotations % KEYS.len()]
    }

    /// The JWK Set (RFC 7517 section 5), with the current key only.
    pub(super) fn public_keys(&self) -> Value {
        let [x, y, _] = self.members();
        let key = json!({
            "kty": "EC", "crv": "P-256", "use": "sig", "alg": ALGORITHM, "kid": self.id(), "x": x, "y": y,
        });
        json!({ "keys": [key] })
    }

    /// A signed JWT (RFC 7515 section 3.1).
    pub(super) fn jwt(&self, claims: &Value) -> String {
        let header = json!({"alg": ALGORITHM, "kid": self.id(), "typ": "JWT"}).to_string();
        let signed = [header, claims.to_string()].map(|part| URL_SAFE_NO_PAD.encode(part));
        let signed = signed.join(".");
        // Never the default: a test signs with both keys.
        let signature = self.sign(signed.as_bytes()).unwrap_or_default();
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    fn sign(&self, message: &[u8]) -> Option<Vec<u8>> {
        let [x, y, d] = self.members().map(|text| URL_SAFE_NO_PAD.decode(text));
        let point = [vec![4], x.ok()?, y.ok()?].concat();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let random = SystemRandom::new();
        let key =
            EcdsaKeyPair::from_private_key_and_public_key(algorithm, &d.ok()?, &point, &random);
        let signature = key.ok()?.sign(&random, message).ok()?;
        Some(signature.as_ref().to_vec())
    }
}

impl Fake {
    /// Replaces the key that signs id tokens, as providers do from time to time. New tokens have a different key id, and
    /// [`jwks_uri`](Self::jwks_uri) serves only the new key.
    pub fn rotate_signing_key(&self) {
        self.state.parts().provider.signing.rotations += 1;
    }
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

    use super::*;

    #[test]
    fn each_key_signs_what_its_published_half_verifies() {
        for rotations in 0..3 {
            let signing = Signing { rotations };
            let token = signing.jwt(&json!({"sub": "sam"}));
            let key = &signing.public_keys()["keys"][0];
            let bytes = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
            let member = |name: &str| key[name].as_str().unwrap();
            let point = [vec![4], bytes(member("x")), bytes(member("y"))].concat();
            let (signed, signature) = token.rsplit_once('.').unwrap();
            UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point)
                .verify(signed.as_bytes(), &bytes(signature))
                .unwrap();
            let header: Value =
                serde_json::from_slice(&bytes(signed.split('.').next().unwrap())).unwrap();
            assert_eq!(header["kid"], key["kid"]);
        }
    }
}
