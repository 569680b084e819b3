//! The fields of inputs (absent, null, or with a value) and their setters.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{
    AddressInput, AnswerInput, CommentInput, ConsignmentInput, ConsignmentNumber, Day, FormType,
    Jurisdiction, PartyInput, Pic, QuestionId, TemplateInput, WithExtra,
};

impl ConsignmentInput {
    /// Creates a consignment from the required data: at least one form, and the PICs of origin and destination (spec 2.1).
    ///
    /// ```
    /// use envd_sdk::model::{AnswerInput, ConsignmentInput, ConsignmentStatus, FormType, PartyInput};
    ///
    /// let origin = PartyInput::new("QAZZ7777");
    /// let destination = PartyInput::new("QDZZ3333");
    /// let input = ConsignmentInput::new([FormType::Lpac1], origin, destination)
    ///     .status(ConsignmentStatus::Draft)
    ///     .movement("2026-11-23", "05:15")
    ///     .answer(AnswerInput::new("17", "Yes"))
    ///     .answer(AnswerInput::new("3", "24").row(0));
    /// assert_eq!(input.answers().len(), 2);
    /// ```
    ///
    /// Every other field has a setter of the same name, which takes a value, an `Option` (`None` is not sent) or a [`Maybe`].
    ///
    /// ```
    /// use envd_sdk::model::{ConsignmentInput, DeclarationInput, FormType, PartyInput, Pic};
    ///
    /// let owner = PartyInput::default().name("Sample Pastoral").pic(Pic::parse("QAZZ7777")?);
    /// let origin = PartyInput::new("QAZZ7777");
    /// let destination = PartyInput::new("QDZZ3333");
    /// let input = ConsignmentInput::new([FormType::Lpac1], origin, destination)
    ///     .owner(owner)
    ///     .declaration(DeclarationInput::default().accept(true).full_name("Sam Sample"))
    ///     .id("00000000-0000-4000-8000-000000000101")
    ///     .consignee(None)
    ///     .extra("revision", 7);
    /// # let _ = input;
    /// # Ok::<(), envd_sdk::model::TextError>(())
    /// ```
    pub fn new(
        forms: impl IntoIterator<Item = FormType>,
        origin: PartyInput,
        destination: PartyInput,
    ) -> Self {
        Self {
            forms: forms.into_iter().collect(),
            origin,
            destination,
            ..Self::default()
        }
    }

    /// Sets the day (yyyy-MM-dd) and the time (HH:mm) of the movement.
    pub fn movement(mut self, date: impl Into<String>, time: impl Into<String>) -> Self {
        self.movement_date = Maybe::Value(date.into());
        self.movement_time = Maybe::Value(time.into());
        self
    }

    /// Adds an answer.
    pub fn answer(mut self, answer: AnswerInput) -> Self {
        match &mut self.answers {
            Maybe::Value(answers) => answers.push(answer),
            other => *other = Maybe::Value(vec![answer]),
        }
        self
    }

    /// Adds a field that this crate does not know; see [`WithExtra`].
    pub fn extra(self, name: impl Into<String>, value: impl Serialize) -> WithExtra<Self> {
        WithExtra::from(self).extra(name, value)
    }

    /// The answers; empty if absent or null.
    pub fn answers(&self) -> &[AnswerInput] {
        self.answers.value().map_or(&[], Vec::as_slice)
    }
}

impl PartyInput {
    /// A party with a PIC. The text is not validated.
    pub fn new(pic: impl Into<String>) -> Self {
        Self {
            pic: Maybe::Value(pic.into()),
            ..Self::default()
        }
    }
}

impl From<Pic> for PartyInput {
    fn from(pic: Pic) -> Self {
        Self::new(pic)
    }
}

impl AddressInput {
    /// An address: street and number, town, state (such as `QLD`), postcode (four digits).
    pub fn new(
        line1: impl Into<String>,
        town: impl Into<String>,
        state: impl Into<String>,
        postcode: impl Into<String>,
    ) -> Self {
        Self {
            line1: Maybe::Value(line1.into()),
            town: Maybe::Value(town.into()),
            state: Maybe::Value(state.into()),
            postcode: Maybe::Value(postcode.into()),
        }
    }
}

