//! The parts that the web applications share: the listener, the first line on stdout, the shutdown, and the pages.

#![allow(dead_code)] // Each application uses a part of it.

mod bodies;
mod connections;
pub(crate) mod fields;
pub(crate) mod files;
pub(crate) mod guard;
pub(crate) mod pages;

use axum::Router;
use lexopt::Arg::{Long, Short};
use serde_json::json;
use tokio::net::TcpListener;
use url::Url;

use super::cli::{self, Failure};

/// Reads the arguments of an application whose only option is `--port`.
pub(crate) fn only_port(name: &str, purpose: &str) -> u16 {
    let usage = &format!(
        "usage: {name} [--port N]\n\n{purpose} Ctrl-C ends it.\n\n  --port N    the port; a free one unless set"
    );
    cli::arguments(usage, |given| {
        let mut read = 0;
        while let Some(argument) = given.next()? {
            match argument {
                Long("port") => read = cli::port(given)?,
                Short('h') | Long("help") => cli::help(usage),
                _ => return Err(argument.unexpected()),
            }
        }
        Ok(read)
    })
}

/// Listens on the loopback address. Also returns the address for a browser.
pub(crate) async fn listen(port: u16) -> Result<(TcpListener, Url), Failure> {
    let listener = TcpListener::bind(("127.0.0.1", port)).await;
    let listener = listener.map_err(|error| format!("cannot listen on port {port}: {error}"))?;
    let address = format!("http://{}/", listener.local_addr()?);
    Ok((listener, Url::parse(&address)?))
}

/// Serves an application until Ctrl-C or SIGTERM. The first line on stdout is a JSON object with its address in the browser
/// and its port.
pub(crate) async fn serve(listener: TcpListener, app: Router, home: &Url) -> Result<(), Failure> {
    // Install the handler before printing: a program may send SIGTERM as soon as it has read the line.
    let stop = cli::stop()?;
    let port = listener.local_addr()?.port();
    cli::announce(&json!({"url": home.as_str(), "port": port}))?;
    eprintln!("Open {home} in a browser; Ctrl-C stops the server.");
    connections::serve(listener, app, stop).await;
    Ok(())
}

/// 128 random bits.
pub(crate) fn random_id() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}
