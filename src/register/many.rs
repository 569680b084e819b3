//! Many properties by their PICs.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use tokio::task::{Id, JoinSet};
use tracing::Instrument;

use super::asked::Asked;
use super::{Answer, Lookup, Progress, Register};
use crate::error::{Error, Failure, Kind, Result, Unsent};

/// Many look-ups as a stream of answers, from [`Register::lookup_many`].
///
/// There is one answer for each text, in the order of the texts. A PIC that stands there twice is asked for once; a text
/// that is no PIC is answered without asking. A failure does not stop the others. When the register asks to wait, all of
/// them do. Dropping the stream stops them.
///
/// A refused token stops all look-ups that are not sent yet: once an answer
/// [`is_unauthorized`](crate::Error::is_unauthorized) or [`is_reauth_required`](crate::Error::is_reauth_required), the
/// remaining PICs have the same error with [`attempts`](crate::Error::attempts) 0. Look those up again after a login.
///
/// The texts are kept, 10,000 PICs in less than 1 MB; of the answers, never more than four for each look-up that runs at a
/// time. Only an answer whose PIC comes again later in the list is kept until then. The look-ups are tasks of tokio, so the
/// stream must be polled in its runtime.
///
/// ```
/// # use envd_sdk::fake::Fake;
/// use envd_sdk::register::{Lookup, Register};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let fake = Fake::start().await;
/// # let register = Register::builder(fake.register_url()).build()?;
/// let mut answers = register.lookup_many(["QAZZ7777", "QZZZ9999", "no pic"]).concurrency(2);
/// while let Some(answer) = answers.next().await {
///     match answer.result {
///         Ok(Lookup::Found(property)) => println!("{}: {:?}", answer.asked, property.admin_status),
///         Ok(_) => println!("{}: not in the register", answer.asked),
///         Err(error) => println!("{}: {error}", answer.asked),
///     }
/// }
/// assert_eq!(answers.progress().answered, 3);
/// # Ok(())
/// # }
/// ```
#[must_use = "a stream does nothing until it is polled"]
pub struct LookupMany {
    register: Register,
    asked: Asked,
    concurrency: usize,
    as_completed: bool,
    running: JoinSet<Result<Lookup>>,
    positions: HashMap<Id, usize>,
    /// The text that is looked at next, to start its look-up.
    next: usize,
    answered: usize,
    started: usize,
    held: HashMap<usize, Result<Lookup>>,
    /// As completed: the positions of what is held, in the order in which it is handed out.
    ready: VecDeque<usize>,
    /// The refusal of the token, after which no look-up is started.
    refused: Option<Error>,
}

