//! Lists page by page, of both interfaces.
//!
//! A [`Pager`] has the position of the next page. It holds the page that is being fetched, so a caller that stops waiting loses
//! nothing. A task fetches it, except in a search of the register without look-ahead, which needs none.
//! With a look-ahead, a further task sends the next request as soon as the next position is known, which for a list with
//! cursors is before the page has arrived in full. The position in the beginning of a reply is a hint: the decoded page decides.

mod items;
mod list_guard;
mod page;
mod page_task;
mod pager;

pub use self::items::Items;
pub use self::page::Page;
pub use self::pager::Pager;

pub(crate) use self::list_guard::{RecordId, RecordIdentity};
pub(crate) use self::page_task::{PageRequest, Task};

use crate::error::Error;
use crate::model::Position;

/// A position in a list: where a page starts, or a record in it.
pub trait ListPosition: Clone + Default + PartialEq + Send + Sync + Unpin + 'static {
    /// Moves behind one more record of the page; `cursor` is the record's, if it has one.
    fn advance(&mut self, cursor: Option<String>);

    /// How many records at the start of the page come before this position.
    fn skip(&self) -> usize {
        0
    }

    /// The total that the page before this position stated.
    fn total_before(&self) -> Option<i64> {
        None
    }

    /// Adds the position to an error as [`Error::resume_from`].
    fn attach_to(&self, error: Error) -> Error {
        error
    }
}

impl ListPosition for Position {
    fn advance(&mut self, cursor: Option<String>) {
        if let Some(cursor) = cursor {
            *self = Self::after(cursor);
        }
    }

    fn attach_to(&self, error: Error) -> Error {
        error.with_resume_from(self.clone())
    }
}
