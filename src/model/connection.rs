//! Wrappers of records in replies: pages of a list with cursors, positions in such a list and notices about it, and the result
//! of a change.

use serde::{Deserialize, Serialize};

use super::{PageInfo, lenient};

/// A page of a list with cursors.
///
/// You need it only for [`AccountClient::consignments_page`](crate::AccountClient::consignments_page), which has an example, and for lists
/// in your own documents: [`Client::pager`](crate::Client::pager) takes it, see
/// [`guide::own_documents`](crate::guide::own_documents). [`AccountClient::consignments`](crate::AccountClient::consignments) and similar
/// methods read page by page without it.
///
/// Source: stated, specification 4.1; of templates public material (`OAuthSample`), not confirmed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", from = "ReceivedConnection<T>")]
#[non_exhaustive]
pub struct Connection<T> {
    /// The total number of records. Public queries of templates do not select it.
    pub total_count: Option<i64>,
    /// The position of this page.
    pub page_info: Option<PageInfo>,
    /// The records with their cursors. An element that the server sent as null has neither.
    pub edges: Vec<Edge<T>>,
    /// Whether the server sent null instead of a list.
    #[serde(skip)]
    is_null: bool,
}

/// A record on a page, with its cursor.
///
/// A [`Pager`](crate::Pager) unwraps the records.
///
/// Source: stated, specification 4.1; of templates public material (`OAuthSample`), not confirmed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Edge<T> {
    /// The position of the record, for the argument `after`; opaque.
    pub cursor: Option<String>,
    /// The record; `None` if the server sent null, or the record could not be decoded.
    pub node: Option<T>,
}

/// The record returned by a change, as nested in the reply.
///
/// [`AccountClient::save_consignment`](crate::AccountClient::save_consignment) and similar methods unwrap the record.
///
/// Source: assumed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Saved<T> {
    /// The record after the change.
    pub data: Option<T>,
}

impl<T> Connection<T> {
    /// A page from its `pageInfo` and, for each edge, the cursor and the record (`node`).
    ///
    /// A cursor is `None` if the document does not select it. An edge without a record counts as
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

    /// The total number of records, as stated by the server.
    #[must_use]
    pub fn total(mut self, total: impl Into<Option<i64>>) -> Self {
        self.total_count = total.into();
        self
    }

    /// The page, if it has a list. A null list counts as empty only if the server states a total of 0.
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

/// A position in a paged list: the start, or the place after a cursor.
///
/// You can store it (its JSON is a string or null), and later pass it to a pager for the same list. It is unknown how long a
/// cursor stays valid.
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

    /// The position after a cursor.
    pub fn after(cursor: impl Into<String>) -> Self {
        Self(Some(cursor.into()))
    }

    /// The cursor, sent as `after`; `None` at the start.
    pub fn cursor(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

/// An irregularity in a paged list. The records are returned anyway.
///
/// Lists change while they are read, so pages may overlap or leave a gap. Neither is an error, but a program that counts or
/// adds up records has to handle both.
///
/// [`Page::notices`](crate::Page::notices) has the notices of one page, [`Items::notices`](crate::Items::notices) all notices
/// so far.
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
    /// The total differs from the previous page: a record may be missed or returned twice.
    #[non_exhaustive]
    TotalChanged {
        /// The page number, starting at 1.
        page: u64,
        /// The previous total.
        before: i64,
        /// The total of this page.
        now: i64,
    },
    /// Records that already appeared, on this page or an earlier one.
    #[non_exhaustive]
    Repeated {
        /// The page number, starting at 1.
        page: u64,
        /// The identifiers of the records: id or number of a consignment or template, register id or PIC of a property.
        ids: Vec<String>,
    },
}
