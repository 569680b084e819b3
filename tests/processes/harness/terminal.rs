//! A pseudo-terminal for an interactive example.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};

use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::process::{signal, watched};
use super::program::{Ended, Program};

/// The user's side of the terminal.
#[derive(Debug)]
pub struct Terminal {
    user: File,
    child: Child,
}

impl Terminal {
    /// Starts the example with the terminal as its stdin and stderr.
    pub fn start(program: Program) -> Self {
        Self::with_stdout(program, |_| Stdio::piped())
    }

    /// Starts the example with the terminal as its stdout too.
    pub fn start_all(program: Program) -> Self {
        Self::with_stdout(program, |side| Stdio::from(side.try_clone().unwrap()))
    }

    /// Like `start_all`, with this number of columns.
    pub fn start_wide(program: Program, columns: u16) -> Self {
        Self::with_stdout(program, |side| {
            let mut stty = Command::new("stty");
            stty.args(["rows", "24", "cols", &columns.to_string()]);
            assert!(
                stty.stdin(side.try_clone().unwrap())
                    .status()
                    .unwrap()
                    .success()
            );
            Stdio::from(side.try_clone().unwrap())
        })
    }

    fn with_stdout(mut program: Program, stdout: impl Fn(&File) -> Stdio) -> Self {
        let user = File::from(openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap());
        grantpt(&user).unwrap();
        unlockpt(&user).unwrap();
        let name = ptsname(&user, Vec::new()).unwrap().into_string();
        let mut side = OpenOptions::new();
        let side = side.read(true).write(true).open(name.unwrap());
        let side = side.unwrap();
        program.0.stdin(Stdio::from(side.try_clone().unwrap()));
        program.0.stdout(stdout(&side)).stderr(Stdio::from(side));
        let child = program.0.spawn().unwrap();
        Self { user, child }
    }

    /// Types a line, which the terminal echoes.
    pub fn type_line(&mut self, line: &str) {
        self.user.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Sends the signal of Ctrl-C, because this is not the controlling terminal of the example.
    pub fn interrupt(&self) {
        signal(self.child.id(), Signal::INT);
    }

    /// Reads the output up to this text.
    pub fn read_until(&mut self, text: &str) {
        let mut shown = Vec::new();
        let mut some = [0; 1];
        watched(self.child.id(), text, || {
            while !shown.ends_with(text.as_bytes()) {
                let read = self.user.read(&mut some).unwrap_or(0);
                assert_ne!(read, 0, "no {text}: {}", String::from_utf8_lossy(&shown));
                shown.extend(some);
            }
        });
    }

    /// Exit code and output; `stderr` is the rest of the terminal output.
    pub fn wait(mut self) -> Ended {
        // Only the child has the other side open, so reading fails after it has exited.
        let mut shown = Vec::new();
        let what = "the end of a program at a terminal";
        let _ = watched(self.child.id(), what, || self.user.read_to_end(&mut shown));
        let mut ended = Ended::of(self.child);
        ended.stderr = String::from_utf8(shown).unwrap();
        ended
    }
}
