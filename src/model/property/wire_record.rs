//! Records that keep the fields they do not know.
//!
//! `#[serde(flatten)]` would do it too, but it gathers each whole record first. Here known fields are read in place and
//! only unknown ones are gathered.

/// Makes a record of the wire; the wire's name of each field is written once.
macro_rules! wire_record {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[$field_meta:meta])* $wire:literal => $field:ident: $type:ty $(as $form:ident)?,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Default, PartialEq)]
        #[non_exhaustive]
        pub struct $name {
            $($(#[$field_meta])* #[doc(alias = $wire)] pub $field: $type,)*
            unknown: $crate::model::property::unknown::Unknown,
        }

        impl $name {
            /// The names of the wire that are known.
            pub(crate) const WIRE_NAMES: &'static [&'static str] = &[$($wire,)*];

            /// The fields of the wire that this version of the crate does not know; `None` when there are none.
            #[must_use]
            pub fn unknown_fields(&self) -> Option<&serde_json::Map<String, serde_json::Value>> {
                self.unknown.get()
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                use $crate::model::property::form::{Plain, Read};

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
                                        Read::<wire_record!(@form $($form)?), _>::new(),
                                    )?;
                                })*
                                Key::Unknown(name) => record.unknown.keep(name, map.next_value()?),
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
                use $crate::model::property::form::{Plain, Write};

                let mut map = serializer.serialize_map(None)?;
                $(map.serialize_entry(
                    $wire,
                    &Write::<wire_record!(@form $($form)?), _>::new(&self.$field),
                )?;)*
                for (name, value) in self.unknown.iter() {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
        }
    };
    (@form) => { Plain };
    (@form $form:ident) => { $form };
}

pub(super) use wire_record;
