//! The signals that end the server.

use std::future::Future;
use std::io;

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
