//! Ids of questions as small numbers.

use std::collections::HashMap;

/// No position at all: no list is that long.
pub(super) const NONE: u32 = u32::MAX;

/// A position as it is kept in tables.
pub(super) fn at(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(NONE)
}

/// The number of each id.
///
/// Ids are short, so most fit into one word, and looking one up compares words and no texts.
#[derive(Debug, Default)]
pub(super) struct Ids {
    /// Open addressing: packed id and number; a packed id is never 0.
    slots: Vec<(u64, u32)>,
    /// How far a hash is shifted down to be a slot.
    shift: u32,
    used: usize,
    long: HashMap<Box<str>, u32>,
}

impl Ids {
    pub(super) fn find(&self, id: &str) -> Option<u32> {
        let Some(packed) = pack(id) else {
            return self.long.get(id).copied();
        };
        if self.slots.is_empty() {
            return None;
        }
        let mut slot = self.slot(packed);
        loop {
            match self.slots[slot] {
                (0, _) => return None,
                (key, number) if key == packed => return Some(number),
                _ => slot = (slot + 1) % self.slots.len(),
            }
        }
    }

    /// Gives an id a number that it does not have yet.
    pub(super) fn insert(&mut self, id: &str, number: u32) {
        let Some(packed) = pack(id) else {
            self.long.insert(id.into(), number);
            return;
        };
        if self.used * 2 >= self.slots.len() {
            self.grow();
        }
        self.used += 1;
        self.place(packed, number);
    }

    fn place(&mut self, packed: u64, number: u32) {
        let mut slot = self.slot(packed);
        while self.slots[slot].0 != 0 {
            slot = (slot + 1) % self.slots.len();
        }
        self.slots[slot] = (packed, number);
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(16);
        self.shift = 64 - size.trailing_zeros();
        let old = std::mem::replace(&mut self.slots, vec![(0, 0); size]);
        for (packed, number) in old {
            if packed != 0 {
                self.place(packed, number);
            }
        }
    }

    fn slot(&self, packed: u64) -> usize {
        // The multiplier of Fibonacci hashing, 2^64 divided by the golden ratio: high bits spread best.
        let hash = packed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift;
        usize::try_from(hash).unwrap_or_default()
    }
}

/// Up to seven bytes and their number in one word, which is never 0.
fn pack(id: &str) -> Option<u64> {
    let bytes = id.as_bytes();
    if bytes.len() > 7 {
        return None;
    }
    let mut word = bytes.len() as u64 + 1;
    for byte in bytes {
        word = word << 8 | u64::from(*byte);
    }
    Some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_id_has_its_number_however_long_it_is() {
        let names = [
            "", "0", "00", "1", "1234567", "12345678", "frage-ü", "\0", "\0\0",
        ];
        let mut ids = Ids::default();
        assert_eq!(ids.find(""), None);
        for (number, name) in names.iter().enumerate() {
            ids.insert(name, at(number));
        }
        for number in 100..5000 {
            ids.insert(&number.to_string(), number);
        }
        for (number, name) in names.iter().enumerate() {
            assert_eq!(ids.find(name), Some(at(number)), "{name:?}");
        }
        for number in 100..5000 {
            assert_eq!(ids.find(&number.to_string()), Some(number));
        }
        for unknown in ["5000", "123456", "123456789", "\0\0\0"] {
            assert_eq!(ids.find(unknown), None, "{unknown:?}");
        }
    }
}
