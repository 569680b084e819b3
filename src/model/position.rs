//! A place in a list that comes page by page.

use serde::{Deserialize, Serialize};

/// A place in a list that comes page by page: the start, or what follows a cursor.
///
/// It can be kept (in a file, as JSON: a text or null) and handed to a pager of the same list later. How long a server
/// honours its cursors is not shown.
///
/// ```
/// use envd_sdk::model::Position;
///
/// let kept = serde_json::to_string(&Position::after("bXk="))?;
/// assert_eq!(serde_json::from_str::<Position>(&kept)?.cursor(), Some("bXk="));
/// assert_eq!(Position::start().cursor(), None);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Position(Option<String>);

impl Position {
    /// The start of the list.
    #[must_use]
    pub fn start() -> Self {
        Self(None)
    }

    /// What follows a cursor.
    pub fn after(cursor: impl Into<String>) -> Self {
        Self(Some(cursor.into()))
    }

    /// The cursor, sent as `after`; `None` at the start.
    #[must_use]
    pub fn cursor(&self) -> Option<&str> {
        self.0.as_deref()
    }
}
