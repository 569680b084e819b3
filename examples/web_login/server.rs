//! Serves the application.

use std::io::{self, Write};

use axum::Router;
use tokio::net::TcpListener;
use url::Url;

use super::cli::Failure;
use super::visit;

/// Until Ctrl-C. The first line on stdout is a JSON object with the address and the port.
pub(crate) async fn stay(listener: TcpListener, app: Router, home: &Url) -> Result<(), Failure> {
    let port = listener.local_addr()?.port();
    let line = serde_json::json!({"url": home.as_str(), "port": port});
    writeln!(io::stdout(), "{line}")?;
    eprintln!("Open {home} in a browser; Ctrl-C stops the server.");
    // OK to ignore: without the signal the server ends at once.
    let stop = async { drop(tokio::signal::ctrl_c().await) };
    Ok(axum::serve(listener, app)
        .with_graceful_shutdown(stop)
        .await?)
}

/// Until the requests of one user are done.
pub(crate) async fn show(listener: TcpListener, app: Router, home: &Url) -> Result<(), Failure> {
    tokio::spawn(axum::serve(listener, app).into_future());
    visit::play(home).await
}
