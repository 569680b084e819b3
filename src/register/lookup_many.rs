//! Look-ups of many PICs.

use std::collections::{BTreeMap, HashMap};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use futures_util::stream::{self, BoxStream, StreamExt};
use tokio::sync::Semaphore;

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
/// at a time, besides those whose PIC occurs again later. The look-ups are tasks of tokio, so the stream must be polled in
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
    concurrency: usize,
    as_completed: bool,
    /// The positions of the distinct inputs with their results; none before the first poll.
    distinct: Option<BoxStream<'static, (usize, Result<Lookup>)>>,
    returned: usize,
    /// Results of PICs that occur again, by the position of the next occurrence.
    repeated: BTreeMap<usize, Result<Lookup>>,
}

/// What the tasks share.
struct Lookups {
    register: Register,
    inputs: Vec<Input>,
    /// One for each look-up that may run; none before the first poll.
    permits: Semaphore,
    /// The refusal of the token, after which no look-up starts.
    refused: OnceLock<Error>,
    started: AtomicUsize,
    running: AtomicUsize,
    /// How many tasks have a result that was not returned yet.
    waiting: AtomicUsize,
}

/// The result for one input of a bulk look-up: the input, and its [`Lookup`].
///
/// See [`LookupMany`] for an example.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LookupResult {
    /// The position of the input, from 0.
    pub position: usize,
    /// The PIC in upper case, or the input as it was given if it is no PIC.
    pub input: String,
    /// The result. An input that is not a PIC fails with [`Config`](crate::ErrorKind::Config), without a request.
    pub result: Result<Lookup>,
}

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
/// From [`LookupMany::progress`], whose type has an example.
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

/// An input, linked to the next occurrence of its PIC.
struct Input {
    /// The PIC, or the text if it is none.
    pic: std::result::Result<Pic, Box<str>>,
    is_first: bool,
    next: Option<usize>,
}

fn inputs(texts: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<Input> {
    let mut last: HashMap<Pic, usize> = HashMap::new();
    let mut inputs: Vec<Input> = Vec::new();
    for (position, text) in texts.into_iter().enumerate() {
        let pic = Pic::parse(text.as_ref()).map_err(|_| text.as_ref().into());
        let before = pic
            .as_ref()
            .ok()
            .and_then(|pic| last.insert(*pic, position));
        if let Some(before) = before.and_then(|before| inputs.get_mut(before)) {
            before.next = Some(position);
        }
        inputs.push(Input {
            pic,
            is_first: before.is_none(),
            next: None,
        });
    }
    inputs
}

impl LookupMany {
    pub(super) fn new(
        register: Register,
        texts: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Self {
        Self {
            shared: Arc::new(Lookups {
                register,
                inputs: inputs(texts),
                permits: Semaphore::new(0),
                refused: OnceLock::new(),
                started: AtomicUsize::new(0),
                running: AtomicUsize::new(0),
                waiting: AtomicUsize::new(0),
            }),
            concurrency: 4,
            as_completed: false,
            distinct: None,
            returned: 0,
            repeated: BTreeMap::new(),
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
            total: self.shared.inputs.len(),
            returned: self.returned,
            started: count(&self.shared.started),
            in_flight: count(&self.shared.running),
            waiting: count(&self.shared.waiting) + self.repeated.len(),
        }
    }

    /// Looks up the distinct inputs, each PIC in a task.
    fn start(&self) -> BoxStream<'static, (usize, Result<Lookup>)> {
        self.shared.permits.add_permits(self.concurrency);
        let (shared, inputs) = (Arc::clone(&self.shared), Arc::clone(&self.shared));
        let first = (0..inputs.inputs.len())
            .filter(move |at| inputs.inputs.get(*at).is_some_and(|input| input.is_first));
        let look_ups = stream::iter(first).map(move |at| {
            let pic = shared
                .inputs
                .get(at)
                .and_then(|input| input.pic.as_ref().ok());
            let task = pic.map(|pic| Task::spawn(Arc::clone(&shared).look_up(*pic)));
            async move {
                match task {
                    Some(task) => (at, task.await),
                    None => (at, Err(Error::config("a PIC has 8 letters or digits"))),
                }
            }
        });
        if self.as_completed {
            look_ups.buffer_unordered(self.concurrency).boxed()
        } else {
            // The other look-ups continue while the first one hangs.
            look_ups.buffered(4 * self.concurrency).boxed()
        }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<LookupResult>> {
        if self.distinct.is_none() {
            self.distinct = Some(self.start());
        }
        let repeated = self
            .repeated
            .first_entry()
            .filter(|entry| self.as_completed || *entry.key() == self.returned);
        let (position, result) = if let Some(repeated) = repeated {
            repeated.remove_entry()
        } else if let Some(distinct) = &mut self.distinct
            && let Some(next) = ready!(distinct.poll_next_unpin(context))
        {
            let input = self.shared.inputs.get(next.0);
            if input.is_some_and(|input| input.pic.is_ok()) {
                self.shared.waiting.fetch_sub(1, Ordering::Relaxed);
            }
            next
        } else {
            return Poll::Ready(None);
        };
        let Some(input) = self.shared.inputs.get(position) else {
            return Poll::Ready(None);
        };
        if let Some(next) = input.next {
            self.repeated.insert(next, result.clone());
        }
        self.returned += 1;
        Poll::Ready(Some(LookupResult {
            position,
            input: match &input.pic {
                Ok(pic) => pic.as_str().to_owned(),
                Err(text) => text.to_string(),
            },
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
        let left = self.shared.inputs.len() - self.returned;
        (left, Some(left))
    }
}

debug_shows!(LookupMany, |it| concurrency: it.concurrency, progress: it.progress());
