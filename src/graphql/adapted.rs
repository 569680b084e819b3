//! The documents that a client sends in place of ours, since the server's schema did not fit those.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::adapt::{left_out, next};
use super::catalogue::{CATALOGUE, Known};
use super::levels::{asked_levels, deeper};
use super::{Encoded, Overrides};
use crate::error::Error;

/// An operation whose document the client has adapted to the server, from
/// [`Client::adapted_operations`](crate::Client::adapted_operations).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AdaptedOperation {
    /// The name of the operation in the specification, such as `userDetails`.
    pub operation: &'static str,
    /// The fields that the server does not have, such as `userDetails.accounts.roles`: their values are `None` or empty.
    pub left_out: Vec<String>,
    /// The document that is sent now.
    pub document: String,
}

/// By the name of our operation.
#[derive(Default)]
pub(super) struct Adapted(RwLock<BTreeMap<&'static str, Arc<str>>>);

impl Adapted {
    /// The document to send for an operation.
    pub(super) fn of(&self, known: &Known) -> Cow<'static, str> {
        let documents = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let adapted = documents.get(known.operation);
        adapted.map_or(Cow::Borrowed(known.document), |document| {
            Cow::Owned(document.to_string())
        })
    }

    fn keep(&self, known: &Known, document: &str) {
        let mut documents = self.0.write().unwrap_or_else(PoisonError::into_inner);
        documents.insert(known.operation, document.into());
    }
}

impl Overrides {
    /// The operations that have another document since the server refused ours.
    pub(crate) fn adapted_operations(&self) -> Vec<AdaptedOperation> {
        let adapted = CATALOGUE.iter().filter_map(|known| {
            let document = self.adapted.of(known);
            (document != known.document).then(|| AdaptedOperation {
                operation: known.name,
                left_out: left_out(known, &document),
                document: document.into_owned(),
            })
        });
        adapted.collect()
    }

    /// Sends the document of a body from now on, and tells which fields it leaves out.
    pub(crate) fn remember(&self, encoded: &Encoded, body: &[u8]) -> Vec<String> {
        let (Some(known), Some(sent)) = (encoded.adaptable, Sent::read(body)) else {
            return Vec::new();
        };
        self.adapted.keep(known, &sent.query);
        left_out(known, &sent.query)
    }

    /// How many levels of questions the document of an operation asks for; `None` when it is the caller's.
    pub(crate) fn question_levels(&self, operation: &str) -> Option<usize> {
        asked_levels(&self.adapted.of(self.ours(operation)?))
    }

    /// Asks for further levels of questions from now on, if a reply went deeper than was asked for.
    pub(crate) fn deepen(&self, operation: &str, reached: usize) {
        if let Some(known) = self.ours(operation)
            && let Some(document) = deeper(&self.adapted.of(known), reached)
        {
            self.adapted.keep(known, &document);
        }
    }

    /// The operation, unless its document is the caller's.
    fn ours(&self, operation: &str) -> Option<&'static Known> {
        let known = CATALOGUE.iter().find(|known| known.name == operation);
        known.filter(|known| self.of(known).is_none())
    }
}

impl Encoded {
    /// The body to send after one was refused; `None` when no other document can help.
    pub(crate) fn adapted(&self, refused: &[u8], error: &Error) -> Option<Bytes> {
        let known = self.adaptable.filter(|_| error.is_rejected())?;
        let sent = Sent::read(refused)?;
        let document = next(known, &sent.query, error.server_errors())?;
        let next = Sent {
            query: document.into(),
            ..sent
        };
        serde_json::to_vec(&next).ok().map(Bytes::from)
    }
}

/// A body of ours.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sent<'a> {
    operation_name: &'a str,
    #[serde(borrow)]
    query: Cow<'a, str>,
    #[serde(borrow)]
    variables: &'a RawValue,
}

impl<'a> Sent<'a> {
    fn read(body: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(body).ok()
    }
}
