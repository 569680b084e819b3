//! Positions in lists that are read page by page, and irregularities of such lists.

use serde::{Deserialize, Serialize};

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
