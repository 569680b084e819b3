//! The JSON text of an input, preserved byte for byte.

// Only the client renames fields.
#![allow(dead_code)]

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{BorrowedText, TextError};

/// The JSON text of an input, for a save that sends the signed text byte for byte:
/// [`AccountClient::save_consignment_text`](crate::AccountClient::save_consignment_text). Cheap to clone. `Debug` hides the text.
///
/// The record and its status are often known only after the text was written. [`with`](Self::with) and
/// [`without`](Self::without) change a single field of the text and leave all other bytes unchanged.
///
/// Serde treats it as the JSON object itself, not as a string. Only `serde_json` can serialize and deserialize it.
///
/// ```
/// use envd_sdk::model::{ConsignmentInput, ConsignmentText, FormType, PartyInput};
///
/// let origin = PartyInput::new("QAZZ7777");
/// let destination = PartyInput::new("QDZZ3333");
/// let input = ConsignmentInput::new([FormType::Lpac1], origin, destination);
/// let signed = ConsignmentText::parse(&serde_json::to_string(&input)?)?;
///
/// let update = signed.with("id", "c-1");
/// let fields = signed.as_str().strip_suffix('}').ok_or("no object")?;
/// assert_eq!(update.as_str(), format!(r#"{fields},"id":"c-1"}}"#));
/// assert_eq!(update.without("id"), signed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ConsignmentText(Arc<str>);

/// A field of the text. Concatenating all fields and the closing brace gives the complete text.
struct TextField<'a> {
    name: Cow<'a, str>,
    /// The opening brace, or the comma.
    before: &'a str,
    key: &'a str,
    colon: &'a str,
    value: &'a str,
}

impl ConsignmentText {
    /// Parses a text, without surrounding white space.
    ///
    /// # Errors
    ///
    /// If the text is not a JSON object, or has a duplicate field.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        let no_object = TextError::new("the text of a consignment is a JSON object");
        let text = serde_json::from_str::<&RawValue>(text).map_err(|_| no_object)?;
        let (members, _) = members(text.get()).ok_or(no_object)?;
        let mut names = HashSet::new();
        if !members.iter().all(|member| names.insert(&member.name)) {
            return Err(TextError::new(
                "the text of a consignment has a field twice",
            ));
        }
        Ok(Self(text.get().into()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the text with this string as the value of a field, such as `id`, `number` or `status`. A new field is added at
    /// the end.
    #[must_use]
    pub fn with(&self, name: &str, value: &str) -> Self {
        let value = Value::from(value).to_string();
        if self.field(name).is_some() {
            return self.edited(|field| {
                let is_named = field.name == name;
                Some((field.key, if is_named { &value } else { field.value }))
            });
        }
        let before = self.0.strip_suffix('}').unwrap_or_default();
        let comma = match members(&self.0) {
            Some((members, _)) if !members.is_empty() => ",",
            _ => "",
        };
        let name = Value::from(name);
        Self(format!("{before}{comma}{name}:{value}}}").into())
    }

    /// Returns the text without this field.
    #[must_use]
    pub fn without(&self, name: &str) -> Self {
        self.edited(|field| (field.name != name).then_some((field.key, field.value)))
    }

    /// The JSON of a field.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let (members, _) = members(&self.0)?;
        let mut members = members.into_iter();
        Some(members.find(|member| member.name == name)?.value)
    }

    /// Renames fields, all in one step. A field without a new name is removed, and so is a null field.
    // profile: updates
    pub(crate) fn renamed(&self, names: &[(&str, Option<&str>)]) -> Result<Self, TextError> {
        let keys = names
            .iter()
            .map(|(_, field)| Value::from(*field).to_string());
        let keys: Vec<String> = keys.collect();
        let renamed = self.edited(|field| {
            let names = names.iter().zip(&keys);
            match names.into_iter().find(|((name, _), _)| field.name == *name) {
                None => Some((field.key, field.value)),
                Some(((_, Some(_)), key)) if field.value != "null" => Some((key, field.value)),
                Some(_) => None,
            }
        });
        Self::parse(&renamed.0)
    }

    /// Replaces each field's key and value with the result of `edit`; removes the field for `None`.
    fn edited<'a>(&'a self, edit: impl Fn(&TextField<'a>) -> Option<(&'a str, &'a str)>) -> Self {
        // OK because the text was parsed before.
        let (members, closing) = members(&self.0).unwrap_or_default();
        let mut text = String::with_capacity(self.0.len());
        text.push_str(members.first().map_or("", |first| first.before));
        let mut is_first = true;
        for member in &members {
            let Some((key, value)) = edit(member) else {
                continue;
            };
            if !std::mem::take(&mut is_first) {
                // The first field has the opening brace, which the next one takes over if the first is removed.
                text.push_str(if member.before.starts_with('{') {
                    ","
                } else {
                    member.before
                });
            }
            text.extend([key, member.colon, value]);
        }
        text.push_str(closing);
        Self(text.into())
    }
}

/// The new name of a field, if it has one, and the type of its value, from the type of the object and the old name.
type FieldNaming<'t> = dyn Fn(&str, &str) -> (Option<&'t str>, &'t str) + 't;

/// Renames fields at any depth of an input. All other bytes stay.
// profile: fields
pub(crate) fn rename_fields<'t>(
    text: &str,
    of: &'t str,
    naming: &FieldNaming<'t>,
) -> Result<String, String> {
    let mut renamed = String::with_capacity(text.len());
    match text.as_bytes().first() {
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_default();
            let mut rest = 0;
            for item in items {
                let at = offset_in(text, item.get());
                renamed.push_str(text.get(rest..at).unwrap_or_default());
                renamed.push_str(&rename_fields(item.get(), of, naming)?);
                rest = at + item.get().len();
            }
            renamed.push_str(text.get(rest..).unwrap_or_default());
        }
        Some(b'{') => {
            // OK because the text was parsed before.
            let (members, closing) = members(text).unwrap_or_default();
            for member in &members {
                let (new, ty) = naming(of, &member.name);
                let is_taken = |new: &&str| members.iter().any(|other| other.name == *new);
                if let Some(new) = new.filter(is_taken) {
                    return Err(format!(
                        "the input has {new}, and {}, which the profile renames to it",
                        member.name
                    ));
                }
                let key = new.map(|new| format!("\"{new}\""));
                renamed.extend([
                    member.before,
                    key.as_deref().unwrap_or(member.key),
                    member.colon,
                ]);
                renamed.push_str(&rename_fields(member.value, ty, naming)?);
            }
            renamed.push_str(closing);
        }
        _ => renamed.push_str(text),
    }
    Ok(renamed)
}

