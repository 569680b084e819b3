//! The one path of every request, of either interface.
//!
//! A [`Call`] is a request with its [`Settings`], before it is sent. A [`Sender`] sends the requests of one user over a pool that
//! all users of a client share. An [`Operation`] is what differs between the interfaces, above all how a reply is read. What a
//! call brings is [`Exchanged`], and a [`DryRun`] is the request as it would be sent. [`pages`] reads lists.
//!
//! When a call is awaited, the sender adds headers, waits for the end of a pause, adds the token, sends the request, lets the
//! operation read the reply, and decides whether another attempt is made: `sender.rs`, from top to bottom.

mod backpressure;
mod call;
mod dry_run;
mod exchanged;
mod headers;
pub(crate) mod pages;
mod sender;
#[cfg(test)]
mod tests;
mod token_user;
mod trace;

pub use self::call::Call;
pub use self::dry_run::DryRun;
use self::headers::Headers;

pub(crate) use self::call::Settings;
pub(crate) use self::exchanged::Exchanged;
pub(crate) use self::sender::{Sender, SenderOptions, SentOperation};
pub(crate) use self::token_user::TokenUser;
pub(crate) use self::trace::{adapted, decode_failure};
