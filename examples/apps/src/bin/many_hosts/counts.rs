//! Counts the requests that the fake has received, by host.

use std::collections::HashSet;

use envd_sdk::fake::{Fake, Received};
use serde_json::Value;

/// The header with the number of the host.
pub(crate) const HOST: &str = "x-host";

/// The operations that list the consignments of an account, and save one.
pub(crate) const LIST: &str = "Consignments";
pub(crate) const CREATE: &str = "CreateOrSaveConsignment";

/// The number of requests for an operation that a host has sent.
pub(crate) fn of_host(fake: &Fake, host: usize, operation: &str) -> usize {
    let mut received = fake.requests();
    received.retain(|request| is_from(request, host));
    let of = received.iter().map(Received::operation);
    of.filter(|name| name.as_deref() == Some(operation)).count()
}

/// The number of consignments that the fake has for an account.
pub(crate) fn records(fake: &Fake, account: &str) -> usize {
    fake.consignments::<Value>(account).len()
}

/// Prints the number of requests of each host, and the totals.
pub(crate) fn table(fake: &Fake, hosts: usize) {
    println!("host   accounts   requests   declarations");
    let mut sums = [0; 2];
    let mut all = HashSet::new();
    for host in 1..=hosts {
        let mut received = fake.requests();
        received.retain(|request| is_from(request, host));
        let accounts: HashSet<String> = received.iter().filter_map(account).collect();
        let counts = [received.len(), of_host(fake, host, CREATE)];
        println!(
            "{host:4} {:10} {:10} {:14}",
            accounts.len(),
            counts[0],
            counts[1]
        );
        sums = [sums[0] + counts[0], sums[1] + counts[1]];
        all.extend(accounts);
    }
    println!(" all {:10} {:10} {:14}", all.len(), sums[0], sums[1]);
}

fn is_from(request: &Received, host: usize) -> bool {
    request.header(HOST) == Some(&*host.to_string())
}

fn account(request: &Received) -> Option<String> {
    let variables: Value = request.variables().ok()?;
    Some(variables["envdAccountId"].as_str()?.to_owned())
}
