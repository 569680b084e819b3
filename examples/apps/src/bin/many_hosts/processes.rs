//! The processes of the hosts.

use std::env;
use std::process::{Child, Command, Stdio};

use envd_sdk::fake::Fake;
use lexopt::Arg::{Long, Short};
use lexopt::ValueExt;

use super::USAGE;
use super::cli::{self, Failure};

/// Where the fake is.
pub(crate) struct Addresses {
    pub(crate) service: String,
    pub(crate) tokens: String,
}

impl Addresses {
    pub(crate) fn of(fake: &Fake) -> Self {
        Self {
            service: fake.graphql_url().into(),
            tokens: fake.token_url().into(),
        }
    }
}

/// The number of this host, and where the fake is; `None`: this process is no host.
pub(crate) fn host(
    given: &mut lexopt::Parser,
) -> Result<Option<(usize, Addresses)>, lexopt::Error> {
    match given.next()? {
        None => Ok(None),
        Some(Long("host")) => {
            let number = given.value()?.parse()?;
            let (service, tokens) = (given.value()?.string()?, given.value()?.string()?);
            Ok(Some((number, Addresses { service, tokens })))
        }
        Some(Short('h') | Long("help")) => cli::help(USAGE),
        Some(other) => Err(other.unexpected()),
    }
}

/// The hosts, which are killed when this is dropped.
pub(crate) struct Hosts(Vec<Child>);

impl Hosts {
    pub(crate) fn start(hosts: usize, addresses: &Addresses) -> Result<Self, Failure> {
        let mut started = Self(Vec::new());
        for number in 1..=hosts {
            let host = Command::new(env::current_exe()?)
                .args(["--host", &number.to_string()])
                .args([&addresses.service, &addresses.tokens])
                .stdin(Stdio::piped())
                .spawn()?;
            started.0.push(host);
        }
        Ok(started)
    }

    /// Kills a host; the first one is 1.
    pub(crate) fn kill(&mut self, number: usize) -> Result<(), Failure> {
        let host = &mut self.0[number - 1];
        host.kill()?;
        host.wait()?;
        Ok(())
    }

    /// Lets the hosts give their accounts back and end.
    pub(crate) fn stop(&mut self) -> Result<(), Failure> {
        for host in &mut self.0 {
            drop(host.stdin.take());
        }
        for host in &mut self.0 {
            host.wait()?;
        }
        Ok(())
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for host in &mut self.0 {
            let _ = host.kill();
            let _ = host.wait();
        }
    }
}
