//! Records that preserve unknown fields, and the wire formats of their fields.
//!
//! `#[serde(flatten)]` would preserve them too, but it buffers each complete record first. Here, known fields are decoded in
//! place, and only unknown ones are collected.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::model::lenient::{self, BorrowedText};
use crate::model::{PropertyStatus, reply_memory};

/// Defines a wire record. The wire name of each field is written only once.
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
            /// The fields unknown to this version of the crate; `None` if there are none.
            pub fn unknown_fields(&self) -> Option<&serde_json::Map<String, serde_json::Value>> {
                self.unknown.get()
            }
        }

        impl $crate::model::property::wire_record::WireRecord for $name {
            fn read<'de, A: serde::de::MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
                match name {
                    $($wire => {
                        let wire_record!(@value value $($format)?) = map.next_value()?;
                        self.$field = value;
                    })*
                    _ => self.unknown.read(name, map)?,
                }
                Ok(())
            }
        }

        #[automatically_derived]
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::model::property::wire_record::read(deserializer)
            }
        }
    };
    (@value $value:ident) => { $value };
    (@value $value:ident $format:ident) => { $format($value) };
}

pub(super) use wire_record;

/// A record that is decoded field by field.
pub(super) trait WireRecord: Default {
    /// Decodes the field with this name.
    fn read<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error>;
}

pub(super) fn read<'de, D, R>(deserializer: D) -> Result<R, D::Error>
where
    D: Deserializer<'de>,
    R: WireRecord,
{
    struct RecordVisitor<R>(PhantomData<R>);

    impl<'de, R: WireRecord> Visitor<'de> for RecordVisitor<R> {
        type Value = R;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a record")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<R, A::Error> {
            let mut record = R::default();
            while let Some(BorrowedText(name)) = map.next_key()? {
                record.read(&name, &mut map)?;
            }
            Ok(record)
        }
    }
    deserializer.deserialize_map(RecordVisitor(PhantomData))
}

/// A field unknown to this version of the crate.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct AnyValue(#[serde(deserialize_with = "reply_memory::any_value")] pub(super) Value);

/// A whole number, also if written as `1.0`.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Int(#[serde(deserialize_with = "lenient::int")] pub(super) Option<i64>);

/// `{ShortCode, Description}`, or the bare code. assumed: the latter is tolerated, not seen
struct Coded<'a, C> {
    code: Option<C>,
    name: Option<BorrowedText<'a>>,
}

impl<'de, C: Deserialize<'de> + for<'a> From<&'a str>> Deserialize<'de> for Coded<'de, C> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CodedVisitor<C>(PhantomData<C>);

        impl<'de, C: Deserialize<'de> + for<'a> From<&'a str>> Visitor<'de> for CodedVisitor<C> {
            type Value = Coded<'de, C>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with a short code")
            }

            fn visit_str<E: Error>(self, code: &str) -> Result<Self::Value, E> {
                let code = Some(C::from(code));
                Ok(Coded { code, name: None })
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                lenient::unfit_list(list, &self)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut coded = Coded {
                    code: None,
                    name: None,
                };
                while let Some(BorrowedText(name)) = map.next_key()? {
                    match &*name {
                        "ShortCode" => coded.code = map.next_value()?,
                        "Description" => coded.name = map.next_value()?,
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(coded)
            }
        }
        deserializer.deserialize_any(CodedVisitor(PhantomData))
    }
}

/// A list of records.
#[derive(Deserialize)]
#[serde(transparent, bound = "T: Deserialize<'de>")]
pub(super) struct WireRecords<T>(#[serde(deserialize_with = "lenient::list")] pub(super) Vec<T>);

/// A list of `{ShortCode}`.
pub(super) struct Codes<T>(pub(super) Vec<T>);

impl<'de, T: Deserialize<'de> + for<'a> From<&'a str>> Deserialize<'de> for Codes<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = |element: Option<Coded<'de, T>>| element?.code;
        Ok(Self(
            lenient::places(deserializer, code)?.unwrap_or_default(),
        ))
    }
}

/// For `#[serde(serialize_with)]`.
pub(super) fn write_codes<T: Serialize, S: Serializer>(
    list: &[T],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct OnlyCode<'a, T> {
        #[serde(rename = "ShortCode")]
        short_code: &'a T,
    }
    serializer.collect_seq(list.iter().map(|short_code| OnlyCode { short_code }))
}

/// The `{ShortCode, Description}` of a status.
pub(super) struct Status(pub(super) Option<PropertyStatus>);

impl<'de> Deserialize<'de> for Status {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let coded: Option<Coded<'de, BorrowedText<'de>>> = Option::deserialize(deserializer)?;
        let Some(Coded { code, name }) = coded else {
            return Ok(Self(None));
        };
        let status = |BorrowedText(text)| PropertyStatus::from_code(&text);
        let [code, name] = [code, name].map(|text| text.map(status));
        // The short code of an amalgamated property is unknown, so its name decides.
        Ok(Self(match (code, name) {
            (Some(PropertyStatus::Unrecognized(_)), Some(name)) if name.is_known() => Some(name),
            (code, name) => code.or(name),
        }))
    }
}

#[allow(clippy::ref_option)] // Required by serde.
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
