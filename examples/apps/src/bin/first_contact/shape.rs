//! Replies without the values of their records: a sample stands for each, of the same kind.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Members whose texts are codes of the service.
const CODES: [&str; 9] = [
    "accountType",
    "forms",
    "program",
    "roles",
    "ShortCode",
    "species",
    "status",
    "type",
    "AdminStatus",
];

/// Replaces values; the same text is always replaced by the same sample, so that a reference still has its record.
#[derive(Default)]
pub(crate) struct Samples {
    texts: BTreeMap<String, String>,
}

impl Samples {
    /// The shape of a reply.
    pub(crate) fn of(&mut self, name: &str, value: &Value) -> Value {
        match value {
            Value::Object(members) => {
                let members = members.iter().filter(|(name, _)| is_name(name));
                let sampled = members.map(|(name, value)| (name.clone(), self.of(name, value)));
                Value::Object(sampled.collect())
            }
            Value::Array(items) => items.iter().map(|item| self.of(name, item)).collect(),
            Value::String(text) => self.text(name, text).into(),
            Value::Number(number) if number.is_f64() => json!(1.5),
            Value::Number(_) => json!(1),
            Value::Bool(_) | Value::Null => value.clone(),
        }
    }

    fn text(&mut self, name: &str, text: &str) -> String {
        if text.is_empty() || (CODES.contains(&name) && is_code(text)) {
            return text.to_owned();
        }
        if let Some(pattern) = pattern(text) {
            return pattern.to_owned();
        }
        let number = self.texts.len() + 1;
        let sample = self.texts.entry(text.to_owned());
        sample.or_insert_with(|| format!("sample {number}")).clone()
    }
}

/// A name of the schema, which a server could also take from a record.
fn is_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    // Of the schema's own only `line1` and `line2` have digits.
    let is_number = !name.starts_with("line") && name.bytes().any(|byte| byte.is_ascii_digit());
    name.len() <= 40 && name.bytes().all(is_letter) && !is_number
}

/// Codes of the service in a line; a text of another form may be of a record, and is only counted.
pub(crate) fn codes(texts: &[impl AsRef<str>]) -> String {
    listed(texts, is_code)
}

/// Names of its schema in a line, in the same way.
pub(crate) fn names(texts: &[impl AsRef<str>]) -> String {
    listed(texts, is_name)
}

/// A path of names and positions.
pub(crate) fn path(at: &str) -> String {
    let is_shown = |part: &&str| is_name(part) || part.bytes().all(|byte| byte.is_ascii_digit());
    let parts = at
        .split('/')
        .map(|part| Some(part).filter(is_shown).unwrap_or("?"));
    parts.collect::<Vec<_>>().join("/")
}

fn listed(texts: &[impl AsRef<str>], is_shown: fn(&str) -> bool) -> String {
    let texts = texts.iter().map(AsRef::as_ref);
    let (mut shown, hidden): (Vec<_>, Vec<_>) = texts.partition(|text| is_shown(text));
    let count = format!("{} of another form", hidden.len());
    shown.extend((!hidden.is_empty()).then_some(count.as_str()));
    shown.join(", ")
}

/// `SUBMITTED`, `LPAC1`, `Producer`, but neither a name of two words nor a number.
fn is_code(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let begins = text.starts_with(|first: char| first.is_ascii_uppercase());
    begins && text.len() <= 24 && text.bytes().all(is_letter)
}

/// The sample of a text whose form has a meaning.
fn pattern(text: &str) -> Option<&'static str> {
    let form: String = text
        .chars()
        .map(|letter| if letter.is_ascii_digit() { '9' } else { letter })
        .collect();
    Some(match form.as_str() {
        "9999-99-99" => "2026-01-01",
        "99:99" => "06:00",
        _ if form.starts_with("9999-99-99T99:99") && form.ends_with('Z') => "2026-01-01T00:00:00Z",
        _ if form.starts_with("9999-99-99T99:99") => "2026-01-01T00:00:00",
        _ => return None,
    })
}

/// The names and kinds of a reply, one line a member that is not listed yet.
pub(crate) fn lines(path: &str, value: &Value, lines: &mut Vec<String>) {
    let kind = match value {
        Value::Object(members) => {
            for (name, member) in members {
                self::lines(&format!("{path}.{name}"), member, lines);
            }
            return;
        }
        Value::Array(items) => {
            let items = items.iter().take(20);
            items.for_each(|item| self::lines(&format!("{path}[]"), item, lines));
            return;
        }
        Value::String(text) if text.starts_with("sample") => "text",
        Value::String(text) => text,
        Value::Number(_) => "number",
        Value::Bool(_) => "true or false",
        Value::Null => "null",
    };
    let line = format!("{path}: {kind}");
    if !lines.contains(&line) {
        lines.push(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_record_is_left() {
        let record = json!({
            "id": "8d0c", "number": "C-1", "status": "SUBMITTED", "forms": ["LPAC1"], "heads": 24,
            "origin": {"pic": "QAZZ7777", "name": "Sample Station"}, "movementDate": "2026-11-30",
            "type": "not a code", "roles": ["Kim Example"], "Kim Example": 1,
        });
        let shape = Samples::default().of("", &record);
        let is_sample = |value: &Value| {
            value
                .as_str()
                .is_some_and(|text| text.starts_with("sample "))
        };
        for sampled in [
            "/id",
            "/number",
            "/origin/pic",
            "/origin/name",
            "/type",
            "/roles/0",
        ] {
            assert!(
                shape.pointer(sampled).is_some_and(is_sample),
                "{sampled}: {shape}"
            );
        }
        for (kept, value) in [
            ("/status", json!("SUBMITTED")),
            ("/forms/0", json!("LPAC1")),
            ("/heads", json!(1)),
            ("/movementDate", json!("2026-01-01")),
        ] {
            assert_eq!(shape.pointer(kept), Some(&value));
        }
        assert_eq!(shape.get("Kim Example"), None);
        for (listed, expected) in [
            (codes(&["VENDOR", "Agent"]), "VENDOR, Agent"),
            (
                codes(&["Kim Example, 0400 000 000", "VENDOR", "\u{1b}[2J"]),
                "VENDOR, 2 of another form",
            ),
            (names(&["me", "Kim Example"]), "me, 1 of another form"),
            (path("/me/0/Kim Example"), "/me/0/?"),
        ] {
            assert_eq!(listed, expected);
        }
    }
}
