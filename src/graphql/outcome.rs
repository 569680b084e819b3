//! The result of a call.

use std::time::Duration;

use super::Unreadable;
use crate::error::{Error, ErrorCase, ReplyParts, ServerErrors};
use crate::model::{
    ConsignmentId, ConsignmentNumber, SavedConsignment, SavedTemplate, ServerError, TemplateId,
};

/// The result of a call: the value, and the errors of the server beside it.
///
/// The server sends warnings beside data (spec 7.1: a 201 may carry them; 7.2: a missing answer is reported, and the
/// record is saved). An empty declaration is even submitted so. Show the problems of a change to the user.
///
/// ```
/// # equipment::example(async {
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let account = fake.client().build()?.account(fake.account_id());
/// use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
///
/// let (origin, destination) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
/// let input = ConsignmentInput::new([FormType::Lpac1], origin, destination);
/// let saved = account.save_consignment(input).await?;
/// println!("saved as {}", saved.number()?);
/// for problem in &saved.problems {
///     println!("still missing: {}", problem.code().unwrap_or_default());
/// }
/// assert!(!saved.problems.is_empty());
/// # Ok(()) });
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use = "the problems that the server reports are in it"]
#[non_exhaustive]
pub struct Outcome<T> {
    /// The value; the server may have problems with it all the same.
    pub value: T,
    /// The errors of the server beside the value, at most the first 1,000; mostly empty.
    pub problems: Vec<ServerError>,
    pub(crate) facts: ReplyFacts,
}

/// What is known of a reply beside its value and its errors.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReplyFacts {
    /// The records of the list in the reply that could not be read.
    pub(crate) unreadable: Vec<Unreadable>,
    /// How many errors are not kept.
    pub(super) omitted: usize,
    pub(super) nulls: usize,
    pub(super) status: u16,
    /// How often the request was sent.
    pub(crate) attempts: u32,
    pub(crate) request_id: Option<Box<str>>,
    pub(crate) elapsed: Duration,
    /// Whether it is the outcome of a change, which then was carried out.
    pub(super) change: bool,
}

/// What came of the same request twice is equal, though its id and the time it took differ.
impl PartialEq for ReplyFacts {
    fn eq(&self, other: &Self) -> bool {
        self.unreadable == other.unreadable
            && self.omitted == other.omitted
            && self.nulls == other.nulls
            && self.status == other.status
            && self.attempts == other.attempts
            && self.change == other.change
    }
}

impl<T> Outcome<T> {
    /// The value, and the [`problems`](Self::problems) that the server has with it.
    pub fn into_parts(self) -> (T, Vec<ServerError>) {
        (self.value, self.problems)
    }

    /// The HTTP status of the reply, such as 201 for a record that was created (spec 7.1).
    pub fn http_status(&self) -> u16 {
        self.facts.status
    }

    /// How often the request was sent: once, and again for each retry. 0 if the value comes from elsewhere.
    pub fn attempts(&self) -> u32 {
        self.facts.attempts
    }

    /// The id that the server gave the request, to be named to its support team (header `x-request-id` or `x-correlation-id`;
    /// assumed).
    pub fn request_id(&self) -> Option<&str> {
        self.facts.request_id.as_deref()
    }

    /// The time from the call to the reply, waits and retries included.
    pub fn elapsed(&self) -> Duration {
        self.facts.elapsed
    }

    /// How many elements of lists are null in the reply. They are left out of the value, but for those of a page with cursors, in
    /// which they are places without a record. Records that could not be read are in [`unreadable`](Self::unreadable).
    pub fn nulls(&self) -> usize {
        self.facts.nulls
    }

    /// The records of a list that could not be read, mostly none: they are left out, and the others are there. Only for the
    /// lists of the operations of this crate: consignments, templates, comments, user mappings and eDECs.
    ///
    /// Each is an error that [`UnreadableRecord`](crate::ErrorKind::UnreadableRecord), with the record as
    /// [`raw_data`](Error::raw_data) and the [`json_path`](Error::json_path) at which it does not fit.
    ///
    /// ```
    /// # equipment::example(async {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// let edecs = account.edecs().await?;
    /// for error in edecs.unreadable() {
    ///     eprintln!("{error}");
    /// }
    /// # Ok(()) });
    /// ```
    pub fn unreadable(&self) -> impl Iterator<Item = &Error> {
        self.facts.unreadable.iter().map(|record| &record.error)
    }

    /// The value, or an error if the server reported any or a record could not be read.
    ///
    /// # Errors
    ///
    /// If there are problems, an error with them as its [`server_errors`](Error::server_errors), by their meaning of the kind
    /// [`Rejected`](crate::ErrorKind::Rejected) or a closer one; a change is carried out all the same, and
    /// [`may_have_applied`](Error::may_have_applied) is true. [`UnreadableRecord`](crate::ErrorKind::UnreadableRecord) with
    /// the first of them.
    pub fn strict(self) -> Result<T, Error> {
        if !self.problems.is_empty() {
            return Err(rejected(self.problems, &self.facts));
        }
        match self.facts.unreadable.into_iter().next() {
            None => Ok(self.value),
            Some(record) => Err(record.error),
        }
    }

