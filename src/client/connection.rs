//! Lists with cursors, read as the pages of a pager.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::value::RawValue;
use tokio::sync::mpsc;

use super::Client;
use crate::graphql::{BEGINNING, Outcome, TypedOperation, ValueIn, early_page_info, encode};
use crate::model::{Connection, PageInfo, Position, json_text};
use crate::send::Call;
use crate::send::pages::{Page, PageRequest, Pager, RecordId};
use crate::transport::Watch;

/// The number of pages fetched ahead. It keeps a slow connection busy while a page is processed, if processing takes as long as a
/// round trip.
const LOOK_AHEAD: usize = 2;

impl Client {
    /// Reads a list with your own document page by page, with the same checks, look-ahead and resuming as
    /// [`AccountClient::consignments`](crate::AccountClient::consignments).
    ///
    /// `variables` builds the variables for the page after a cursor. `connection` takes the page out of the data, or returns `None`
    /// if the reply has no list. Select `pageInfo` before the records: the next request is sent as soon as it arrives.
    /// See [`guide::own_documents`](crate::guide::own_documents) for an example, and [`Pager::record_id`].
    ///
    /// # Errors
    ///
    /// Those of its pages: see [`next_page`](Pager::next_page).
    pub fn pager<Q, T>(
        &self,
        variables: impl Fn(Option<String>) -> Q::Variables + Send + Sync + 'static,
        connection: fn(Q::ResponseData) -> Option<Connection<T>>,
    ) -> Pager<T>
    where
        Q: TypedOperation,
        Q::ResponseData: Send + 'static,
        T: Send + 'static,
    {
        let operation = Q::body(variables(None)).name;
        let call = move |client: &Self, after| {
            let encoded = encode::<Q>(variables(after), &client.endpoint.overrides);
            client.call(encoded, ValueIn::Data, connection)
        };
        self.list(operation, call, |_| None)
    }

    /// The pages of an operation, with its name for errors.
    pub(crate) fn list<T: Send + 'static>(
        &self,
        operation: &'static str,
        call: impl Fn(&Self, Option<String>) -> Call<Outcome<Connection<T>>> + Send + Sync + 'static,
        id: RecordId<T>,
    ) -> Pager<T> {
        let client = self.clone();
        let fetch = move |request: PageRequest<Position>| {
            let here = request.position;
            let mut call = call(&client, here.cursor().map(str::to_owned))
                .page(request.number, watch(here.clone(), request.next));
            if request.keeps_json {
                call = call.keep_json();
            }
            let exchange = call.exchange();
            Box::pin(async move {
                let exchanged = exchange.await?;
                let json = exchanged.json.as_deref();
                Ok(Some(page(here, exchanged.value, json)))
            }) as _
        };
        Pager::new(operation, LOOK_AHEAD, id.into(), Box::new(fetch))
    }
}

/// Reports the next position as soon as the start of the reply shows it.
fn watch(here: Position, next: mpsc::Sender<Position>) -> Watch {
    let seen = AtomicUsize::new(0);
    Arc::new(move |body: &[u8]| {
        let before = seen.swap(body.len(), Ordering::Relaxed);
        // The position is near the start of the body. If the body is shorter than before, this is another attempt.
        if (before < BEGINNING || body.len() < before)
            && let Some(info) = early_page_info(body)
            && let Ok(Some(position)) = next_position(&info, &here)
        {
            // OK to ignore: a full channel already has the position.
            let _ = next.try_send(position);
        }
    })
}

fn page<T>(here: Position, outcome: Outcome<Connection<T>>, json: Option<&str>) -> Page<T> {
    let Outcome {
        value: connection,
        problems,
        facts,
    } = outcome;
    let next = next_position(&connection.page_info.unwrap_or_default(), &here);
    let mut cursors = Vec::with_capacity(connection.edges.len());
    let mut gaps = Vec::new();
    // Records are large; collecting them reuses the memory of the edges.
    let edges = connection.edges.into_iter().enumerate();
    let records = edges.filter_map(|(place, edge)| {
        match &edge.node {
            Some(_) => cursors.push(edge.cursor),
            None => gaps.push(place),
        }
        edge.node
    });
    let mut page = Page::new(here, records.collect());
    page.set_gaps(&gaps, facts.unreadable);
    page.attempts = facts.attempts;
    page.stalled = next.as_ref().err().copied();
    page.next = next.unwrap_or_default();
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    page.fingerprint = page.next.as_ref().map(|next| hasher.hash_one(next));
    (page.total, page.cursors) = (connection.total_count, cursors);
    page.problems = problems;
    page.json = json.map_or_else(Vec::new, |json| nodes(json, &gaps));
    page
}

/// The JSON of each record in a list, without gaps.
fn nodes(list: &str, gaps: &[usize]) -> Vec<Box<str>> {
    // No memory limit is needed: the list was already read within one, and its records take more than their texts.
    let Ok(list) = json_text::from_str::<Connection<Box<RawValue>>>(list) else {
        return Vec::new();
    };
    let edges = list.edges.into_iter().enumerate();
    edges
        .filter(|(place, _)| gaps.binary_search(place).is_err())
        .filter_map(|(_, edge)| Some(edge.node?.into()))
        .collect()
}

/// The position of the next page, `None` after the last page, or why the list cannot be read further.
fn next_position(info: &PageInfo, here: &Position) -> Result<Option<Position>, &'static str> {
    let next = info
        .end_cursor
        .as_deref()
        .filter(|cursor| !cursor.is_empty())
        .map(Position::after);
    match (info.has_next_page, next) {
        (Some(false), _) => Ok(None),
        (None, _) => Err("the page does not say whether another one follows"),
        (_, None) => Err("another page is announced without a cursor"),
        (_, Some(next)) if next == *here => Err("the next page repeats this cursor"),
        (_, next) => Ok(next),
    }
}
