//! Operations of the GraphQL interface: how their replies are read, and their documents adapted.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::Endpoint;
use crate::error::{Error, ErrorKind, Result};
use crate::graphql::{Encoded, OperationKind, Outcome, Unreadable, ValueIn};
use crate::locked::lock;
use crate::model::ServerError;
use crate::send::{self, JsonSlot, Sender, SentOperation, Settings};
use crate::transport::header::{ACCEPT, HeaderValue};
use crate::transport::{Reply, Request};

/// The media types of the draft of GraphQL over HTTP.
const ACCEPTED: HeaderValue =
    HeaderValue::from_static("application/graphql-response+json, application/json;q=0.9");

/// How many other documents are tried for a call: the four locations of the user details, each with and without doubtful fields.
const DOCUMENTS: u32 = 8;

/// An encoded operation whose data has the type `D`.
pub(super) struct GraphqlOperation<D, T> {
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) encoded: Encoded,
    /// Takes the value out of the data.
    pub(super) part: fn(D) -> Option<T>,
    pub(super) value: ValueIn,
    /// Where the JSON of the value is kept, if it is wanted.
    pub(super) json: Option<JsonSlot>,
}

impl<D, T> GraphqlOperation<D, T> {
    pub(super) fn request(&self) -> Box<Request> {
        let (url, body) = (self.endpoint.url.clone(), self.encoded.body.clone());
        Box::new(Request::post_json(url, body).header(ACCEPT, ACCEPTED))
    }
}

impl<D: DeserializeOwned, T: Send> GraphqlOperation<D, T> {
    /// Sends the operation, and again with another document where the server's schema does not fit the first one.
    pub(super) async fn send(
        &mut self,
        sender: &Sender,
        request: Box<Request>,
        settings: &Settings,
    ) -> Result<Outcome<T>> {
        let first = match sender.send(self, request, settings).await {
            Err(error) => error,
            read => return read,
        };
        // Boxed, because it is rare.
        Box::pin(self.adapted(first, sender, settings)).await
    }

    /// Sends other documents after the server refused one.
    ///
    /// When it fits none of them, the error is the first one: it is about the document that the reader knows.
    async fn adapted(
        &mut self,
        first: Error,
        sender: &Sender,
        settings: &Settings,
    ) -> Result<Outcome<T>> {
        let mut refusal = first.clone();
        for _ in 0..DOCUMENTS {
            let Some(adapted) = self.encoded.adapted(&refusal) else {
                break;
            };
            self.encoded = adapted;
            match sender.send(self, self.request(), settings).await {
                Ok(read) => {
                    let left_out = self.endpoint.overrides.remember(&self.encoded);
                    send::adapted(&self.encoded.operation, &left_out);
                    return Ok(read);
                }
                Err(error) => refusal = error,
            }
        }
        Err(if refusal.kind() == ErrorKind::SchemaMismatch {
            first
        } else {
            refusal
        })
    }
}

impl<D: DeserializeOwned, T: Send> SentOperation for GraphqlOperation<D, T> {
    type Value = Outcome<T>;

    fn name(&self) -> &str {
        &self.encoded.operation
    }

    fn kind(&self) -> &'static str {
        match self.encoded.kind {
            OperationKind::Query => "query",
            OperationKind::Mutation => "mutation",
        }
    }

    fn is_change(&self) -> bool {
        self.encoded.kind == OperationKind::Mutation
    }

    fn decode_reply(&self, reply: Reply) -> Result<Outcome<T>> {
        let (media_type, keep) = (reply.media_type(), self.json.as_ref().map(|_| self.value));
        let (status, media_type) = (reply.status, media_type.as_deref());
        let decoded = self
            .encoded
            .decode(status, media_type, &reply.body, self.part, keep);
        let Some(decoded) = decoded else {
            return Err(reply.into_error());
        };
        let (outcome, json) = decoded?;
        // One warning is enough: a schema that has changed breaks many records in the same way.
        outcome.unreadable().take(1).for_each(send::decode_failure);
        if let Some(slot) = &self.json {
            *lock(slot) = json;
        }
        Ok(outcome)
    }

    fn note_attempts(outcome: &mut Outcome<T>, attempts: u32) {
        outcome.facts.attempts = attempts;
        Unreadable::note_attempts(&mut outcome.facts.unreadable, attempts);
    }

    fn problems(outcome: &Outcome<T>) -> &[ServerError] {
        &outcome.problems
    }
}
