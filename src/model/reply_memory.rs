//! Limits the memory that one reply may take.
//!
//! Limiting the length of the text is not enough: `{},` may become a record of a kilobyte. Therefore, the lists of a reply are
//! charged while they grow, and JSON values before they are decoded. The caller's own types that contain neither are not
//! limited.
//!
//! The budget stands in a thread-local variable, because the derived `Deserialize` of a list inside a record takes no argument that could
//! pass it. One thread decodes a reply from its first byte to its last, without an await.

// Only the client sets limits.
#![allow(dead_code)]

use std::cell::Cell;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error};
use serde_json::Value;
use serde_json::value::RawValue;

use super::json_repair::repaired;
use super::json_text;

/// The total memory for lists and values of a reply: in bytes, and for a long reply as a multiple of its text.
const FREE: usize = 16 << 20;
const TIMES: usize = 4;

#[derive(Clone, Copy)]
struct MemoryBudget {
    left: usize,
    is_exceeded: bool,
    nulls: usize,
}

thread_local! {
    /// The budget of the reply that this thread is decoding; `None` outside of a reply, where nothing is limited.
    static BUDGET: Cell<Option<MemoryBudget>> = const { Cell::new(None) };
}

/// Decodes a text, or parts of it, within the limit; `None` if the limit is exceeded.
pub(crate) fn limited<T>(length: usize, read: impl FnOnce() -> T) -> Option<T> {
    struct Restore(Option<MemoryBudget>);

    impl Drop for Restore {
        fn drop(&mut self) {
            BUDGET.set(self.0);
        }
    }

    let budget = MemoryBudget {
        left: FREE.max(length.saturating_mul(TIMES)),
        is_exceeded: false,
        nulls: 0,
    };
    let _restore = Restore(BUDGET.replace(Some(budget)));
    let result = read();
    (!BUDGET.get().is_some_and(|budget| budget.is_exceeded)).then_some(result)
}

/// Decodes a text within the limit.
pub(crate) fn from_str<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    counted(text).map(|(value, _)| value)
}

/// Like [`from_str`], with the number of null list elements.
pub(crate) fn counted<T: DeserializeOwned>(text: &str) -> serde_json::Result<(T, usize)> {
    limited(text.len(), || read(text).map(|value| (value, nulls())))
        .unwrap_or_else(|| Err(serde_json::Error::custom(TOO_MUCH)))
}

/// Decodes a text. If that fails, [repairs](repaired) it and tries again.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    json_text::from_str(text).or_else(|error| match repaired(text) {
        Some(text) => json_text::from_str(&text),
        None => Err(error),
    })
}

/// Adds an element to a list of the reply.
pub(crate) fn push<T, E: Error>(list: &mut Vec<T>, element: T) -> Result<(), E> {
    if list.len() == list.capacity() {
        // `Vec` doubles its capacity, starting with four.
        require(list.len().max(4).saturating_mul(size_of::<T>()))?;
    }
    list.push(element);
    Ok(())
}

/// Counts a null element of a list.
pub(crate) fn count_null() {
    let counted = BUDGET.get().map(|budget| MemoryBudget {
        nulls: budget.nulls + 1,
        ..budget
    });
    BUDGET.set(counted);
}

/// The number of null list elements so far.
pub(crate) fn nulls() -> usize {
    BUDGET.get().map_or(0, |budget| budget.nulls)
}

/// Charges a member added to an object.
pub(crate) fn charge_member<E: Error>(is_first: bool, name: &str) -> Result<(), E> {
    // A map starts with eleven slots, and half of them may stay empty.
    require(name.len() + if is_first { 704 } else { 160 })
}

/// Decodes a complete reply as a value; `None` if it exceeds the limit.
pub(crate) fn whole_value(text: &str) -> Option<serde_json::Result<Value>> {
    limited(text.len(), || {
        charge(size_as_value(text)).then(|| read(text))
    })?
}

/// Decodes a text as a value. JSON that a [`Value`] cannot represent (too deep, a number too large), or that takes too much
/// memory, becomes a string with its text.
pub(crate) fn value(text: &str) -> Value {
    let size = size_as_value(text);
    let read = (size <= FREE && charge(size)).then(|| read(text).ok());
    read.flatten().unwrap_or_else(|| text.into())
}

/// Deserializes a field that may have any value. In a reply it is JSON; a record stored by a program may have another format.
pub(crate) fn any_value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    if BUDGET.get().is_none() {
        return Value::deserialize(deserializer);
    }
    Ok(value(Box::<RawValue>::deserialize(deserializer)?.get()))
}

