//! The result of a call.

use serde_json::Value;

use super::Unreadable;
use crate::error::{Error, Repr};
use crate::model::{ServerError, reply_memory};

/// The result of a call: the value, and the errors of the server beside it.
///
/// The server sends warnings beside data (spec 7.1: a 201 may carry them; 7.2: a missing answer is reported, and the
/// record saved all the same). An empty declaration is even submitted so. Take the outcome of a change by
/// [`into_parts`](Self::into_parts), and show the problems.
///
/// ```
/// # equipment::example(async {
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let account = fake.client().build()?.account(fake.account_id());
/// use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
///
/// let (origin, destination) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
/// let input = ConsignmentInput::new([FormType::Lpac1], origin, destination);
/// let (saved, problems) = account.save_consignment(input).await?.into_parts();
/// println!("saved as {:?}", saved.id);
/// for problem in &problems {
///     println!("still missing: {}", problem.code().unwrap_or_default());
/// }
/// assert!(!problems.is_empty());
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
    /// The records of the list in the reply that could not be read.
    pub(crate) unreadable: Vec<Unreadable>,
    pub(super) omitted: usize,
    pub(super) nulls: usize,
    pub(super) status: u16,
    /// The JSON text: few callers read it.
    pub(super) extensions: Option<Box<str>>,
    /// Whether it is the outcome of a change, which then was carried out.
    pub(super) change: bool,
}

impl<T> Outcome<T> {
    /// The value, and the [`problems`](Self::problems) that the server has with it.
    pub fn into_parts(self) -> (T, Vec<ServerError>) {
        (self.value, self.problems)
    }

    /// The HTTP status of the reply, such as 201 for a record that was created (spec 7.1).
    pub fn http_status(&self) -> u16 {
        self.status
    }

    /// How many errors the server sent; [`problems`](Self::problems) has the first 1,000 of them.
    pub fn problem_count(&self) -> usize {
        self.problems.len() + self.omitted
    }

    /// How many elements of lists are null in the reply. They are left out of the value, but for those of a page with cursors, in
    /// which they are places without a record. Records that could not be read are in [`unreadable`](Self::unreadable).
    pub fn nulls(&self) -> usize {
        self.nulls
    }

    /// The `extensions` beside data and errors, as they were received; servers put timings and the like there. They are read
    /// at each call. JSON that cannot be held as a value (nested too deeply, a number out of range, more than 16 MiB in
    /// memory) is given as its text.
    pub fn extensions(&self) -> Option<Value> {
        self.extensions.as_deref().map(reply_memory::value)
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
        self.unreadable.iter().map(|record| &record.error)
    }

    /// The value, or an error if the server reported any or a record could not be read.
    ///
    /// # Errors
    ///
    /// [`is_rejected`](Error::is_rejected) when there are problems; a change is carried out all the same, and
    /// [`may_have_applied`](Error::may_have_applied) is true. [`UnreadableRecord`](crate::ErrorKind::UnreadableRecord) with
    /// the first of them.
    pub fn strict(mut self) -> Result<T, Error> {
        if self.problems.is_empty() && !self.unreadable.is_empty() {
            return Err(self.unreadable.swap_remove(0).error);
        }
        if self.problems.is_empty() {
            return Ok(self.value);
        }
        Err(rejected(self.status, self.problems, self.omitted).with_may_have_applied(self.change))
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
    pub(crate) fn part<U>(
        self,
        operation: &str,
        part: impl FnOnce(T) -> Option<U>,
    ) -> Result<Outcome<U>, Error> {
        let (value, rest) = self.split();
        match part(value) {
            Some(value) => Ok(rest.with(value)),
            None => Err(rest.without_record().with_operation(operation)),
        }
    }

    /// The value, and everything else.
    pub(super) fn split(self) -> (T, Outcome<()>) {
        self.replace(())
    }

    fn replace<U>(self, value: U) -> (T, Outcome<U>) {
        let replaced = Outcome {
            value,
            problems: self.problems,
            unreadable: self.unreadable,
            omitted: self.omitted,
            nulls: self.nulls,
            status: self.status,
            extensions: self.extensions,
            change: self.change,
        };
        (self.value, replaced)
    }
}

impl<T> Outcome<Option<T>> {
    /// The outcome of a query that the service answered with null and no error beside it, if the error says that.
    pub(crate) fn of_null(error: &Error) -> Option<Self> {
        let is_null = error.says(NO_RECORD);
        (is_null && !error.may_have_applied()).then(|| Self {
            value: None,
            problems: Vec::new(),
            unreadable: Vec::new(),
            omitted: 0,
            nulls: 0,
            status: error.http_status().unwrap_or(200),
            extensions: None,
            change: false,
        })
    }
}

impl Outcome<()> {
    /// The outcome with another value.
    pub(super) fn with<T>(self, value: T) -> Outcome<T> {
        self.replace(value).1
    }

    /// The error for a reply without a record: the server's reasons, or that it gave none.
    pub(super) fn without_record(self) -> Error {
        let error = if self.problems.is_empty() {
            Error::protocol(NO_RECORD)
        } else {
            rejected(self.status, self.problems, self.omitted)
        };
        error.with_may_have_applied(self.change)
    }
}

/// Of a reply with data and without the record.
const NO_RECORD: &str = "the reply has no record";

fn rejected(status: u16, errors: Vec<ServerError>, omitted: usize) -> Error {
    Error::new(Repr::Rejected { status, errors }).with_omitted(omitted)
}
