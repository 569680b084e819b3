//! Pages on their way, each in a task of its own.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use graphql_client::GraphQLQuery;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinHandle;
use tracing::Instrument;
use tracing::instrument::WithSubscriber;

use crate::auth::BoxFuture;
use crate::client::Client;
use crate::error::{Error, Result};
use crate::graphql::{BEGINNING, Outcome, early_page_info};
use crate::model::{List, PageInfo, Position};
use crate::transport::Watch;

/// What a page of any list consists of.
pub(crate) struct Leaf<T> {
    pub(crate) total: Option<i64>,
    pub(crate) info: Option<PageInfo>,
    pub(crate) records: Vec<T>,
    /// The cursors of the records.
    pub(crate) cursors: Vec<Option<String>>,
    /// The places of the list without a record, in order: null, or a record that could not be read.
    pub(crate) gaps: Vec<usize>,
}

impl<T> Leaf<T> {
    /// A page of edges; `split` takes the cursor and the record out of one.
    pub(crate) fn of<E>(
        total: Option<i64>,
        info: Option<PageInfo>,
        edges: List<E>,
        split: impl Fn(E) -> (Option<String>, Option<T>),
    ) -> Self {
        let places = edges.len() + edges.null_positions().len();
        // Records are large: this moves them inside the memory that the list has.
        let mut cursors = Vec::with_capacity(places);
        let mut nulls = edges.null_positions().to_vec().into_iter().peekable();
        let (mut gaps, mut place) = (Vec::new(), 0);
        let edges = edges.into_iter().map(split);
        let records: Vec<T> = edges
            .filter_map(|(cursor, record)| {
                while nulls.next_if_eq(&place).is_some() {
                    gaps.push(place);
                    place += 1;
                }
                place += 1;
                if record.is_some() {
                    cursors.push(cursor);
                } else {
                    gaps.push(place - 1);
                }
                record
            })
            .collect();
        gaps.extend(nulls);
        Self {
            total,
            info,
            records,
            cursors,
            gaps,
        }
    }
}

/// Fetches the page at a cursor; the number is for traces.
type Fetch<T> = dyn Fn(Option<String>, u64, Watch) -> BoxFuture<'static, Result<Outcome<Leaf<T>>>>
    + Send
    + Sync;

/// How many pages may be on the line at a time. One waits for its reply while the other arrives, which keeps any line busy;
/// more would share a slow one with the page that is waited for, and each opens a connection on HTTP/1.1.
const ON_THE_LINE: usize = 2;

/// Where pages come from.
pub(super) struct Source<T> {
    fetch: Arc<Fetch<T>>,
    line: Arc<Semaphore>,
}

impl<T> Clone for Source<T> {
    fn clone(&self) -> Self {
        Self {
            fetch: Arc::clone(&self.fetch),
            line: Arc::clone(&self.line),
        }
    }
}

impl<T: Send + 'static> Source<T> {
    /// The pages of an operation.
    pub(super) fn of<Q>(
        client: Client,
        operation: &'static str,
        variables: impl Fn(Option<String>) -> Q::Variables + Send + Sync + 'static,
        leaf: fn(Q::ResponseData) -> Option<Leaf<T>>,
    ) -> Self
    where
        Q: GraphQLQuery,
        Q::ResponseData: Send + 'static,
    {
        let fetch: Arc<Fetch<T>> = Arc::new(move |after, number, watch| {
            let call = client.execute::<Q>(variables(after)).page(number, watch);
            Box::pin(async move { call.await?.part(operation, leaf) })
        });
        Self {
            fetch,
            line: Arc::new(Semaphore::new(ON_THE_LINE)),
        }
    }

    /// Sends the request for a page. The receiver gets the position of the next page as soon as it is known, and nothing
    /// when there is none.
    pub(super) fn launch(
        &self,
        position: Position,
        number: u64,
    ) -> (Flight<T>, oneshot::Receiver<Position>) {
        let (known, next) = oneshot::channel();
        let known = Arc::new(Mutex::new(Some(known)));
        let tell = {
            let here = position.clone();
            move |info: &PageInfo| {
                let next = next_of(info).filter(|next| *next != here);
                let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(next) = next
                    && let Some(known) = known.take()
                {
                    // OK because nobody listens when there is no look-ahead.
                    let _ = known.send(next);
                }
            }
        };
        let tell = Arc::new(tell);
        let watch: Watch = {
            let (tell, seen) = (Arc::clone(&tell), Mutex::new(0));
            Arc::new(move |body: &[u8]| {
                let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                // Beyond the beginning nothing new comes; a body that has become shorter is another attempt's.
                let again = *seen < BEGINNING || body.len() < *seen;
                *seen = body.len();
                if let Some(info) = again.then(|| early_page_info(body)).flatten() {
                    tell(&info);
                }
            })
        };
        let fetched = (self.fetch)(position.cursor().map(str::to_owned), number, watch);
        let line = Arc::clone(&self.line);
        let task = async move {
            let _place = line.acquire().await;
            let outcome = fetched.await?;
            if let Some(info) = &outcome.value.info {
                tell(info);
            }
            Ok(outcome)
        };
        let task = tokio::spawn(task.in_current_span().with_current_subscriber());
        let flight = Flight {
            position,
            task: Task(task),
        };
        (flight, next)
    }

    /// Sends requests for the pages that follow, at most so many more than are taken out.
    pub(super) fn look_ahead(
        &self,
        mut next: oneshot::Receiver<Position>,
        mut number: u64,
        pages: usize,
    ) -> Ahead<T> {
        let (give, flights) = mpsc::channel(pages);
        let source = self.clone();
        let task = async move {
            while let Ok(position) = next.await {
                let Ok(place) = give.reserve().await else {
                    return;
                };
                number += 1;
                let (flight, after) = source.launch(position, number);
                place.send(flight);
                next = after;
            }
        };
        Ahead {
            flights,
            _task: Task(tokio::spawn(
                task.in_current_span().with_current_subscriber(),
            )),
        }
    }
}

/// The position of the page that follows, if one does and says where.
pub(super) fn next_of(info: &PageInfo) -> Option<Position> {
    let cursor = info
        .end_cursor
        .as_deref()
        .filter(|cursor| !cursor.is_empty());
    cursor
        .filter(|_| info.has_next_page == Some(true))
        .map(Position::after)
}

/// A page on its way.
pub(super) struct Flight<T> {
    pub(super) position: Position,
    task: Task<Result<Outcome<Leaf<T>>>>,
}

impl<T> Flight<T> {
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<Outcome<Leaf<T>>>> {
        Pin::new(&mut self.task.0)
            .poll(context)
            .map(|done| match done {
                Ok(result) => result,
                Err(error) => match error.try_into_panic() {
                    Ok(panic) => std::panic::resume_unwind(panic),
                    Err(_) => Err(Error::config("the async runtime was shut down")),
                },
            })
    }
}

/// Pages on their way beyond the one that is asked for.
pub(super) struct Ahead<T> {
    pub(super) flights: mpsc::Receiver<Flight<T>>,
    _task: Task<()>,
}

impl<T> fmt::Debug for Ahead<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ahead")
    }
}

/// A task that ends when nobody wants its result any more.
struct Task<T>(JoinHandle<T>);

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
