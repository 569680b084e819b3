//! Decodes a list record by record, for a reply that cannot be decoded as a whole.
//!
//! A reply is decoded in one pass. If that fails, the records of the operation's main list are decoded separately: each
//! mismatching record becomes an error with its JSON, and is replaced by null.

use std::fmt;
use std::ops::Range;

use serde::de::{DeserializeOwned, DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::misfit::{self, Misfit, unreadable_record};
use crate::error::Error;
use crate::model::{BorrowedText, json_text, reply_memory};

/// With more unreadable records than this, the schema itself must differ, so the entire reply counts as unreadable.
const MAX_UNREADABLE: usize = 1_000;

/// The text around the list is decoded once per record. If that amounts to more than this multiple of the text, and to more
/// than this many bytes, the entire reply counts as unreadable, so that the work stays proportional to the reply.
const WORK: (usize, usize) = (16, 4 << 20);

/// A record of a list that could not be decoded.
#[derive(Clone, Debug)]
pub(crate) struct Unreadable {
    /// The position in the list as received, starting at 0.
    pub(crate) index: usize,
    /// The location of the mismatch, with the JSON of the record.
    pub(crate) error: Error,
}

impl Unreadable {
    /// Sets the number of times the request was sent.
    pub(crate) fn note_attempts(records: &mut [Self], attempts: u32) {
        for record in records {
            record.error = record.error.clone().with_attempts(attempts);
        }
    }
}

impl PartialEq for Unreadable {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index
            && self.error.json_path() == other.error.json_path()
            && self.error.raw_data() == other.error.raw_data()
    }
}

/// A text with null in place of each unreadable record.
pub(crate) struct SalvagedList {
    pub(crate) text: String,
    pub(crate) unreadable: Vec<Unreadable>,
}

/// Replaces records that do not fit a `T` with null. `list` names the members that lead to the list, `at` is its JSON path in
/// the reply.
///
/// `None` if there is no such list, or if another part of the text does not fit.
pub(crate) fn salvage_list<T: DeserializeOwned>(
    text: &str,
    at: &str,
    list: &[&str],
    status: u16,
) -> Option<SalvagedList> {
    reply_memory::limited(text.len(), || salvage::<T>(text, at, list, status))?
}

fn salvage<T: DeserializeOwned>(
    text: &str,
    at: &str,
    list: &[&str],
    status: u16,
) -> Option<SalvagedList> {
    let range = range_of(text, list)?;
    let before = text.get(..range.start)?;
    let after = text.get(range.end..)?;
    let around = |records: &str| format!("{before}[{records}]{after}");
    // Without records it must fit, otherwise the fault is elsewhere.
    reply_memory::from_str::<T>(&around("")).ok()?;
    let records: RawList<'_, { usize::MAX }> = json_text::from_str(text.get(range)?).ok()?;
    let records = records.first;
    let work = records.len().saturating_mul(before.len() + after.len());
    if work > WORK.1.max(WORK.0.saturating_mul(text.len())) {
        return None;
    }
    let mut unreadable = Vec::new();
    let mut salvaged = Vec::with_capacity(records.len());
    for (index, record) in records.iter().map(|raw| raw.get()).enumerate() {
        let Err(Misfit { path, detail }) = misfit::read::<T>(&around(record)) else {
            salvaged.push(record);
            continue;
        };
        if unreadable.len() == MAX_UNREADABLE {
            return None;
        }
        let alone = format!("{}[0]", list.join("."));
        let inside = path.strip_prefix(&alone).unwrap_or_default();
        let path = format!("{at}[{index}]{inside}");
        let error = unreadable_record(status, path, detail, record);
        unreadable.push(Unreadable { index, error });
        salvaged.push("null");
    }
    let text = around(&salvaged.join(","));
    (!unreadable.is_empty()).then_some(SalvagedList { text, unreadable })
}

/// The texts of the first elements of a list, including nulls, and the number of remaining elements.
pub(super) struct RawList<'a, const KEPT: usize> {
    pub(super) first: Vec<&'a RawValue>,
    pub(super) omitted: usize,
}

impl<'de, const KEPT: usize> Deserialize<'de> for RawList<'de, KEPT> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RawListVisitor<const KEPT: usize>;

        impl<'de, const KEPT: usize> Visitor<'de> for RawListVisitor<KEPT> {
            type Value = RawList<'de, KEPT>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut first = Vec::new();
                let mut omitted = 0;
                while first.len() < KEPT {
                    let Some(raw) = list.next_element()? else {
                        return Ok(RawList { first, omitted });
                    };
                    reply_memory::push(&mut first, raw)?;
                }
                while list.next_element::<IgnoredAny>()?.is_some() {
                    omitted += 1;
                }
                Ok(RawList { first, omitted })
            }
        }
        deserializer.deserialize_seq(RawListVisitor)
    }
}

/// The position of the list in the text.
fn range_of(text: &str, list: &[&str]) -> Option<Range<usize>> {
    let part = part_of(text, list)?;
    // `part` is a slice of `text`, so this is its offset.
    let start = part.as_ptr().addr() - text.as_ptr().addr();
    Some(start..start + part.len())
}

