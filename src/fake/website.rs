//! Changes on the service's website, independent of the client's requests.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::Fake;
use super::script::json;
use super::world::Kind;

/// A change to a consignment on the service's website. It bypasses the rules of the service.
///
/// ```
/// # test_support::example(async {
/// use envd_sdk::fake::{Fake, WebsiteEdit};
/// use envd_sdk::ops::ConsignmentFilter;
/// use serde_json::json;
///
/// let fake = Fake::start().await;
/// let account = fake.account_id();
/// fake.edit(account, WebsiteEdit::change("C-900000101", json!({"status": "LOCKED"})));
/// // While the client reads the pages: after its first page, before its second one.
/// fake.controls().edit_before_list(account, 2, WebsiteEdit::delete("C-900000108"));
///
/// let filter = ConsignmentFilter::default().page_size(4);
/// let mut pager = fake.client().build()?.account(account).consignments(&filter);
/// let first = pager.next_page().await?.ok_or("no page")?;
/// assert_eq!(first.total, Some(8));
/// let second = pager.next_page().await?.ok_or("no second page")?;
/// assert_eq!(second.total, Some(7));
/// # Ok(()) });
/// ```
#[derive(Clone)]
#[must_use]
pub struct WebsiteEdit(pub(super) Edit);

#[derive(Clone)]
pub(super) enum Edit {
    Insert(Value),
    /// The replaced fields of a record, by its id or number.
    Change(String, Map<String, Value>),
}

impl WebsiteEdit {
    /// Creates a new consignment from its input (spec 2.1).
    ///
    /// # Panics
    ///
    /// If the input is not a JSON object.
    #[track_caller]
    pub fn insert(input: impl Serialize) -> Self {
        let input = json(input);
        assert!(input.is_object(), "the input is not a JSON object");
        Self(Edit::Insert(input))
    }

    /// Replaces fields of a consignment, identified by id or number. The fields are those of a record as read, including
    /// `status` and `forms`.
    ///
    /// `updatedAt` becomes the time of the fake's clock, and `heads` and `submittedAt` are derived, unless given.
    ///
    /// # Panics
    ///
    /// If the fields are not a JSON object, or include an `id` or a `number`, which never change.
    #[track_caller]
    pub fn change(name: impl Into<String>, fields: impl Serialize) -> Self {
        let Value::Object(fields) = json(fields) else {
            panic!("the fields are not a JSON object");
        };
        for fixed in ["id", "number"] {
            assert!(
                !fields.contains_key(fixed),
                "the {fixed} of a record never changes"
            );
        }
        Self(Edit::Change(name.into(), fields))
    }

    /// Deletes a consignment, identified by id or number, whatever its status. [`Deleted`](super::controls::Deleted) controls
    /// where it can still be found.
    pub fn delete(name: impl Into<String>) -> Self {
        Self::change(name, json!({"status": "DELETED"}))
    }
}

/// Shows only the kind, the record and the field names, because values may be personal data.
impl fmt::Debug for WebsiteEdit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Edit::Insert(_) => f.debug_struct("Insert").finish_non_exhaustive(),
            Edit::Change(name, fields) => f
                .debug_struct("Change")
                .field("name", name)
                .field("fields", &fields.keys())
                .finish(),
        }
    }
}

impl Fake {
    /// Edits a consignment on the website now, and returns its id.
    ///
    /// # Panics
    ///
    /// If no user has the account, or it has no such consignment.
    // Not marked with `must_use`, because most tests know the id.
    #[track_caller]
    pub fn edit(&self, account: &str, edit: WebsiteEdit) -> String {
        let author = self.author(account);
        let now = self.state.clock.now();
        let edited = self
            .state
            .parts()
            .records
            .edit(account, &edit.0, &author, now);
        let Some(record) = edited else {
            panic!("{account} has no such consignment to edit: {edit:?}");
        };
        record["id"].as_str().unwrap_or_default().to_owned()
    }

    /// The consignments of an account that reads by id currently find, oldest first, deserialized from their JSON. They have
    /// all fields except `questions`.
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::fake::Fake;
    /// use serde_json::Value;
    ///
    /// let fake = Fake::start().await;
    /// let held: Vec<Value> = fake.consignments(fake.account_id());
    /// assert_eq!(held.len(), 8);
    /// assert_eq!(held[0]["number"], "C-900000101");
    /// # Ok(()) });
    /// ```
    ///
    /// # Panics
    ///
    /// If a record does not fit the type.
    #[track_caller]
    pub fn consignments<T: DeserializeOwned>(&self, account: &str) -> Vec<T> {
        let parts = self.state.parts();
        let records = parts.records.of_account(Kind::Consignment, account);
        let read = records.map(|record| match serde_path_to_error::deserialize(record) {
            Ok(read) => read,
            Err(error) => panic!("a consignment does not fit the type: {error}"),
        });
        read.collect()
    }

    /// The email address of the user who has an account.
    #[track_caller]
    pub(super) fn author(&self, account: &str) -> Value {
        match self.state.data.world.holder(account) {
            Some(holder) => holder["email"].clone(),
            None => panic!("no user of the fake has the account {account}"),
        }
    }
}

/// An edit scheduled for a list request.
pub(super) struct ScheduledEdit {
    pub(super) account: String,
    /// Due when this reaches 0.
    pub(super) lists_left: usize,
    pub(super) edit: Edit,
    pub(super) author: Value,
}
