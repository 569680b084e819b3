//! Deserializers for values with more than one wire format, for `serde(deserialize_with)`.
//!
//! The records of [`model`](crate::model) use them, and so do the records that `envd-codegen` generates for your own documents.
//!
//! ```
//! use envd_sdk::model::lenient;
//! use serde::Deserialize;
//!
//! #[derive(Deserialize)]
//! struct Sale {
//!     #[serde(default, deserialize_with = "lenient::int")]
//!     heads: Option<i64>,
//!     #[serde(default, deserialize_with = "lenient::list")]
//!     buyers: Vec<String>,
//! }
//!
//! let sale: Sale = serde_json::from_str(r#"{"heads": 24.0, "buyers": ["Roma", null]}"#)?;
//! assert_eq!((sale.heads, sale.buyers.len()), (Some(24), 1));
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! # Errors
//!
//! Those of the deserializer, if a value has none of the formats. Each error has the position of the value.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{
    DeserializeSeed, Error, Expected, IgnoredAny, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, Visitor,
};
use serde::{Deserialize, Deserializer};

use super::{Edge, reply_memory};

/// A string, borrowed if the JSON has no escapes in it.
#[derive(PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(transparent)]
pub(crate) struct BorrowedText<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

impl From<&str> for BorrowedText<'_> {
    fn from(text: &str) -> Self {
        Self(Cow::Owned(text.to_owned()))
    }
}

/// Decodes a type from a string, for enums that keep unknown values, see [`open_enum!`](crate::open_enum).
pub fn from_text<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: for<'a> From<&'a str>,
{
    struct Text<T>(PhantomData<T>);

    impl<T: for<'a> From<&'a str>> Visitor<'_> for Text<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
            Ok(text.into())
        }
    }
    deserializer.deserialize_str(Text(PhantomData))
}

/// Decodes a string, or a whole number as its digits.
pub(super) fn text<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: From<String> + for<'a> From<&'a str>,
{
    struct AnyText<T>(PhantomData<T>);

    impl<'de, T: From<String> + for<'a> From<&'a str>> Visitor<'de> for AnyText<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a text or a whole number")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
            Ok(text.into())
        }

        fn visit_string<E: Error>(self, text: String) -> Result<T, E> {
            Ok(text.into())
        }

        fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
            Ok(number.to_string().into())
        }

        fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
            Ok(number.to_string().into())
        }

        fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<T, A::Error> {
            unfit_list(list, &self)
        }

        fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<T, A::Error> {
            unfit_object(object, &self)
        }
    }
    deserializer.deserialize_any(AnyText(PhantomData))
}

/// The error for an unexpected list. Reads the list to its end first, because only then the error has the position of the list.
pub(super) fn unfit_list<'de, A: SeqAccess<'de>, T>(
    mut list: A,
    expected: &dyn Expected,
) -> Result<T, A::Error> {
    while list.next_element::<IgnoredAny>()?.is_some() {}
    Err(A::Error::invalid_type(Unexpected::Seq, expected))
}

/// Like [`unfit_list`], for an object.
fn unfit_object<'de, A: MapAccess<'de>, T>(
    mut object: A,
    expected: &dyn Expected,
) -> Result<T, A::Error> {
    while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
    Err(A::Error::invalid_type(Unexpected::Map, expected))
}

/// Decodes a record from an object only: a derived deserializer would also accept a list of its fields.
#[cfg(feature = "client")]
pub(crate) fn object<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct ObjectOnly<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectOnly<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::deserialize(MapAccessDeserializer::new(map))
        }
    }
    deserializer.deserialize_map(ObjectOnly(PhantomData))
}

/// Decodes a whole number, also if written as `1.0`, like the row numbers in `location_4.4.0` (`guide::sources`).
pub fn int<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    struct Whole;

    impl Visitor<'_> for Whole {
        type Value = i64;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a whole number of 64 bits")
        }

        fn visit_i64<E: Error>(self, number: i64) -> Result<i64, E> {
            Ok(number)
        }

        fn visit_u64<E: Error>(self, number: u64) -> Result<i64, E> {
            let unfit = || E::invalid_value(Unexpected::Unsigned(number), &self);
            i64::try_from(number).map_err(|_| unfit())
        }

        fn visit_f64<E: Error>(self, number: f64) -> Result<i64, E> {
            // A float represents whole numbers up to 2^53 exactly; larger ones would silently lose digits.
            let is_exact = number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0;
            #[allow(clippy::cast_possible_truncation)] // OK because it was checked before.
            let whole = is_exact.then_some(number as i64);
            whole.ok_or_else(|| E::invalid_value(Unexpected::Float(number), &self))
        }
    }

    /// An error from the visitor has the position of the value.
    struct WholeNumber(i64);

    impl<'de> Deserialize<'de> for WholeNumber {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_i64(Whole).map(Self)
        }
    }
    Ok(Option::<WholeNumber>::deserialize(deserializer)?.map(|WholeNumber(number)| number))
}

