//! Wire enums that preserve unknown values.

/// Defines an enum from the wire text of each value, with a variant for any other text, and conversions from and to the wire.
///
/// The codes of [`model`](crate::model) use it, and so do those that `envd-codegen` generates from the schema of a service.
/// `reads` is followed by a function for alternative spellings, which is called for a text that is not a known wire value.
///
/// ```
/// envd_sdk::open_enum! {
///     /// The side of a yard.
///     Side {
///         /// North.
///         North = "NORTH",
///         /// South.
///         South = "SOUTH",
///     }
/// }
///
/// assert_eq!(Side::from("SOUTH"), Side::South);
/// let newer: Side = serde_json::from_str("\"EAST\"")?;
/// assert_eq!(newer, Side::Unrecognized("EAST".to_owned()));
/// assert_eq!(serde_json::to_string(&newer)?, "\"EAST\"");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[macro_export]
macro_rules! open_enum {
    (
        $(#[$meta:meta])*
        $name:ident $(reads $other:path)? { $($(#[$value_meta:meta])* $variant:ident = $wire:literal,)* }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$value_meta])* $variant,)*
            /// A value unknown to this version, as received.
            Unrecognized(String),
        }

        #[allow(deprecated)] // A schema may deprecate a value.
        impl $name {
            /// All values known to this version.
            pub const KNOWN: &'static [Self] = &[$(Self::$variant),*];

            /// The wire text of the value.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $wire,)*
                    Self::Unrecognized(text) => text,
                }
            }

            /// Whether this version knows the value.
            pub fn is_known(&self) -> bool {
                !matches!(self, Self::Unrecognized(_))
            }

            fn known(text: &str) -> Option<Self> {
                match text {
                    $($wire => Some(Self::$variant),)*
                    _ => None$(.or_else(|| $other(text)))?,
                }
            }
        }

        #[automatically_derived]
        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::known(text).unwrap_or_else(|| Self::Unrecognized(text.to_owned()))
            }
        }

        #[automatically_derived]
        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self::known(&text).unwrap_or(Self::Unrecognized(text))
            }
        }

        #[automatically_derived]
        impl std::str::FromStr for $name {
            type Err = std::convert::Infallible;

            /// Never fails: an unknown text is kept.
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Ok(text.into())
            }
        }

        #[automatically_derived]
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        #[automatically_derived]
        impl $crate::serde::Serialize for $name {
            fn serialize<S: $crate::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        #[automatically_derived]
        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::model::lenient::from_text(deserializer)
            }
        }
    };
}

/// Defines a closed enum of abbreviations, with conversions from and to text. The name is followed by the error for other
/// texts.
macro_rules! closed_enum {
    (
        $(#[$meta:meta])*
        $name:ident, $error:literal { $($(#[$value_meta:meta])* $variant:ident = $text:literal,)* }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$value_meta])* $variant,)*
        }

        impl $name {
            /// All values.
            pub const KNOWN: &'static [Self] = &[$(Self::$variant),*];

            /// The abbreviation.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }
        }

        #[automatically_derived]
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        #[automatically_derived]
        impl std::str::FromStr for $name {
            type Err = $crate::model::TextError;

            /// Parses an abbreviation in any case.
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let text = $crate::model::visible_text::trimmed(text);
                let mut known = Self::KNOWN.iter().copied();
                known
                    .find(|one| one.as_str().eq_ignore_ascii_case(text))
                    .ok_or($crate::model::TextError::new($error))
            }
        }
    };
}

pub(crate) use {closed_enum, open_enum};
