//! Listeners of this program that only serve the final page of a login again.

use std::sync::Mutex;

use tokio::task::JoinHandle;

use crate::locked::lock;

/// The tasks by port. The next listener of the program may need the port.
static REPEATED: Mutex<Vec<(u16, JoinHandle<()>)>> = Mutex::new(Vec::new());

pub(super) fn start(port: u16, task: impl Future<Output = ()> + Send + 'static) {
    let mut repeated = lock(&REPEATED);
    repeated.retain(|(_, task)| !task.is_finished());
    repeated.push((port, tokio::spawn(task)));
}

/// Ends the task of a port, which frees the port.
pub(super) async fn end(port: u16) {
    let ended: Vec<_> = lock(&REPEATED)
        .extract_if(.., |(theirs, _)| *theirs == port)
        .collect();
    for (_, task) in ended {
        task.abort();
        // OK to ignore: the task was aborted.
        let _ = task.await;
    }
}