/// Decodes a value, or its default for null.
pub fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Decodes a list without its null elements. A null list is empty.
pub fn list<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Ok(known_list(deserializer)?.unwrap_or_default())
}

/// Decodes a list without its null elements. A null list is `None`, which means unknown.
pub fn known_list<'de, D, T>(deserializer: D) -> Result<Option<Vec<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    places(deserializer, |element| element)
}

/// Decodes the records of a page with their cursors. Null is an edge without a record.
pub(super) fn edges<'de, D, T>(deserializer: D) -> Result<Option<Vec<Edge<T>>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    places(deserializer, |edge| {
        let cursor = None;
        let node = None;
        Some(edge.unwrap_or(Edge { cursor, node }))
    })
}

/// Decodes a list, or null. Counts nulls; `place` converts each element.
pub(crate) fn places<'de, D, T, U>(
    deserializer: D,
    place: impl FnMut(Option<T>) -> Option<U>,
) -> Result<Option<Vec<U>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_option(Places(place, PhantomData))
}

struct Places<T, F>(F, PhantomData<T>);

impl<'de, T: Deserialize<'de>, U, F: FnMut(Option<T>) -> Option<U>> Visitor<'de> for Places<T, F> {
    type Value = Option<Vec<U>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list or null")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_none<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, list: D) -> Result<Self::Value, D::Error> {
        list.deserialize_seq(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut sequence: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        loop {
            let element = Element(&mut list, &mut self.0, PhantomData::<T>);
            if sequence.next_element_seed(element)?.is_none() {
                return Ok(Some(list));
            }
        }
    }
}

/// Decodes an element of a list into its place. Records are large; returning them from one deserializer to the next would copy
/// each several times.
struct Element<'a, T, U, F>(&'a mut Vec<U>, &'a mut F, PhantomData<T>);

impl<'de, T: Deserialize<'de>, U, F: FnMut(Option<T>) -> Option<U>> DeserializeSeed<'de>
    for Element<'_, T, U, F>
{
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let Self(list, place, _) = self;
        let element = Option::<T>::deserialize(deserializer)?;
        if element.is_none() {
            reply_memory::count_null();
        }
        match place(element) {
            Some(kept) => reply_memory::push(list, kept),
            None => Ok(()),
        }
    }
}

/// Decodes a list, a single record instead of a list, or an empty object instead of an empty list.
pub fn one_or_many<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default + PartialEq,
{
    struct OneOrMany<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de> + Default + PartialEq> Visitor<'de> for OneOrMany<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list, a record or null")
        }

        fn visit_unit<E: Error>(self) -> Result<Vec<T>, E> {
            Ok(Vec::new())
        }

        fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Vec<T>, A::Error> {
            let list = Places(|element: Option<T>| element, PhantomData).visit_seq(list)?;
            Ok(list.unwrap_or_default())
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Vec<T>, A::Error> {
            let record = T::deserialize(MapAccessDeserializer::new(map))?;
            let is_empty = record == T::default();
            Ok(Some(record).filter(|_| !is_empty).into_iter().collect())
        }
    }
    deserializer.deserialize_any(OneOrMany(PhantomData))
}

/// Decodes a record, either plain (`OAuthSample`, see `guide::sources`) or nested under `data` (specification, 4.1).
///
/// For JSON replies to the caller's own operations: `#[serde(default, deserialize_with = "envd_sdk::model::record_or_data")]`.
pub fn record_or_data<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct RecordOrData<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for RecordOrData<T> {
        type Value = Option<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a record or null")
        }

        fn visit_unit<E: Error>(self) -> Result<Option<T>, E> {
            Ok(None)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Option<T>, A::Error> {
            unfit_list(list, &self)
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Option<T>, A::Error> {
            let mut members = Members { map, data: None };
            let record = T::deserialize(MapAccessDeserializer::new(&mut members));
            match members.data {
                Some(record) => Ok(Some(record)),
                None => record.map(Some),
            }
        }
    }
    deserializer.deserialize_any(RecordOrData(PhantomData))
}

/// The members of an object except `data`, decoded in place so that errors have their position.
struct Members<A, T> {
    map: A,
    data: Option<T>,
}

impl<'de, A: MapAccess<'de>, T: Deserialize<'de>> MapAccess<'de> for &mut Members<A, T> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        while let Some(name) = self.map.next_key::<Cow<'de, str>>()? {
            if name == "data" {
                self.data = self.map.next_value()?;
            } else if self.data.is_some() {
                self.map.next_value::<IgnoredAny>()?;
            } else {
                return seed.deserialize(name.into_deserializer()).map(Some);
            }
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}
