//! Records that keep the fields they do not know, and the formats of their fields.
//!
//! `#[serde(flatten)]` would keep them too, but it collects each whole record first. Here known fields are read in place and
//! only unknown ones are collected.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{DeserializeOwned, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::model::{PropertyStatus, lenient, reply_memory};

/// Makes a record of the wire; the wire's name of each field is written once.
macro_rules! wire_record {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[$field_meta:meta])* $wire:literal => $field:ident: $type:ty $(as $format:ident)?,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Default, PartialEq, serde::Serialize)]
        #[non_exhaustive]
        pub struct $name {
            $($(#[$field_meta])* #[doc(alias = $wire)] #[serde(rename = $wire)] pub $field: $type,)*
            #[serde(flatten)]
            unknown: $crate::model::property::Unknown,
        }

        impl $name {
            /// The fields of the wire that this version of the crate does not know; `None` when there are none.
            pub fn unknown_fields(&self) -> Option<&serde_json::Map<String, serde_json::Value>> {
                self.unknown.get()
            }
        }

        #[automatically_derived]
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                #[allow(non_camel_case_types)] // The names of the fields.
                enum Key {
                    $($field,)*
                    Unknown(String),
                }

                #[automatically_derived]
                impl From<&str> for Key {
                    fn from(name: &str) -> Self {
                        match name {
                            $($wire => Self::$field,)*
                            _ => Self::Unknown(name.to_owned()),
                        }
                    }
                }

                #[automatically_derived]
                impl<'de> serde::Deserialize<'de> for Key {
                    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                        $crate::model::lenient::from_text(deserializer)
                    }
                }

                struct RecordVisitor;

                #[automatically_derived]
                impl<'de> serde::de::Visitor<'de> for RecordVisitor {
                    type Value = $name;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("a record")
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<$name, A::Error> {
                        let mut record = $name::default();
                        while let Some(key) = map.next_key()? {
                            match key {
                                $(Key::$field => {
                                    let wire_record!(@value value $($format)?) = map.next_value()?;
                                    record.$field = value;
                                })*
                                Key::Unknown(name) => {
                                    let $crate::model::property::wire_record::AnyValue(value) = map.next_value()?;
                                    record.unknown.insert(name, value)?;
                                }
                            }
                        }
                        Ok(record)
                    }
                }
                deserializer.deserialize_map(RecordVisitor)
            }
        }
    };
    (@value $value:ident) => { $value };
    (@value $value:ident $format:ident) => { $format($value) };
}

pub(super) use wire_record;

/// A field that this version of the crate does not know.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct AnyValue(#[serde(deserialize_with = "reply_memory::any_value")] pub(super) Value);

/// A whole number, also where it is written `1.0`.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Int(#[serde(deserialize_with = "lenient::int")] pub(super) Option<i64>);

/// `{ShortCode, Description}`, or the bare code. assumed: the latter is tolerated, not seen
#[derive(Deserialize)]
#[serde(bound = "T: DeserializeOwned")]
struct CodeFields<T> {
    #[serde(rename = "ShortCode")]
    code: Option<T>,
    #[serde(rename = "Description")]
    name: Option<T>,
}

struct Wire<T>(CodeFields<T>);

impl<'de, T: DeserializeOwned> Deserialize<'de> for Wire<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CodeVisitor<T>(PhantomData<T>);

        impl<'de, T: DeserializeOwned> Visitor<'de> for CodeVisitor<T> {
            type Value = CodeFields<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with a short code")
            }

            fn visit_str<E: Error>(self, code: &str) -> Result<CodeFields<T>, E> {
                let code = Some(T::deserialize(StrDeserializer::new(code))?);
                Ok(CodeFields { code, name: None })
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<CodeFields<T>, A::Error> {
                lenient::unfit_list(list, &self)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<CodeFields<T>, A::Error> {
                CodeFields::deserialize(MapAccessDeserializer::new(map))
            }
        }
        deserializer
            .deserialize_any(CodeVisitor(PhantomData))
            .map(Self)
    }
}

/// A list of records.
#[derive(Deserialize)]
#[serde(transparent, bound = "T: Deserialize<'de>")]
pub(super) struct Records<T>(#[serde(deserialize_with = "lenient::list")] pub(super) Vec<T>);

/// A list of `{ShortCode}`.
pub(super) struct Codes<T>(pub(super) Vec<T>);

impl<'de, T: DeserializeOwned> Deserialize<'de> for Codes<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let codes = lenient::places(deserializer, |code: Option<ShortCode<T>>| code?.0)?;
        Ok(Self(codes.unwrap_or_default()))
    }
}

/// The code alone: a list of the objects would take four times the memory.
struct ShortCode<T>(Option<T>);

impl<'de, T: DeserializeOwned> Deserialize<'de> for ShortCode<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Wire::deserialize(deserializer).map(|Wire(fields)| Self(fields.code))
    }
}

/// For `#[serde(serialize_with)]`.
pub(super) fn write_codes<T: Serialize, S: Serializer>(
    list: &[T],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Coded<'a, T> {
        #[serde(rename = "ShortCode")]
        short_code: &'a T,
    }
    serializer.collect_seq(list.iter().map(|short_code| Coded { short_code }))
}

/// `{ShortCode, Description}` of a status.
pub(super) struct Status(pub(super) Option<PropertyStatus>);

/// A status by short code or by name.
struct Term(PropertyStatus);

impl<'de> Deserialize<'de> for Term {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(transparent)]
        struct BorrowedText<'a>(#[serde(borrow)] Cow<'a, str>);

        let BorrowedText(text) = BorrowedText::deserialize(deserializer)?;
        Ok(Self(PropertyStatus::from_code(&text)))
    }
}

impl<'de> Deserialize<'de> for Status {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Some(Wire(CodeFields { code, name })) =
            Option::<Wire<Term>>::deserialize(deserializer)?
        else {
            return Ok(Self(None));
        };
        // The code of an amalgamated property is not shown, so its name decides.
        Ok(Self(match (code, name) {
            (Some(Term(PropertyStatus::Unrecognized(_))), Some(Term(name))) if name.is_known() => {
                Some(name)
            }
            (code, name) => code.or(name).map(|Term(status)| status),
        }))
    }
}

#[allow(clippy::ref_option)] // The signature that serde calls.
pub(super) fn write_status<S: Serializer>(
    status: &Option<PropertyStatus>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let Some(status) = status else {
        return serializer.serialize_none();
    };
    let mut object = serializer.serialize_struct("AdminStatus", 2)?;
    object.serialize_field("ShortCode", &status.short_code())?;
    object.serialize_field("Description", status.as_str())?;
    object.end()
}
