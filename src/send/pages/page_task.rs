//! Fetches pages, in background tasks or in the task of the caller.

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

/// The maximum number of pages in transfer at a time. With two, one waits for its reply while the other arrives, which keeps
/// any line busy. More would slow down the page that is needed first, and each opens another connection on HTTP/1.1.
const TRANSFERS: usize = 2;

/// Identifies the page to fetch.
pub(crate) struct PageRequest<P> {
    pub(crate) position: P,
    /// For traces.
    pub(crate) number: u64,
    /// Receives the position of the next page, from sources that find it before the page is decoded.
    pub(crate) next: mpsc::Sender<P>,
    /// Whether to keep the JSON of the records.
    pub(crate) keeps_json: bool,
}

/// Fetches a page; `None` after the last one.
pub(crate) type Fetch<T, P> =
    Box<dyn Fn(PageRequest<P>) -> BoxFuture<'static, Result<Option<Page<T, P>>>> + Send + Sync>;

/// The source of a list's pages.
pub(super) struct PageSource<T, P> {
    pub(super) fetch: Fetch<T, P>,
    transfers: Semaphore,
    requests: AtomicU64,
}

/// Where the future that fetches a page runs.
#[derive(Clone, Copy)]
pub(super) enum Run {
    /// In a tokio task, which makes progress independently of the caller.
    InBackground,
    /// In the caller's own task, so that a page is read, processed and freed while it is in the CPU cache. In separate tasks,
    /// all lists of a thread would finish their pages before the first one is processed.
    WithCaller,
}

/// The task that fetches the page at a position.
pub(super) type PageTask<T, P> = (P, Task<Option<Page<T, P>>>);

/// The fetched pages after the current one, and the task that starts them.
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

    /// The number of pages requested so far.
    pub(super) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Sends the request for a page. The receiver gets the position of the next page as soon as it is known. If there is none,
    /// the channel closes without a value.
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
                // OK to ignore: the look-ahead already has the position, or there is none.
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

    /// Requests the following pages, at most `pages` ahead of the receiver.
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

/// Work that is cancelled on drop.
pub(crate) enum Task<T> {
    Spawned(AbortOnDropHandle<Result<T>>),
    /// `ReusableBoxFuture` is `Sync`, which makes the pager `Sync`.
    OfCaller(ReusableBoxFuture<'static, Result<T>>),
}

impl<T: Send + 'static> Task<T> {
    pub(crate) fn spawn(future: impl Future<Output = Result<T>> + Send + 'static) -> Self {
        let future = future.in_current_span().with_current_subscriber();
        Self::Spawned(AbortOnDropHandle::new(tokio::spawn(future)))
    }

    /// Runs only while polled.
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
