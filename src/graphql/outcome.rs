//! The result of a call.

use std::time::Duration;

use super::Unreadable;
use crate::error::{Error, ErrorCase, ReplyParts, ServerErrors};
use crate::model::{
    ConsignmentId, ConsignmentNumber, SavedConsignment, SavedTemplate, ServerError, TemplateId,
};

/// The result of a call: the value, together with the server's errors.
///
/// The server may return warnings next to data (spec 7.1: with a 201; 7.2: it reports a missing answer and saves the record).
/// Even an empty declaration is submitted this way. Show the problems of a change to the user.
///
/// ```
/// # test_support::example(async {
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let account = fake.client().build()?.account(fake.account_id());
/// use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
///
/// let origin = PartyInput::new("QAZZ7777");
/// let destination = PartyInput::new("QDZZ3333");
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
    /// The value. The server may still have reported problems.
    pub value: T,
    /// The server's errors in addition to the value, at most the first 1,000; usually empty.
    pub problems: Vec<ServerError>,
    pub(crate) facts: ReplyFacts,
}

/// Data about a reply other than its value and its errors.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReplyFacts {
    /// The records of a list that could not be decoded.
    pub(crate) unreadable: Vec<Unreadable>,
    /// The number of errors that were dropped.
    pub(super) omitted: usize,
    pub(super) nulls: usize,
    pub(super) status: u16,
    /// The number of times the request was sent.
    pub(crate) attempts: u32,
    pub(crate) request_id: Option<Box<str>>,
    pub(crate) elapsed: Duration,
    /// Whether this is the outcome of a change, which was then carried out.
    pub(super) change: bool,
}

/// Replies to identical requests are equal, even though their ids and times differ.
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
    /// Splits into the value and the server's [`problems`](Self::problems).
    pub fn into_parts(self) -> (T, Vec<ServerError>) {
        (self.value, self.problems)
    }

    /// The HTTP status of the reply, such as 201 for a created record (spec 7.1).
    pub fn http_status(&self) -> u16 {
        self.facts.status
    }

    /// The number of times the request was sent: one, plus the retries. 0 if the value did not need a request.
    pub fn attempts(&self) -> u32 {
        self.facts.attempts
    }

    /// The id that the server assigned to the request, to quote to its support team (header `x-request-id` or
    /// `x-correlation-id`; assumed).
    pub fn request_id(&self) -> Option<&str> {
        self.facts.request_id.as_deref()
    }

    /// The time from the call to the reply, including waits and retries.
    pub fn elapsed(&self) -> Duration {
        self.facts.elapsed
    }

    /// The number of null list elements in the reply. Nulls are dropped from lists. On pages with cursors they remain as edges
    /// without a record. Records that could not be decoded are in [`unreadable`](Self::unreadable).
    pub fn nulls(&self) -> usize {
        self.facts.nulls
    }

    /// The records of a list that could not be decoded; usually none. They are omitted, and the others are returned. Only for
    /// the lists of this crate's operations: consignments, templates, comments, user mappings and eDECs.
    ///
    /// Each is an [`UnreadableRecord`](crate::ErrorKind::UnreadableRecord) error, with the record as
    /// [`raw_data`](Error::raw_data) and the [`json_path`](Error::json_path) of the mismatch.
    ///
    /// ```
    /// # test_support::example(async {
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

    /// Returns the value, or an error if the server reported any problem or a record could not be decoded.
    ///
    /// # Errors
    ///
    /// If there are problems, an error with them as its [`server_errors`](Error::server_errors), of the kind
    /// [`Rejected`](crate::ErrorKind::Rejected) or a more specific one. In that case a change was carried out anyway, and
    /// [`may_have_applied`](Error::may_have_applied) is true. Otherwise
    /// [`UnreadableRecord`](crate::ErrorKind::UnreadableRecord), for the first such record.
    pub fn strict(self) -> Result<T, Error> {
        if !self.problems.is_empty() {
            return Err(rejected(self.problems, &self.facts));
        }
        match self.facts.unreadable.into_iter().next() {
            None => Ok(self.value),
            Some(record) => Err(record.error),
        }
    }

    /// Maps the value.
    ///
    /// ```
    /// # test_support::example(async {
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

    /// Extracts a part of the value.
    pub(crate) fn part<U>(self, part: impl FnOnce(T) -> Option<U>) -> Result<Outcome<U>, Error> {
        let (value, rest) = self.split();
        match part(value) {
            Some(value) => Ok(rest.with(value)),
            None => Err(rest.without_record()),
        }
    }

    /// Splits into the value and everything else.
    pub(super) fn split(self) -> (T, Outcome<()>) {
        let value = ();
        let problems = self.problems;
        let facts = self.facts;
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
    /// [`Protocol`](crate::ErrorKind::Protocol) if the reply has none; the change was carried out anyway.
    pub fn id(&self) -> Result<ConsignmentId, Error> {
        let id = self.value.id.clone();
        id.ok_or_else(|| self.unnamed("id"))
    }

    /// The number of the record, for users and for its next save.
    ///
    /// ```
    /// # test_support::example(async {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    ///
    /// let origin = PartyInput::new("QAZZ7777");
    /// let destination = PartyInput::new("QDZZ3333");
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
    /// [`Protocol`](crate::ErrorKind::Protocol) if the reply has none; the change was carried out anyway.
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
    /// The error for a record without the name that identifies it to the service.
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
    /// The outcome of a query to which the service replied with null and no error, if this error stands for that.
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
    /// Replaces the value.
    pub(super) fn with<T>(self, value: T) -> Outcome<T> {
        let problems = self.problems;
        let facts = self.facts;
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
    let received = ReplyParts::status_only(facts.status);
    let omitted = facts.omitted;
    Error::rejected(received, ServerErrors { first, omitted })
        .with_attempts(facts.attempts)
        .with_may_have_applied(facts.change)
}
