//! The text of an input, kept as it was written.

use std::fmt;
use std::sync::Arc;

use serde::de::value::MapDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::compare::merged;
use crate::error::{Error, Result};
use crate::model::{ConsignmentId, ConsignmentInput, ConsignmentStatus, WithExtra};

/// An input as the fields that are sent, each as the JSON that was written when the entry was made: what is sent equals what
/// was signed, byte for byte. Only `id`, `number` and `status`, which say which record is meant, are replaced.
#[derive(Clone)]
pub(super) struct InputText(Arc<Vec<(String, Box<RawValue>)>>);

const NAMES: [&str; 2] = ["id", "number"];
const STATUS: &str = "status";

impl InputText {
    pub(super) fn new(input: &WithExtra<ConsignmentInput>) -> Result<Self> {
        let text = serde_json::to_string(input)
            .map_err(|error| Error::config(format!("the input cannot be written: {error}")))?;
        Self::parse(&text)
    }

    fn parse(text: &str) -> Result<Self> {
        serde_json::from_str(text)
            .map_err(|error| Error::config(format!("the input is no JSON object: {error}")))
    }

    /// The input, typed. Fields that this crate does not know are left out.
    pub(super) fn input(&self) -> ConsignmentInput {
        let fields = MapDeserializer::new(self.fields());
        // OK because it was written from an input.
        ConsignmentInput::deserialize(fields).unwrap_or_default()
    }

    /// The input with the fields that this crate does not know.
    pub(super) fn with_extra(&self) -> WithExtra<ConsignmentInput> {
        let input = self.input();
        let known = serde_json::to_value(&input).unwrap_or_default();
        let unknown = self.fields().filter(|(name, _)| known.get(name).is_none());
        unknown.fold(input.into(), |input, (name, value)| {
            input.extra(name, value)
        })
    }

    fn fields(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    /// The fields as a value, for comparisons.
    pub(super) fn value(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// A later edit of the same state of a record, with what only this one changes of it.
    pub(super) fn merged(&self, base: &Value, later: &Self) -> Result<Self> {
        let whole = later.value();
        let merged = merged(base, &self.value(), &whole);
        if merged == whole {
            return Ok(later.clone());
        }
        Self::parse(&merged.to_string())
    }

    /// What it says of a record, whichever that is.
    pub(super) fn without_names(&self) -> Self {
        let mut without = self.clone();
        Arc::make_mut(&mut without.0).retain(|(name, _)| !NAMES.contains(&name.as_str()));
        without
    }

    /// For a new record: a draft without a name.
    pub(super) fn as_new_draft(&self) -> Self {
        let mut new = self.without_names();
        new.set(STATUS, &ConsignmentStatus::Draft);
        new
    }

    /// For a record that is there, by its id, and its number if there is one.
    pub(super) fn as_update_of(&self, id: &ConsignmentId, number: Option<&Value>) -> Self {
        let mut update = self.clone();
        update.set(NAMES[0], id);
        if let Some(number) = number.filter(|number| !number.is_null()) {
            update.set(NAMES[1], number);
        }
        update
    }

    pub(super) fn with_status(&self, status: &ConsignmentStatus) -> Self {
        let mut with = self.clone();
        with.set(STATUS, status);
        with
    }

    fn set(&mut self, name: &str, value: &impl Serialize) {
        // OK because ids and statuses are texts.
        let Ok(value) = serde_json::value::to_raw_value(value) else {
            return;
        };
        let fields = Arc::make_mut(&mut self.0);
        match fields.iter_mut().find(|(field, _)| field == name) {
            Some((_, field)) => *field = value,
            None => fields.push((name.to_owned(), value)),
        }
    }
}

impl Serialize for InputText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in self.fields() {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for InputText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = InputText;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<InputText, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(InputText(Arc::new(fields)))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

impl PartialEq for InputText {
    fn eq(&self, other: &Self) -> bool {
        let own = self.fields().map(|(name, value)| (name, value.get()));
        own.eq(other.fields().map(|(name, value)| (name, value.get())))
    }
}

// Hides the input, which holds personal data.
debug_shows!(InputText);
