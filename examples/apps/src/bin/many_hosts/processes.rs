//! The processes of the hosts.

use std::env;
use std::process::{Child, Command};

use envd_sdk::fake::Fake;

use super::cli::Failure;

/// The host processes; dropping this kills them.
pub(crate) struct Hosts(Vec<Child>);

impl Hosts {
    pub(crate) fn start(hosts: usize, fake: &Fake) -> Result<Self, Failure> {
        let mut started = Self(Vec::new());
        for number in 1..=hosts {
            // Few concurrent jobs, so that each host gets some of the accounts. The fake processes a request immediately or
            // never, so a short wait is enough after a lost reply.
            let host = Command::new(env::current_exe()?)
                .args(["host", "--name", &number.to_string(), "--jobs", "3"])
                .args(["--lease", "3", "--settle", "3"])
                .env("ENVD_GRAPHQL_URL", fake.graphql_url().as_str())
                .env("ENVD_AUTHORIZE_URL", fake.authorize_url().as_str())
                .env("ENVD_TOKEN_URL", fake.token_url().as_str())
                .env("ENVD_REVOKE_URL", fake.revoke_url().as_str())
                .env("ENVD_CLIENT_ID", fake.client_id())
                .env("ENVD_AUDIENCE", fake.audience())
                .env_remove("ENVD_ACCESS_TOKEN")
                .spawn()?;
            started.0.push(host);
        }
        Ok(started)
    }

    /// Kills a host; hosts are numbered from 1.
    pub(crate) fn kill(&mut self, number: usize) -> Result<(), Failure> {
        let host = &mut self.0[number - 1];
        host.kill()?;
        host.wait()?;
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
