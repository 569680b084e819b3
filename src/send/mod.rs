//! The one path of every request, of either interface: [`Sender`] has it from top to bottom.
//!
//! A [`Call`] is a request with its settings, before it is sent. What differs between the interfaces, above all how a
//! reply is read, is an [`Operation`].

mod backpressure;
mod call;
mod headers;
pub(crate) mod pages;
mod response;
mod sender;
#[cfg(test)]
mod tests;
mod trace;

pub use self::call::Call;
use self::headers::Headers;
pub use self::response::{DryRun, Response};

pub(crate) use self::call::Settings;
pub(crate) use self::sender::{Operation, Sender, SenderOptions};
pub(crate) use self::trace::{adapted, decode_failure};
