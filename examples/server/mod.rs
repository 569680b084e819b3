//! What the servers of the examples have in common: the option `--port`, the first line on stdout, the end, and the pages.

#![allow(dead_code)] // Each example uses a part of it.

pub(crate) mod fields;
pub(crate) mod files;
pub(crate) mod guard;
pub(crate) mod pages;

use std::future::Future;
use std::io::{self, Write};

use axum::Router;
use lexopt::Arg::{Long, Short};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use url::Url;

use super::cli::{self, Failure};

/// The value of `--port`; of 0 the system chooses a free one.
pub(crate) fn port(given: &mut lexopt::Parser) -> Result<u16, lexopt::Error> {
    let expected = "a port, 0 to 65535";
    cli::value(given, "--port", expected, |text| text.parse().ok())
}

/// Reads the arguments of an example whose only option is `--port`.
pub(crate) fn only_port(example: &str, purpose: &str) -> u16 {
    let usage = &format!(
        "usage: {example} [--port N]\n\n{purpose} Ctrl-C ends it.\n\n  --port N    the port; a free one unless set"
    );
    cli::arguments(usage, |given| {
        let mut read = 0;
        while let Some(argument) = given.next()? {
            match argument {
                Long("port") => read = port(given)?,
                Short('h') | Long("help") => cli::help(usage),
                _ => return Err(argument.unexpected()),
            }
        }
        Ok(read)
    })
}

/// Listens on the loopback address. Returns the address for a browser as well.
pub(crate) async fn listen(port: u16) -> Result<(TcpListener, Url), Failure> {
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let address = format!("http://{}/", listener.local_addr()?);
    Ok((listener, Url::parse(&address)?))
}

/// Serves an application until Ctrl-C or SIGTERM. The first line on stdout is a JSON object with its address in the browser
/// and its port.
pub(crate) async fn serve(listener: TcpListener, app: Router, home: &Url) -> Result<(), Failure> {
    // Before the line is printed: a program may send SIGTERM as soon as it has read it.
    let stop = stop()?;
    let port = listener.local_addr()?.port();
    announce(&json!({"url": home.as_str(), "port": port}))?;
    eprintln!("Open {home} in a browser; Ctrl-C stops the server.");
    let served = axum::serve(listener, app).with_graceful_shutdown(stop);
    Ok(served.await?)
}

/// Prints one line of JSON and flushes it.
pub(crate) fn announce(line: &Value) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

/// Installs the handlers at once; the future ends with Ctrl-C or SIGTERM.
#[cfg(unix)]
pub(crate) fn stop() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// The future ends with Ctrl-C.
#[cfg(not(unix))]
pub(crate) fn stop() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        // OK to ignore: without a handler, Ctrl-C ends the process.
        let _ = tokio::signal::ctrl_c().await;
    })
}

/// 128 random bits.
pub(crate) fn random_id() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}