    /// The same with another value, made from this one.
    ///
    /// ```
    /// # equipment::example(async {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let client = fake.client().build()?;
    /// let questions = client.questions().await?.map(|list| list.items);
    /// assert!(!questions.value.is_empty() && questions.problems.is_empty());
    /// # Ok(()) });
    /// ```
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Outcome<U> {
        let (value, rest) = self.split();
        rest.with(change(value))
    }

    /// Takes a part of the value.
    pub(crate) fn part<U>(self, part: impl FnOnce(T) -> Option<U>) -> Result<Outcome<U>, Error> {
        let (value, rest) = self.split();
        match part(value) {
            Some(value) => Ok(rest.with(value)),
            None => Err(rest.without_record()),
        }
    }

    /// The value, and everything else.
    pub(super) fn split(self) -> (T, Outcome<()>) {
        let (value, problems, facts) = ((), self.problems, self.facts);
        let rest = Outcome {
            value,
            problems,
            facts,
        };
        (self.value, rest)
    }
}

impl Outcome<SavedConsignment> {
    /// The id of the record.
    ///
    /// # Errors
    ///
    /// [`Protocol`](crate::ErrorKind::Protocol) if the reply has none: the change was carried out all the same.
    pub fn id(&self) -> Result<ConsignmentId, Error> {
        let id = self.value.id.clone();
        id.ok_or_else(|| self.unnamed("id"))
    }

    /// The number of the record, for people and for the next save of it.
    ///
    /// ```
    /// # equipment::example(async {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    ///
    /// let (origin, destination) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// let input = ConsignmentInput::new([FormType::Lpac1], origin, destination);
    /// let number = account.save_consignment(input.clone()).await?.number()?;
    /// account.submit_consignment(input.number(&number)).await?;
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// As [`id`](Self::id).
    pub fn number(&self) -> Result<ConsignmentNumber, Error> {
        let number = self.value.number.clone();
        number.ok_or_else(|| self.unnamed("number"))
    }
}

impl Outcome<SavedTemplate> {
    /// The id of the template.
    ///
    /// # Errors
    ///
    /// [`Protocol`](crate::ErrorKind::Protocol) if the reply has none: the change was carried out all the same.
    pub fn id(&self) -> Result<TemplateId, Error> {
        let id = self.value.id.clone();
        id.ok_or_else(|| self.unnamed("id"))
    }

    /// The number of the template.
    ///
    /// # Errors
    ///
    /// As [`id`](Self::id).
    pub fn number(&self) -> Result<String, Error> {
        let number = self.value.number.clone();
        number.ok_or_else(|| self.unnamed("number"))
    }
}

impl<T> Outcome<T> {
    /// The error of a reply whose record lacks a name by which the service knows it.
    fn unnamed(&self, name: &str) -> Error {
        let error = Error::protocol(format!("the record of the reply has no {name}"));
        let received = ReplyParts::status_only(self.facts.status);
        error
            .with_received(received)
            .with_attempts(self.facts.attempts)
            .with_may_have_applied(self.facts.change)
    }
}

impl<T> Outcome<Option<T>> {
    /// The outcome of a query that the service answered with null and no error beside it, if the error says that.
    pub(crate) fn of_null(error: &Error) -> Option<Self> {
        let is_null = error.case() == ErrorCase::NoRecord;
        (is_null && !error.may_have_applied()).then(|| Self {
            value: None,
            problems: Vec::new(),
            facts: ReplyFacts {
                status: error.http_status().unwrap_or(200),
                attempts: error.attempts(),
                ..ReplyFacts::default()
            },
        })
    }
}

impl Outcome<()> {
    /// The outcome with another value.
    pub(super) fn with<T>(self, value: T) -> Outcome<T> {
        let (problems, facts) = (self.problems, self.facts);
        Outcome {
            value,
            problems,
            facts,
        }
    }

    pub(super) fn errors(self) -> ServerErrors {
        ServerErrors {
            first: self.problems,
            omitted: self.facts.omitted,
        }
    }

    /// The error for a reply without a record: the server's reasons, or that it gave none.
    pub(super) fn without_record(self) -> Error {
        if self.problems.is_empty() {
            return Error::protocol("the reply has no record")
                .with_case(ErrorCase::NoRecord)
                .with_attempts(self.facts.attempts)
                .with_may_have_applied(self.facts.change);
        }
        rejected(self.problems, &self.facts)
    }
}

fn rejected(first: Vec<ServerError>, facts: &ReplyFacts) -> Error {
    let (received, omitted) = (ReplyParts::status_only(facts.status), facts.omitted);
    Error::rejected(received, ServerErrors { first, omitted })
        .with_attempts(facts.attempts)
        .with_may_have_applied(facts.change)
}
