//! Operations of the GraphQL interface: how their replies are read, and their documents adapted.

use std::marker::PhantomData;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::Endpoint;
use crate::error::{Error, Result};
use crate::graphql::{Encoded, OperationKind, Outcome, ValueIn, received};
use crate::model::ServerError;
use crate::send::{self, Operation};
use crate::transport::header::{ACCEPT, HeaderValue};
use crate::transport::{Reply, Request};

/// The media types of the draft of GraphQL over HTTP.
const ACCEPTED: HeaderValue =
    HeaderValue::from_static("application/graphql-response+json, application/json;q=0.9");

/// An encoded operation whose data has this type.
pub(super) struct GraphqlOperation<D> {
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) encoded: Encoded,
    pub(super) data: PhantomData<fn() -> D>,
}

impl<D> GraphqlOperation<D> {
    pub(super) fn request(&self) -> Request {
        let (url, body) = (self.endpoint.url.clone(), self.encoded.body.clone());
        Request::post_json(url, body).header(ACCEPT, ACCEPTED)
    }

    /// The JSON of the value in a reply.
    pub(super) fn json_of(&self, value: ValueIn, reply: &Reply) -> Option<Box<str>> {
        self.encoded.json_of(value, &reply.body)
    }

    /// The requested part of the data.
    pub(super) fn part<T>(
        &self,
        (outcome, reply): (Outcome<D>, Reply),
        part: impl FnOnce(D) -> Option<T>,
    ) -> Result<Outcome<T>> {
        let Reply { status, body, .. } = &reply;
        outcome
            .part(&self.encoded.operation, part)
            .map_err(|error| match status {
                200..=299 => {
                    error.with_received(received(*status, reply.media_type().as_deref(), body))
                }
                // Data without the record is final, and one of these statuses would make it retryable.
                _ => error,
            })
    }
}

impl<D: DeserializeOwned + Send> Operation for GraphqlOperation<D> {
    /// With the reply, for an error about what the data lacks.
    type Value = (Outcome<D>, Reply);

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

    fn decode_reply(&self, reply: Reply) -> Result<Self::Value> {
        let media_type = reply.media_type();
        let decoded = self
            .encoded
            .decode(reply.status, media_type.as_deref(), &reply.body);
        let Some(decoded) = decoded else {
            return Err(reply.into_error());
        };
        let outcome = decoded?;
        // One warning is enough: a schema that has changed breaks many records in the same way.
        outcome.unreadable().take(1).for_each(send::decode_failure);
        Ok((outcome, reply))
    }

    fn problems((outcome, _): &Self::Value) -> &[ServerError] {
        &outcome.problems
    }

    fn rewrite_document(&self, request: &Request, error: &Error) -> Option<Request> {
        let mut adapted = request.clone();
        adapted.body = self.encoded.adapted(&request.body, error)?;
        Some(adapted)
    }

    fn keep_document(&self, request: &Request) {
        let overrides = &self.endpoint.overrides;
        let left_out = overrides.remember(&self.encoded, &request.body);
        send::adapted(&self.encoded.operation, &left_out);
    }
}
