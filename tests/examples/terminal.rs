//! A pseudo-terminal for an interactive example.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::{Child, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

use super::program::{Ended, Program};

/// The side of the user.
pub(crate) struct Terminal {
    user: File,
    child: Child,
}

impl Terminal {
    /// Starts the example with the terminal as its stdin and stderr.
    pub(crate) fn start(mut program: Program) -> Self {
        let user = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&user).unwrap();
        unlockpt(&user).unwrap();
        let name = ptsname(&user, Vec::new()).unwrap().into_string().unwrap();
        let side = OpenOptions::new()
            .read(true)
            .write(true)
            .open(name)
            .unwrap();
        // Raw mode: each key reaches the example as a byte, even if it is typed before the example reads.
        let mut modes = tcgetattr(&side).unwrap();
        modes.make_raw();
        tcsetattr(&side, OptionalActions::Now, &modes).unwrap();
        program.0.stdin(Stdio::from(side.try_clone().unwrap()));
        program.0.stdout(Stdio::piped()).stderr(Stdio::from(side));
        let child = program.0.spawn().unwrap();
        let user = File::from(user);
        Self { user, child }
    }

    pub(crate) fn send_keys(&mut self, keys: &str) {
        self.user.write_all(keys.as_bytes()).unwrap();
    }

    /// Reads the output up to this text.
    pub(crate) fn read_until(&mut self, text: &str) {
        let (mut shown, mut some) = (Vec::new(), [0; 1]);
        while !shown.ends_with(text.as_bytes()) {
            let read = self.user.read(&mut some).unwrap_or(0);
            assert_ne!(read, 0, "no {text}: {}", String::from_utf8_lossy(&shown));
            shown.extend(some);
        }
    }

    /// Exit code and output; `stderr` is the rest of the terminal output.
    pub(crate) fn wait(mut self) -> Ended {
        // Only the child has its side open: reading fails after it has exited.
        let mut shown = Vec::new();
        let _ = self.user.read_to_end(&mut shown);
        let mut ended = Ended::from(self.child.wait_with_output().unwrap());
        ended.stderr = String::from_utf8(shown).unwrap();
        ended
    }
}
