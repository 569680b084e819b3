//! Checks that product code does not add to or subtract from a `SystemTime` with an operator. The operators panic at the ends of the
//! type, which on Windows are the years 1601 and 30828. `transport::later`, `checked_add` and `checked_sub` do not.

use std::collections::BTreeSet;

use super::{product, product_files, words};

const TIME: &str = "SystemTime";

/// Types of fields that may have the name of another type's field.
const OTHER_TYPES: [&str; 4] = ["Duration", "u32", "u64", "usize"];

/// The variables, fields and functions of the type `SystemTime`, by their names.
#[derive(Default)]
struct Times {
    /// Declared in this file, or bound to the current time.
    variables: BTreeSet<String>,
    /// Declared in any file.
    fields: BTreeSet<String>,
    /// Declared in this file with another type.
    others: BTreeSet<String>,
    functions: BTreeSet<String>,
}

impl Times {
    fn add(&mut self, words: &[String]) {
        let mut function = "";
        for (at, word) in words.iter().enumerate() {
            let after = |count: usize| words.get(at + count).map_or("", String::as_str);
            if word == "fn" {
                function = &words[at + 1];
            }
            if word == "-" && after(1) == ">" && after(2) == TIME {
                self.functions.insert(function.to_owned());
            }
            if word == ":" && at > 0 {
                let name = &words[at - 1];
                let mut type_words = (1..6)
                    .map(after)
                    .take_while(|word| ![",", ")"].contains(word));
                if OTHER_TYPES.contains(&after(1)) {
                    self.others.insert(name.clone());
                } else if type_words.any(|word| word == TIME) {
                    self.fields.insert(name.clone());
                    self.variables.insert(name.clone());
                }
            }
            if word == "let" {
                let name = if after(1) == "mut" {
                    after(2)
                } else {
                    after(1)
                };
                let statement = words[at..].iter().take_while(|word| *word != ";");
                let statement: Vec<&str> = statement.map(String::as_str).collect();
                if statement.ends_with(&["now", "(", ")"]) {
                    self.variables.insert(name.to_owned());
                }
            }
        }
    }

    /// The left operands of sums that may overflow.
    fn sums(&self, words: &[String]) -> Vec<String> {
        let mut found = Vec::new();
        for at in 1..words.len() {
            let is_arrow = words.get(at + 1).is_some_and(|next| next == ">");
            if !["+", "-"].contains(&words[at].as_str()) || is_arrow {
                continue;
            }
            let left = &words[at - 1];
            let before = |count: usize| at.checked_sub(count).map_or("", |at| &words[at]);
            let is_time = if left == ")" {
                let call = &words[..begin_of_call(&words[..at])];
                let name = call.last().map_or("", String::as_str);
                let is_instant = call.ends_with(&["Instant", "::", "now"].map(str::to_owned));
                !is_instant && (name == "now" || self.functions.contains(name))
            } else if before(2) == "." && before(3) != "." {
                self.fields.contains(left) && !self.others.contains(left)
            } else {
                left == "UNIX_EPOCH" || self.variables.contains(left)
            };
            if is_time {
                found.push(words[at.saturating_sub(4)..=at].join(" "));
            }
        }
        found
    }
}

/// The position of the parenthesis that belongs to the one at the end.
fn begin_of_call(words: &[String]) -> usize {
    let mut depth = 0;
    for (at, word) in words.iter().enumerate().rev() {
        depth += i32::from(word == ")") - i32::from(word == "(");
        if depth == 0 {
            return at;
        }
    }
    0
}

#[test]
fn no_sum_of_a_system_time_can_panic() {
    let mut files = Vec::new();
    for (path, text) in product_files() {
        let words = words(&text);
        files.push((path, product(&words).to_vec()));
    }
    let mut everywhere = Times::default();
    for (_, words) in &files {
        everywhere.add(words);
    }
    let mut found = Vec::new();
    for (path, words) in &files {
        let mut times = Times::default();
        times.add(words);
        times.fields.clone_from(&everywhere.fields);
        times.functions.clone_from(&everywhere.functions);
        found.extend(times.sums(words).iter().map(|sum| format!("{path}: {sum}")));
    }
    assert!(found.is_empty(), "sums that may panic: {found:#?}");
    assert!(everywhere.fields.contains("issued_at") && everywhere.functions.contains("expires_at"));
}

#[test]
fn planted_sums_are_found() {
    for (code, count) in [
        ("fn f(now: SystemTime) { now + DAY }", 1),
        ("fn f(now: SystemTime) { let a = now - DAY; }", 1),
        ("fn f(at: &SystemTime, by: Duration) { *at += by; }", 1),
        (
            "struct S { end: Option<SystemTime> } fn f() { s.end - DAY }",
            1,
        ),
        ("fn f() { let mut at = clock.now(); at += DAY; }", 1),
        ("fn f() { self.clock.now() + DAY }", 1),
        ("fn f() { SystemTime::now() + DAY }", 1),
        ("fn f() { UNIX_EPOCH + DAY }", 1),
        (
            "fn end(a: A) -> SystemTime { a } fn f() { end(a(b)) + DAY }",
            1,
        ),
        ("fn now(a: A) -> SystemTime { later(now, DAY) }", 0),
        ("fn f(now: SystemTime) { now.checked_add(DAY) }", 0),
        ("fn f(now: Duration, at: SystemTime) { now + DAY }", 0),
        ("fn f() { Instant::now() + DAY }", 0),
        ("fn f(at: SystemTime) { self.range(at..at + 1) }", 1),
    ] {
        let words = words(code);
        let mut times = Times::default();
        times.add(&words);
        assert_eq!(times.sums(&words).len(), count, "{code}");
    }
}
