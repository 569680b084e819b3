//! The register's answer for a row of the list.

use envd_sdk::ErrorKind;
use envd_sdk::model::Property;
use envd_sdk::register::{Lookup, LookupResult};

use super::advice;

/// The headings of an answer.
pub(crate) const HEADINGS: [&str; 4] = ["NAME", "TOWN", "STATE", "STATUS"];

/// The prefix of the status of a failed look-up. `--resume` looks such a row up again.
const FAILED: &str = "failed: ";

/// The kind of a row whose cell may hold a PIC that the file does not contain: a formula without its value.
pub(crate) const UNREAD: &str = "cannot be read";

/// The cells written after those of the list.
#[derive(Clone)]
pub(crate) struct Answer {
    pub(crate) name: String,
    pub(crate) town: String,
    pub(crate) state: String,
    /// The kind of answer, for the counts.
    pub(crate) kind: String,
    /// Why a PIC may be wrong, or why the look-up failed.
    pub(crate) advice: Option<String>,
}

impl Answer {
    pub(crate) fn of(look_up: &LookupResult) -> Self {
        let found = look_up.property();
        let kind = match &look_up.result {
            Ok(Lookup::Found(property)) => match &property.admin_status {
                Some(status) => status.to_string(),
                None => "no status".to_owned(),
            },
            Ok(Lookup::Several(_)) => "found more than once".to_owned(),
            Ok(_) => "not in the register".to_owned(),
            Err(_) if advice::is_unread(&look_up.input) => UNREAD.to_owned(),
            Err(error) if error.kind() == ErrorKind::Config => "not a PIC".to_owned(),
            Err(_) => "failed".to_owned(),
        };
        let advice = match &look_up.result {
            Err(error) if error.kind() == ErrorKind::Config => advice::advice(&look_up.input),
            Err(error) => Some(error.to_string()),
            // If nothing was found, the form of the code may suggest a typing mistake.
            Ok(_) if found.is_none() => advice::of_unknown(&look_up.input),
            Ok(_) => None,
        };
        let text = |field: fn(&Property) -> &Option<String>| {
            found
                .and_then(|found| field(found).clone())
                .unwrap_or_default()
        };
        Self {
            name: text(|property| &property.name),
            town: text(|property| &property.town),
            state: text(|property| &property.registered_state),
            kind,
            advice,
        }
    }

    /// The answer for a row without a PIC, such as a row of totals.
    pub(crate) fn blank() -> Self {
        let [name, town, state] = [const { String::new() }; 3];
        let kind = "no PIC in the row".to_owned();
        Self {
            name,
            town,
            state,
            kind,
            advice: None,
        }
    }

    pub(crate) fn status(&self) -> String {
        match &self.advice {
            None => self.kind.clone(),
            Some(problem) if self.kind == "failed" => format!("{FAILED}{problem}"),
            Some(advice) => format!("{} ({advice})", self.kind),
        }
    }

    /// The cells below [`HEADINGS`].
    pub(crate) fn cells(&self) -> [String; 4] {
        [
            self.name.clone(),
            self.town.clone(),
            self.state.clone(),
            self.status(),
        ]
    }

    /// Reads an answer from an earlier run. `None` for a failed look-up.
    pub(crate) fn read(cells: &[String]) -> Option<Self> {
        let [name, town, state, status] = cells else {
            return None;
        };
        if status.starts_with(FAILED) {
            return None;
        }
        // Advice follows in brackets. A status of the register has no brackets.
        let (kind, advice) = match status.split_once(" (") {
            Some((kind, advice)) => (kind, advice.strip_suffix(')')),
            None => (status.as_str(), None),
        };
        Some(Self {
            name: name.clone(),
            town: town.clone(),
            state: state.clone(),
            kind: kind.to_owned(),
            advice: advice.map(str::to_owned),
        })
    }
}
