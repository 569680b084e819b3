//! Fetches pages, each in a task of its own or in that of the caller.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::ReusableBoxFuture;
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument;
use tracing::instrument::WithSubscriber;

use super::{ListPosition, Page};
use crate::auth::BoxFuture;
use crate::error::{Error, Result};

/// The most pages in transfer at a time. One waits for its reply while the other arrives, which keeps any line busy; more
/// would share a slow line with the page that is needed first, and each opens a connection on HTTP/1.1.
const TRANSFERS: usize = 2;

/// Which page is fetched.
pub(crate) struct PageRequest<P> {
    pub(crate) position: P,
    /// For traces.
    pub(crate) number: u64,
    /// Takes the position of the next page, for a source that finds it before the page is decoded.
    pub(crate) next: mpsc::Sender<P>,
    /// Whether the page is to have the JSON of its records.
    pub(crate) keeps_json: bool,
}

/// Fetches a page; `None` behind the last.
pub(crate) type Fetch<T, P> =
    Box<dyn Fn(PageRequest<P>) -> BoxFuture<'static, Result<Option<Page<T, P>>>> + Send + Sync>;

/// The source of a list's pages.
pub(super) struct PageSource<T, P> {
    pub(super) fetch: Fetch<T, P>,
    transfers: Semaphore,
    requests: AtomicU64,
}

/// What polls the fetching of a page.
#[derive(Clone, Copy)]
pub(super) enum Run {
    /// A tokio task: it continues whatever the caller does.
    InBackground,
    /// The caller's own task, so that a page is read, processed and freed while the cache has it. In tasks of their own, all
    /// lists of a thread finish their pages before the first one is processed.
    WithCaller,
}

/// The task that fetches the page at a position.
pub(super) type PageTask<T, P> = (P, Task<Option<Page<T, P>>>);

/// The pages that are fetched beyond the current one, and the task that starts them.
pub(super) type LookAhead<T, P> = (mpsc::Receiver<PageTask<T, P>>, Task<()>);

impl<T: Send + 'static, P: ListPosition> PageSource<T, P> {
    pub(super) fn new(fetch: Fetch<T, P>) -> Arc<Self> {
        let transfers = Semaphore::new(TRANSFERS);
        Arc::new(Self {
            fetch,
            transfers,
            requests: AtomicU64::default(),
        })
    }

    /// How many pages were requested.
    pub(super) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Sends the request for a page. The receiver gets the position of the next page as soon as it is known; the channel
    /// closes without one when there is none.
    pub(super) fn start(
        self: &Arc<Self>,
        position: P,
        number: u64,
        run: Run,
    ) -> (PageTask<T, P>, mpsc::Receiver<P>) {
        let (sender, next) = mpsc::channel(1);
        let source = Arc::clone(self);
        self.requests.fetch_add(1, Ordering::Relaxed);
        let fetched = (self.fetch)(PageRequest {
            position: position.clone(),
            number,
            next: sender.clone(),
            keeps_json: false,
        });
        let work = async move {
            let _permit = source.transfers.acquire().await;
            let page = fetched.await?;
            if let Some(next) = page.as_ref().and_then(|page| page.next.as_ref()) {
                // OK to ignore: the look-ahead has it already, or there is none.
                let _ = sender.try_send(next.clone());
            }
            Ok(page)
        };
        let task = match run {
            Run::InBackground => Task::spawn(work),
            Run::WithCaller => Task::of_caller(work),
        };
        ((position, task), next)
    }

    /// Sends the requests for the pages that follow, at most so many more than are received.
    pub(super) fn look_ahead(
        self: &Arc<Self>,
        mut next: mpsc::Receiver<P>,
        mut number: u64,
        pages: usize,
    ) -> LookAhead<T, P> {
        let (sender, tasks) = mpsc::channel(pages.min(Semaphore::MAX_PERMITS));
        let source = Arc::clone(self);
        let task = Task::spawn(async move {
            while let Some(position) = next.recv().await
                && let Ok(slot) = sender.reserve().await
            {
                number += 1;
                let (page, after) = source.start(position, number, Run::InBackground);
                slot.send(page);
                next = after;
            }
            Ok(())
        });
        (tasks, task)
    }
}

/// Work that stops when this is dropped.
pub(crate) enum Task<T> {
    Spawned(AbortOnDropHandle<Result<T>>),
    /// Boxed like this, it is `Sync`, and so is the pager.
    OfCaller(ReusableBoxFuture<'static, Result<T>>),
}

impl<T: Send + 'static> Task<T> {
    pub(crate) fn spawn(future: impl Future<Output = Result<T>> + Send + 'static) -> Self {
        let future = future.in_current_span().with_current_subscriber();
        Self::Spawned(AbortOnDropHandle::new(tokio::spawn(future)))
    }

    /// Runs only while it is polled.
    pub(super) fn of_caller(future: impl Future<Output = Result<T>> + Send + 'static) -> Self {
        Self::OfCaller(ReusableBoxFuture::new(future))
    }
}

impl<T> Future for Task<T> {
    type Output = Result<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        let task = match self.get_mut() {
            Self::Spawned(task) => task,
            Self::OfCaller(work) => return work.poll(context),
        };
        Poll::Ready(match ready!(Pin::new(task).poll(context)) {
            Ok(result) => result,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(Error::config("the async runtime was shut down")),
            },
        })
    }
}
