//! The text of an input, kept as it was written.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::compare::merged;
use crate::error::{Error, Result};
use envd_sdk::model::{
    ConsignmentId, ConsignmentInput, ConsignmentStatus, ConsignmentText, WithExtra,
};

/// An input as the text that was written when the entry was made: what is sent equals what was signed, byte for byte. Only `id`,
/// `number` and `status`, which say which record is meant, are replaced.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct InputText(ConsignmentText);

const NAMES: [&str; 2] = ["id", "number"];
const STATUS: &str = "status";

impl InputText {
    pub(super) fn new(input: &WithExtra<ConsignmentInput>) -> Result<Self> {
        let text = serde_json::to_string(input)
            .map_err(|error| Error::usage(format!("the input cannot be written: {error}")))?;
        Self::parse(&text)
    }

    fn parse(text: &str) -> Result<Self> {
        let text = ConsignmentText::parse(text);
        let text = text.map_err(|error| Error::usage(error.to_string()))?;
        Ok(Self(text))
    }

    /// What is sent.
    pub(super) fn text(&self) -> &ConsignmentText {
        &self.0
    }

    /// The input, typed. Fields that this crate does not know are left out.
    pub(super) fn input(&self) -> ConsignmentInput {
        // OK because it was written from an input.
        serde_json::from_str(self.0.as_str()).unwrap_or_default()
    }

    /// The input with the fields that this crate does not know.
    pub(super) fn with_extra(&self) -> WithExtra<ConsignmentInput> {
        let input = self.input();
        let known = serde_json::to_value(&input).unwrap_or_default();
        let fields = serde_json::from_str::<Map<_, _>>(self.0.as_str()).unwrap_or_default();
        let unknown = fields
            .into_iter()
            .filter(|(name, _)| known.get(name).is_none());
        unknown.fold(input.into(), |input, (name, value)| {
            input.extra(name, value)
        })
    }

    /// The fields as a value, for comparisons.
    pub(super) fn value(&self) -> Value {
        serde_json::from_str(self.0.as_str()).unwrap_or_default()
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
        let [id, number] = NAMES;
        Self(self.0.without(id).without(number))
    }

    /// For a new record: a draft without a name.
    pub(super) fn as_new_draft(&self) -> Self {
        self.without_names().with_status(&ConsignmentStatus::Draft)
    }

    /// For a record that is there, by its id, and its number if there is one.
    pub(super) fn as_update_of(&self, id: &ConsignmentId, number: Option<&Value>) -> Self {
        let [id_field, number_field] = NAMES;
        let update = self.0.with(id_field, id.as_str());
        Self(match number.and_then(Value::as_str) {
            Some(number) => update.with(number_field, number),
            None => update,
        })
    }

    pub(super) fn with_status(&self, status: &ConsignmentStatus) -> Self {
        Self(self.0.with(STATUS, status.as_str()))
    }
}

// Hides the input, which holds personal data.
debug_shows!(InputText);
