//! The access to `serde_json` for all text from a server, a browser or a file.
//!
//! Unit tests count the bytes that decoders visit: the work must grow linearly with the text, which is hard to measure by time
//! on a busy machine. `tests/architecture` checks that all decoders use this module.

// Only the client reads replies.
#![allow(dead_code)]

use serde::Deserialize;
use serde_json::Deserializer;
use serde_json::de::StrRead;

/// Parses a complete text.
pub(crate) fn from_str<'a, T: Deserialize<'a>>(text: &'a str) -> serde_json::Result<T> {
    visited(text.len());
    serde_json::from_str(text)
}

/// Parses a complete text that may not be UTF-8.
pub(crate) fn from_slice<'a, T: Deserialize<'a>>(text: &'a [u8]) -> serde_json::Result<T> {
    visited(text.len());
    serde_json::from_slice(text)
}

/// Parses the value at the start of a text, and returns it with its length.
pub(crate) fn first<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Option<(T, usize)> {
    let mut values = Deserializer::from_slice(text).into_iter();
    let value = values.next()?.ok();
    let length = values.byte_offset();
    visited(length);
    Some((value?, length))
}

/// A deserializer for a text, to use with a seed.
pub(crate) fn deserializer(text: &str) -> Deserializer<StrRead<'_>> {
    visited(text.len());
    Deserializer::from_str(text)
}

/// Counts the bytes that a decoder visits. No-op outside unit tests.
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

    /// Texts with parts that repeat up to a given length, each stressing a different part of the grammar.
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

    /// The number of bytes visited.
    fn of(read: impl FnOnce()) -> usize {
        let before = VISITED.get();
        read();
        VISITED.get() - before
    }

    /// Checks that the work of a decoder grows at most linearly with the text. `around` surrounds the growing text.
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
