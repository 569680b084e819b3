//! Lists of replies, positions in them, and irregularities of lists that are read page by page.

use std::marker::PhantomData;
use std::ops::Deref;
use std::{fmt, slice, vec};

use serde::de::{SeqAccess, Visitor};
use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::reply_memory;

/// A list of a reply: a slice of its elements, with the positions at which the server sent null.
///
/// The server may send null for any element, and for the list itself; most code does not care.
///
/// ```
/// use envd_sdk::model::List;
///
/// let list: List<String> = serde_json::from_str(r#"["a", null, "b"]"#)?;
/// assert_eq!(list.len(), 2);
/// assert_eq!(list.null_positions(), [1]);
/// assert_eq!(serde_json::to_string(&list)?, r#"["a",null,"b"]"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct List<T> {
    items: Vec<T>,
    nulls: Nulls,
}

#[derive(Clone, PartialEq)]
enum Nulls {
    None,
    Whole,
    /// Positions in the list as it was received, in order.
    At(Box<[usize]>),
}

impl<T> List<T> {
    /// Whether the server sent null in place of the list, or does not have it.
    pub fn is_null(&self) -> bool {
        self.nulls == Nulls::Whole
    }

    /// The positions, from 0, at which the server sent null in place of an element.
    pub fn null_positions(&self) -> &[usize] {
        match &self.nulls {
            Nulls::At(positions) => positions,
            _ => &[],
        }
    }

    /// Null in place of the list.
    pub(crate) fn null() -> Self {
        Self {
            items: Vec::new(),
            nulls: Nulls::Whole,
        }
    }

    #[cfg(feature = "client")]
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.items.iter_mut()
    }

    /// The elements that are there.
    pub fn into_vec(self) -> Vec<T> {
        self.items
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            nulls: Nulls::None,
        }
    }
}

impl<T> From<Vec<T>> for List<T> {
    fn from(items: Vec<T>) -> Self {
        Self {
            items,
            nulls: Nulls::None,
        }
    }
}

impl<T> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Vec::from_iter(items).into()
    }
}

impl<T> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<T> IntoIterator for List<T> {
    type Item = T;
    type IntoIter = vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a List<T> {
    type Item = &'a T;
    type IntoIter = slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

impl<T: fmt::Debug> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.items.fmt(f)
    }
}

impl<T: Serialize> Serialize for List<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_null() {
            return serializer.serialize_none();
        }
        let mut nulls = self.null_positions().iter().copied().peekable();
        let mut sequence = serializer.serialize_seq(Some(self.items.len() + nulls.len()))?;
        let mut items = self.items.iter();
        for position in 0.. {
            if nulls.next_if_eq(&position).is_some() {
                sequence.serialize_element(&())?;
            } else if let Some(item) = items.next() {
                sequence.serialize_element(item)?;
            } else {
                break;
            }
        }
        sequence.end()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let elements = Option::<Elements<T>>::deserialize(deserializer)?;
        Ok(elements.map_or_else(Self::null, |Elements(list)| list))
    }
}

/// A list that is not null. Records are large, so each is moved once, to its place.
pub(super) struct Elements<T>(pub(super) List<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Elements<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ElementsVisitor(PhantomData))
    }
}

pub(super) struct ElementsVisitor<T>(pub(super) PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ElementsVisitor<T> {
    type Value = Elements<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list or null")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
        let (mut items, mut nulls) = (Vec::new(), Vec::new());
        while let Some(element) = sequence.next_element::<Option<T>>()? {
            if let Some(item) = element {
                reply_memory::push(&mut items, item)?;
            } else {
                let position = items.len() + nulls.len();
                reply_memory::push(&mut nulls, position)?;
            }
        }
        let nulls = if nulls.is_empty() {
            Nulls::None
        } else {
            Nulls::At(nulls.into())
        };
        Ok(Elements(List { items, nulls }))
    }
}

/// A position in a list that is read page by page: the start, or what follows a cursor.
///
/// It can be stored (as JSON: a text or null) and given to a pager of the same list later. How long a cursor stays valid
/// is not shown.
///
/// ```
/// use envd_sdk::model::Position;
///
/// let stored = serde_json::to_string(&Position::after("bXk="))?;
/// assert_eq!(serde_json::from_str::<Position>(&stored)?.cursor(), Some("bXk="));
/// assert_eq!(Position::start().cursor(), None);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Position(Option<String>);

impl Position {
    /// The start of the list.
    pub fn start() -> Self {
        Self(None)
    }

    /// What follows a cursor.
    pub fn after(cursor: impl Into<String>) -> Self {
        Self(Some(cursor.into()))
    }

    /// The cursor, sent as `after`; `None` at the start.
    pub fn cursor(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

/// An irregularity of a list that is read page by page. The records are returned all the same.
///
/// Lists change while they are read: pages then overlap, or leave a gap between them. Neither is an error, and a program
/// that counts or adds up has to handle it.
///
/// [`Page::notices`](crate::Page::notices) has those of a page, [`Items::notices`](crate::Items::notices) all until now.
///
/// ```
/// use envd_sdk::model::ListNotice;
///
/// fn warning(notice: &ListNotice) -> String {
///     match notice {
///         ListNotice::TotalChanged { before, now, .. } => {
///             format!("{before} records, then {now}: read the list again")
///         }
///         ListNotice::Repeated { ids, .. } => format!("twice in the list: {}", ids.join(", ")),
///         _ => "the list changed while it was read".to_owned(),
///     }
/// }
/// # let _ = warning;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListNotice {
    /// The total differs from that of the page before: a record may be missed or come twice.
    #[non_exhaustive]
    TotalChanged {
        /// The number of the page, from 1.
        page: u64,
        /// The total before.
        before: i64,
        /// The total of this page.
        now: i64,
    },
    /// Records that came before, on this page or an earlier one.
    #[non_exhaustive]
    Repeated {
        /// The number of the page, from 1.
        page: u64,
        /// What identifies the records: id or number of a consignment or template, register id or PIC of a property.
        ids: Vec<String>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nulls_come_back_where_they_were() {
        for text in ["null", "[]", "[1,2]", "[null]", "[null,1,null,null,2,null]"] {
            let list: List<u8> = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&list).unwrap(), text);
        }
    }
}