impl AnswerInput {
    /// An answer outside the rows of a REPEATABLE question. Its `index` is sent as null, as in the samples.
    pub fn new(question: impl Into<QuestionId>, value: impl Into<String>) -> Self {
        Self {
            question_id: Maybe::Value(question.into()),
            index: Maybe::Null,
            value: Maybe::Value(value.into()),
        }
    }

    /// Sets the row in a REPEATABLE question, counted from 0.
    pub fn row(mut self, row: i64) -> Self {
        self.index = Maybe::Value(row);
        self
    }
}

impl CommentInput {
    /// A comment on a consignment.
    pub fn new(consignment: impl Into<ConsignmentNumber>, text: impl Into<String>) -> Self {
        Self {
            consignment_number: consignment.into(),
            comment_text: text.into(),
        }
    }
}

impl TemplateInput {
    /// A template with a name and forms.
    pub fn new(name: impl Into<String>, forms: impl IntoIterator<Item = FormType>) -> Self {
        Self {
            name: Maybe::Value(name.into()),
            forms: Maybe::Value(forms.into_iter().collect()),
            ..Self::default()
        }
    }

    /// Adds a field that this crate does not know, because no source shows the fields of a template; see [`WithExtra`].
    ///
    /// ```
    /// use envd_sdk::model::{FormType, TemplateInput};
    ///
    /// let input = TemplateInput::new("To the works", [FormType::Lpac1]).extra("movementTime", "05:15");
    /// assert_eq!(serde_json::to_value(&input)?["movementTime"], "05:15");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn extra(self, name: impl Into<String>, value: impl Serialize) -> WithExtra<Self> {
        WithExtra::from(self).extra(name, value)
    }
}

/// A field of an input with three states: absent, null, or a value.
///
/// An absent field is not sent. It is unknown how the service handles null in an optional field.
///
/// ```
/// use envd_sdk::model::{Maybe, PartyInput};
///
/// let mut owner = PartyInput::default();
/// assert_eq!(serde_json::to_string(&owner)?, "{}");
/// owner.name = Maybe::Null;
/// assert_eq!(serde_json::to_string(&owner)?, r#"{"name":null}"#);
/// owner.name = "Sample Pastoral".into();
/// assert_eq!(serde_json::to_string(&owner)?, r#"{"name":"Sample Pastoral"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Maybe<T> {
    /// Not sent.
    #[default]
    Absent,
    /// Sent as null.
    Null,
    /// Sent with this value.
    Value(T),
}

impl<T> Maybe<T> {
    /// Whether the field is not sent.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// The value, if there is one.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            _ => None,
        }
    }

    /// The value for modification, if there is one.
    pub fn value_mut(&mut self) -> Option<&mut T> {
        match self {
            Self::Value(value) => Some(value),
            _ => None,
        }
    }
}

impl<T> From<T> for Maybe<T> {
    fn from(value: T) -> Self {
        Self::Value(value)
    }
}

impl<T> From<Option<T>> for Maybe<T> {
    /// `None` is not sent.
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Absent, Self::Value)
    }
}

/// Allows string types of this crate as the value of a field.
macro_rules! text_values {
    ($($text:ty),*) => {
        $(
            #[automatically_derived]
            impl From<$text> for Maybe<String> {
                fn from(text: $text) -> Self {
                    Self::Value(text.into())
                }
            }
        )*
    };
}
text_values!(&String, Cow<'_, str>, Day, Jurisdiction, Pic);

impl From<&str> for Maybe<String> {
    fn from(text: &str) -> Self {
        Self::Value(text.to_owned())
    }
}

impl<T: Serialize> Serialize for Maybe<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Maybe<T> {
    /// Not called for a missing field: its default is `Absent`.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Null, Self::Value))
    }
}
