//! What is stored for an account.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::store_error::StoreErrorKind;
use super::{Seal, StoreError};
use crate::auth::TokenSet;
use crate::auth::secret_json;
use crate::auth::token_set::{SavedTokens, from_ms, to_ms};
use crate::secret::Secret;

/// The number of the stored form; one above both is of a newer crate and is not touched.
const PLAIN: u32 = 1;
const SEALED: u32 = 2;

/// Everything that is stored for an account, in one piece.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Record {
    pub(in crate::auth) tokens: TokenSet,
    pub(in crate::auth) intent: Option<Intent>,
    pub(in crate::auth) ended: Option<Ended>,
    seal: Option<Seal>,
}

/// A refresh was about to be sent. Found later, it says that the refresh token may be used up already.
#[derive(Clone, Copy, Debug)]
pub(in crate::auth) struct Intent {
    pub(in crate::auth) generation: u64,
    pub(in crate::auth) at: SystemTime,
    /// Identifies the manager that wrote it.
    pub(in crate::auth) owner: Option<u64>,
}

/// Why a session ended for good. Stored, so that every process reports the same reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::auth) enum Ended {
    Refused,
    AnswerLost,
    AnotherUser,
    /// A reason that only a newer version of this crate knows.
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

    fn code(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::AnswerLost => "answer_lost",
            Self::AnotherUser => "another_user",
            Self::Other => "other",
        }
    }

    fn of_code(code: &str) -> Self {
        let known = [Self::Refused, Self::AnswerLost, Self::AnotherUser];
        let found = known.into_iter().find(|ended| ended.code() == code);
        found.unwrap_or(Self::Other)
    }
}

#[derive(Serialize, Deserialize)]
struct Saved {
    form: u32,
    tokens: SavedTokens,
    #[serde(skip_serializing_if = "Option::is_none")]
    intent: Option<SavedIntent>,
    /// Unknown to older versions, which read a record without a refresh token and ask for a login as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ended: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seal: Option<Seal>,
}

#[derive(Serialize, Deserialize)]
struct SavedIntent {
    generation: u64,
    at_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    owner: Option<u64>,
}

/// Read first and alone: the rest of a newer form may not fit.
#[derive(Deserialize)]
struct Form {
    form: u32,
}

impl Record {
    /// The record of some tokens.
    #[must_use]
    pub fn new(tokens: TokenSet) -> Self {
        Self {
            tokens,
            intent: None,
            ended: None,
            seal: None,
        }
    }

    /// What is left of a session that ended: whose it was, its times, and the reason.
    pub(in crate::auth) fn ended(tokens: &TokenSet, reason: Ended) -> Self {
        let mut record = Self::new(tokens.clone()).without_access_token();
        record.tokens.refresh_token = None;
        record.ended = Some(reason);
        record
    }

    /// The tokens in the record. Of a sealed one: their times and generation, and none of the tokens.
    #[must_use]
    pub fn tokens(&self) -> &TokenSet {
        &self.tokens
    }

    /// The record without access and id token, for stores with little room such as keyrings. The access token in their
    /// place has expired, so whoever loads the record renews its tokens first.
    #[must_use]
    pub fn without_access_token(&self) -> Self {
        let mut small = self.clone();
        small.tokens.access_token = "expired".into();
        small.tokens.id_token = None;
        small.tokens.lifetime = Duration::ZERO;
        small
    }

    /// When a refresh of these tokens was marked as about to be sent, if no answer is stored yet.
    #[must_use]
    pub fn refresh_began_at(&self) -> Option<SystemTime> {
        self.intent.map(|intent| intent.at)
    }

    /// The record with a seal in the place of everything but its times and generation: for wrappers that encrypt.
    ///
    /// The seal holds what [`to_secret_json`](Self::to_secret_json) gives. Managers refuse sealed records, so that a
    /// wrapper that was forgotten is not taken for a lost session.
    #[must_use]
    pub fn sealed(&self, seal: Seal) -> Self {
        Self {
            tokens: self.tokens.without_secrets(),
            intent: self.intent,
            ended: None,
            seal: Some(seal),
        }
    }

