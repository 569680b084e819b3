//! What was odd about a list while it was read.

/// What was odd about a list while it was read page by page. The records are given all the same.
///
/// Lists change while they are read: pages then overlap, or leave a gap between them. Neither is an error, and a program
/// that counts or adds up must know of it.
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
