//! The texts of a bulk look-up.

use std::collections::HashMap;

use crate::model::Pic;

/// The texts in their order, each PIC linked to its next occurrence.
pub(super) struct Asked(Vec<Entry>);

struct Entry {
    text: Text,
    is_first: bool,
    /// The position of the next occurrence; 0 where there is none, since nothing comes again at the beginning.
    again: usize,
}

enum Text {
    Pic(Pic),
    /// No PIC, as it was given.
    Other(Box<str>),
}

impl Asked {
    pub(super) fn new(texts: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let mut last: HashMap<Pic, usize> = HashMap::new();
        let mut entries: Vec<Entry> = Vec::new();
        for (at, text) in texts.into_iter().enumerate() {
            let text = match Pic::parse(text.as_ref()) {
                Ok(pic) => Text::Pic(pic),
                Err(_) => Text::Other(text.as_ref().into()),
            };
            let before = match &text {
                Text::Pic(pic) => last.insert(*pic, at),
                Text::Other(_) => None,
            };
            if let Some(before) = before {
                entries[before].again = at;
            }
            entries.push(Entry {
                text,
                is_first: before.is_none(),
                again: 0,
            });
        }
        Self(entries)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The PIC at a position, if the text is one.
    pub(super) fn pic(&self, at: usize) -> Option<Pic> {
        match self.0[at].text {
            Text::Pic(pic) => Some(pic),
            Text::Other(_) => None,
        }
    }

    pub(super) fn is_first(&self, at: usize) -> bool {
        self.0[at].is_first
    }

    pub(super) fn again(&self, at: usize) -> Option<usize> {
        Some(self.0[at].again).filter(|again| *again > 0)
    }

    pub(super) fn text(&self, at: usize) -> &str {
        match &self.0[at].text {
            Text::Pic(pic) => pic.as_str(),
            Text::Other(text) => text,
        }
    }
}
