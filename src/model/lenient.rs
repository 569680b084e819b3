//! Readers for places where the wire has more than one form.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Number, Value};

use super::{List, reply_memory};

/// A text, which is not copied first.
pub(super) fn from_text<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: for<'a> From<&'a str>,
{
    struct FromText<T>(PhantomData<T>);

    impl<T: for<'a> From<&'a str>> Visitor<'_> for FromText<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a text")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
            Ok(text.into())
        }
    }
    deserializer.deserialize_str(FromText(PhantomData))
}

/// A text, or a whole number as its digits.
pub(super) fn text<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: From<String> + for<'a> From<&'a str>,
{
    struct Text<T>(PhantomData<T>);

    impl<T: From<String> + for<'a> From<&'a str>> Visitor<'_> for Text<T> {
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
    }
    deserializer.deserialize_any(Text(PhantomData))
}

/// A whole number, also where it is written `1.0`, as `location_4.4.0` (`guide::sources`) shows row numbers.
pub(super) fn int<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    let Some(number) = Option::<Number>::deserialize(deserializer)? else {
        return Ok(None);
    };
    // Whole numbers up to 2^53 are exact in a float; beyond, digits would be lost silently.
    let is_exact = |float: &f64| float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_992.0;
    #[allow(clippy::cast_possible_truncation)] // OK because it is checked before.
    let whole = number.as_f64().filter(is_exact).map(|float| float as i64);
    number
        .as_i64()
        .or(whole)
        .map(Some)
        .ok_or_else(|| D::Error::custom("not a whole number of 64 bits"))
}

/// A value, or its default where the wire has null.
pub(super) fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// A list, one record in place of a list, or an empty object in place of an empty list.
pub(super) fn one_or_many<'de, D, T>(deserializer: D) -> Result<List<T>, D::Error>
where
    D: Deserializer<'de>,
    T: for<'a> Deserialize<'a>,
{
    let value = match reply_memory::any_value(deserializer)? {
        Value::Object(object) if object.is_empty() => Value::Array(Vec::new()),
        object @ Value::Object(_) => Value::Array(vec![object]),
        other => other,
    };
    serde_json::from_value(value).map_err(D::Error::custom)
}

/// A record, plain or under `data`: the specification (4.1) has it under `data`, the `OAuthSample` (`guide::sources`) plain.
///
/// For replies in JSON to operations of the caller: `#[serde(default, deserialize_with = "envd_sdk::model::record_or_data")]`.
///
/// # Errors
///
/// Those of the deserializer, when the record does not have the expected shape.
pub fn record_or_data<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: for<'a> Deserialize<'a>,
{
    #[derive(Deserialize)]
    struct Wrapper<'a> {
        #[serde(borrow)]
        data: &'a RawValue,
    }

    let Some(raw) = Option::<Box<RawValue>>::deserialize(deserializer)? else {
        return Ok(None);
    };
    let text = raw.get();
    let wrapper = text
        .starts_with('{')
        .then(|| serde_json::from_str::<Wrapper<'_>>(text).ok());
    let record = match wrapper.flatten() {
        Some(Wrapper { data }) if data.get().starts_with('{') => data.get(),
        _ => text,
    };
    serde_json::from_str(record)
        .map(Some)
        .map_err(D::Error::custom)
}
