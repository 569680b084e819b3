//! Checks that each public async function says what happens if its future is dropped before it completes.

use super::{product_files, product_text};

/// The public async functions of a file, each with whether its doc comment has the section.
fn async_functions(text: &str) -> Vec<(&str, bool)> {
    let mut found = Vec::new();
    let mut has_section = false;
    for line in product_text(text).lines().map(str::trim) {
        if let Some(function) = line.strip_prefix("pub async fn ") {
            let name = function.split(['(', '<']).next().unwrap();
            found.push((name, has_section));
        }
        if line.starts_with("///") {
            has_section |= line == "/// # Cancel safety";
        } else if line.is_empty() || line.ends_with(['{', '}', ';']) {
            // The end of another item. Attributes, which may have several lines, end differently.
            has_section = false;
        }
    }
    found
}

#[test]
fn public_async_functions_say_what_a_dropped_future_leaves() {
    let planted = "
/// Reads.
///
/// # Cancel safety
///
/// A read: dropping the future has no effect.
#[doc(alias(
    \"get\",
))]
pub async fn read(&self) -> Result<()> {
}

/// Writes.
///
/// # Errors
///
/// If the disk is full.
pub async fn write<T>(
    &self,
) {
}
pub async fn delete() {}
mod tests {
    pub async fn in_a_test() {}
";
    let expected = [("read", true), ("write", false), ("delete", false)];
    assert_eq!(async_functions(planted), expected);

    let mut count = 0;
    let mut missing = Vec::new();
    for (path, text) in product_files() {
        // The fake is for tests, where few futures are dropped.
        if path.starts_with("src/fake/") {
            continue;
        }
        for (name, has_section) in async_functions(&text) {
            count += 1;
            if !has_section {
                missing.push(format!("{path}: {name}"));
            }
        }
    }
    assert!(count > 50, "only {count} functions were read");
    assert!(missing.is_empty(), "no section: {missing:#?}");
}