/// The part of a text at this path of members and list positions.
pub(super) fn part_of<'a>(text: &'a str, members: &[impl AsRef<str>]) -> Option<&'a str> {
    let mut part = text;
    for name in members {
        let mut value = json_text::deserializer(part);
        let seed = MemberSeed(name.as_ref());
        part = seed.deserialize(&mut value).ok()??.get();
    }
    Some(part)
}

/// Decodes one member of an object or element of a list, and skips the others.
struct MemberSeed<'n>(&'n str);

impl<'de> DeserializeSeed<'de> for MemberSeed<'_> {
    type Value = Option<&'de RawValue>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for MemberSeed<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or a list")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(name) = map.next_key::<&RawValue>()? {
            let quoted = name.get();
            let is_named = match quoted.trim_matches('"') {
                // A name that is not a string does not match.
                escaped if escaped.contains('\\') => {
                    json_text::from_str(quoted).is_ok_and(|BorrowedText(name)| name == self.0)
                }
                name => name == self.0,
            };
            if is_named {
                found = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let Ok(position) = self.0.parse::<usize>() else {
            return Ok(None);
        };
        for _ in 0..position {
            if list.next_element::<IgnoredAny>()?.is_none() {
                return Ok(None);
            }
        }
        let found = list.next_element()?;
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::model::Connection;

    #[derive(Debug, Deserialize)]
    struct Data {
        page: Connection<Node>,
    }

    #[derive(Debug, Deserialize)]
    struct Node {
        heads: u8,
    }

    fn salvaged(edges: &str) -> Option<SalvagedList> {
        let text = format!(r#" {{"page": {{"edges":{edges}, "totalCount": 9 }}, "other": [1]}} "#);
        salvage_list::<Data>(&text, "data.page.edges", &["page", "edges"], 200)
    }

    #[test]
    fn each_record_that_does_not_fit_becomes_an_error() {
        let edges = r#" [ {"node": {"heads": 1}}, {"node": {"heads": "2"}}, null, {"cursor": "c", "node": {"heads": 1e999}}, 5, {"node": {"heads": 3}} ] "#;
        let salvaged = salvaged(edges).unwrap();
        let data: Data = serde_json::from_str(&salvaged.text).unwrap();
        let edges = data.page.edges.iter();
        let heads: Vec<_> = edges.map(|edge| Some(edge.node.as_ref()?.heads)).collect();
        assert_eq!(heads, [Some(1), None, None, None, None, Some(3)]);
        assert_eq!(data.page.total_count, Some(9));
        let found: Vec<_> = salvaged.unreadable.iter().collect();
        let at = |index: usize| (found[index].index, found[index].error.json_path().unwrap());
        assert_eq!(at(0), (1, "data.page.edges[1].node.heads"));
        assert_eq!(at(1), (3, "data.page.edges[3].node.heads"));
        assert_eq!(at(2), (4, "data.page.edges[4]"));
        // A `Value` cannot represent this number.
        let text = found[1].error.raw_data().unwrap().as_str().unwrap();
        assert!(text.contains("1e999"));
        assert_eq!(found[1].error.resume_from().unwrap().cursor(), Some("c"));
        assert_eq!(found[0].error.raw_data().unwrap()["node"]["heads"], "2");
        let says = |index: usize, reason: &str| found[index].error.to_string().contains(reason);
        assert!(says(0, "a value of another type") && says(1, "a number out of range"));
        let mut kinds = found.iter().map(|record| record.error.kind());
        assert!(kinds.all(|kind| kind == ErrorKind::UnreadableRecord));
    }

    #[test]
    fn other_misfits_are_left_to_the_caller() {
        for edges in r#"null|5|[]|[{"node": {"heads": 1}}]|[,]|[{"node": 5}"#.split('|') {
            assert!(salvaged(edges).is_none(), "{edges}");
        }
        let texts = r#"{"page": {"edges": [5], "totalCount": "x"}}|{"page": [5]}|[]"#;
        for text in texts.split('|') {
            let salvaged = salvage_list::<Data>(text, "", &["page", "edges"], 200);
            assert!(salvaged.is_none(), "{text}");
        }
    }

    #[test]
    fn the_work_and_the_errors_are_bounded() {
        let all = |count: usize| format!("[{}]", vec!["5"; count].join(","));
        let most = salvaged(&all(MAX_UNREADABLE)).unwrap().unreadable;
        assert_eq!(most.len(), MAX_UNREADABLE);
        assert!(salvaged(&all(MAX_UNREADABLE + 1)).is_none());
        // The list and the text around it have the same size, and decoding each record would scan all of that text.
        let long = "x".repeat(50_000);
        let list = |count: usize| vec!["{}"; count].join(",");
        for (count, fits) in [(10, true), (20_000, false)] {
            let list = list(count);
            let page = format!(r#"{{"edges": [5,{list}], "totalCount": 9}}"#);
            let text = format!(r#"{{"page": {page}, "other": "{long}"}}"#);
            let salvaged = salvage_list::<Data>(&text, "", &["page", "edges"], 200);
            assert_eq!(salvaged.is_some(), fits, "{count}");
        }
    }
}
