//! The way to `serde_json` for every text that a server, a browser or a file sends.
//!
//! Unit tests count here how many bytes the readers of a text go through: work must grow as the text does, and time says
//! little about that on a busy machine. `tests/rooms` holds all readers to this module.

// Only the client reads replies.
#![allow(dead_code)]

use serde::Deserialize;
use serde_json::Deserializer;
use serde_json::de::StrRead;

/// Reads a whole text.
pub(crate) fn from_str<'a, T: Deserialize<'a>>(text: &'a str) -> serde_json::Result<T> {
    visited(text.len());
    serde_json::from_str(text)
}

/// Reads a whole text that may not be UTF-8.
pub(crate) fn from_slice<'a, T: Deserialize<'a>>(text: &'a [u8]) -> serde_json::Result<T> {
    visited(text.len());
    serde_json::from_slice(text)
}

/// Reads the value at the start of a text; returns it with its length.
pub(crate) fn first<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Option<(T, usize)> {
    let mut values = Deserializer::from_slice(text).into_iter();
    let value = values.next()?.ok();
    let length = values.byte_offset();
    visited(length);
    Some((value?, length))
}

/// Reads a text by a seed.
pub(crate) fn deserializer(text: &str) -> Deserializer<StrRead<'_>> {
    visited(text.len());
    Deserializer::from_str(text)
}

/// Counts bytes that a reader goes through; nothing outside unit tests.
#[inline]
pub(crate) fn visited(bytes: usize) {
    #[cfg(test)]
    work::add(bytes);
    let _ = bytes;
}

#[cfg(test)]
pub(crate) mod work {
    use std::cell::Cell;

    thread_local! {
        static VISITED: Cell<usize> = const { Cell::new(0) };
    }

    pub(super) fn add(bytes: usize) {
        VISITED.set(VISITED.get() + bytes);
    }

    /// Texts with parts that are repeated until they have a length: each makes one place grow.
    const GROWING: [[&str; 4]; 18] = [
        // start, repeated part, middle, repeated end
        ["", "{\"Value\":", "0", "}"],
        ["", "{\"Value\":", "", ""],
        ["", "{\"Value\":{\"SubSet\":", "[]", "}}"],
        ["", "{\"data\":", "{}", "}"],
        ["", "{\"error\":", "{\"Message\":\"x\"}", "}"],
        ["", "{\"a\":", "0", ",\"a\":0}"],
        ["", "[", "", ""],
        ["", "[", "", "]"],
        ["", "", "{\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"", ":"],
        ["{\"", "a", "\"", ":"],
        ["{\"", "a", "\":0,\"b\":[", "{},"],
        ["[", "{},", "5]", ""],
        ["[", "5,", "{}]", ""],
        ["[", "{\"PIC\":5},", "{}]", ""],
        ["{", "\"a\":0,", "\"a\":0}", ""],
        ["{\"refresh_token\":\"", "\\ud83d", "\"}", ""],
        ["<Error>", "<Message", "", ""],
        ["<Error><Message>", "&", "</Message>", ""],
    ];

    /// How many bytes are gone through.
    fn of(read: impl FnOnce()) -> usize {
        let before = VISITED.get();
        read();
        VISITED.get() - before
    }

    /// Checks that a reader's work grows no faster than the text. `around` is what surrounds the growing text.
    pub(crate) fn assert_linear(around: &[[&str; 2]], read: impl Fn(&str)) {
        let mut counted = 0;
        for [before, after] in around {
            for [start, part, middle, end] in GROWING {
                let work = [1, 2, 4].map(|times| {
                    let count = times * 4_000 / (part.len() + end.len());
                    let inside = [start, &part.repeat(count), middle, &end.repeat(count)].concat();
                    of(|| read(&[before, inside.as_str(), after].concat()))
                });
                counted += work[0];
                let is_linear =
                    |times: usize, work: usize, once: usize| work <= times * once + 20_000;
                assert!(
                    is_linear(2, work[1], work[0]) && is_linear(4, work[2], work[0]),
                    "{before}{start}{part}..{middle}{end}..{after}: {work:?}"
                );
            }
        }
        assert!(counted > 0, "the reader counts nothing");
    }
}
