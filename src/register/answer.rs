//! One answer of a bulk look-up, and how far it is.

use super::Lookup;
use crate::error::Result;
use crate::model::{Pic, Property};

/// What came of one of the texts that were looked up.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Answer {
    /// The position of the text among those that were given, from 0.
    pub position: usize,
    /// The PIC in upper case, or the text as it was given where that is none.
    pub asked: String,
    /// What the register says. A text that is no PIC fails with [`is_config`](crate::Error::is_config), and nothing is
    /// sent for it.
    pub result: Result<Lookup>,
}

impl Answer {
    /// The PIC; `None` when what was asked is none.
    #[must_use]
    pub fn pic(&self) -> Option<Pic> {
        Pic::parse(&self.asked).ok()
    }

    /// The property, if exactly one was found.
    #[must_use]
    pub fn property(&self) -> Option<&Property> {
        self.result.as_ref().ok()?.property()
    }
}

/// How far a bulk look-up is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// How many texts were given.
    pub total: usize,
    /// How many answers were handed out.
    pub answered: usize,
    /// How many look-ups were started: each PIC counts once.
    pub started: usize,
    /// How many look-ups are under way, or done and not looked at yet.
    pub in_flight: usize,
    /// How many answers wait for those before them, or for a text that comes again.
    pub held: usize,
}
