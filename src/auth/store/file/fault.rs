//! The points at which tests let a write fail or a process die.

use std::io;
#[cfg(test)]
use std::sync::Arc;

/// A point in the life of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Point {
    /// A lock is about to be taken.
    Lock,
    /// The file was read, and nothing is written yet.
    Begin,
    /// The new file is made, and nothing is in it yet.
    Made,
    /// The new file is whole, beside the old one.
    Written,
    /// The new file is in place.
    Renamed,
}

/// Does nothing, outside of tests.
#[derive(Clone, Default)]
pub(super) struct Faults {
    #[cfg(test)]
    pub(super) at: Option<Arc<dyn Fn(Point) -> io::Result<()> + Send + Sync>>,
}

#[cfg(not(test))]
impl Faults {
    #[allow(clippy::unused_self, clippy::unnecessary_wraps)]
    pub(super) fn pass(&self, _: Point) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
impl Faults {
    pub(super) fn new(at: impl Fn(Point) -> io::Result<()> + Send + Sync + 'static) -> Self {
        Self {
            at: Some(Arc::new(at)),
        }
    }

    pub(super) fn pass(&self, point: Point) -> io::Result<()> {
        self.at.as_ref().map_or(Ok(()), |at| at(point))
    }
}
