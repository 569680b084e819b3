//! How long the application is served.

use axum::Router;
use tokio::net::TcpListener;
use url::Url;

use super::cli::Failure;
use super::visit;

/// Until Ctrl-C.
pub(crate) async fn stay(listener: TcpListener, app: Router, home: &Url) -> Result<(), Failure> {
    println!("Open {home}; Ctrl-C ends.");
    // OK to ignore: without the signal the server ends at once.
    let stop = async { drop(tokio::signal::ctrl_c().await) };
    Ok(axum::serve(listener, app)
        .with_graceful_shutdown(stop)
        .await?)
}

/// For the visit of one user.
pub(crate) async fn show(listener: TcpListener, app: Router, home: &Url) -> Result<(), Failure> {
    tokio::spawn(axum::serve(listener, app).into_future());
    visit::play(home).await
}
