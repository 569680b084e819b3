//! A line of progress on stderr; it appears only on a terminal, and is cleared at the end.
//!
//! A pager that reads the output through a pipe (`| less`) uses the same terminal, so a program in a pipe shows no progress.

use console::Term;

/// The line, which is cleared when this is dropped.
#[derive(Clone)]
pub(crate) struct Progress {
    term: Option<Term>,
}

impl Progress {
    /// Nothing is shown yet.
    pub(crate) fn new() -> Self {
        let term = Some(Term::stderr()).filter(|term| term.is_term() && Term::stdout().is_term());
        Self { term }
    }

    /// Never shows anything.
    #[allow(dead_code)] // Not every example has a quiet mode.
    pub(crate) fn hidden() -> Self {
        Self { term: None }
    }

    /// Shows the number of records done, and the total if it is known.
    pub(crate) fn show(&self, done: u64, all: Option<u64>) {
        let all = all.map_or(String::new(), |all| format!(" of {all}"));
        self.clear();
        if let Some(term) = &self.term {
            // An error of the terminal is not an error of the program.
            let _ = term.write_str(&format!("{done}{all} records"));
        }
    }

    /// Clears the line, so that another one can be printed.
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
