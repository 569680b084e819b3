//! Lists page by page.
//!
//! A [`Pager`] knows where it stands; each page is fetched by a task of its own, so that a caller who stops waiting
//! loses nothing. With a look-ahead a further task sends the next request as soon as the cursor is known, which is
//! before the page has arrived in full. What the beginning of a reply says about the cursor is a hint: the decoded page
//! decides.

mod circle;
mod flight;
mod in_order;
mod page;
mod pager;
mod streams;
mod walk;

pub use self::page::Page;
pub use self::pager::Pager;
pub use self::streams::{Items, Pages};

pub(crate) use self::circle::Circle;
pub(crate) use self::flight::Leaf;
pub(crate) use self::in_order::{InOrder, placed};
pub(crate) use self::walk::{EMPTY_PAGES, NOTHING_NEW, Walk};
