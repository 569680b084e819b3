//! Repairs JSON that parsers interpret differently (RFC 8259 sections 4 and 8.2): an unpaired surrogate becomes U+FFFD, and
//! only the last of several members with the same name is kept.
//!
//! All remaining bytes keep their line and column, so the position of an error also applies to the original text.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use super::json_text;
use super::nesting::Nesting;

/// A text with more faults and open members is not a record, and repairing it must not take more memory than the reply.
const MAX_OPEN: usize = 1 << 16;

/// The repaired text; `None` if it has none of these faults.
pub(crate) fn repaired(text: &str) -> Option<String> {
    let mut repair = Repair {
        text,
        ..Repair::default()
    };
    repair.scan()?;
    let Repair {
        mut blank, halves, ..
    } = repair;
    if blank.is_empty() && halves.is_empty() {
        return None;
    }
    let mut bytes = text.as_bytes().to_vec();
    for at in halves {
        bytes.get_mut(at..at + 4)?.copy_from_slice(b"fffd");
    }
    // A removed member may contain another one: overwrite each byte only once.
    blank.sort_unstable_by_key(|member| member.start);
    let mut done = 0;
    for member in blank {
        let rest = member.start.max(done)..member.end.max(done);
        done = rest.end;
        json_text::visited(rest.len());
        for byte in bytes.get_mut(rest)? {
            // Keep line breaks.
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
    String::from_utf8(bytes).ok()
}

#[derive(Default)]
struct Repair<'a> {
    text: &'a str,
    /// Members that a later one replaces, each with the following comma.
    blank: Vec<Range<usize>>,
    /// The positions of the four digits of each unpaired surrogate.
    halves: Vec<usize>,
    /// The enclosing objects and lists. Duplicate names below the limit of [`Nesting`] remain, because our decoders do not read
    /// that deep.
    open: Nesting<OpenValue<'a>>,
    /// The number of members in all enclosing objects.
    members: usize,
}

/// An enclosing list, or an enclosing object with the position of each member before the current one.
enum OpenValue<'a> {
    List,
    Object {
        members: HashMap<Cow<'a, str>, Range<usize>>,
        current: Member<'a>,
    },
}

/// The progress within the current member of an object.
enum Member<'a> {
    None,
    /// The name, and its start.
    Name(Cow<'a, str>, usize),
    /// The name and the colon.
    Value(Cow<'a, str>, usize),
}

impl Repair<'_> {
    fn scan(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            if self.members + self.blank.len() + self.halves.len() > MAX_OPEN {
                return None;
            }
            match byte {
                b'"' => {
                    let start = at;
                    at = self.string(at + 1)?;
                    json_text::visited(at - start);
                    if let Some(OpenValue::Object {
                        current: current @ Member::None,
                        ..
                    }) = self.open.last_mut()
                    {
                        *current = Member::Name(decoded(self.text.get(start..at)?), start);
                    }
                    continue;
                }
                b'{' => self.open.push(OpenValue::Object {
                    members: HashMap::new(),
                    current: Member::None,
                }),
                b'[' => self.open.push(OpenValue::List),
                b'}' | b']' => {
                    if let Some(OpenValue::Object { members, .. }) = self.open.pop() {
                        self.members -= members.len();
                    }
                }
                b':' => self.begin_value(),
                b',' => self.end_member(at + 1),
                _ => {}
            }
            at += 1;
            json_text::visited(1);
        }
        Some(())
    }

    /// Parses the rest of a string, and returns its end.
    fn string(&mut self, mut at: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(at)? {
                b'"' => return Some(at + 1),
                b'\\' if bytes.get(at + 1) == Some(&b'u') => {
                    let unit = |at: usize| {
                        let digits = self.text.get(at..at + 6)?.strip_prefix("\\u")?;
                        u16::from_str_radix(digits, 16).ok()
                    };
                    let is_low = |unit: u16| (0xDC00..0xE000).contains(&unit);
                    at += match unit(at)? {
                        0xD800..0xDC00 if unit(at + 6).is_some_and(is_low) => 12,
                        0xD800..0xE000 => {
                            self.halves.push(at + 2);
                            6
                        }
                        _ => 6,
                    };
                }
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
    }

    /// Starts the value of a member, which supersedes an earlier member with the same name. Takes the name, so that each name
    /// is hashed once, however many colons follow.
    fn begin_value(&mut self) {
        let Some(OpenValue::Object { members, current }) = self.open.last_mut() else {
            return;
        };
        match std::mem::replace(current, Member::None) {
            Member::Name(name, start) => {
                json_text::visited(name.len());
                if let Some(earlier) = members.remove(&name) {
                    self.members -= 1;
                    self.blank.push(earlier);
                }
                *current = Member::Value(name, start);
            }
            other => *current = other,
        }
    }

    fn end_member(&mut self, end: usize) {
        if let Some(OpenValue::Object { members, current }) = self.open.last_mut()
            && let Member::Value(name, start) = std::mem::replace(current, Member::None)
        {
            json_text::visited(name.len());
            self.members += 1;
            members.insert(name, start..end);
        }
    }
}

