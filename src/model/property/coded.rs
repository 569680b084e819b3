//! Codes that the wire wraps into objects.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::PropertyStatus;
use crate::model::List;

/// `{ShortCode, Description}`, or the code by itself. assumed: the latter is tolerated, not seen
struct Wire {
    code: Option<String>,
    name: Option<String>,
}

impl<'de> Deserialize<'de> for Wire {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Fields {
            #[serde(rename = "ShortCode")]
            code: Option<String>,
            #[serde(rename = "Description")]
            name: Option<String>,
        }

        struct Code;

        impl<'de> Visitor<'de> for Code {
            type Value = Wire;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with a short code")
            }

            fn visit_str<E: Error>(self, code: &str) -> Result<Wire, E> {
                let code = Some(code.to_owned());
                Ok(Wire { code, name: None })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Wire, A::Error> {
                let Fields { code, name } = Fields::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Wire { code, name })
            }
        }
        deserializer.deserialize_any(Code)
    }
}

/// A list of `{ShortCode}`.
pub(super) mod codes {
    use super::{Deserialize, Deserializer, List, Serialize, Serializer, Wire};

    #[derive(Serialize)]
    struct Coded<'a, T> {
        #[serde(rename = "ShortCode")]
        short_code: &'a T,
    }

    pub(in super::super) fn serialize<T: Serialize, S: Serializer>(
        list: &List<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(list.iter().map(|short_code| Coded { short_code }))
    }

    pub(in super::super) fn deserialize<'de, T: From<String>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<List<T>, D::Error> {
        let items = List::<Wire>::deserialize(deserializer)?;
        let codes = items.into_iter().filter_map(|item| item.code);
        Ok(codes.map(T::from).collect())
    }
}

/// `{ShortCode, Description}` of a status.
pub(super) mod status {
    use serde::ser::SerializeStruct;

    use super::{Deserialize, Deserializer, PropertyStatus, Serializer, Wire};

    #[allow(clippy::ref_option)] // OK because serde hands over the field as it is.
    pub(in super::super) fn serialize<S: Serializer>(
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

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<PropertyStatus>, D::Error> {
        let Some(Wire { code, name }) = Option::deserialize(deserializer)? else {
            return Ok(None);
        };
        let code = code.map(|text| PropertyStatus::from_code(&text));
        let name = name.map(|text| PropertyStatus::from_code(&text));
        // The code of an amalgamated property is not shown: its name tells.
        Ok(match (code, name) {
            (Some(PropertyStatus::Unrecognized(_)), Some(name)) if name.is_known() => Some(name),
            (code, name) => code.or(name),
        })
    }
}
