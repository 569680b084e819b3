//! Constructions that save a line and cost a reader more.

use super::rust_files;

/// A tuple on both sides of a `let`, in 10,000 lines: two bindings are plainer, except for a swap.
const MOST_TUPLES: usize = 5;

/// Whether the line binds a tuple pattern to a tuple written in place.
fn is_tuple_let(line: &str) -> bool {
    let Some((pattern, value)) = line.split_once(" = ") else {
        return false;
    };
    pattern.trim_start().starts_with("let (") && value.starts_with('(') && value.ends_with(");")
}

#[test]
fn values_are_bound_one_by_one_and_chosen_by_if() {
    assert!(is_tuple_let("    let (a, b) = (one(), two());"));
    assert!(!is_tuple_let("    let (a, b) = both();"));
    let mut lines = 0;
    let mut tuples = Vec::new();
    let mut chosen = Vec::new();
    for (path, text) in rust_files(".") {
        if path.ends_with("plain_rust.rs") {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            lines += 1;
            if is_tuple_let(line) {
                tuples.push(format!("{path}:{}", number + 1));
            }
            if line.contains("][usize::from(") && !line.contains("..") {
                chosen.push(format!("{path}:{}", number + 1));
            }
        }
    }
    assert!(lines > 10_000, "{lines} lines");
    assert!(tuples.len() * 10_000 <= MOST_TUPLES * lines, "{tuples:#?}");
    assert!(
        chosen.is_empty(),
        "write `if` instead of an index: {chosen:#?}"
    );
}
