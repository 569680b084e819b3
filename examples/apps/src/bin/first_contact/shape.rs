//! Replies without the values of their records: each value is replaced by a sample of the same kind.

use std::collections::{BTreeMap, HashSet};

use apollo_compiler::ast::{Definition, Document};
use envd_sdk::graphql::SCHEMA;
use envd_sdk::model::{
    AccountType, FormType, PropertyStatus, QuestionType, Role, SpeciesCode, ValidatorType,
};
use envd_sdk::profile::ServiceProfile;
use serde_json::{Value, json};

use super::cli::Failure;
use super::schema::Shown;

/// Members whose values are codes of the service.
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

/// The words of the schemas, the crate and the profile. Any other word may come from a record, even if it looks like a code.
pub(crate) struct Words {
    /// Members of replies.
    names: HashSet<String>,
    /// Codes of the service.
    codes: HashSet<String>,
}

impl Words {
    /// The words that are known before the first query.
    pub(crate) fn new(profile: &ServiceProfile) -> Result<Self, Failure> {
        let mut names = HashSet::from(["data".to_owned()]);
        let mut codes = HashSet::new();
        let schema = Document::parse(SCHEMA, "schema.graphql");
        for definition in schema
            .map_err(|error| error.errors.to_string())?
            .definitions
        {
            match definition {
                Definition::ObjectTypeDefinition(object) => {
                    names.extend(object.fields.iter().map(|field| field.name.to_string()));
                }
                Definition::EnumTypeDefinition(values) => {
                    codes.extend(values.values.iter().map(|value| value.value.to_string()));
                }
                _ => {}
            }
        }
        codes.extend(AccountType::KNOWN.iter().map(ToString::to_string));
        codes.extend(FormType::KNOWN.iter().map(ToString::to_string));
        codes.extend(PropertyStatus::KNOWN.iter().map(ToString::to_string));
        codes.extend(QuestionType::KNOWN.iter().map(ToString::to_string));
        codes.extend(Role::KNOWN.iter().map(ToString::to_string));
        codes.extend(SpeciesCode::KNOWN.iter().map(ToString::to_string));
        codes.extend(ValidatorType::KNOWN.iter().map(ToString::to_string));
        let mut words = Self { names, codes };
        words.learn_profile(profile);
        Ok(words)
    }

    /// Adds the words of the service's schema.
    pub(crate) fn learn(&mut self, shown: &Shown) {
        self.names.extend(shown.names().map(str::to_owned));
        self.codes.extend(shown.codes().map(str::to_owned));
    }

    /// Adds the words that the user has named.
    fn learn_profile(&mut self, profile: &ServiceProfile) {
        self.codes.extend(profile.roles.value.keys().cloned());
        let forms = profile.forms.value.iter();
        self.codes.extend(forms.map(|form| form.id.clone()));
        let operations = profile.operations.values();
        let paths = operations.filter_map(|known| known.value.record_at.as_deref());
        let names = paths.flat_map(|path| path.split('/'));
        self.names.extend(names.map(str::to_owned));
    }

    /// Lists the codes of the service in a line; counts all other texts.
    pub(crate) fn codes(&self, texts: &[impl AsRef<str>]) -> String {
        listed(texts, |text| self.codes.contains(text))
    }
}

/// Replaces values by samples. The same text always gets the same sample, so that references stay valid.
#[derive(Default)]
pub(crate) struct Samples {
    texts: BTreeMap<String, String>,
}

impl Samples {
    /// The shape of a reply. For the declaration interface it keeps only names of the schema; the register has no schema, so it
    /// keeps all names.
    pub(crate) fn of(
        &mut self,
        words: &Words,
        has_schema: bool,
        name: &str,
        value: &Value,
    ) -> Value {
        match value {
            Value::Object(members) => {
                let is_kept =
                    |name: &str| is_name(name) && (!has_schema || words.names.contains(name));
                let members = members.iter().filter(|(name, _)| is_kept(name));
                let sampled = members
                    .map(|(name, value)| (name.clone(), self.of(words, has_schema, name, value)));
                Value::Object(sampled.collect())
            }
            Value::Array(items) => {
                let items = items.iter();
                items
                    .map(|item| self.of(words, has_schema, name, item))
                    .collect()
            }
            Value::String(text) => self.text(words, name, text).into(),
            Value::Number(number) if number.is_f64() => json!(1.5),
            Value::Number(_) => json!(1),
            Value::Bool(_) | Value::Null => value.clone(),
        }
    }

    fn text(&mut self, words: &Words, name: &str, text: &str) -> String {
        if text.is_empty() || (CODES.contains(&name) && words.codes.contains(text)) {
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

/// True if a text looks like a name of the schema and not like data of a record.
fn is_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    // In the schema only `line1` and `line2` have digits.
    let is_number = !name.starts_with("line") && name.bytes().any(|byte| byte.is_ascii_digit());
    name.len() <= 40 && name.bytes().all(is_letter) && !is_number
}

/// Lists names of the schema in a line; counts all other texts, which may come from a record.
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

fn listed(texts: &[impl AsRef<str>], is_shown: impl Fn(&str) -> bool) -> String {
    let texts = texts.iter().map(AsRef::as_ref);
    let (mut shown, hidden): (Vec<_>, Vec<_>) = texts.partition(|text| is_shown(text));
    let count = format!("{} unknown", hidden.len());
    shown.extend((!hidden.is_empty()).then_some(count.as_str()));
    shown.join(", ")
}

/// The sample for a text with a meaningful format, such as a date.
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

/// Lists the names and kinds in a reply, one line for each new member.
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
            "type": "not a code", "roles": ["Kim Example", "OWES_MONEY", "Producer"], "Kim Example": 1,
            "accountType": "Bankrupt", "OWES_MONEY": true, "species": "LATER",
        });
        let mut words = Words::new(&ServiceProfile::default()).unwrap();
        words.codes.insert("LATER".to_owned());
        let shape = Samples::default().of(&words, true, "", &record);
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
            "/roles/1",
            "/accountType",
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
            ("/roles/2", json!("Producer")),
            ("/species", json!("LATER")),
        ] {
            assert_eq!(shape.pointer(kept), Some(&value));
        }
        assert_eq!(shape.get("Kim Example"), None);
        assert_eq!(shape.get("OWES_MONEY"), None);
        // The register shows no schema.
        let shape = Samples::default().of(&words, false, "", &json!({"Region": "OWES_MONEY"}));
        assert_eq!(shape, json!({"Region": "sample 1"}));
        for (listed, expected) in [
            (words.codes(&["LPAC1", "Producer"]), "LPAC1, Producer"),
            (
                words.codes(&["Kim Example, 0400 000 000", "Producer", "OWES_MONEY"]),
                "Producer, 2 unknown",
            ),
            (names(&["me", "Kim Example"]), "me, 1 unknown"),
            (path("/me/0/Kim Example"), "/me/0/?"),
        ] {
            assert_eq!(listed, expected);
        }
    }
}
