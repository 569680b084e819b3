//! Names of files that mean something else on Windows.

use std::ffi::OsStr;

use super::{StoreError, StoreErrorKind};

/// The devices that Windows has in every folder, with any ending: `nul.json` is one as well.
const DEVICES: [&str; 6] = ["AUX", "CON", "CONIN$", "CONOUT$", "NUL", "PRN"];

/// On Windows, refuses a name that does not keep a file, and a path without a name, as those of devices are: what is written
/// there would be lost. `what` is the file in the error.
pub(super) fn check_name(name: Option<&OsStr>, what: &str) -> Result<(), StoreError> {
    let name = name.map(OsStr::to_string_lossy);
    let problem = name.map_or(Some("no name"), |name| problem(&name));
    match problem.filter(|_| cfg!(windows)) {
        None => Ok(()),
        Some(problem) => {
            let message = format!("{what} has {problem}; choose another one");
            Err(StoreError::new(StoreErrorKind::Unreadable, message))
        }
    }
}

/// Why Windows would open something other than a file with this name.
fn problem(name: &str) -> Option<&'static str> {
    let stem = name.split('.').next().unwrap_or_default();
    let stem = stem.trim_end().to_uppercase();
    let mut letters = stem.chars();
    let last = letters.next_back();
    let is_port = ["COM", "LPT"].contains(&letters.as_str())
        && last.is_some_and(|last| matches!(last, '0'..='9' | '¹' | '²' | '³'));
    if name.contains(':') {
        Some("a name with a colon, which is a stream of another file on Windows")
    } else if name.ends_with(['.', ' ']) {
        Some("a name that ends in a dot or a blank, which Windows removes")
    } else if is_port || DEVICES.contains(&stem.as_str()) {
        Some("the name of a device of Windows")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_devices_and_streams_and_names_that_windows_shortens_are_found() {
        for (name, words) in [
            ("CON", "device"),
            ("nul.json", "device"),
            ("Com1.tokens.json", "device"),
            ("lpt³", "device"),
            ("aux .json", "device"),
            ("tokens.json:secret", "colon"),
            ("c:tokens", "colon"),
            ("tokens.json ", "blank"),
            ("tokens.", "dot"),
        ] {
            let found = problem(name).unwrap_or_default();
            assert!(found.contains(words), "{name}: {found}");
        }
        for name in
            "tokens.json|console|com|COM10|nul-tokens|.aux|my tokens.json|Ferme à l'été.json"
                .split('|')
        {
            assert_eq!(problem(name), None, "{name}");
        }
    }
}
