//! Ids are strings with their own types, so that they cannot be confused. They are not validated.
//!
//! Findings and question lists copy ids often, and copying does not allocate: short strings are stored inline, longer ones are
//! shared. Records have dozens of ids, and decoding a short one does not allocate either.

use ecow::EcoString;

/// The contents of an id, and its representation in an input field.
macro_rules! made_of {
    ($name:ident: $($text:ty),*) => {
        $(
            #[automatically_derived]
            impl From<$text> for $name {
                fn from(text: $text) -> Self {
                    Self(text.into())
                }
            }

            #[automatically_derived]
            impl From<$text> for super::Maybe<$name> {
                fn from(text: $text) -> Self {
                    Self::Value(text.into())
                }
            }
        )*
    };
}

/// A string type that can be decoded from strings and whole numbers.
macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
        #[serde(transparent)]
        pub struct $name(EcoString);

        impl $name {
            /// Creates an id from a text, without validating it.
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into().into())
            }

            /// The text on the wire.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        made_of!($name: &str, String, &String);

        #[automatically_derived]
        impl std::str::FromStr for $name {
            type Err = std::convert::Infallible;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Ok(text.into())
            }
        }

        #[automatically_derived]
        impl From<&$name> for super::Maybe<$name> {
            fn from(id: &$name) -> Self {
                Self::Value(id.clone())
            }
        }

        #[automatically_derived]
        impl From<&$name> for $name {
            fn from(id: &$name) -> Self {
                id.clone()
            }
        }

        #[automatically_derived]
        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.as_str().to_owned()
            }
        }

        #[automatically_derived]
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(&self.0)
            }
        }

        #[automatically_derived]
        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        #[automatically_derived]
        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                *self.0 == *other
            }
        }

        #[automatically_derived]
        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                *self.0 == **other
            }
        }

        #[automatically_derived]
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                super::lenient::text(deserializer).map(Self)
            }
        }
    };
}

text_id! {
    /// The id of a user's account, as operations take it in `envdAccountId` (spec 2.8).
    ///
    /// The ids of the logged-in user's accounts are in [`UserAccount::envd_account_id`](super::UserAccount::envd_account_id).
    ///
    /// ```
    /// use envd_sdk::model::AccountId;
    ///
    /// let id: AccountId = "envd-100201".into();
    /// assert_eq!(id, "envd-100201");
    /// ```
    AccountId
}
text_id! {
    /// The id of a consignment (spec 2.5). Single reads also accept the number (public: `OAuthSample`, `guide::sources`).
    ///
    /// ```
    /// use envd_sdk::model::ConsignmentId;
    ///
    /// let id = ConsignmentId::new("00000000-0000-4000-8000-000000000101");
    /// assert!(id.as_str().starts_with("00000000-"));
    /// ```
    ConsignmentId
}
text_id! {
    /// The number of a consignment, `C-` and nine digits (spec 2.5; format public: `location_4.4.0`, `guide::sources`).
    ///
    /// Users know a consignment by this number.
    ///
    /// ```
    /// use envd_sdk::model::ConsignmentNumber;
    ///
    /// let number: ConsignmentNumber = serde_json::from_str(r#""C-900000101""#)?;
    /// assert_eq!(number.to_string(), "C-900000101");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ConsignmentNumber
}
text_id! {
    /// The id of a question (spec 2.6).
    ///
    /// Answers, findings and triggers refer to it.
    ///
    /// ```
    /// use envd_sdk::model::{AnswerInput, QuestionId};
    ///
    /// let id = QuestionId::new("17");
    /// let answer = AnswerInput::new(&id, "Yes");
    /// assert_eq!(answer.question_id.value(), Some(&id));
    /// ```
    QuestionId
}
text_id! {
    /// The id of a template. Single reads also accept the number (public: `OAuthSample`, `guide::sources`).
    ///
    /// ```
    /// use envd_sdk::model::{Template, TemplateId};
    ///
    /// let template: Template = serde_json::from_str(r#"{"id": "7", "name": "Weaners to the yards"}"#)?;
    /// assert_eq!(template.id, Some(TemplateId::new("7")));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    TemplateId
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_comes_as_a_number_is_read_as_its_digits() {
        assert_eq!(serde_json::from_str::<QuestionId>("185").unwrap(), "185");
        assert_eq!(
            serde_json::from_str::<QuestionId>("\"185\"").unwrap(),
            "185"
        );
        assert!(serde_json::from_str::<QuestionId>("[]").is_err());
    }
}