/// The offset of a part of a text.
fn offset_in(text: &str, part: &str) -> usize {
    part.as_ptr().addr() - text.as_ptr().addr()
}

/// The fields of an object in order, and the text after the last one.
fn members(text: &str) -> Option<(Vec<TextField<'_>>, &str)> {
    let RawFields(fields) = serde_json::from_str(text).ok()?;
    let mut members = Vec::with_capacity(fields.len());
    let mut rest = 0;
    for (name, value) in fields {
        let value = value.get();
        let at = offset_in(text, value);
        let before = text.get(rest..at)?;
        // Between the previous value and this one are a brace or comma, the quoted key, a colon, and white space.
        let start = before.find('"')?;
        let end = before.rfind('"')? + 1;
        members.push(TextField {
            name,
            before: before.get(..start)?,
            key: before.get(start..end)?,
            colon: before.get(end..)?,
            value,
        });
        rest = at + value.len();
    }
    let closing = text.get(rest..)?;
    Some((members, closing))
}

/// The fields of an object in their original order, including duplicates.
struct RawFields<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for RawFields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;

        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = RawFields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawFields<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some((BorrowedText(name), value)) = map.next_entry()? {
                    fields.push((name, value));
                }
                Ok(RawFields(fields))
            }
        }
        deserializer.deserialize_map(FieldsVisitor)
    }
}

impl Serialize for ConsignmentText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = serde_json::from_str::<&RawValue>(&self.0).map_err(S::Error::custom)?;
        text.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ConsignmentText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        Self::parse(text.get()).map_err(D::Error::custom)
    }
}

// A declaration is personal data.
debug_shows!(ConsignmentText);

#[cfg(test)]
mod tests {
    use test_support::script::rows;

    use super::*;

    fn text(text: &str) -> ConsignmentText {
        ConsignmentText::parse(text).unwrap()
    }

