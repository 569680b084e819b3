//! The stored record of an account.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{StoreError, StoreErrorKind};
use crate::auth::token_set::{StoredTokens, from_ms, to_ms};
use crate::auth::{TokenSet, secret_json};
use crate::secret::Secret;

/// The version numbers of the stored formats.
const PLAIN: u32 = 1;
const SEALED: u32 = 2;

/// All data that a [`TokenStore`](super::TokenStore) keeps for an account.
///
/// Your own store keeps it as text. See [`TokenStore`](super::TokenStore) for an example.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Record {
    pub(in crate::auth) tokens: TokenSet,
    pub(in crate::auth) refresh_mark: Option<StoredMark>,
    pub(in crate::auth) ended: Option<Ended>,
    /// The client that the session belongs to. `None` in a record from an earlier version of this crate.
    pub(in crate::auth) client: Option<RecordClient>,
    /// If present, the tokens contain only times and a generation.
    pub(in crate::auth) seal: Option<Seal>,
}

/// Set when a refresh is about to be sent. A record that still has this mark may contain a used refresh token.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(in crate::auth) struct StoredMark {
    pub(in crate::auth) generation: u64,
    #[serde(
        rename = "at_ms",
        serialize_with = "write_ms",
        deserialize_with = "read_ms"
    )]
    pub(in crate::auth) at: SystemTime,
    /// Identifies the manager that wrote the mark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::auth) owner: Option<u64>,
}

fn write_ms<S: Serializer>(time: &SystemTime, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u64(to_ms(*time))
}

fn read_ms<'de, D: Deserializer<'de>>(from: D) -> Result<SystemTime, D::Error> {
    from_ms(u64::deserialize(from)?).ok_or_else(|| de::Error::custom("out of range"))
}

/// Why a session ended permanently. Stored, so that every process reports the same reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::auth) enum Ended {
    Refused,
    AnswerLost,
    AnotherUser,
    /// A reason introduced by a newer version of this crate.
    #[serde(other)]
    Other,
}

impl Ended {
    pub(in crate::auth) fn reason(self) -> &'static str {
        match self {
            Self::Refused => "the identity provider does not accept the refresh token any more",
            Self::AnswerLost => {
                "the answer to an earlier refresh was lost, and the new refresh token with it"
            }
            Self::AnotherUser => "the identity provider answered with another user's tokens",
            Self::Other => "the session has ended",
        }
    }
}

/// The client that a session belongs to. No other client can use its refresh token (RFC 6749 section 10.4).
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::auth) struct RecordClient {
    pub(in crate::auth) id: String,
    pub(in crate::auth) token_url: String,
}

// Hides the address except for the host, because the rest may be private.
debug_shows!(RecordClient, |it| id: it.id);

/// An encrypted record, and the id of the key that can decrypt it.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Seal {
    pub(crate) key_id: String,
    pub(crate) text: String,
}

debug_shows!(Seal, |it| key_id: it.key_id);

#[derive(Serialize, Deserialize)]
struct WrittenRecord {
    form: u32,
    tokens: StoredTokens,
    #[serde(rename = "intent", skip_serializing_if = "Option::is_none")]
    refresh_mark: Option<StoredMark>,
    /// Older versions ignore this field, find no refresh token, and also require a login.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<Ended>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<RecordClient>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seal: Option<Seal>,
}

/// Parses stored JSON, called `name` in errors. Fails if a newer version of this crate wrote it: a `form` above `newest`.
pub(in crate::auth) fn read_stored<'a, T: Deserialize<'a>>(
    json: &'a [u8],
    newest: u32,
    name: &str,
) -> Result<T, StoreError> {
    /// Parsed separately first, because the rest of a newer format may not fit.
    #[derive(Deserialize)]
    struct RecordFormat {
        form: u32,
    }
    // Drops serde's messages, which may quote the text.
    let unreadable = |_| unreadable(name);
    let RecordFormat { form } = serde_json::from_slice(json).map_err(unreadable)?;
    if form > newest {
        let message = format!("{name} was written by a newer version of this crate");
        return Err(StoreError::new(StoreErrorKind::NewerVersion, message));
    }
    serde_json::from_slice(json).map_err(unreadable)
}

