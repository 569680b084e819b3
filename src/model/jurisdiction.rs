//! The states and territories.

use std::fmt;

use super::TextError;
use super::visible_text::trimmed;

/// A state or territory of Australia.
///
/// ```
/// use envd_sdk::model::Jurisdiction;
///
/// let state: Jurisdiction = "Qld".parse()?;
/// assert_eq!((state, state.as_str()), (Jurisdiction::Qld, "QLD"));
/// # Ok::<(), envd_sdk::model::TextError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Jurisdiction {
    /// Australian Capital Territory.
    Act,
    /// New South Wales.
    Nsw,
    /// Northern Territory.
    Nt,
    /// Queensland.
    Qld,
    /// South Australia.
    Sa,
    /// Tasmania.
    Tas,
    /// Victoria.
    Vic,
    /// Western Australia.
    Wa,
}

impl Jurisdiction {
    /// All states and territories.
    pub const KNOWN: &'static [Self] = &[
        Self::Act,
        Self::Nsw,
        Self::Nt,
        Self::Qld,
        Self::Sa,
        Self::Tas,
        Self::Vic,
        Self::Wa,
    ];

    /// The abbreviation, as addresses have it (spec 2.2).
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Act => "ACT",
            Self::Nsw => "NSW",
            Self::Nt => "NT",
            Self::Qld => "QLD",
            Self::Sa => "SA",
            Self::Tas => "TAS",
            Self::Vic => "VIC",
            Self::Wa => "WA",
        }
    }
}

impl fmt::Display for Jurisdiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl From<Jurisdiction> for String {
    fn from(state: Jurisdiction) -> Self {
        state.as_str().to_owned()
    }
}

impl std::str::FromStr for Jurisdiction {
    type Err = TextError;

    /// Reads an abbreviation in any case.
    fn from_str(text: &str) -> Result<Self, TextError> {
        Self::KNOWN
            .iter()
            .copied()
            .find(|state| state.as_str().eq_ignore_ascii_case(trimmed(text)))
            .ok_or(TextError::new("not a state or territory of Australia"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_read_and_written_by_their_abbreviation() {
        for state in Jurisdiction::KNOWN {
            assert_eq!(state.to_string().parse(), Ok(*state));
            assert_eq!(state.as_str().to_lowercase().parse(), Ok(*state));
        }
        assert_eq!(" qld ".parse(), Ok(Jurisdiction::Qld));
        for bad in ["", "NZ", "Queensland"] {
            assert!(bad.parse::<Jurisdiction>().is_err(), "{bad}");
        }
    }
}
