//! Properties of each form (spec 2.7 and 9).

use serde::{Deserialize, Serialize};

use super::open_enum::closed_enum;
use super::{Day, FormType, Species};

closed_enum! {
    /// The program to which a form belongs (spec 2.7).
    ///
    /// ```
    /// use envd_sdk::model::Program;
    ///
    /// assert_eq!("NFAS".parse(), Ok(Program::Nfas));
    /// assert_eq!(Program::Nfas.to_string(), "NFAS");
    /// ```
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "UPPERCASE")]
    Program, "not a program of section 2.7" {
        /// Livestock Production Assurance.
        Lpa = "LPA",
        /// National Feedlot Accreditation Scheme.
        Nfas = "NFAS",
        /// Meat Standards Australia.
        Msa = "MSA",
    }
}

impl FormType {
    /// The species of the form; `None` for a form unknown to this version of the crate.
    ///
    /// ```
    /// use envd_sdk::model::{FormType, Species};
    ///
    /// assert_eq!(FormType::Lpag3.species(), Some(Species::Goat));
    /// ```
    pub fn species(&self) -> Option<Species> {
        Some(match self {
            Self::Lpac1
            | Self::Euc1
            | Self::Nfasc0
            | Self::Nfasddc1
            | Self::Nfaseuc1
            | Self::Msac1
            | Self::Hsc2 => Species::Cattle,
            Self::Lpabc1 => Species::BobbyCalves,
            Self::Lpasl1 | Self::Hssl1 => Species::SheepLamb,
            Self::Lpag2 | Self::Lpag3 | Self::Lpahrg0 | Self::Hsg0 => Species::Goat,
            Self::Unrecognized(_) => return None,
        })
    }

    /// The program of the form; `None` if the specification does not state it, or the form is unknown.
    pub fn program(&self) -> Option<Program> {
        Some(match self {
            Self::Lpac1
            | Self::Euc1
            | Self::Lpabc1
            | Self::Lpasl1
            | Self::Lpag2
            | Self::Lpag3
            | Self::Lpahrg0 => Program::Lpa,
            Self::Nfasc0 | Self::Nfasddc1 | Self::Nfaseuc1 => Program::Nfas,
            Self::Msac1 => Program::Msa,
            Self::Hsc2 | Self::Hsg0 | Self::Hssl1 | Self::Unrecognized(_) => return None,
        })
    }

    /// The first day on which the form can be created, if the specification states one (spec 9.3, 9.4).
    pub fn first_day(&self) -> Option<Day> {
        match self {
            Self::Lpahrg0 => Day::new(2024, 10, 1),
            Self::Lpag3 => Day::new(2024, 11, 19),
            _ => None,
        }
    }

    /// The first day on which the form can no longer be created, if the specification states one (spec 9.4).
    pub fn closed_from(&self) -> Option<Day> {
        match self {
            Self::Lpag2 => Day::new(2024, 11, 19),
            _ => None,
        }
    }

    /// The form that replaces this one as of [`closed_from`](Self::closed_from), if the specification names it (spec 9.4).
    ///
    /// ```
    /// use envd_sdk::model::FormType;
    ///
    /// assert_eq!(FormType::Lpag2.replaced_by(), Some(FormType::Lpag3));
    /// assert_eq!(FormType::Lpac1.replaced_by(), None);
    /// ```
    pub fn replaced_by(&self) -> Option<Self> {
        match self {
            Self::Lpag2 => Some(Self::Lpag3),
            _ => None,
        }
    }
}
