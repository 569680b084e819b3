//! One public key of a JWK Set (RFC 7517), with the one algorithm that it is for.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::Deserialize;
use serde_json::Value;

/// The algorithms that are accepted (RFC 7518 section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    Rs256,
    Es256,
}

impl Algorithm {
    /// `None` for every other one, `none` and the HMACs included.
    pub(super) fn parse(name: &str) -> Option<Self> {
        match name {
            "RS256" => Some(Self::Rs256),
            "ES256" => Some(Self::Es256),
            _ => None,
        }
    }
}

/// A key for signatures.
pub(super) struct Jwk {
    pub(super) id: Option<String>,
    material: Material,
}

enum Material {
    /// Modulus and exponent, both without leading zeros.
    Rsa { n: Vec<u8>, e: Vec<u8> },
    /// An uncompressed point of P-256 (SEC 1 section 2.3.3).
    P256 { point: Vec<u8> },
}

/// The members of a JWK that are read. A private key is read as its public half.
#[derive(Deserialize)]
struct Members {
    kty: String,
    #[serde(rename = "use")]
    usage: Option<String>,
    key_ops: Option<Vec<String>>,
    alg: Option<String>,
    kid: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

/// A JWK Set (RFC 7517 section 5).
#[derive(Deserialize)]
struct Document {
    keys: Vec<Value>,
}

/// The keys of a JWK Set that id tokens can be signed with; `None` when the text is not a JWK Set. Other keys are ignored
/// (RFC 7517 section 5).
pub(super) fn read_set(json: &[u8]) -> Option<Vec<Jwk>> {
    let document: Document = serde_json::from_slice(json).ok()?;
    let keys = document.keys.into_iter();
    Some(
        keys.filter_map(|key| Jwk::new(serde_json::from_value(key).ok()?))
            .collect(),
    )
}

impl Jwk {
    /// `None` when the key is not for RS256 or ES256 signatures.
    fn new(members: Members) -> Option<Self> {
        let is_for_signatures = members.usage.is_none_or(|usage| usage == "sig");
        let may_verify = members
            .key_ops
            .is_none_or(|operations| operations.iter().any(|operation| operation == "verify"));
        let material = match (members.kty.as_str(), members.crv.as_deref()) {
            ("RSA", _) => Material::rsa(&members.n?, &members.e?),
            ("EC", Some("P-256")) => Material::p256(&members.x?, &members.y?),
            _ => None,
        }?;
        let key = Self {
            id: members.kid,
            material,
        };
        let is_its_algorithm = members
            .alg
            .is_none_or(|alg| Algorithm::parse(&alg) == Some(key.algorithm()));
        (is_for_signatures && may_verify && is_its_algorithm).then_some(key)
    }

    /// The algorithm of the key: decided by its type, never by a token.
    pub(super) fn algorithm(&self) -> Algorithm {
        match self.material {
            Material::Rsa { .. } => Algorithm::Rs256,
            Material::P256 { .. } => Algorithm::Es256,
        }
    }

    /// Whether the signature is valid. A modulus of less than 2,048 bits (RFC 7518 section 3.3) or a point that is not on the
    /// curve verifies nothing.
    pub(super) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        let result = match &self.material {
            Material::Rsa { n, e } => RsaPublicKeyComponents { n, e }.verify(
                &RSA_PKCS1_2048_8192_SHA256,
                message,
                signature,
            ),
            Material::P256 { point } => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
            }
        };
        result.is_ok()
    }
}

impl Material {
    fn rsa(n: &str, e: &str) -> Option<Self> {
        let (n, e) = (without_zeros(&decode(n)?), without_zeros(&decode(e)?));
        Some(Self::Rsa { n, e })
    }

    /// RFC 7518 section 6.2.1.2: a coordinate has the full length, leading zeros included.
    fn p256(x: &str, y: &str) -> Option<Self> {
        let (x, y) = (decode(x)?, decode(y)?);
        let point = [&[4], x.as_slice(), y.as_slice()].concat();
        (x.len() == 32 && y.len() == 32).then_some(Self::P256 { point })
    }
}

/// RFC 7515 section 2: base64url without padding.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

/// RFC 7518 section 6.3.1.1: some writers prefix the modulus with a zero octet, which must be tolerated.
fn without_zeros(number: &[u8]) -> Vec<u8> {
    number
        .iter()
        .copied()
        .skip_while(|byte| *byte == 0)
        .collect()
}
