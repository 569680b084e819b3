//! What would be right.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Sentences;
use crate::model::Day;

/// What would have been right, where the rule has a parameter: see [`Finding::expected`](super::Finding::expected).
///
/// `Display` is plain English; [`Sentences::expected`] has other languages.
///
/// ```
/// use envd_sdk::model::{AddressInput, ConsignmentInput, Day, FormType, PartyInput};
/// use envd_sdk::validate::{Context, Expected, validate_fields};
///
/// let (origin, destination) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
/// let mut input = ConsignmentInput::new([FormType::Lpac1], origin, destination);
/// let mut address = AddressInput::default();
/// address.town = "x".repeat(101).into();
/// input.origin.address = address.into();
/// let report = validate_fields(&input, &Context::on(Day::parse("2026-11-20")?));
/// let finding = report.at("origin.address.town").next().unwrap();
/// assert_eq!(finding.expected, Some(Expected::Characters { at_most: 100 }));
/// # Ok::<(), envd_sdk::model::TextError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Expected {
    /// A text of so many characters, not bytes ([`Rule::MaxLength`](super::Rule::MaxLength)).
    Characters {
        /// The longest that will do.
        at_most: usize,
    },
    /// One of some values ([`Rule::State`](super::Rule::State), [`Rule::Acceptable`](super::Rule::Acceptable)).
    OneOf {
        /// The values, in the order of display.
        values: Vec<String>,
        /// What people see of the values, one by one; empty where that is the same.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        names: Vec<String>,
    },
    /// A day, month or year within bounds ([`Rule::Year`](super::Rule::Year)).
    Years {
        /// The first year that will do.
        from: Option<i32>,
        /// The last year that will do.
        to: Option<i32>,
        /// The last day that will do: today, where the future is excluded.
        until: Option<Day>,
    },
    /// The same, written as it should be ([`Rule::Date`](super::Rule::Date), [`Rule::Time`](super::Rule::Time),
    /// [`Rule::DateTime`](super::Rule::DateTime)).
    Corrected {
        /// The value to be entered.
        value: String,
    },
    /// A text in a form of which this is an example.
    Example {
        /// A value of that form.
        value: String,
    },
    /// A text; this and the next four belong to [`Rule::WireType`](super::Rule::WireType).
    Text,
    /// A whole number.
    WholeNumber,
    /// True or false.
    YesOrNo,
    /// A list.
    List,
    /// An object: fields with values.
    Fields,
    /// Another day of creation ([`Rule::FormOpen`](super::Rule::FormOpen)).
    Created {
        /// The first day on which the form can be created.
        from: Option<Day>,
        /// The first day on which it can no longer be created.
        before: Option<Day>,
    },
}

impl Expected {
    /// One of some values that people see as they are.
    pub(super) fn one_of(values: impl IntoIterator<Item = impl ToString>) -> Self {
        Self::OneOf {
            values: values.into_iter().map(|value| value.to_string()).collect(),
            names: Vec::new(),
        }
    }
}

impl fmt::Display for Expected {
    /// What would be right, in plain English.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&Sentences::default().expected(self))
    }
}
