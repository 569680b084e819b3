//! Where a text of JSON does not fit the type that it is read as.
//!
//! The place is found in the text alone, by the position of the error. A decoder that follows its own path would build all types a second
//! time, which was a tenth of the code of this crate. So readers read in place and never a part a second time: an error about a part
//! has no position in the whole.

// Only the client reads replies.
#![allow(dead_code)]

use serde_json::value::RawValue;

use super::json_text;
use super::nesting::Nesting;

/// The path of what stands inside a part of a text.
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

/// Where an error of this text is.
pub(crate) fn path_of(text: &str, error: &serde_json::Error) -> String {
    // A value that does not fit is read to its end, or not begun.
    let lines = text.split_inclusive('\n').take(error.line().max(1) - 1);
    path_to(text, lines.map(str::len).sum::<usize>() + error.column())
}

/// An open value: an object with the name of the member being read, or a list with its position.
enum Level<'a> {
    Object(Option<&'a str>),
    List(usize),
}

/// The path of the value that so many bytes end in, or stand before, down to the limit of [`Nesting`].
fn path_to(text: &str, offset: usize) -> String {
    let mut open: Nesting<Level<'_>> = Nesting::default();
    let (mut key, mut at) = ("", 0);
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
                // The last one may be cut off.
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
    // In place: a copy for each level would take many times a text of long names.
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
