//! Records that keep the fields they do not know, and the formats of their fields.
//!
//! `#[serde(flatten)]` would keep them too, but it collects each whole record first. Here known fields are read in place and
//! only unknown ones are collected.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{DeserializeOwned, DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::model::{List, PropertyStatus, lenient, reply_memory};

/// Makes a record of the wire; the wire's name of each field is written once.
macro_rules! wire_record {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[$field_meta:meta])* $wire:literal => $field:ident: $type:ty $(as $format:ident)?,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Default, PartialEq)]
        #[non_exhaustive]
        pub struct $name {
            $($(#[$field_meta])* #[doc(alias = $wire)] pub $field: $type,)*
            unknown: $crate::model::property::Unknown,
        }

        impl $name {
            /// The fields of the wire that this version of the crate does not know; `None` when there are none.
            #[must_use]
            pub fn unknown_fields(&self) -> Option<&serde_json::Map<String, serde_json::Value>> {
                self.unknown.get()
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                use $crate::model::property::wire_record::{AnyValue, Plain, Read};

                #[allow(non_camel_case_types)] // The names of the fields.
                enum Key {
                    $($field,)*
                    Unknown(String),
                }

                struct KeyVisitor;

                impl serde::de::Visitor<'_> for KeyVisitor {
                    type Value = Key;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("the name of a field")
                    }

                    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Key, E> {
                        Ok(match name {
                            $($wire => Key::$field,)*
                            _ => Key::Unknown(name.to_owned()),
                        })
                    }
                }

                impl<'de> serde::Deserialize<'de> for Key {
                    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                        deserializer.deserialize_identifier(KeyVisitor)
                    }
                }

                struct RecordVisitor;

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
                                    record.$field = map.next_value_seed(
                                        Read::<wire_record!(@format $($format)?), _>::new(),
                                    )?;
                                })*
                                Key::Unknown(name) => {
                                    let value = map.next_value_seed(Read::<AnyValue, _>::new())?;
                                    record.unknown.insert(name, value);
                                }
                            }
                        }
                        Ok(record)
                    }
                }
                deserializer.deserialize_map(RecordVisitor)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;
                use $crate::model::property::wire_record::{Plain, Write};

                let mut map = serializer.serialize_map(None)?;
                $(map.serialize_entry(
                    $wire,
                    &Write::<wire_record!(@format $($format)?), _>::new(&self.$field),
                )?;)*
                for (name, value) in self.unknown.iter() {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
        }
    };
    (@format) => { Plain };
    (@format $format:ident) => { $format };
}

pub(super) use wire_record;

/// How a field of type `T` is read and written.
pub(super) trait WireFormat<T> {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error>;
    fn write<S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error>;
}

/// As serde reads and writes it.
pub(super) struct Plain;

impl<T: Serialize + DeserializeOwned> WireFormat<T> for Plain {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        T::deserialize(deserializer)
    }

    fn write<S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        value.serialize(serializer)
    }
}

/// A field that this version of the crate does not know.
pub(super) struct AnyValue;

impl WireFormat<Value> for AnyValue {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        reply_memory::any_value(deserializer)
    }

    fn write<S: Serializer>(value: &Value, serializer: S) -> Result<S::Ok, S::Error> {
        value.serialize(serializer)
    }
}

/// A whole number, also where it is written `1.0`.
pub(super) struct Int;

impl WireFormat<Option<i64>> for Int {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
        lenient::int(deserializer)
    }

    fn write<S: Serializer>(value: &Option<i64>, serializer: S) -> Result<S::Ok, S::Error> {
        value.serialize(serializer)
    }
}

/// Reads the value of a field in its format.
pub(super) struct Read<F, T>(PhantomData<(F, T)>);

impl<F, T> Read<F, T> {
    pub(super) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<'de, T, F: WireFormat<T>> DeserializeSeed<'de> for Read<F, T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        F::read(deserializer)
    }
}

