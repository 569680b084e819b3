//! Lists page by page, of both interfaces.
//!
//! A [`Pager`] tracks the position of the next page. It also keeps the task that fetches a page, so a caller that stops waiting
//! loses nothing. A search of the register without look-ahead runs in the caller's task instead. With a look-ahead, another
//! task sends the next request as soon as the next position is known. For lists with cursors, that is before the page has
//! arrived completely. The position found early in a reply is only a hint: the decoded page is authoritative.

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

/// A position in a list: the start of a page, or a record in it.
pub trait ListPosition: Clone + Default + PartialEq + Send + Sync + Unpin + 'static {
    /// Advances past one record of the page. `cursor` is the cursor of the record, if it has one.
    fn advance(&mut self, cursor: Option<String>);

    /// The number of records at the start of the page to skip.
    fn skip(&self) -> usize {
        0
    }

    /// The total stated by the previous page.
    fn total_before(&self) -> Option<i64> {
        None
    }

    /// Stores the position in the error's [`Error::resume_from`].
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
