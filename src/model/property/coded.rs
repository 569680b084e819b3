//! Codes that the wire wraps into objects.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{DeserializeOwned, Error, MapAccess, Visitor};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::PropertyStatus;
use super::form::Form;
use crate::model::List;

/// `{ShortCode, Description}`, or the code by itself. assumed: the latter is tolerated, not seen
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

impl<T: Serialize + DeserializeOwned> Form<List<T>> for Codes {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<List<T>, D::Error> {
        let items = List::<Wire<T>>::deserialize(deserializer)?;
        Ok(items
            .into_iter()
            .filter_map(|Wire(item)| item.code)
            .collect())
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

/// `{ShortCode, Description}` of a status.
pub(super) struct Status;

/// A status by short code or by name.
struct Term(PropertyStatus);

impl<'de> Deserialize<'de> for Term {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl Visitor<'_> for Text {
            type Value = Term;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Term, E> {
                Ok(Term(PropertyStatus::from_code(text)))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

impl Form<Option<PropertyStatus>> for Status {
    fn read<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<PropertyStatus>, D::Error> {
        let Some(Wire(Fields { code, name })) = Option::<Wire<Term>>::deserialize(deserializer)?
        else {
            return Ok(None);
        };
        // The code of an amalgamated property is not shown: its name tells.
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
