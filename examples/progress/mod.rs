//! A progress line on stderr, shown only on a terminal and cleared at the end.
//!
//! If the output goes to a pipe, its reader (`| less`) may use the same terminal, so the line is not shown.

use console::Term;

/// The progress line; dropping it clears the line.
#[derive(Clone)]
pub(crate) struct Progress {
    term: Option<Term>,
}

impl Progress {
    /// Shows nothing yet.
    pub(crate) fn new() -> Self {
        let term = Some(Term::stderr()).filter(|term| term.is_term() && Term::stdout().is_term());
        Self { term }
    }

    /// Never shows anything.
    #[allow(dead_code)] // Not every example has a quiet mode.
    pub(crate) fn hidden() -> Self {
        Self { term: None }
    }

    /// Shows how many of all records are done.
    pub(crate) fn show(&self, done: u64, all: Option<u64>) {
        let all = all.map_or(String::new(), |all| format!(" of {all}"));
        self.clear();
        if let Some(term) = &self.term {
            // Ignore terminal errors: progress is optional.
            let _ = term.write_str(&format!("{done}{all} records"));
        }
    }

    /// Clears the line before other output.
    pub(crate) fn clear(&self) {
        if let Some(term) = &self.term {
            let _ = term.clear_line();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
