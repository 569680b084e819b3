//! The processes of the hosts, and the table of their results.

use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use lexopt::Arg::{Long, Short};
use lexopt::ValueExt;

use super::USAGE;
use super::cli::{self, Failure};

/// The option that passes the token endpoint to a host.
const HOST: &str = "--host-of";

/// The token endpoint, if this process is a host.
pub(crate) fn token_url(given: &mut lexopt::Parser) -> Result<Option<String>, lexopt::Error> {
    match given.next()? {
        None => Ok(None),
        Some(Long("host-of")) => Ok(Some(given.value()?.string()?)),
        Some(Short('h') | Long("help")) => cli::help(USAGE),
        Some(other) => Err(other.unexpected()),
    }
}

/// The first line that a host prints.
pub(crate) const READY: &str = "ready";

/// A host: a process that prints one line for each line that it reads.
pub(crate) struct Host {
    process: Child,
    words: io::Lines<BufReader<ChildStdout>>,
    lines: ChildStdin,
    counts: [usize; 3],
}

impl Host {
    pub(crate) fn spawn(token_url: &str) -> Result<Self, Failure> {
        let mut process = Command::new(env::current_exe()?)
            .args([HOST, token_url])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = process.stdout.take().ok_or("no output")?;
        Ok(Self {
            lines: process.stdin.take().ok_or("no input")?,
            words: BufReader::new(output).lines(),
            counts: [0; 3],
            process,
        })
    }

    /// Waits until the host has a token.
    pub(crate) fn wait_until_ready(&mut self) -> Result<(), Failure> {
        let word = self.words.next().ok_or("a host has ended")??;
        if word == READY {
            Ok(())
        } else {
            Err(word.into())
        }
    }

    /// Sends a line; the host prints its reply when it has a token.
    pub(crate) fn send(&mut self, line: &str) -> io::Result<()> {
        writeln!(self.lines, "{line}")
    }

    /// Waits for the reply and counts it.
    pub(crate) fn count(&mut self) -> Result<(), Failure> {
        let word = self.words.next().ok_or("a host has ended")??;
        let column = ["refreshed", "adopted"]
            .iter()
            .position(|known| *known == word);
        self.counts[column.unwrap_or(2)] += 1;
        if column.is_none() {
            eprintln!("{}", cli::printable(word));
        }
        Ok(())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Prints a line for each host and the sums. Returns the sums.
pub(crate) fn table(hosts: &[Host]) -> [usize; 3] {
    println!("host   refreshed   adopted   lost");
    let mut sums = [0; 3];
    for (number, host) in (1..).zip(hosts) {
        let [refreshed, adopted, lost] = host.counts;
        println!("{number:4} {refreshed:11} {adopted:9} {lost:6}");
        sums = [sums[0] + refreshed, sums[1] + adopted, sums[2] + lost];
    }
    println!(" all {:11} {:9} {:6}", sums[0], sums[1], sums[2]);
    sums
}
