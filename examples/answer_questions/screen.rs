//! What the user sees of a question, and of what an answer has changed.

use envd_sdk::validate::{AppliedQuestion, Change, Progress};

/// The question, and why it is asked.
pub(crate) fn show(asked: &AppliedQuestion, progress: Progress) {
    eprintln!(
        "\n[{} of {}] {} {}",
        progress.answered,
        progress.questions,
        asked.text,
        if asked.required { "(required)" } else { "" }
    );
    eprintln!("  question {}: {}", asked.question, why(asked));
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
        eprintln!("  {}: {} ({})", finding.severity, finding, finding.code);
    }
    for question in &change.vanished {
        eprintln!("  question {question} is no longer asked");
    }
}