/// Decodes a JSON string.
fn decoded(string: &str) -> Cow<'_, str> {
    let inside = string.get(1..string.len() - 1).unwrap_or_default();
    if inside.contains('\\')
        && let Ok(text) = json_text::from_str(string)
    {
        return Cow::Owned(text);
    }
    Cow::Borrowed(inside)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use test_support::script::rows;

    use super::*;
    use crate::model::nesting::MAX_DEPTH;

    #[test]
    fn half_of_a_surrogate_pair_becomes_a_replacement_character() {
        for (sent, read) in [
            (r"\ud83d", "\u{fffd}"),
            (r"a\uDE00b", "a\u{fffd}b"),
            (r"\ud83d\ud83d\ude00", "\u{fffd}\u{1f600}"),
            (r"\ud83d\n", "\u{fffd}\n"),
            (r"\ud83d\u0041", "\u{fffd}A"),
            (r"\\ud83d \udfff", "\\ud83d \u{fffd}"),
        ] {
            let text = format!(r#"{{"{sent}": ["{sent}"]}}"#);
            let repaired = repaired(&text).unwrap();
            assert_eq!(repaired.len(), text.len());
            let value: Value = serde_json::from_str(&repaired).unwrap();
            assert_eq!(value, json!({read: [read]}), "{sent}");
        }
    }

    #[test]
    fn the_last_member_of_a_name_counts() {
        // `$` is a line break.
        for row in rows(
            r#"
            {"a": 1, "a": 2}                              | {"a":2}
            {"a":[1],"b":{"a":1,"a":5,"a":2},"a":"é"}     | {"b":{"a":2},"a":"é"}
            {"a":$"é$," ,"\u0061":2}                      | {$$"\u0061":2}
            [{"a":{"a":1}},{"a":2}, {"a":1,"a":2}]        | [{"a":{"a":1}},{"a":2},{"a":2}]
            "#,
        ) {
            let [sent, left] = [0, 1].map(|column| row[column].replace('$', "\n"));
            let repaired = repaired(&sent).unwrap();
            assert_eq!(repaired.replace(' ', ""), left);
            assert_eq!(repaired.len(), sent.len());
        }
    }

    #[test]
    fn repeated_names_count_down_to_the_depth_that_is_read() {
        let nested = |depth: usize| {
            let text = format!(
                r#"{}{{"a":1,"a":2}}{}"#,
                "[".repeat(depth),
                "]".repeat(depth)
            );
            repaired(&text).is_some()
        };
        assert!(nested(MAX_DEPTH - 1) && !nested(MAX_DEPTH));
        // A deeper value does not hide members that follow it.
        let text = format!(
            r#"{{"x":{}{},"a":1,"a":2}}"#,
            "[".repeat(500),
            "]".repeat(500)
        );
        let end = repaired(&text).unwrap();
        assert_eq!(
            end.replace(' ', "").rsplit_once(']').unwrap().1,
            r#","a":2}"#
        );
    }

    #[test]
    fn members_inside_members_that_go_are_overwritten_once() {
        let text = r#"{"a":{"b":{"c":1,"c":2},"b":3},"a":{"b":4}}"#;
        let left = repaired(text).unwrap();
        assert_eq!(
            (left.replace(' ', ""), left.len()),
            (r#"{"a":{"b":4}}"#.to_owned(), text.len())
        );
    }

    #[test]
    fn any_other_text_stays() {
        let texts = r#"|{|{"a|}}]],::|{"a"::::|{"a":1::,::"b":2|"\ud83d\ude00 \\ud83d"|{"a":1,"A":2,"b":{"a":1}}|"\u12|{"a":"a","b":"a"}|{"a",:"a"}"#;
        for text in texts.split('|') {
            assert_eq!(repaired(text), None, "{text}");
        }
        let members = |count: usize| {
            let names: Vec<_> = (0..count).map(|name| format!(r#""{name}":1"#)).collect();
            format!(r#"{{{},"0":2}}"#, names.join(","))
        };
        assert!(repaired(&members(1000)).is_some());
        assert!(repaired(&members(MAX_OPEN + 1)).is_none());
        for fault in [r#""":0,"#, r#""\ud83d","#] {
            let faults = |count: usize| format!("{{{}", fault.repeat(count));
            assert!(repaired(&faults(MAX_OPEN - 1)).is_some());
            assert!(repaired(&faults(MAX_OPEN + 2)).is_none());
        }
    }
}
