//! Paths of 260 characters or more on Windows.

/// The prefix with which Windows opens an absolute path of more than 259 characters, if the path needs it. The standard library adds
/// it by itself, `SQLite` does not.
pub(super) fn long_path(path: &str) -> Option<String> {
    // SQLite appends up to eight characters.
    if path.len() + "-journal".len() < 260 {
        return None;
    }
    match path.strip_prefix(r"\\") {
        // It has a prefix, but the default file system of SQLite refuses a path of more than 1,040 bytes.
        Some(marked) if marked.starts_with(['?', '.']) => Some(path.to_owned()),
        Some(share) => Some(format!(r"\\?\UNC\{share}")),
        None => Some(format!(r"\\?\{path}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_long_path_gets_the_prefix_of_its_kind() {
        let folders = r"folder\".repeat(40);
        for (start, prefixed) in [
            (r"C:\", r"\\?\C:\"),
            (r"\\server\share\", r"\\?\UNC\server\share\"),
            (r"\\?\C:\", r"\\?\C:\"),
            (r"\\?\UNC\server\share\", r"\\?\UNC\server\share\"),
            (r"\\.\C:\", r"\\.\C:\"),
        ] {
            assert_eq!(long_path(&format!("{start}farm.db")), None);
            let long = long_path(&format!("{start}{folders}farm.db"));
            assert_eq!(long, Some(format!("{prefixed}{folders}farm.db")));
        }
        // The database has 252 characters, and its journal 260.
        let name = |length: usize| format!(r"C:\{}", "x".repeat(length - 3));
        assert_eq!(long_path(&name(251)), None);
        assert!(long_path(&name(252)).is_some());
    }
}
