//! The JSON documents of a file: one per line, or one over many lines.

use std::io::{self, BufRead, Cursor, Read};

use serde_json::Value;

use super::wire::Unreadable;

pub(crate) struct Documents {
    lines: Box<dyn BufRead>,
    /// The number of the last line read, from 1.
    line: usize,
    begun: bool,
}

impl Documents {
    pub(crate) fn of(lines: Box<dyn BufRead>) -> Self {
        let line = 0;
        let begun = false;
        Self { lines, line, begun }
    }

    /// Returns the next document with the number of its line. Reads no further line, so a program can send documents one at a time.
    pub(crate) fn next(&mut self) -> io::Result<Option<(usize, Result<Value, Unreadable>)>> {
        let mut text = Vec::new();
        loop {
            text.clear();
            if self.lines.read_until(b'\n', &mut text)? == 0 {
                return Ok(None);
            }
            self.line += 1;
            if self.line == 1 && text.starts_with("\u{feff}".as_bytes()) {
                text.drain(..3);
            }
            if !text.trim_ascii().is_empty() {
                break;
            }
        }
        let first = !std::mem::replace(&mut self.begun, true);
        match serde_json::from_slice(text.trim_ascii_end()) {
            Err(error) if first && error.is_eof() => self.over_lines(text, &error),
            read => Ok(Some((self.line, read.map_err(|e| Unreadable::json(&e))))),
        }
    }

    /// Handles a first line that ends within a document: then the entire file is one document, unless a later line is a complete document.
    fn over_lines(
        &mut self,
        mut text: Vec<u8>,
        error: &serde_json::Error,
    ) -> io::Result<Option<(usize, Result<Value, Unreadable>)>> {
        let line = self.line;
        let end = text.len();
        self.lines.read_to_end(&mut text)?;
        let whole = serde_json::from_slice(&text);
        let rest = &text[end..];
        let is_document =
            |line: &[u8]| line.starts_with(b"{") && serde_json::from_slice::<Value>(line).is_ok();
        if whole.is_err() && rest.split(|byte| *byte == b'\n').any(is_document) {
            self.lines = Box::new(Cursor::new(rest.to_vec()));
            return Ok(Some((line, Err(Unreadable::json(error)))));
        }
        let place = whole.as_ref().map_or_else(|error| error.line() - 1, |_| 0);
        Ok(Some((
            line + place,
            whole.map_err(|error| Unreadable::json(&error)),
        )))
    }
}
