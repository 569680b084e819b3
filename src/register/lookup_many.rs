//! Look-ups of many PICs.

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

/// Look-ups of many PICs as a stream of results, from [`Register::lookup_many`].
///
/// There is one result for each input, in the order of the inputs. A PIC that occurs twice is requested once; an input that
/// is no PIC fails without a request. A failure does not stop the others. A `Retry-After` of the register defers all of them.
/// Dropping the stream stops them.
///
/// A refused token stops all look-ups that are not sent yet: after a result that
/// [`Unauthorized`](crate::ErrorKind::Unauthorized) or [`is_reauth_required`](crate::Error::is_reauth_required), the
/// remaining PICs have the same error with [`attempts`](crate::Error::attempts) 0. Look those up again after a login.
///
/// The inputs are in memory, 10,000 PICs in less than 1 MB; of the results, never more than four for each look-up that runs
/// at a time, besides results for PICs that occur again later. The look-ups are tasks of tokio, so the stream must be polled in
/// its runtime.
///
/// ```
/// # use envd_sdk::fake::Fake;
/// use envd_sdk::register::{Lookup, Register};
///
/// # equipment::example(async {
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
    /// Taken by the first poll.
    inputs: Vec<Input>,
    total: usize,
    concurrency: usize,
    as_completed: bool,
    /// None before the first poll.
    results: Option<BoxStream<'static, (usize, Input, Result<Lookup>)>>,
    returned: usize,
}

/// The state that the tasks share.
struct Lookups {
    register: Register,
    /// One for each look-up that may run; none before the first poll.
    permits: Semaphore,
    /// The refusal of the token, after which no look-up starts.
    refused: OnceLock<Error>,
    started: AtomicUsize,
    running: AtomicUsize,
    /// How many tasks have a result that was not returned for its last input yet.
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
    /// The PIC in upper case, or the input as it was given if it is no PIC.
    pub input: String,
    /// The result. An input that is not a PIC fails with [`Config`](crate::ErrorKind::Config), without a request.
    pub result: Result<Lookup>,
}

debug_shows!(LookupResult, |it| position: it.position, pic: it.pic(), result: it.result);

impl LookupResult {
    /// The PIC; `None` when the input is none.
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
    /// How many inputs there are.
    pub total: usize,
    /// How many results the stream has returned.
    pub returned: usize,
    /// How many look-ups were started: each PIC counts once.
    pub started: usize,
    /// How many look-ups are running.
    pub in_flight: usize,
    /// How many results wait for those before them, or for another occurrence of their PIC.
    pub waiting: usize,
}

/// An input: the PIC, or the text if it is none.
struct Input {
    pic: std::result::Result<Pic, Box<str>>,
    /// Whether it is the last one with its PIC.
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

/// Why a text is no PIC; names an invisible character in it.
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

    /// How many look-ups run at a time; 4 unless set, and 0 counts as 1. To be set before the first result is requested.
    pub fn concurrency(mut self, look_ups: usize) -> Self {
        self.concurrency = look_ups.clamp(1, Semaphore::MAX_PERMITS);
        self
    }

    /// Returns results as they complete, not in the order of the inputs. To be set before the first result is requested.
    pub fn as_completed(mut self) -> Self {
        self.as_completed = true;
        self
    }

    /// The next result, without a stream library; `None` after the last.
    pub async fn next(&mut self) -> Option<LookupResult> {
        poll_fn(|context| self.poll(context)).await
    }

    /// All remaining results.
    pub async fn collect(self) -> Vec<LookupResult> {
        StreamExt::collect(self).await
    }

    /// The progress so far.
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

    /// Looks up the inputs, each PIC once and in a task.
    fn start(&mut self) -> BoxStream<'static, (usize, Input, Result<Lookup>)> {
        self.shared.permits.add_permits(self.concurrency);
        let inputs = std::mem::take(&mut self.inputs).into_iter().enumerate();
        let shared = Arc::clone(&self.shared);
        // Until the last input with the PIC.
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
        // The other look-ups continue while the first one hangs.
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
            // No request: attempts distinguishes this result from those of the look-ups that were refused.
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