    /// The seal of a sealed record.
    #[must_use]
    pub fn seal(&self) -> Option<&Seal> {
        self.seal.as_ref()
    }

    /// The record, unless it is sealed.
    pub(in crate::auth) fn open(self) -> Result<Self, StoreError> {
        match self.seal {
            None => Ok(self),
            Some(_) => Err(StoreError::of(
                StoreErrorKind::Unreadable,
                "the stored record is sealed; wrap the store as it was when it was written",
            )),
        }
    }

    /// The record as text, with live credentials in it.
    #[must_use]
    pub fn to_secret_json(&self) -> Secret {
        let saved = Saved {
            form: if self.seal.is_some() { SEALED } else { PLAIN },
            tokens: SavedTokens::from(&self.tokens),
            intent: self.intent.map(|intent| SavedIntent {
                generation: intent.generation,
                at_ms: to_ms(intent.at),
                owner: intent.owner,
            }),
            ended: self.ended.map(|ended| ended.code().to_owned()),
            seal: self.seal.clone(),
        };
        // Never the default: strings and numbers under text keys always serialize.
        secret_json::to_json(&saved).unwrap_or_default()
    }

    /// Reads a record from its text.
    ///
    /// # Errors
    ///
    /// The text is not a record, or one that a newer version of this crate wrote. Do not overwrite it: somebody may
    /// still be able to read it.
    pub fn from_secret_json(json: &Secret) -> Result<Self, StoreError> {
        // The reasons of serde are left out: they may repeat a part of the text.
        let unreadable = || {
            StoreError::of(
                StoreErrorKind::Unreadable,
                "the stored record is not readable",
            )
        };
        let Form { form } = serde_json::from_str(json.expose()).map_err(|_| unreadable())?;
        if form > SEALED {
            return Err(StoreError::of(
                StoreErrorKind::NewerVersion,
                "the stored record was written by a newer version of this crate",
            ));
        }
        let saved: Saved = serde_json::from_str(json.expose()).map_err(|_| unreadable())?;
        if saved.seal.is_some() != (form == SEALED) {
            return Err(unreadable());
        }
        let intent = match saved.intent {
            Some(intent) => Some(Intent {
                generation: intent.generation,
                at: from_ms(intent.at_ms).ok_or_else(unreadable)?,
                owner: intent.owner,
            }),
            None => None,
        };
        Ok(Self {
            tokens: saved.tokens.into_set().ok_or_else(unreadable)?,
            intent,
            ended: saved.ended.as_deref().map(Ended::of_code),
            seal: saved.seal,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::token_set::LONGEST;
    use std::time::UNIX_EPOCH;

    fn record() -> Record {
        Record {
            tokens: TokenSet {
                access_token: "at-s3cr3t".into(),
                refresh_token: Some("rt-s3cr3t".into()),
                id_token: Some("it-s3cr3t".into()),
                subject: Some("auth0|person".to_owned()),
                scopes: vec!["openid".to_owned()],
                issued_at: UNIX_EPOCH + Duration::from_millis(1_700_000_000_123),
                lifetime: Duration::from_secs(86_400),
                generation: 7,
                session_ends_at: Some(UNIX_EPOCH + Duration::from_secs(1_702_592_000)),
            },
            intent: Some(Intent {
                generation: 7,
                at: UNIX_EPOCH + Duration::from_secs(1_700_000_500),
                owner: Some(u64::MAX),
            }),
            ended: None,
            seal: None,
        }
    }

    #[test]
    fn a_record_goes_through_text_unchanged() {
        let text = record().to_secret_json();
        let back = Record::from_secret_json(&text).unwrap();
        assert_eq!(back.to_secret_json().expose(), text.expose());
        assert!(back.tokens.refresh_token.unwrap().matches("rt-s3cr3t"));
        let intent = back.intent.unwrap();
        assert_eq!((intent.generation, intent.owner), (7, Some(u64::MAX)));
        assert_eq!(back.tokens.session_ends_at, record().tokens.session_ends_at);
    }

    #[test]
    fn what_cannot_be_read_is_an_error_and_not_an_empty_store() {
        for bad in [
            "",
            "{}",
            "null",
            "{\"form\":1}",
            "{\"form\":1,\"tokens\":{}}",
            "{\"form\":2}",
        ] {
            assert!(Record::from_secret_json(&bad.into()).is_err(), "{bad}");
        }
        let newer = Record::from_secret_json(&"{\"form\":3,\"other\":true}".into());
        assert!(newer.unwrap_err().to_string().contains("newer"));
    }

    #[test]
    fn a_sealed_record_goes_through_text_and_tells_times_only() {
        let sealed = record().sealed(Seal::new("key-1", "c2VhbGVk"));
        let text = sealed.to_secret_json();
        for secret in ["s3cr3t", "person", "openid"] {
            assert!(!text.expose().contains(secret), "{}", text.expose());
        }
        let back = Record::from_secret_json(&text).unwrap();
        assert_eq!(back.to_secret_json().expose(), text.expose());
        let seal = back.seal().unwrap();
        assert_eq!((seal.key_id(), seal.text()), ("key-1", "c2VhbGVk"));
        assert_eq!(back.tokens().expires_at(), record().tokens().expires_at());
        assert_eq!(back.tokens().generation(), 7);
        assert!(back.open().unwrap_err().is_unreadable());
    }

    #[test]
    fn a_seal_and_the_number_of_the_form_belong_together() {
        let sealed = record().sealed(Seal::new("key-1", "c2VhbGVk"));
        let sealed = sealed.to_secret_json();
        let plain = record().to_secret_json();
        for mixed in [
            sealed.expose().replace("\"form\":2", "\"form\":1"),
            plain.expose().replace("\"form\":1", "\"form\":2"),
        ] {
            assert!(Record::from_secret_json(&mixed.into()).is_err());
        }
    }

    #[test]
    fn times_that_cannot_be_do_not_panic() {
        let text = record().to_secret_json();
        for (field, wrong) in [
            ("1700000000123", u64::MAX.to_string()),
            ("86400000", u64::MAX.to_string()),
        ] {
            let changed = text.expose().replace(field, &wrong);
            if let Ok(record) = Record::from_secret_json(&changed.into()) {
                let tokens = record.tokens();
                assert!(tokens.expires_at() <= tokens.issued_at() + LONGEST);
            }
        }
    }

    #[test]
    fn a_small_record_has_no_access_token_and_is_expired() {
        let small = record().without_access_token();
        let text = small.to_secret_json();
        assert!(!text.expose().contains("at-s3cr3t") && !text.expose().contains("it-s3cr3t"));
        assert!(small.tokens.refresh_token.is_some() && small.intent.is_some());
        assert_eq!(small.tokens.expires_at(), small.tokens.issued_at());
    }

    /// Row 54.
    #[test]
    fn the_reason_of_an_ended_session_is_read_and_does_not_break_older_versions() {
        for ended in [Ended::Refused, Ended::AnswerLost, Ended::AnotherUser] {
            let text = Record::ended(&record().tokens, ended).to_secret_json();
            assert!(!text.expose().contains("s3cr3t"));
            // What older versions read: the form that they know, without a refresh token and out of date.
            let value: serde_json::Value = serde_json::from_str(text.expose()).unwrap();
            assert_eq!(
                (&value["form"], &value["tokens"]["lifetime_ms"]),
                (&1.into(), &0.into())
            );
            let back = Record::from_secret_json(&text).unwrap();
            assert_eq!(back.ended, Some(ended));
            let newer = text.expose().replace(ended.code(), "for_a_reason_of_2030");
            let newer = Record::from_secret_json(&newer.into()).unwrap();
            assert_eq!(newer.ended, Some(Ended::Other));
        }
        let older = r#"{"form":1,"tokens":{"access_token":"a","issued_at_ms":1,"lifetime_ms":1,
            "generation":1},"intent":{"generation":1,"at_ms":1}}"#;
        let older = Record::from_secret_json(&older.into()).unwrap();
        assert!(older.ended.is_none() && older.intent.unwrap().owner.is_none());
    }

    #[test]
    fn debug_hides_tokens_and_subject() {
        let shown = format!("{:?}", record());
        assert!(
            !shown.contains("s3cr3t") && !shown.contains("person"),
            "{shown}"
        );
    }
}
