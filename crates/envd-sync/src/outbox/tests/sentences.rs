//! What is said to people, of each state and of each answer.

use std::sync::Arc;

use super::cases::{lines, row};
use crate::outbox::row::Happened;
use crate::outbox::{Declaration, Reason};

/// A declaration of a row in words, or with a reason that only a process knows.
fn shown(words: &str) -> Declaration {
    let mut row = row(words);
    row.history.push(Happened {
        at: 1_795_176_000,
        event: "marked".to_owned(),
        why: String::new(),
    });
    if words.contains("numbered") {
        row.shown.number = Some("C-42".to_owned());
    }
    let mut shown = Declaration::of(&Arc::new(row));
    let reasons = [
        ("offline", Reason::NoReception),
        ("logged-out", Reason::LoginNeeded),
        ("after-another", Reason::WaitsForAnother),
    ];
    let reason = reasons.into_iter().find(|(word, _)| words.contains(word));
    shown.reason = reason.map(|(_, reason)| reason).or(shown.reason);
    shown
}

/// Holds: each sentence names the declaration, the person, the time and the cause, and each answer what it will do.
#[test]
fn people_read_what_the_table_says() {
    let mut seen = String::new();
    for line in lines(include_str!("sentences.txt")) {
        let shown = shown(line[0]);
        seen += &format!("{} | {}\n", line[0], shown.sentence());
        for decision in shown.decisions() {
            seen += &format!("  {decision} | {}\n", shown.consequence(&decision));
        }
    }
    let expected: Vec<&str> = include_str!("sentences.txt")
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .collect();
    let seen: Vec<&str> = seen.lines().collect();
    assert_eq!(seen, expected);
}
