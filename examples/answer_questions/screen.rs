//! What the user sees of a question, and of what an answer has changed.

use envd_sdk::validate::{AppliedQuestion, Change, Progress};

use super::cli::printable;

/// The question, and why it is asked.
pub(crate) fn show(asked: &AppliedQuestion, progress: Progress) {
    eprintln!(
        "\n[{} of {}] {} {}",
        progress.answered,
        progress.questions,
        printable(&asked.text),
        if asked.required { "(required)" } else { "" }
    );
    let why = format!("question {}: {}", asked.question, why(asked));
    eprintln!("  {}", printable(why));
}

fn why(asked: &AppliedQuestion) -> String {
    if asked.because.is_empty() {
        return "asked of everybody".to_owned();
    }
    let reasons: Vec<String> = asked.because.iter().map(ToString::to_string).collect();
    format!("asked because {}", reasons.join(" and "))
}

/// What has become wrong, and which questions have gone.
pub(crate) fn tell(change: &Change) {
    for finding in &change.added {
        let said = format!("{}: {finding} ({})", finding.severity, finding.code);
        eprintln!("  {}", printable(said));
    }
    for question in &change.vanished {
        eprintln!("  question {} is no longer asked", printable(question));
    }
}
