//! A host: serves accounts until its input ends.

use std::io;

use envd_sdk::Client;
use envd_sdk::sync::fleet::FleetEvent;

use super::cli::{self, Failure};
use super::counts::HOST;
use super::processes::Addresses;
use super::service;

pub(crate) async fn run(
    database: &str,
    number: usize,
    addresses: &Addresses,
) -> Result<(), Failure> {
    let manager = service::manager(database, &addresses.tokens)?;
    // One client for all accounts. A service with many users gives each account the token source of its user.
    let client = Client::builder(&*addresses.service)
        .token_source(manager)
        .header(HOST, number.to_string())
        .build()?;
    let running = service::fleet(database)?.run(move |id| {
        let account = client.account(id);
        async { Ok(account) }
    });
    let running = running.on_event(move |event| match event {
        FleetEvent::Failed { account, error, .. } => {
            eprintln!("host {number}, {account}: {}", cli::printable(error));
        }
        FleetEvent::DatabaseFailed { error, .. } => {
            eprintln!("host {number}: {}", cli::printable(error));
        }
        _ => {}
    });
    let handle = running.handle();
    std::thread::spawn(move || {
        // A line, an error or the end: each stops it.
        let _ = io::stdin().read_line(&mut String::new());
        handle.stop();
    });
    running.await;
    Ok(())
}