impl LookupMany {
    pub(super) fn new(
        register: Register,
        texts: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Self {
        Self {
            register,
            asked: Asked::new(texts),
            concurrency: 4,
            as_completed: false,
            running: JoinSet::new(),
            positions: HashMap::new(),
            next: 0,
            answered: 0,
            started: 0,
            held: HashMap::new(),
            ready: VecDeque::new(),
            refused: None,
        }
    }

    /// How many look-ups run at a time; 4 unless set, and 0 counts as 1.
    pub fn concurrency(mut self, look_ups: usize) -> Self {
        self.concurrency = look_ups.max(1);
        self
    }

    /// Answers come as soon as they are there, not in the order of the texts. To be set before the first is asked for.
    pub fn as_completed(mut self) -> Self {
        self.as_completed = true;
        self
    }

    /// The next answer, for those who use no stream library; `None` after the last.
    pub async fn next(&mut self) -> Option<Answer> {
        poll_fn(|context| self.poll(context)).await
    }

    /// All answers that are left.
    pub async fn collect(mut self) -> Vec<Answer> {
        let mut answers = Vec::with_capacity(self.left());
        while let Some(answer) = self.next().await {
            answers.push(answer);
        }
        answers
    }

    /// How far it is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        Progress {
            total: self.asked.len(),
            answered: self.answered,
            started: self.started,
            in_flight: self.running.len(),
            held: self.held.len(),
        }
    }

    fn left(&self) -> usize {
        self.asked.len() - self.answered
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Answer>> {
        loop {
            self.start();
            // What was handed out first makes room for more; nothing is taken in meanwhile.
            if !self.ready.is_empty() {
                return Poll::Ready(self.hand_out());
            }
            let polled = self.running.poll_join_next_with_id(context);
            match polled {
                Poll::Ready(Some(Ok((id, result)))) => self.arrived(id, result),
                Poll::Ready(Some(Err(failure))) => {
                    let id = failure.id();
                    if let Ok(panic) = failure.try_into_panic() {
                        // As it would have without a task of its own.
                        std::panic::resume_unwind(panic);
                    }
                    self.arrived(id, Err(stopped()));
                }
                waiting => {
                    if let Some(answer) = self.hand_out() {
                        return Poll::Ready(Some(answer));
                    }
                    if self.left() == 0 {
                        return Poll::Ready(None);
                    }
                    // Nothing is under way only when there is nothing left, so a waker is set here.
                    ready!(waiting);
                }
            }
        }
    }

    /// Starts as many look-ups as may run.
    fn start(&mut self) {
        while self.next < self.asked.len() && self.running.len() < self.concurrency {
            let at = self.next;
            if self.as_completed {
                if !self.ready.is_empty() {
                    break;
                }
            } else if at >= self.answered + 4 * self.concurrency {
                break;
            }
            match (self.asked.pic(at), &self.refused) {
                (Some(_), Some(refused)) if self.asked.is_first(at) => {
                    // Not sent: this tells it from the look-ups that were refused themselves.
                    let result = Err(refused.clone().with_attempts(0));
                    self.hold(at, result);
                }
                (Some(pic), None) if self.asked.is_first(at) => {
                    let register = self.register.clone();
                    let look_up = async move { register.lookup(&pic).await };
                    let task = self.running.spawn(look_up.in_current_span());
                    self.positions.insert(task.id(), at);
                    self.started += 1;
                }
                (None, _) if self.as_completed => self.hold(at, Err(no_pic())),
                _ => {}
            }
            self.next += 1;
        }
    }

    fn arrived(&mut self, id: Id, result: Result<Lookup>) {
        if let Err(error) = &result
            && (error.is_unauthorized() || error.is_reauth_required())
        {
            self.refused.get_or_insert_with(|| error.clone());
        }
        if let Some(at) = self.positions.remove(&id) {
            self.hold(at, result);
        }
    }

    fn hold(&mut self, at: usize, result: Result<Lookup>) {
        self.held.insert(at, result);
        if self.as_completed {
            self.ready.push_back(at);
        }
    }

    fn hand_out(&mut self) -> Option<Answer> {
        let at = if self.as_completed {
            self.ready.pop_front()?
        } else if self.left() > 0 {
            self.answered
        } else {
            return None;
        };
        let result = match self.held.remove(&at) {
            Some(result) => result,
            None if self.asked.pic(at).is_none() => Err(no_pic()),
            None => return None,
        };
        if let Some(again) = self.asked.again(at) {
            self.held.insert(again, result.clone());
            if self.as_completed {
                self.ready.push_front(again);
            }
        }
        self.answered += 1;
        Some(Answer {
            position: at,
            asked: self.asked.text(at).to_owned(),
            result,
        })
    }
}

fn no_pic() -> Error {
    Error::config("a PIC has 8 letters or digits")
}

/// The runtime ended the task.
fn stopped() -> Error {
    Error::new(Kind::Transport(Failure {
        what: "the runtime stopped before the look-up was done",
        timeout: false,
        unsent: Unsent::Perhaps,
        refused_locally: true,
    }))
}

impl Stream for LookupMany {
    type Item = Answer;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Answer>> {
        self.get_mut().poll(context)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left(), Some(self.left()))
    }
}

impl fmt::Debug for LookupMany {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LookupMany")
            .field("concurrency", &self.concurrency)
            .field("progress", &self.progress())
            .finish_non_exhaustive()
    }
}
