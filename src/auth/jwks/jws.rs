//! A signed token (RFC 7515 section 3.1), and its check against keys. Does no I/O.

use serde::Deserialize;
use serde_json::Value;

use super::jwk::{Algorithm, Jwk, decode};

/// Keys with the id of a token that are tried. Providers publish one; each costs an exponentiation.
const KEYS_OF_ONE_ID: usize = 8;

pub(super) struct Jws<'a> {
    header: Header,
    /// The header and the payload as they were sent.
    signed: &'a [u8],
    signature: Vec<u8>,
}

/// What is read of the header. `jwk`, `jku`, `x5c` and `x5u` are not: a token must not bring its own key (RFC 8725 section
/// 3.10).
#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    /// Extensions that a reader must know.
    #[serde(default)]
    crit: Presence,
}

/// Whether a member is there, also as `null`.
#[derive(Default)]
struct Presence(bool);

impl<'de> Deserialize<'de> for Presence {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(|_| Self(true))
    }
}

/// Why a token is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It is not a signed token of three parts.
    Unreadable,
    /// It needs an extension, and none is known.
    CriticalHeader,
    /// Its algorithm is neither RS256 nor ES256.
    Algorithm,
    /// No key has its id and algorithm, or without an id more than one key could be meant.
    UnknownKey,
    Signature,
}

impl Refusal {
    /// The code in the error of a refused login.
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::Unreadable => "id_token_unreadable",
            Self::CriticalHeader => "id_token_critical_header",
            Self::Algorithm => "id_token_algorithm",
            Self::UnknownKey => "id_token_unknown_key",
            Self::Signature => "id_token_signature",
        }
    }

    /// Whether other keys could verify the token: the provider may have a new key, also under an old id or under none.
    pub(super) fn may_be_of_a_new_key(self) -> bool {
        matches!(self, Self::UnknownKey | Self::Signature)
    }
}

impl<'a> Jws<'a> {
    pub(super) fn read(token: &'a str) -> Result<Self, Refusal> {
        Self::parse(token).ok_or(Refusal::Unreadable)
    }

    fn parse(token: &'a str) -> Option<Self> {
        let (signed, signature) = token.rsplit_once('.')?;
        // With further dots it is an encrypted token, which `decode` refuses.
        let (header, payload) = signed.split_once('.')?;
        decode(payload)?;
        Some(Self {
            header: serde_json::from_slice(&decode(header)?).ok()?,
            signed: signed.as_bytes(),
            signature: decode(signature)?,
        })
    }

    pub(super) fn check(&self, keys: &[Jwk]) -> Result<(), Refusal> {
        // RFC 7515 section 4.1.11.
        if self.header.crit.0 {
            return Err(Refusal::CriticalHeader);
        }
        let algorithm = Algorithm::parse(&self.header.alg).ok_or(Refusal::Algorithm)?;
        let of_algorithm = keys.iter().filter(|key| key.algorithm() == algorithm);
        let candidates: Vec<_> = match &self.header.kid {
            Some(_) => of_algorithm
                .filter(|key| key.id == self.header.kid)
                .take(KEYS_OF_ONE_ID)
                .collect(),
            None => of_algorithm.collect(),
        };
        // OIDC Core 10.1: with several keys the token must name one.
        if candidates.is_empty() || (self.header.kid.is_none() && candidates.len() > 1) {
            return Err(Refusal::UnknownKey);
        }
        let mut candidates = candidates.into_iter();
        let is_valid = candidates.any(|key| key.verifies(self.signed, &self.signature));
        is_valid.then_some(()).ok_or(Refusal::Signature)
    }
}
