//! Looks up many PICs.

use std::collections::{HashMap, HashSet};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use futures_util::stream::{self, BoxStream, StreamExt};
use tokio::sync::{OnceCell, Semaphore};

use super::{Lookup, Register};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Pic, Property};
use crate::send::pages::Task;

/// A stream of look-up results for many PICs, from [`Register::lookup_many`].
///
/// There is one result for each input, in input order. A repeated PIC is requested only once, and an input that is not a PIC
/// fails without a request. A failure does not stop the other look-ups. A `Retry-After` from the register defers them all.
/// Dropping the stream cancels them.
///
/// A refused token stops all look-ups that have not been sent: after a result with
/// [`Unauthorized`](crate::ErrorKind::Unauthorized) or [`is_reauth_required`](crate::Error::is_reauth_required), the
/// remaining PICs get the same error with [`attempts`](crate::Error::attempts) 0. Look them up again after a login.
///
/// All inputs are kept in memory; 10,000 PICs need less than 1 MB. At most four results are kept for each concurrent look-up,
/// plus results for PICs that occur again later. The look-ups are tokio tasks, so poll the stream inside a tokio runtime.
///
/// ```
/// # use envd_sdk::fake::Fake;
/// use envd_sdk::register::{Lookup, Register};
///
/// # test_support::example(async {
/// # let fake = Fake::start().await;
/// # let register = Register::builder(fake.register_url()).build()?;
/// let mut look_ups = register.lookup_many(["QAZZ7777", "QZZZ9999", "no pic"]).concurrency(2);
/// while let Some(look_up) = look_ups.next().await {
///     match look_up.result {
///         Ok(Lookup::Found(property)) => println!("{}: {:?}", look_up.input, property.admin_status),
///         Ok(_) => println!("{}: not in the register", look_up.input),
///         Err(error) => println!("{}: {error}", look_up.input),
///     }
/// }
/// assert_eq!(look_ups.progress().returned, 3);
/// # Ok(())
/// # });
/// ```
#[must_use = "a stream does nothing until it is polled"]
pub struct LookupMany {
    shared: Arc<Lookups>,
    /// Taken on the first poll.
    inputs: Vec<Input>,
    total: usize,
    concurrency: usize,
    as_completed: bool,
    /// `None` before the first poll.
    results: Option<BoxStream<'static, (usize, Input, Result<Lookup>)>>,
    returned: usize,
}

/// The state that the tasks share.
struct Lookups {
    register: Register,
    /// One permit for each concurrent look-up; none before the first poll.
    permits: Semaphore,
    /// The error that refused the token. Once it is set, no further look-up starts.
    refused: OnceLock<Error>,
    started: AtomicUsize,
    running: AtomicUsize,
    /// Tasks that have a result whose last input is still to be returned.
    waiting: AtomicUsize,
}

/// The result for one input of a bulk look-up: the input, and its [`Lookup`].
///
/// See [`LookupMany`] for an example.
///
/// `Debug` shows the PIC. It hides an input that is not a PIC, which may be any cell of a list.
#[derive(Clone)]
#[non_exhaustive]
pub struct LookupResult {
    /// The position of the input, from 0.
    pub position: usize,
    /// The PIC in upper case; an input that is not a PIC is unchanged.
    pub input: String,
    /// The result. An input that is not a PIC fails with [`Config`](crate::ErrorKind::Config), without a request.
    pub result: Result<Lookup>,
}

debug_shows!(LookupResult, |it| position: it.position, pic: it.pic(), result: it.result);

impl LookupResult {
    /// The PIC; `None` if the input is not a PIC.
    pub fn pic(&self) -> Option<Pic> {
        Pic::parse(&self.input).ok()
    }

    /// The property, if exactly one was found.
    pub fn property(&self) -> Option<&Property> {
        self.result.as_ref().ok()?.property()
    }
}

/// The progress of a bulk look-up.
///
/// From [`LookupMany::progress`]; see [`LookupMany`] for an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LookupProgress {
    /// The number of inputs.
    pub total: usize,
    /// The number of results returned so far.
    pub returned: usize,
    /// The number of look-ups started; each PIC counts once.
    pub started: usize,
    /// The number of look-ups in progress.
    pub in_flight: usize,
    /// The number of results waiting for earlier results, or for another occurrence of their PIC.
    pub waiting: usize,
}

/// An input: a PIC, or the text if it is not a PIC.
struct Input {
    pic: std::result::Result<Pic, Box<str>>,
    /// Whether no later input has the same PIC.
    is_last: bool,
}