/// Writes the value of a field in its format.
pub(super) struct Write<'a, F, T>(&'a T, PhantomData<F>);

impl<'a, F, T> Write<'a, F, T> {
    pub(super) fn new(value: &'a T) -> Self {
        Self(value, PhantomData)
    }
}

impl<T, F: WireFormat<T>> Serialize for Write<'_, F, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        F::write(self.0, serializer)
    }
}

/// `{ShortCode, Description}`, or the bare code. assumed: the latter is tolerated, not seen
#[derive(Deserialize)]
#[serde(default, bound = "T: DeserializeOwned")]
struct Fields<T> {
    #[serde(rename = "ShortCode")]
    code: Option<T>,
    #[serde(rename = "Description")]
    name: Option<T>,
}

impl<T> Default for Fields<T> {
    fn default() -> Self {
        Self {
            code: None,
            name: None,
        }
    }
}

struct Wire<T>(Fields<T>);

impl<'de, T: DeserializeOwned> Deserialize<'de> for Wire<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Code<T>(PhantomData<T>);

        impl<'de, T: DeserializeOwned> Visitor<'de> for Code<T> {
            type Value = Fields<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with a short code")
            }

            fn visit_str<E: Error>(self, code: &str) -> Result<Fields<T>, E> {
                let code = Some(T::deserialize(StrDeserializer::new(code))?);
                Ok(Fields { code, name: None })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Fields<T>, A::Error> {
                Fields::deserialize(MapAccessDeserializer::new(map))
            }
        }
        deserializer.deserialize_any(Code(PhantomData)).map(Self)
    }
}

/// A list of `{ShortCode}`.
pub(super) struct Codes;

impl<T: Serialize + DeserializeOwned> WireFormat<List<T>> for Codes {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<List<T>, D::Error> {
        deserializer.deserialize_option(CodesVisitor(PhantomData))
    }

    fn write<S: Serializer>(list: &List<T>, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Coded<'a, T> {
            #[serde(rename = "ShortCode")]
            short_code: &'a T,
        }
        serializer.collect_seq(list.iter().map(|short_code| Coded { short_code }))
    }
}

/// Reads the codes alone: most lists have one or two, and a list of their objects takes four times the memory.
struct CodesVisitor<T>(PhantomData<T>);

impl<'de, T: DeserializeOwned> Visitor<'de> for CodesVisitor<T> {
    type Value = List<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list or null")
    }

    fn visit_none<E: Error>(self) -> Result<List<T>, E> {
        Ok(List::default())
    }

    fn visit_unit<E: Error>(self) -> Result<List<T>, E> {
        Ok(List::default())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<List<T>, D::Error> {
        deserializer.deserialize_seq(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<List<T>, A::Error> {
        let mut codes = Vec::new();
        while let Some(element) = sequence.next_element::<Option<Wire<T>>>()? {
            if let Some(code) = element.and_then(|Wire(fields)| fields.code) {
                reply_memory::push(&mut codes, code)?;
            }
        }
        Ok(codes.into())
    }
}

/// `{ShortCode, Description}` of a status.
pub(super) struct Status;

/// A status by short code or by name.
struct Term(PropertyStatus);

impl<'de> Deserialize<'de> for Term {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(transparent)]
        struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

        let Text(text) = Text::deserialize(deserializer)?;
        Ok(Self(PropertyStatus::from_code(&text)))
    }
}

impl WireFormat<Option<PropertyStatus>> for Status {
    fn read<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<PropertyStatus>, D::Error> {
        let Some(Wire(Fields { code, name })) = Option::<Wire<Term>>::deserialize(deserializer)?
        else {
            return Ok(None);
        };
        // The code of an amalgamated property is not shown, so its name decides.
        Ok(match (code, name) {
            (Some(Term(PropertyStatus::Unrecognized(_))), Some(Term(name))) if name.is_known() => {
                Some(name)
            }
            (code, name) => code.or(name).map(|Term(status)| status),
        })
    }

    fn write<S: Serializer>(
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
}
