//! Lines from the user or from a script.

use std::io::{self, BufRead, IsTerminal};
use std::thread;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::cli::{self, Failure};
use super::screen;
use super::script::{self, Prompt};

/// The user's response to a prompt.
#[derive(Debug)]
pub(crate) enum Typed {
    Line(String),
    /// Ctrl-C, or `quit`.
    Interrupted,
    /// The end of stdin.
    End,
}

pub(crate) struct User {
    lines: UnboundedReceiver<String>,
    interrupts: Interrupts,
    is_terminal: bool,
    /// True until the first line from stdin.
    is_first: bool,
    is_script: bool,
}

#[cfg(unix)]
type Interrupts = tokio::signal::unix::Signal;
#[cfg(windows)]
type Interrupts = tokio::signal::windows::CtrlC;

impl User {
    pub(crate) fn new() -> Result<Self, Failure> {
        let (sender, lines) = unbounded_channel();
        // A blocking read of stdin cannot be cancelled: the thread ends with the program.
        thread::spawn(move || {
            let mut stdin = io::stdin().lock();
            let mut line = Vec::new();
            while matches!(stdin.read_until(b'\n', &mut line), Ok(1..)) {
                if sender
                    .send(String::from_utf8_lossy(&line).trim().to_owned())
                    .is_err()
                {
                    return;
                }
                line.clear();
            }
        });
        Ok(Self {
            lines,
            interrupts: cli::interrupts()?,
            is_terminal: io::stdin().is_terminal(),
            is_first: true,
            is_script: false,
        })
    }

    /// Returns the next line. Handles `help` itself; `quit` acts like Ctrl-C.
    pub(crate) async fn line(&mut self, prompt: &Prompt<'_>) -> Typed {
        loop {
            match self.any_line(prompt).await {
                Typed::Line(line) if line.eq_ignore_ascii_case("help") => screen::help(),
                Typed::Line(line) if line.eq_ignore_ascii_case("quit") => {
                    return Typed::Interrupted;
                }
                typed => return typed,
            }
        }
    }

    /// Reads the next line, and echoes it if stdin is not a terminal.
    async fn any_line(&mut self, prompt: &Prompt<'_>) -> Typed {
        let line = if self.is_script {
            None
        } else {
            tokio::select! {
                line = self.lines.recv() => line,
                _ = self.interrupts.recv() => {
                    eprintln!();
                    return Typed::Interrupted;
                }
            }
        };
        // Stdin is empty, as in an unattended run: use the script.
        self.is_script |= line.is_none() && self.is_first && !self.is_terminal;
        self.is_first = false;
        let line = if self.is_script {
            Some(script::answer(prompt))
        } else {
            line
        };
        let Some(line) = line else {
            eprintln!();
            return Typed::End;
        };
        if !self.is_terminal {
            eprintln!("{}", cli::printable(&line));
        }
        Typed::Line(line)
    }
}