/// The reason for refusing a reply.
pub(crate) const TOO_MUCH: &str = "the lists of the reply take too much memory";

/// Charges data that must not be omitted. If that is not possible, the reply is refused.
fn require<E: Error>(size: usize) -> Result<(), E> {
    if charge(size) {
        return Ok(());
    }
    BUDGET.set(Some(MemoryBudget {
        left: 0,
        is_exceeded: true,
        nulls: 0,
    }));
    Err(E::custom(TOO_MUCH))
}

fn charge(size: usize) -> bool {
    let Some(budget) = BUDGET.get() else {
        return true;
    };
    let Some(left) = budget.left.checked_sub(size) else {
        return false;
    };
    BUDGET.set(Some(MemoryBudget { left, ..budget }));
    true
}

/// A lower bound for the memory of a decoded text: an object starts with eleven slots, an array with four.
fn size_as_value(text: &str) -> usize {
    let size = |byte: u8| match byte {
        b'{' => 704,
        b'[' => 160,
        b',' => 96,
        _ => 1,
    };
    json_text::visited(text.len());
    text.bytes().map(size).sum()
}

#[cfg(test)]
mod tests {
    use serde::de::value::{Error as Refused, MapDeserializer};

    use super::*;
    use crate::model::{Property, lenient};

    #[derive(Deserialize)]
    #[serde(transparent)]
    struct Texts(#[serde(deserialize_with = "lenient::list")] Vec<String>);

    #[test]
    fn a_list_may_take_sixteen_mebibytes_or_four_times_its_text() {
        // A list grows to a power of two: with elements of 24 bytes to 2^19, which take 12 MiB.
        let most = (FREE / size_of::<String>() + 1).next_power_of_two() / 2;
        let list = |count: usize, blanks: usize| {
            let text = format!("[{}]{}", vec![r#""""#; count].join(","), " ".repeat(blanks));
            from_str::<Texts>(&text).map(|Texts(list)| list.len())
        };
        assert_eq!(list(most, 0).unwrap(), most);
        let error = list(most + 1, 0).unwrap_err();
        assert!(error.to_string().contains(TOO_MUCH));
        assert!(list(most + 1, 6 << 20).is_ok());
        // Outside of a reply there is no limit.
        let text = format!("[{}]", vec![r#""""#; most + 1].join(","));
        assert!(serde_json::from_str::<Texts>(&text).is_ok());
    }

    #[test]
    fn lists_and_values_of_a_reply_share_what_they_may_take() {
        let text = format!("[{}]", vec!["0"; 150_000].join(","));
        let read = limited(0, || (value(&text).is_array(), value(&text).is_array()));
        assert_eq!(read, Some((true, false)));
        assert!(value(&text).is_array());
        let text = format!("[{}]", vec!["0"; 180_000].join(","));
        assert_eq!(value(&text), Value::from(text));
    }

    /// For example from `MessagePack` or CBOR, which have no raw JSON.
    #[test]
    fn a_stored_record_may_have_another_format_after_lists_and_values_were_read() {
        assert!(value("[0]").is_array());
        assert!(serde_json::from_str::<Texts>(r#"["a"]"#).is_ok());
        let fields = MapDeserializer::<_, Refused>::new([("LaterField", 5)].into_iter());
        let property = Property::deserialize(fields).unwrap();
        assert_eq!(property.unknown_fields().unwrap()["LaterField"], 5);
    }

    #[test]
    fn unknown_fields_and_whole_values_are_charged() {
        let record = |fields: usize| {
            let fields: Vec<_> = (0..fields).map(|name| format!(r#""{name}":0"#)).collect();
            format!("{{{}}}", fields.join(","))
        };
        assert!(from_str::<Property>(&record(90_000)).is_ok());
        let error = from_str::<Property>(&record(110_000)).unwrap_err();
        assert!(error.to_string().contains(TOO_MUCH));
        assert!(whole_value(&record(110_000)).unwrap().unwrap().is_object());
        assert!(whole_value(&format!("[{}0]", "{},".repeat(30_000))).is_none());
    }

    #[test]
    fn the_limit_ends_with_the_reply() {
        let nothing = limited(0, || {
            let mut list = Vec::new();
            (0..FREE).all(|_| push::<_, serde_json::Error>(&mut list, [0_u64; 16]).is_ok())
        });
        assert_eq!(nothing, None);
        let outer = limited(0, || limited(0, || charge(FREE)).is_some() && charge(FREE));
        assert_eq!(outer, Some(true));
        assert!(charge(FREE));
    }
}
