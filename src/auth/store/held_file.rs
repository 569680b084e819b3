//! Retries while another program briefly holds a file. A virus scanner, a backup or a synchronised folder may open a file right
//! after it was written. Until it closes the file, opening, renaming or deleting it may be denied.

use std::io;
use std::time::Duration;

/// The waits between attempts in milliseconds, two thirds of a second in total.
const WAITS: [u64; 6] = [10, 20, 40, 80, 160, 320];

/// Retries for up to a second while another program may hold the file. Blocks.
pub(super) fn while_held<T>(attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    while_held_with(self::system::wait, attempt)
}

fn while_held_with<T>(
    wait: impl Fn(Duration),
    mut attempt: impl FnMut() -> io::Result<T>,
) -> io::Result<T> {
    for millis in WAITS {
        match attempt() {
            Err(error) if may_be_held(&error) => wait(Duration::from_millis(millis)),
            done => return done,
        }
    }
    attempt()
}

/// Systems report a held file like missing permissions. Only a held file becomes accessible after a while.
fn may_be_held(error: &io::Error) -> bool {
    let kinds = [io::ErrorKind::PermissionDenied, io::ErrorKind::ResourceBusy];
    is_open_elsewhere(error) || kinds.contains(&error.kind())
}

/// True if Windows denies access because another program has the file open. It has no [`io::ErrorKind`].
pub(super) fn is_open_elsewhere(error: &io::Error) -> bool {
    // ERROR_SHARING_VIOLATION and ERROR_LOCK_VIOLATION.
    cfg!(windows) && matches!(error.raw_os_error(), Some(32 | 33))
}

#[cfg(not(test))]
mod system {
    pub(super) use std::thread::sleep as wait;
}

/// Tests do not sleep: they run a closure instead of each wait.
#[cfg(test)]
pub(super) mod system {
    use std::cell::RefCell;
    use std::time::Duration;

    thread_local! {
        static WAITING: RefCell<Option<Box<dyn FnMut()>>> = const { RefCell::new(None) };
    }

    pub(in crate::auth) fn while_waiting(work: impl FnMut() + 'static) {
        WAITING.set(Some(Box::new(work)));
    }

    pub(super) fn wait(_: Duration) {
        WAITING.with_borrow_mut(|work| work.iter_mut().for_each(|work| work()));
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::*;

    /// Row 61.
    #[test]
    fn a_file_is_tried_again_for_less_than_a_second_while_it_may_be_held() {
        use io::ErrorKind::{NotFound, PermissionDenied, ResourceBusy, StorageFull};
        for (kind, failures, tries, is_done) in [
            (PermissionDenied, 1, 2, true),
            (PermissionDenied, 6, 7, true),
            (PermissionDenied, 7, 7, false),
            (ResourceBusy, 3, 4, true),
            (NotFound, 1, 1, false),
            (StorageFull, 1, 1, false),
        ] {
            let waited = RefCell::new(Duration::ZERO);
            let tried = Cell::new(0);
            let done = while_held_with(
                |pause| *waited.borrow_mut() += pause,
                || {
                    tried.set(tried.get() + 1);
                    if tried.get() <= failures {
                        Err(kind.into())
                    } else {
                        Ok(())
                    }
                },
            );
            assert_eq!((tried.get(), done.is_ok()), (tries, is_done), "{kind}");
            assert!(waited.into_inner() < Duration::from_secs(1));
            assert!(done.is_ok() || done.is_err_and(|error| error.kind() == kind));
        }
    }
}
