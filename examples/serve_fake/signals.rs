//! What ends the server.

use std::io;

/// Waits for Ctrl-C or SIGTERM.
#[cfg(unix)]
pub(crate) async fn stop() -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted,
        _ = terminate.recv() => Ok(()),
    }
}

/// Waits for Ctrl-C.
#[cfg(not(unix))]
pub(crate) async fn stop() -> io::Result<()> {
    tokio::signal::ctrl_c().await
}
