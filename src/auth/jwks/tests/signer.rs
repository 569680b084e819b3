//! Signs tokens with the keys that the RFCs publish.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::rsa::{KeyPairComponents, PublicKeyComponents};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
};
use serde_json::{Value, json};

use crate::auth::jwks::jwk::decode;

/// An RSA key with its members in base64url (RFC 7518 section 6.3).
struct Rsa {
    n: &'static str,
    d: &'static str,
    p: &'static str,
    q: &'static str,
    dp: &'static str,
    dq: &'static str,
    qi: &'static str,
}

/// RFC 7515 appendix A.2.
const RSA: Rsa = Rsa {
    n: "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZ\
        S-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2\
        R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcD\
        TW9gb54h4FRWyuXpoQ",
    d: "Eq5xpGnNCivDflJsRQBXHx1hdR1k6Ulwe2JZD50LpXyWPEAeP88vLNO97IjlA7_GQ5sLKMgvfTeXZx9SE-7YwVol2NXOoAJe46sui395IW_G\
        O-pWJ1O0BkTGoVEn2bKVRUCgu-GjBVaYLU6f3l9kJfFNS3E0QbVdxzubSu3Mkqzjkn439X0M_V51gfpRLI9JYanrC4D4qAdGcopV_0ZHHzQl\
        BjudU2QvXt4ehNYTCBr6XCLQUShb1juUO1ZdiYoFaFQT5Tw8bGUl_x_jTj3ccPDVZFD9pIuhLhBOneufuBiB4cS98l2SR_RQyGWSeWjnczT0\
        QU91p1DhOVRuOopznQ",
    p: "4BzEEOtIpmVdVEZNCqS7baC4crd0pqnRH_5IB3jw3bcxGn6QLvnEtfdUdiYrqBdss1l58BQ3KhooKeQTa9AB0Hw_Py5PJdTJNPY8cQn7ouZ2\
        KKDcmnPGBY5t7yLc1QlQ5xHdwW1VhvKn-nXqhJTBgIPgtldC-KDV5z-y2XDwGUc",
    q: "uQPEfgmVtjL0Uyyx88GZFF1fOunH3-7cepKmtH4pxhtCoHqpWmT8YAmZxaewHgHAjLYsp1ZSe7zFYHj7C6ul7TjeLQeZD_YwD66t62wDmpe_\
        HlB-TnBA-njbglfIsRLtXlnDzQkv5dTltRJ11BKBBypeeF6689rjcJIDEz9RWdc",
    dp: "BwKfV3Akq5_MFZDFZCnW-wzl-CCo83WoZvnLQwCTeDv8uzluRSnm71I3QCLdhrqE2e9YkxvuxdBfpT_PI7Yz-FOKnu1R6HsJeDCjn12Sk3vm\
        AktV2zb34MCdy7cpdTh_YVr7tss2u6vneTwrA86rZtu5Mbr1C1XsmvkxHQAdYo0",
    dq: "h_96-mK1R_7glhsum81dZxjTnYynPbZpHziZjeeHcXYsXaaMwkOlODsWa7I9xXDoRwbKgB719rrmI2oKr6N3Do9U0ajaHF-NKJnwgjMd2w9c\
        jz3_-kyNlxAr2v4IKhGNpmM5iIgOS1VZnOZ68m6_pbLBSp3nssTdlqvd0tIiTHU",
    qi: "IYd7DHOhrWvxkwPQsRM2tOgrjbcrfvtQJipd-DlcxyVuuM9sQLdgjVk2oy26F0EmpScGLq2MowX7fhd_QJQ3ydy5cY7YIBi87w93IKLEdfnb\
        JtoOPLUW0ITrJReOgo1cq9SbsxYawBgfp_gh6A5603k2-ZQwVK0JKSHuLFkuQ3U",
};

/// Coordinates and private value of RFC 7515 appendix A.3.
const EC: [&str; 3] = [
    "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
    "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
    "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI",
];

/// Those of RFC 7517 appendix A.2.
const OTHER_EC: [&str; 3] = [
    "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
    "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
    "870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE",
];

pub(in crate::auth) struct Signer {
    kid: &'static str,
    key: Key,
}

enum Key {
    Rsa(RsaKeyPair),
    Ec([&'static str; 3], EcdsaKeyPair),
}

pub(super) fn bytes(text: &str) -> Vec<u8> {
    decode(text).unwrap()
}

pub(in crate::auth) fn base64url(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl Signer {
    /// The RSA key.
    pub(in crate::auth) fn rs256(kid: &'static str) -> Self {
        let components = KeyPairComponents {
            public_key: PublicKeyComponents {
                n: bytes(RSA.n),
                e: vec![1, 0, 1],
            },
            d: bytes(RSA.d),
            p: bytes(RSA.p),
            q: bytes(RSA.q),
            dP: bytes(RSA.dp),
            dQ: bytes(RSA.dq),
            qInv: bytes(RSA.qi),
        };
        let key = Key::Rsa(RsaKeyPair::from_components(&components).unwrap());
        Self { kid, key }
    }

    /// A key on P-256.
    pub(in crate::auth) fn es256(kid: &'static str) -> Self {
        Self::ec(kid, EC)
    }

    /// Another one.
    pub(in crate::auth) fn other_es256(kid: &'static str) -> Self {
        Self::ec(kid, OTHER_EC)
    }

    fn ec(kid: &'static str, members: [&'static str; 3]) -> Self {
        let [x, y, d] = members.map(bytes);
        let point = [&[4], x.as_slice(), y.as_slice()].concat();
        let (algorithm, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let pair =
            EcdsaKeyPair::from_private_key_and_public_key(algorithm, &d, &point, &random).unwrap();
        let key = Key::Ec(members, pair);
        Self { kid, key }
    }

    /// The public key as a provider publishes it.
    pub(in crate::auth) fn jwk(&self) -> Value {
        match &self.key {
            Key::Rsa(_) => json!({
                "kty": "RSA", "use": "sig", "alg": "RS256", "kid": self.kid, "n": RSA.n, "e": "AQAB",
            }),
            Key::Ec([x, y, _], _) => json!({
                "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": self.kid, "x": x, "y": y,
            }),
        }
    }

    fn algorithm(&self) -> &'static str {
        match self.key {
            Key::Rsa(_) => "RS256",
            Key::Ec(..) => "ES256",
        }
    }

    pub(in crate::auth) fn sign(&self, claims: &Value) -> String {
        let header = json!({"alg": self.algorithm(), "kid": self.kid, "typ": "JWT"});
        self.sign_with(&header, claims)
    }

    /// Signs a token with a header of the test's.
    pub(in crate::auth) fn sign_with(&self, header: &Value, claims: &Value) -> String {
        let [header, claims] = [header, claims].map(|part| base64url(part.to_string()));
        let signed = format!("{header}.{claims}");
        let signature = match &self.key {
            Key::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                let random = SystemRandom::new();
                pair.sign(
                    &RSA_PKCS1_SHA256,
                    &random,
                    signed.as_bytes(),
                    &mut signature,
                )
                .unwrap();
                signature
            }
            Key::Ec(_, pair) => {
                let signature = pair.sign(&SystemRandom::new(), signed.as_bytes());
                signature.unwrap().as_ref().to_vec()
            }
        };
        format!("{signed}.{}", base64url(signature))
    }
}

/// A JWK Set.
pub(in crate::auth) fn set(keys: &[Value]) -> String {
    json!({ "keys": keys }).to_string()
}