    #[test]
    fn one_field_is_changed_and_all_other_bytes_stay() {
        // `$` is a line break.
        for row in rows(
            r#"
            {}                    | {"id":"a\"b"}              | {}
            { }                   | { "id":"a\"b"}             | { }
            {"w":1.50}            | {"w":1.50,"id":"a\"b"}     | {"w":1.50}
            { "id" : null }       | { "id" : "a\"b" }          | {  }
            {"\u0069d":1,"w":2}   | {"\u0069d":"a\"b","w":2}   | {"w":2}
            {"a:\"":"\"id\":","id":"1"} | {"a:\"":"\"id\":","id":"a\"b"} | {"a:\"":"\"id\":"}
            {"z" : {"id":"\""} ,$ "id":[1, 2],$"a":"é"$} | {"z" : {"id":"\""} ,$ "id":"a\"b",$"a":"é"$} | {"z" : {"id":"\""},$"a":"é"$}
            "#,
        ) {
            let texts = row.iter().map(|it| it.replace('$', "\n"));
            let [before, with, without] = &texts.collect::<Vec<_>>()[..] else {
                panic!("{row:?}")
            };
            let before = text(before);
            assert_eq!(before.with("id", "a\"b").as_str(), with);
            assert_eq!(before.without("id").as_str(), without);
            assert_eq!(before.without("other"), before);
        }
    }

    #[test]
    fn fields_are_renamed_all_at_once_and_never_there_twice() {
        let names = |id, number| [("id", id), ("number", number)];
        let both = text(r#"{"w":1.50,"id":"1","number":"2"}"#);
        let swapped = r#"{"w":1.50,"number":"1","id":"2"}"#;
        for (names, expected) in [
            (names(Some("number"), Some("id")), swapped),
            (names(Some("number"), None), r#"{"w":1.50,"number":"1"}"#),
            (names(None, None), r#"{"w":1.50}"#),
        ] {
            assert_eq!(both.renamed(&names).unwrap().as_str(), expected);
        }
        assert!(both.renamed(&names(Some("w"), None)).is_err());
        let null = text(r#"{"id":null,"w":1}"#).renamed(&names(Some("key"), None));
        assert_eq!(null.unwrap().as_str(), r#"{"w":1}"#);
    }

    #[test]
    fn fields_are_renamed_at_any_depth_and_all_other_bytes_stay() {
        let naming = |of: &str, name: &str| match (of, name) {
            ("Input", "day") => (Some("date"), ""),
            ("Input", "origin") => (None, "Party"),
            ("Input", "answers") => (Some("replies"), "Answer"),
            ("Party", "pic") => (Some("code"), ""),
            ("Answer", "value") => (Some("text"), ""),
            _ => (None, ""),
        };
        for row in rows(
            r#"
            {}                              | {}
            null                            | null
            { "day" : null, "w":1.50 }      | { "date" : null, "w":1.50 }
            {"origin": {"pic":"a","day":1}} | {"origin": {"code":"a","day":1}}
            {"other":{"pic":"day"},"pic":[]} | {"other":{"pic":"day"},"pic":[]}
            {"answers":[ {"value":"1"}, {}, null,{"\u0076alue":[{"value":2}]} ]} | {"replies":[ {"text":"1"}, {}, null,{"text":[{"value":2}]} ]}
            {"day":1,"date":2}              | the input has date, and day, which the profile renames to it
            "#,
        ) {
            let renamed = rename_fields(row[0], "Input", &naming);
            assert_eq!(renamed.unwrap_or_else(|error| error), row[1]);
        }
    }

    #[test]
    fn a_text_is_an_object_whose_fields_are_there_once() {
        for wrong in ["", "[]", "null", "{", "{} {}", "{\"a\":1,\"\\u0061\":2}"] {
            assert!(ConsignmentText::parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(text(" {\"a\": 1}\n").as_str(), "{\"a\": 1}");
    }

    #[test]
    fn it_is_stored_as_the_object_itself_and_hidden_in_debug() {
        let signed = text(r#"{"b": 1.50,  "a":"Private"}"#);
        let stored = serde_json::to_string(&[&signed]).unwrap();
        assert_eq!(stored, format!("[{}]", signed.as_str()));
        let [read]: [ConsignmentText; 1] = serde_json::from_str(&stored).unwrap();
        assert_eq!(read, signed);
        assert!(!format!("{signed:?}").contains("Private"));
    }
}
