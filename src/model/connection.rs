//! What stands around records in replies: the page of a list with cursors, the positions in such a list and its irregularities,
//! and the result of a change.

use serde::{Deserialize, Serialize};

use super::{PageInfo, lenient};

/// A page of a list with cursors.
///
/// [`Account::consignments`](crate::Account::consignments) and its kin read page by page without it. See
/// [`Account::consignments_page`](crate::Account::consignments_page) for an example, and
/// [`guide::own_documents`](crate::guide::own_documents) for the list of a document of your own, as
/// [`Client::pager`](crate::Client::pager) takes it.
///
/// Source: stated, specification 4.1; of templates public material (`OAuthSample`), not confirmed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", from = "ReceivedConnection<T>")]
#[non_exhaustive]
pub struct Connection<T> {
    /// The number of records on all pages. Public queries of templates do not select it.
    pub total_count: Option<i64>,
    /// The position of this page.
    pub page_info: Option<PageInfo>,
    /// The records with their cursors. An element that the server sent as null has neither.
    pub edges: Vec<Edge<T>>,
    /// Whether the server sent no list.
    #[serde(skip)]
    is_null: bool,
}

/// A record on a page, with its cursor.
///
/// A [`Pager`](crate::Pager) takes the records out of it.
///
/// Source: stated, specification 4.1; of templates public material (`OAuthSample`), not confirmed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Edge<T> {
    /// The position of the record, to be passed as `after`; opaque.
    pub cursor: Option<String>,
    /// The record; `None` where the server sent null, or the record could not be read.
    pub node: Option<T>,
}

/// The record that a change returns, as it stands in the reply.
///
/// [`Account::save_consignment`](crate::Account::save_consignment) and its kin take the record out of it.
///
/// Source: assumed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Saved<T> {
    /// The record after the change.
    pub data: Option<T>,
}

impl<T> Connection<T> {
    /// A page with its `pageInfo` and, of each edge, the cursor and the record (`node`).
    ///
    /// A cursor is `None` where the document does not select it. A place without a record counts as
    /// [`missing`](crate::Page::missing).
    #[must_use]
    pub fn new(
        has_next_page: impl Into<Option<bool>>,
        end_cursor: impl Into<Option<String>>,
        edges: impl IntoIterator<Item = (Option<String>, Option<T>)>,
    ) -> Self {
        let edges = edges.into_iter();
        Self {
            total_count: None,
            page_info: Some(PageInfo {
                has_next_page: has_next_page.into(),
                end_cursor: end_cursor.into(),
            }),
            edges: edges.map(|(cursor, node)| Edge { cursor, node }).collect(),
            is_null: false,
        }
    }

    /// The number of records on all pages, as the server states it.
    #[must_use]
    pub fn total(mut self, total: impl Into<Option<i64>>) -> Self {
        self.total_count = total.into();
        self
    }

    /// The page, if it has a list. One that is null is empty only if the server states a total of 0.
    #[cfg(feature = "client")]
    pub(crate) fn if_listed(self) -> Option<Self> {
        (!self.is_null || self.total_count == Some(0)).then_some(self)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", bound = "T: Deserialize<'de>")]
struct ReceivedConnection<T> {
    #[serde(default, deserialize_with = "lenient::int")]
    total_count: Option<i64>,
    page_info: Option<PageInfo>,
    #[serde(default, deserialize_with = "lenient::edges")]
    edges: Option<Vec<Edge<T>>>,
}

impl<T> From<ReceivedConnection<T>> for Connection<T> {
    fn from(received: ReceivedConnection<T>) -> Self {
        Self {
            total_count: received.total_count,
            page_info: received.page_info,
            is_null: received.edges.is_none(),
            edges: received.edges.unwrap_or_default(),
        }
    }
}

/// A position in a list that is read page by page: the start, or what follows a cursor.
///
/// It can be stored (as JSON: a text or null) and given to a pager of the same list later. How long a cursor stays valid
/// is not shown.
///
/// ```
/// use envd_sdk::model::Position;
///
/// let stored = serde_json::to_string(&Position::after("bXk="))?;
/// assert_eq!(serde_json::from_str::<Position>(&stored)?.cursor(), Some("bXk="));
/// assert_eq!(Position::start().cursor(), None);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Position(Option<String>);

impl Position {
    /// The start of the list.
    pub fn start() -> Self {
        Self(None)
    }

    /// What follows a cursor.
    pub fn after(cursor: impl Into<String>) -> Self {
        Self(Some(cursor.into()))
    }

    /// The cursor, sent as `after`; `None` at the start.
    pub fn cursor(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

/// An irregularity of a list that is read page by page. The records are returned all the same.
///
/// Lists change while they are read: pages then overlap, or leave a gap between them. Neither is an error, and a program
/// that counts or adds up has to handle it.
///
/// [`Page::notices`](crate::Page::notices) has those of a page, [`Items::notices`](crate::Items::notices) all until now.
///
/// ```
/// use envd_sdk::model::ListNotice;
///
/// fn warning(notice: &ListNotice) -> String {
///     match notice {
///         ListNotice::TotalChanged { before, now, .. } => {
///             format!("{before} records, then {now}: read the list again")
///         }
///         ListNotice::Repeated { ids, .. } => format!("twice in the list: {}", ids.join(", ")),
///         _ => "the list changed while it was read".to_owned(),
///     }
/// }
/// # let _ = warning;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListNotice {
    /// The total differs from that of the page before: a record may be missed or come twice.
    #[non_exhaustive]
    TotalChanged {
        /// The number of the page, from 1.
        page: u64,
        /// The total before.
        before: i64,
        /// The total of this page.
        now: i64,
    },
    /// Records that came before, on this page or an earlier one.
    #[non_exhaustive]
    Repeated {
        /// The number of the page, from 1.
        page: u64,
        /// What identifies the records: id or number of a consignment or template, register id or PIC of a property.
        ids: Vec<String>,
    },
}
