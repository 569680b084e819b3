//! Edits by other users.

/// One edit, chosen before the existing records are known.
#[derive(Clone, Debug)]
pub(super) struct Edit {
    pub(super) kind: EditKind,
    /// The index of the record, modulo the number of records.
    pub(super) pick: usize,
    pub(super) heads: u16,
    /// Milliseconds since the previous edit; 0: the same instant.
    pub(super) pause: u64,
    /// The UTC offset of the written date, in minutes.
    pub(super) offset: i32,
    pub(super) movement: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EditKind {
    Insert,
    Change,
    Submit,
    /// Only the date changes.
    Touch,
    /// Neither lists nor reads show it.
    Delete,
    /// Lists omit it; a read finds it.
    Hide,
    /// Listed again, with its previous date.
    Unhide,
    /// Listed, but a read does not find it.
    Unreadable,
    /// The content changes, and the date moves back.
    OlderDate,
}

impl Edit {
    pub(super) fn but(self, kind: EditKind, pause: u64) -> Self {
        Self {
            kind,
            pause,
            ..self
        }
    }

    pub(super) fn random(random: &mut fastrand::Rng) -> Self {
        let kind = match random.u8(..32) {
            0..8 => EditKind::Insert,
            8..18 => EditKind::Change,
            18..20 => EditKind::Submit,
            20..22 => EditKind::Touch,
            22..26 => EditKind::Delete,
            26..28 => EditKind::Hide,
            28..30 => EditKind::Unhide,
            30 => EditKind::Unreadable,
            _ => EditKind::OlderDate,
        };
        let pauses = [0, 0, 1, 500, 1_000, 60_000, 3_600_000, 90_000_000];
        let days = ["2026-01-01", "2026-11-22", "2027-06-01"];
        Self {
            kind,
            pick: random.usize(..1_000),
            heads: random.u16(..),
            pause: pauses[random.usize(..pauses.len())],
            offset: [0, 0, 600, -570][random.usize(..4)],
            movement: days[random.usize(..days.len())],
        }
    }
}
