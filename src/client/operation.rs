//! Operations of the GraphQL interface: reading their replies, and adapting their documents.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::Endpoint;
use crate::error::{Error, ErrorKind, Result};
use crate::graphql::{Encoded, OperationKind, Outcome, Unreadable, ValueIn};
use crate::model::ServerError;
use crate::send::{self, Exchanged, Sender, SentOperation, Settings};
use crate::transport::header::{ACCEPT, HeaderValue};
use crate::transport::{Reply, Request};

/// The media types of the GraphQL over HTTP draft.
const ACCEPTED: HeaderValue =
    HeaderValue::from_static("application/graphql-response+json, application/json;q=0.9");

/// The most other documents tried for a call: the four locations of the user details, each with and without doubtful fields.
const DOCUMENTS: u32 = 8;

/// An encoded operation whose data has the type `D`.
pub(super) struct GraphqlOperation<D, T> {
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) encoded: Encoded,
    /// Takes the value out of the data.
    pub(super) part: fn(D) -> Option<T>,
    pub(super) value: ValueIn,
    /// Whether to keep the JSON of the value as well.
    pub(super) keeps_json: bool,
}

/// A decoded reply.
pub(super) struct GraphqlReply<T> {
    outcome: Outcome<T>,
    /// The JSON of the value, if it is kept.
    json: Option<Box<str>>,
}

impl<D, T> GraphqlOperation<D, T> {
    pub(super) fn request(&self) -> Box<Request> {
        let url = self.endpoint.url.clone();
        let body = self.encoded.body.clone();
        Box::new(Request::post_json(url, body).header(ACCEPT, ACCEPTED))
    }
}

impl<D: DeserializeOwned, T: Send> GraphqlOperation<D, T> {
    /// Sends the operation, and retries with another document if the server's schema rejects the first one.
    pub(super) async fn send(
        &mut self,
        sender: &Sender,
        request: Box<Request>,
        settings: &Settings,
    ) -> Result<Exchanged<Outcome<T>>> {
        self.keeps_json = settings.keeps_json;
        let start = sender.clock().monotonic();
        let Exchanged {
            value: reply,
            attempts,
            ..
        } = match sender.send(self, request, settings).await {
            Ok(exchanged) => exchanged,
            // Boxed because it is rare.
            Err(first) => Box::pin(self.adapted(first, sender, settings)).await?,
        };
        let mut outcome = reply.outcome;
        outcome.facts.elapsed = sender.clock().monotonic().saturating_sub(start);
        outcome.facts.attempts = attempts;
        Unreadable::note_attempts(&mut outcome.facts.unreadable, attempts);
        Ok(Exchanged {
            value: outcome,
            json: reply.json,
            attempts,
        })
    }

    /// Tries other documents after the server rejected one.
    ///
    /// If no document fits, the first error is returned, because it is about the document that the caller knows.
    // profile: operations.leftOut
    // profile: operations.recordAt
    async fn adapted(
        &mut self,
        first: Error,
        sender: &Sender,
        settings: &Settings,
    ) -> Result<Exchanged<GraphqlReply<T>>> {
        let mut attempts = first.attempts();
        let mut refusal = first.clone();
        for _ in 0..DOCUMENTS {
            let Some(adapted) = self.encoded.adapted(&refusal) else {
                break;
            };
            self.encoded = adapted;
            match sender.send(self, self.request(), settings).await {
                Ok(mut exchanged) => {
                    let left_out = self.endpoint.overrides.remember(&self.encoded);
                    send::adapted(&self.encoded.operation, &left_out);
                    exchanged.attempts += attempts;
                    return Ok(exchanged);
                }
                Err(error) => {
                    attempts += error.attempts();
                    refusal = error;
                }
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
    type Value = GraphqlReply<T>;

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

    fn decode_reply(&self, reply: Reply) -> Result<GraphqlReply<T>> {
        let media_type = reply.media_type();
        let media_type = media_type.as_deref();
        let keep = self.keeps_json.then_some(self.value);
        let decoded = self
            .encoded
            .decode(reply.status, media_type, &reply.body, self.part, keep);
        let Some(decoded) = decoded else {
            return Err(reply.into_error());
        };
        let (mut outcome, json) = decoded?;
        outcome.facts.request_id = reply.request_id().map(Box::from);
        // One warning is enough: a changed schema breaks many records in the same way.
        outcome.unreadable().take(1).for_each(send::decode_failure);
        Ok(GraphqlReply { outcome, json })
    }

    fn problems(reply: &GraphqlReply<T>) -> &[ServerError] {
        &reply.outcome.problems
    }
}
