//! Additional fields of an input that this crate does not know.

use std::fmt;

use serde::ser::{Error as _, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ConsignmentInput, TemplateInput};

/// An input with additional fields, for features missing in the specification, such as how an update identifies its record.
///
/// They are sent together with the input's own fields. A duplicate of one of those makes the call fail (`ErrorKind::Config`),
/// so that neither value silently wins. `Debug` shows the names of the fields and hides their values.
///
/// ```
/// use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
///
/// let origin = PartyInput::new("QAZZ7777");
/// let destination = PartyInput::new("QDZZ3333");
/// let input = ConsignmentInput::new([FormType::Lpac1], origin, destination)
///     .extra("revision", 7);
/// let json = serde_json::to_value(&input)?;
/// assert_eq!((&json["revision"], &json["origin"]["pic"]), (&7.into(), &"QAZZ7777".into()));
///
/// assert!(serde_json::to_value(input.extra("origin", "elsewhere")).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct WithExtra<I> {
    input: I,
    /// A value that cannot be serialized causes an error when the input is serialized.
    extra: Vec<(String, Result<Value, String>)>,
}

impl<I> WithExtra<I> {
    /// Adds a field.
    pub fn extra(mut self, name: impl Into<String>, value: impl Serialize) -> Self {
        let value = serde_json::to_value(value).map_err(|error| error.to_string());
        self.extra.push((name.into(), value));
        self
    }

    /// Changes the input with its setters, and keeps the additional fields.
    pub fn map(mut self, change: impl FnOnce(I) -> I) -> Self {
        self.input = change(self.input);
        self
    }

    /// The input without the additional fields.
    pub fn input(&self) -> &I {
        &self.input
    }
}

impl From<ConsignmentInput> for WithExtra<ConsignmentInput> {
    fn from(input: ConsignmentInput) -> Self {
        let extra = Vec::new();
        Self { input, extra }
    }
}

impl From<TemplateInput> for WithExtra<TemplateInput> {
    fn from(input: TemplateInput) -> Self {
        let extra = Vec::new();
        Self { input, extra }
    }
}

impl<I: Serialize> Serialize for WithExtra<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.extra.is_empty() {
            return self.input.serialize(serializer);
        }
        let own = serde_json::to_value(&self.input).map_err(S::Error::custom)?;
        let mut fields = Map::deserialize(own).map_err(S::Error::custom)?;
        for (name, value) in &self.extra {
            let value = value.clone().map_err(S::Error::custom)?;
            if fields.insert(name.clone(), value).is_some() {
                return Err(S::Error::custom(format!("the field {name} is there twice")));
            }
        }
        fields.serialize(serializer)
    }
}

impl<I: fmt::Debug> fmt::Debug for WithExtra<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.extra.iter().map(|(name, _)| name).collect();
        f.debug_struct("WithExtra")
            .field("input", &self.input)
            .field("extra", &names)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_hides_the_values_of_further_fields() {
        let input = ConsignmentInput::default().extra("driver", "Pat Private");
        let shown = format!("{input:?}");
        assert!(
            shown.contains("driver") && !shown.contains("Private"),
            "{shown}"
        );
    }

    #[test]
    fn a_field_is_there_once_or_the_input_cannot_be_written() {
        let input = ConsignmentInput::default();
        assert!(serde_json::to_value(input.clone().extra("forms", 1)).is_err());
        assert!(serde_json::to_value(input.clone().extra("a", 1).extra("a", 1)).is_err());
        // An absent field is not sent, so it can be added here.
        let json = serde_json::to_value(input.extra("movementDate", "2026-11-23")).unwrap();
        assert_eq!(json["movementDate"], "2026-11-23");
    }
}
