//! The states and territories.

use super::open_enum::closed_enum;

closed_enum! {
    /// A state or territory of Australia.
    ///
    /// ```
    /// use envd_sdk::model::Jurisdiction;
    ///
    /// let state: Jurisdiction = "Qld".parse()?;
    /// assert_eq!((state, state.as_str()), (Jurisdiction::Qld, "QLD"));
    /// # Ok::<(), envd_sdk::model::TextError>(())
    /// ```
    Jurisdiction, "not a state or territory of Australia" {
        /// Australian Capital Territory.
        Act = "ACT",
        /// New South Wales.
        Nsw = "NSW",
        /// Northern Territory.
        Nt = "NT",
        /// Queensland.
        Qld = "QLD",
        /// South Australia.
        Sa = "SA",
        /// Tasmania.
        Tas = "TAS",
        /// Victoria.
        Vic = "VIC",
        /// Western Australia.
        Wa = "WA",
    }
}

impl From<Jurisdiction> for String {
    fn from(state: Jurisdiction) -> Self {
        state.as_str().to_owned()
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
