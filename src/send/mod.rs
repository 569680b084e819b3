//! The one path of every request, of either interface.
//!
//! A [`Call`] is a request with its [`Settings`], before it is sent. A [`Sender`] sends the requests of one user over a pool that
//! all users of a client share. An [`Operation`] is what differs between the interfaces, above all how a reply is read. A
//! [`Response`] is a value with facts of HTTP, and a [`DryRun`] the request as it would be sent. [`pages`] reads lists.
//!
//! When a call is awaited, the sender adds headers, waits for the end of a pause, adds the token, sends the request, lets the
//! operation read the reply, and decides whether another attempt is made: `sender.rs`, from top to bottom.

mod backpressure;
mod call;
mod headers;
pub(crate) mod pages;
mod response;
mod sender;
#[cfg(test)]
mod tests;
mod token_user;
mod trace;

pub use self::call::Call;
use self::headers::Headers;
pub use self::response::{DryRun, Response};

pub(crate) use self::call::{JsonSlot, Settings};
pub(crate) use self::sender::{Sender, SenderOptions, SentOperation};
pub(crate) use self::token_user::TokenUser;
pub(crate) use self::trace::{adapted, decode_failure};
