//! Prints questions and the changes of an answer.

use envd_sdk::validate::{Change, Item, Progress};

use super::cli::printable;

/// Prints the question, and why it applies.
pub(crate) fn show(item: &Item, progress: Progress) {
    eprintln!(
        "\n[{} of {}] {} {}",
        progress.answered,
        progress.questions,
        printable(&item.text),
        if item.required { "(required)" } else { "" }
    );
    let why = item.why.as_deref();
    let why = why.map_or("always asked".into(), |why| format!("asked because {why}"));
    let line = format!("question {}: {why}", item.question);
    eprintln!("  {}", printable(line));
}

/// Prints new findings and vanished questions.
pub(crate) fn show_change(change: &Change) {
    for finding in &change.added {
        let line = format!("{}: {}", finding.severity, finding.sentence());
        eprintln!("  {}", printable(line));
    }
    for question in &change.vanished {
        eprintln!("  question {} is no longer asked", printable(question));
    }
}
