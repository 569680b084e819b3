//! Waiting for something that is told when it may have changed.

use std::pin::pin;

use tokio::sync::Notify;

/// Waits until something is so; `changed` tells each time that it may have become so.
pub(super) async fn until(changed: &Notify, is_so: impl Fn() -> bool) {
    loop {
        // Listens before it looks, so that a change in between is not missed.
        let mut next = pin!(changed.notified());
        next.as_mut().enable();
        if is_so() {
            return;
        }
        next.await;
    }
}
