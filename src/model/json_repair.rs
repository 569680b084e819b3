//! Repairs JSON that parsers read differently (RFC 8259 sections 4 and 8.2): half of a surrogate pair becomes U+FFFD, and of the
//! members of an object with the same name only the last one stays.
//!
//! Each byte that stays keeps its line and column, so the position of an error is one in the text as it was received.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// More open members than this are no records: the repair must not take more memory than the reply.
const MAX_OPEN: usize = 1 << 16;

/// The text with its faults repaired; `None` where it has none of these faults.
pub(crate) fn repaired(text: &str) -> Option<String> {
    let mut repair = Repair {
        text,
        ..Repair::default()
    };
    repair.scan()?;
    let Repair { blank, halves, .. } = repair;
    if blank.is_empty() && halves.is_empty() {
        return None;
    }
    let mut bytes = text.as_bytes().to_vec();
    for at in halves {
        bytes.get_mut(at..at + 4)?.copy_from_slice(b"fffd");
    }
    for member in blank {
        // Lines stay.
        for byte in bytes
            .get_mut(member)?
            .iter_mut()
            .filter(|byte| **byte != b'\n')
        {
            *byte = b' ';
        }
    }
    String::from_utf8(bytes).ok()
}

#[derive(Default)]
struct Repair<'a> {
    text: &'a str,
    /// The members that a later one replaces, each with the comma after it.
    blank: Vec<Range<usize>>,
    /// Where the four digits of each half of a surrogate pair start.
    halves: Vec<usize>,
    open: Vec<OpenValue<'a>>,
    /// How many members the open objects have.
    members: usize,
}

/// An open list, or an open object with the place of each member.
enum OpenValue<'a> {
    List,
    Object {
        members: HashMap<Cow<'a, str>, Range<usize>>,
        /// The name of the member that is being read, or that comes next.
        name: Option<(Cow<'a, str>, usize)>,
    },
}

impl Repair<'_> {
    fn scan(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => {
                    let start = at;
                    at = self.string(at + 1)?;
                    if let Some(OpenValue::Object {
                        name: name @ None, ..
                    }) = self.open.last_mut()
                    {
                        *name = Some((decoded(self.text.get(start..at)?), start));
                    }
                    continue;
                }
                b'{' => self.open.push(OpenValue::Object {
                    members: HashMap::new(),
                    name: None,
                }),
                b'[' => self.open.push(OpenValue::List),
                b'}' | b']' => {
                    if let Some(OpenValue::Object { members, .. }) = self.open.pop() {
                        self.members -= members.len();
                    }
                }
                b':' => self.replace_earlier()?,
                b',' => {
                    if let Some(OpenValue::Object { members, name }) = self.open.last_mut()
                        && let Some((name, _)) = name.take()
                        && let Some(member) = members.get_mut(&name)
                    {
                        member.end = at + 1;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        Some(())
    }

    /// Reads the rest of a string; returns where it ends.
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

    /// The value of a member begins: an earlier one of the same name does not count.
    fn replace_earlier(&mut self) -> Option<()> {
        if let Some(OpenValue::Object {
            members,
            name: Some((name, start)),
        }) = self.open.last_mut()
        {
            match members.insert(name.clone(), *start..*start) {
                Some(earlier) => self.blank.push(earlier),
                None => self.members += 1,
            }
        }
        (self.members <= MAX_OPEN).then_some(())
    }
}

/// The text of a string of JSON.
fn decoded(string: &str) -> Cow<'_, str> {
    let inside = string.get(1..string.len() - 1).unwrap_or_default();
    if inside.contains('\\')
        && let Ok(text) = serde_json::from_str(string)
    {
        return Cow::Owned(text);
    }
    Cow::Borrowed(inside)
}

#[cfg(test)]
mod tests {
    use equipment::script::rows;
    use serde_json::{Value, json};

    use super::*;

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
    fn any_other_text_stays() {
        let texts = r#"|{|{"a|}}]],::|"\ud83d\ude00 \\ud83d"|{"a":1,"A":2,"b":{"a":1}}|"\u12|{"a":"a","b":"a"}|{"a",:"a"}"#;
        for text in texts.split('|') {
            assert_eq!(repaired(text), None, "{text}");
        }
        let members = |count: usize| {
            let names: Vec<_> = (0..count).map(|name| format!(r#""{name}":1"#)).collect();
            format!(r#"{{{},"0":2}}"#, names.join(","))
        };
        assert!(repaired(&members(1000)).is_some());
        assert!(repaired(&members(MAX_OPEN + 1)).is_none());
    }
}