fn inputs(texts: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<Input> {
    let read = |text: &str| Pic::parse(text).map_err(|_| text.into());
    let texts = texts.into_iter().map(|text| read(text.as_ref()));
    let input = |pic| Input {
        pic,
        is_last: false,
    };
    let mut inputs: Vec<Input> = texts.map(input).collect();
    let mut later = HashSet::new();
    for input in inputs.iter_mut().rev() {
        input.is_last = input.pic.as_ref().is_ok_and(|pic| later.insert(*pic));
    }
    inputs
}

/// Why a text is not a PIC; names an invisible character in it.
fn why_invalid(text: &str) -> String {
    let error = Pic::parse(text).err();
    error.map_or_else(String::new, |error| error.to_string())
}

impl LookupMany {
    pub(super) fn new(
        register: Register,
        texts: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Self {
        let inputs = inputs(texts);
        Self {
            shared: Arc::new(Lookups {
                register,
                permits: Semaphore::new(0),
                refused: OnceLock::new(),
                started: AtomicUsize::new(0),
                running: AtomicUsize::new(0),
                waiting: AtomicUsize::new(0),
            }),
            total: inputs.len(),
            inputs,
            concurrency: 4,
            as_completed: false,
            results: None,
            returned: 0,
        }
    }

    /// The most concurrent look-ups; 4 unless set, and 0 counts as 1. Set it before requesting the first result.
    pub fn concurrency(mut self, look_ups: usize) -> Self {
        self.concurrency = look_ups.clamp(1, Semaphore::MAX_PERMITS);
        self
    }

    /// Returns results as they complete, instead of in input order. Set it before requesting the first result.
    pub fn as_completed(mut self) -> Self {
        self.as_completed = true;
        self
    }

    /// The next result, without the need for a stream library; `None` after the last.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, no result is lost: the next call returns it.
    pub async fn next(&mut self) -> Option<LookupResult> {
        poll_fn(|context| self.poll(context)).await
    }

    /// All remaining results.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, all results are lost and the remaining look-ups are cancelled. To keep the results received so
    /// far, use [`next`](Self::next).
    pub async fn collect(self) -> Vec<LookupResult> {
        StreamExt::collect(self).await
    }

    /// The current progress.
    pub fn progress(&self) -> LookupProgress {
        let count = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        LookupProgress {
            total: self.total,
            returned: self.returned,
            started: count(&self.shared.started),
            in_flight: count(&self.shared.running),
            waiting: count(&self.shared.waiting),
        }
    }

    /// Starts a task for each distinct PIC.
    fn start(&mut self) -> BoxStream<'static, (usize, Input, Result<Lookup>)> {
        self.shared.permits.add_permits(self.concurrency);
        let inputs = std::mem::take(&mut self.inputs).into_iter().enumerate();
        let shared = Arc::clone(&self.shared);
        // Each entry is dropped at the last input with its PIC.
        let mut results: HashMap<Pic, Arc<OnceCell<Result<Lookup>>>> = HashMap::new();
        let look_ups = stream::iter(inputs).map(move |(position, input)| {
            let shared = Arc::clone(&shared);
            let result = match &input.pic {
                Ok(pic) if input.is_last => results.remove(pic).unwrap_or_default(),
                Ok(pic) => Arc::clone(results.entry(*pic).or_default()),
                Err(_) => Arc::default(),
            };
            async move {
                let look_up = |pic: Pic| Task::spawn(shared.look_up(pic));
                let result = match &input.pic {
                    Ok(pic) => result.get_or_init(|| look_up(*pic)).await.clone(),
                    Err(text) => Err(Error::config(why_invalid(text))),
                };
                (position, input, result)
            }
        });
        // Run ahead, so that one hanging look-up does not stop the others.
        let ahead = 4 * self.concurrency;
        if self.as_completed {
            look_ups.buffer_unordered(ahead).boxed()
        } else {
            look_ups.buffered(ahead).boxed()
        }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<LookupResult>> {
        let mut results = self.results.take().unwrap_or_else(|| self.start());
        let next = results.poll_next_unpin(context);
        self.results = Some(results);
        let Some((position, input, result)) = ready!(next) else {
            return Poll::Ready(None);
        };
        self.returned += 1;
        if input.is_last {
            self.shared.waiting.fetch_sub(1, Ordering::Relaxed);
        }
        let input = match input.pic {
            Ok(pic) => pic.as_str().to_owned(),
            Err(text) => text.into(),
        };
        Poll::Ready(Some(LookupResult {
            position,
            input,
            result,
        }))
    }
}

impl Lookups {
    async fn look_up(self: Arc<Self>, pic: Pic) -> Result<Lookup> {
        let _permit = self.permits.acquire().await;
        if let Some(refusal) = self.refused.get() {
            // `attempts` is 0: no request was sent, unlike for the look-ups that were refused.
            self.waiting.fetch_add(1, Ordering::Relaxed);
            return Err(refusal.clone().with_attempts(0));
        }
        self.started.fetch_add(1, Ordering::Relaxed);
        self.running.fetch_add(1, Ordering::Relaxed);
        let result = self.register.lookup(&pic).await;
        if let Err(error) = &result
            && (error.kind() == ErrorKind::Unauthorized || error.is_reauth_required())
        {
            self.refused.get_or_init(|| error.clone());
        }
        self.running.fetch_sub(1, Ordering::Relaxed);
        self.waiting.fetch_add(1, Ordering::Relaxed);
        result
    }
}

impl Stream for LookupMany {
    type Item = LookupResult;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<LookupResult>> {
        self.get_mut().poll(context)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.total - self.returned;
        (left, Some(left))
    }
}

debug_shows!(LookupMany, |it| concurrency: it.concurrency, progress: it.progress());
