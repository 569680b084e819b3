//! The `errors` of a reply.

use std::fmt;

use serde::de::{Error as _, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::salvage::value;
use crate::model::ServerError;

/// How many errors are kept. A reply that repeats one for each record of a large request fills no memory.
const KEPT: usize = 1_000;

/// The first errors, and how many more there were.
#[derive(Default)]
pub(super) struct Problems {
    pub(super) first: Vec<ServerError>,
    pub(super) omitted: usize,
}

/// Reads each error by itself. What is not a list is one error.
pub(super) fn problems(raw: &RawValue) -> Problems {
    serde_json::from_str(raw.get()).unwrap_or_else(|_| Problems {
        first: vec![ServerError::from_value(value(raw))],
        omitted: 0,
    })
}

impl<'de> Deserialize<'de> for Problems {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;

        impl<'de> Visitor<'de> for List {
            type Value = Problems;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Problems, A::Error> {
                let mut problems = Problems::default();
                while problems.first.len() < KEPT {
                    let Some(raw) = list.next_element::<&RawValue>()? else {
                        return Ok(problems);
                    };
                    problems.first.push(ServerError::from_value(value(raw)));
                }
                while list.next_element::<IgnoredAny>()?.is_some() {
                    problems.omitted += 1;
                }
                Ok(problems)
            }
        }
        deserializer.deserialize_seq(List)
    }
}

/// No errors: null or an empty list. Anything else ends the quick way through a reply at once.
#[derive(Default)]
pub(super) struct NoErrors;

impl<'de> Deserialize<'de> for NoErrors {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Nothing;

        impl<'de> Visitor<'de> for Nothing {
            type Value = NoErrors;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("no errors")
            }

            fn visit_unit<E>(self) -> Result<NoErrors, E> {
                Ok(NoErrors)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<NoErrors, A::Error> {
                match list.next_element::<IgnoredAny>()? {
                    None => Ok(NoErrors),
                    Some(_) => Err(A::Error::custom("errors")),
                }
            }
        }
        deserializer.deserialize_any(Nothing)
    }
}
