//! The token endpoint: requests are built and replies judged without I/O; [`send`] stands between the two.

mod issued;
mod judge;
mod request;
mod send;

pub(super) use self::issued::Issued;
pub(super) use self::judge::{Class, Refusal};
pub(super) use self::send::{exchange, refresh, revoke};