fn unreadable(name: &str) -> StoreError {
    StoreError::new(
        StoreErrorKind::Unreadable,
        format!("{name} is not readable"),
    )
}

impl Record {
    /// A record with these tokens.
    pub(in crate::auth) fn new(tokens: TokenSet) -> Self {
        Self {
            tokens,
            refresh_mark: None,
            ended: None,
            client: None,
            seal: None,
        }
    }

    /// The remainder of a session that ended: its user, its times, and the reason.
    pub(in crate::auth) fn ended(tokens: &TokenSet, reason: Ended) -> Self {
        let mut record = Self::new(tokens.clone()).without_access_token();
        record.tokens.refresh_token = None;
        record.ended = Some(reason);
        record
    }

    /// The tokens in the record. For a sealed record, only times and generation are set.
    pub fn tokens(&self) -> &TokenSet {
        &self.tokens
    }

    /// The record without access token and id token, for stores with little space such as keyrings. Its placeholder access
    /// token has expired, so a process that loads the record renews its tokens first.
    pub(in crate::auth) fn without_access_token(&self) -> Self {
        let mut small = self.clone();
        small.tokens.access_token = "expired".into();
        small.tokens.id_token = None;
        small.tokens.lifetime = Duration::ZERO;
        small
    }

    /// When a refresh of these tokens was marked as about to be sent, if no reply is stored yet.
    pub fn refresh_began_at(&self) -> Option<SystemTime> {
        self.refresh_mark.map(|mark| mark.at)
    }

    /// Returns the record, unless it is sealed: a missing wrapper must not look like a lost session.
    pub(in crate::auth) fn open(self) -> Result<Self, StoreError> {
        if self.seal.is_none() {
            return Ok(self);
        }
        let message = "the stored record is sealed; wrap the store in a SealedStore";
        Err(StoreError::new(StoreErrorKind::Unreadable, message))
    }

    /// Returns the record, unless it belongs to another client. In that case nothing may be sent with it.
    pub(in crate::auth) fn of_client(self, client: &RecordClient) -> Result<Self, StoreError> {
        match &self.client {
            Some(theirs) if theirs != client => Err(StoreError::new(
                StoreErrorKind::AnotherClient,
                "the stored tokens were issued to another client id or by another token endpoint; correct the setting, give this client a store or an account key of its own, or delete the record if the provider has moved",
            )),
            _ => Ok(self),
        }
    }

    /// Serializes the record, including valid credentials.
    pub fn to_secret_json(&self) -> Secret {
        let stored = WrittenRecord {
            form: if self.seal.is_some() { SEALED } else { PLAIN },
            tokens: StoredTokens::from(&self.tokens),
            refresh_mark: self.refresh_mark,
            ended: self.ended,
            client: self.client.clone(),
            seal: self.seal.clone(),
        };
        // Never the default: strings and numbers with string keys always serialize.
        secret_json::to_json(&stored).unwrap_or_default()
    }

    /// Parses a record from its text.
    ///
    /// # Errors
    ///
    /// [`Unreadable`](crate::auth::StoreErrorKind::Unreadable) if the text is not a record, and
    /// [`NewerVersion`](crate::auth::StoreErrorKind::NewerVersion) if a newer version of this crate wrote it. Do not overwrite
    /// it: another process may still be able to read it.
    pub fn from_secret_json(json: &Secret) -> Result<Self, StoreError> {
        const NAME: &str = "the stored record";
        let stored: WrittenRecord = read_stored(json.expose().as_bytes(), SEALED, NAME)?;
        let has_format = stored.seal.is_some() == (stored.form == SEALED);
        let tokens = stored.tokens.into_set().filter(|_| has_format);
        Ok(Self {
            tokens: tokens.ok_or_else(|| unreadable(NAME))?,
            refresh_mark: stored.refresh_mark,
            ended: stored.ended,
            client: stored.client,
            seal: stored.seal,
        })
    }
}
