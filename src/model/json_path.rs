//! Finds the path at which a JSON text does not fit the target type.
//!
//! The path is derived from the text and the position of the error. A decoder that tracks its path would instantiate all types
//! a second time, which was a tenth of this crate's code. Decoders must therefore parse in place and never parse a part
//! separately, because an error in a part has no position in the complete text.

// Only the client reads replies.
#![allow(dead_code)]

use serde_json::value::RawValue;

use super::json_text;
use super::nesting::Nesting;

/// Joins the path of a part of a text with a path inside that part.
pub(crate) fn joined(part: &str, path: &str) -> String {
    let mut whole = part.to_owned();
    push_path(&mut whole, path);
    whole
}

fn push_path(whole: &mut String, path: &str) {
    if !whole.is_empty() && !path.is_empty() && !path.starts_with('[') {
        whole.push('.');
    }
    whole.push_str(path);
}

/// The path to the position of an error.
pub(crate) fn path_of(text: &str, error: &serde_json::Error) -> String {
    // A mismatching value is either read completely or not started.
    let lines = text.split_inclusive('\n').take(error.line().max(1) - 1);
    path_to(text, lines.map(str::len).sum::<usize>() + error.column())
}

/// An enclosing value: an object with its current member name, or a list with its current position.
enum Level<'a> {
    Object(Option<&'a str>),
    List(usize),
}

/// The path of the value that ends or starts at this offset, down to the limit of [`Nesting`].
fn path_to(text: &str, offset: usize) -> String {
    let mut open: Nesting<Level<'_>> = Nesting::default();
    let mut key = "";
    let mut at = 0;
    let read = text.get(..offset).unwrap_or(text);
    while let Some(byte) = read.as_bytes().get(at) {
        let mut length = 1;
        match (byte, open.last_mut()) {
            (b'{', _) => open.push(Level::Object(None)),
            (b'[', _) => open.push(Level::List(0)),
            (b'}' | b']', _) => drop(open.pop()),
            (b',', Some(Level::List(position))) => *position += 1,
            (b',', Some(Level::Object(name))) => *name = None,
            (b':', Some(Level::Object(name))) => *name = Some(key),
            (b'"', _) => {
                let rest = read.as_bytes().get(at..).unwrap_or_default();
                // The last string may be truncated.
                let Some((string, _)) = json_text::first::<&RawValue>(rest) else {
                    break;
                };
                key = string.get();
                length = key.len();
            }
            _ => {}
        }
        at += length;
        json_text::visited(length);
    }
    // Built in a single string: a copy per level could take many times the size of a text with long names.
    let mut path = String::new();
    for level in open.iter() {
        match level {
            Level::List(position) => {
                path.push('[');
                path.push_str(&position.to_string());
                path.push(']');
            }
            Level::Object(None) => {}
            Level::Object(Some(name)) => {
                let name: String = json_text::from_str(name).unwrap_or_else(|_| (*name).to_owned());
                push_path(&mut path, &name);
            }
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::nesting::MAX_DEPTH;

    #[test]
    fn any_text_and_any_offset_have_a_path() {
        for text in ["", "\"", "}]", "{\"\\", "[{\"a\":[", "é\n,:", "{\"a\" 1,"] {
            for offset in 0..=text.len() + 1 {
                path_to(text, offset);
            }
        }
        assert_eq!(path_to(&"[".repeat(3), 3), "[0][0][0]");
        assert_eq!(path_to(&"[".repeat(500), 500), "[0]".repeat(MAX_DEPTH));
        let text = format!(r#"{{"x":{}{},"a":1"#, "[".repeat(500), "]".repeat(500));
        assert_eq!(path_to(&text, text.len()), "a");
    }
}
