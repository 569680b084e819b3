//! What is said to people, of each state and of each answer.

use std::sync::Arc;

use super::cases::row;
use crate::outbox::row::{Happened, HistoryEventKind};
use crate::outbox::{Declaration, Reason};

/// A declaration of a row in words, or with a reason that only a process knows.
fn shown(words: &str) -> Declaration {
    let mut row = row(words);
    row.history.push(Happened {
        at: 1_795_176_000,
        event: HistoryEventKind::SendStarted,
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
    let table = include_str!("sentences.txt").lines();
    let expected: Vec<&str> = table
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .collect();
    let mut seen = Vec::new();
    for line in expected.iter().filter(|line| !line.starts_with(' ')) {
        let (words, _) = line.split_once(" | ").unwrap();
        let shown = shown(words);
        seen.push(format!("{words} | {}", shown.sentence()));
        for decision in shown.decisions() {
            seen.push(format!("  {decision} | {}", shown.consequence(&decision)));
        }
    }
    assert_eq!(seen, expected);
}
