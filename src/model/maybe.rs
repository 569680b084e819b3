//! A field of an input: not sent, sent as null, or sent with a value.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Day, Jurisdiction, Pic};

/// A field of an input in its three states: absent, null, or a value.
///
/// An absent field is not sent; what the service does with a null that it could have done without is not shown.
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

    /// The value to change, if there is one.
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

/// Texts of this crate as the value of a field.
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
    /// A field that is not there never comes here: its default is `Absent`.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Null, Self::Value))
    }
}
