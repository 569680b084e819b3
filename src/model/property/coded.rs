//! Codes that the wire wraps into objects.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::PropertyStatus;
use crate::model::List;

/// `{ShortCode, Description}`, or the code by itself. assumed: the latter is tolerated, not seen
#[derive(Deserialize)]
#[serde(untagged)]
enum Wire {
    Object {
        #[serde(rename = "ShortCode", default)]
        short_code: Option<String>,
        #[serde(rename = "Description", default)]
        description: Option<String>,
    },
    Text(String),
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
        let codes = items.into_iter().filter_map(|item| match item {
            Wire::Object { short_code, .. } => short_code,
            Wire::Text(text) => Some(text),
        });
        Ok(codes.map(T::from).collect())
    }
}

/// `{ShortCode, Description}` of a status.
pub(super) mod status {
    use serde::ser::SerializeStruct;

    use super::{Deserialize, Deserializer, PropertyStatus, Serializer, Wire};

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
        let (code, name) = match Option::<Wire>::deserialize(deserializer)? {
            None => return Ok(None),
            Some(Wire::Text(text)) => (Some(text), None),
            Some(Wire::Object {
                short_code,
                description,
            }) => (short_code, description),
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
