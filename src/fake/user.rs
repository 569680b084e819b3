//! Who can log in.

/// A user of the fake. In a world of your own, the first user is [`User::Nth`] with 0, which is also who logs in by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum User {
    /// Sam Sample, a producer and receiver with two accounts of the type LPA and one of another type; the first user of
    /// any world.
    #[default]
    Producer,
    /// Somebody who has a login but is not registered with the service, and so has no account; the second user.
    New,
    /// Dana Demo, a receiver without an account of the type LPA; the third user.
    Receiver,
    /// A user of your own [`World`](super::World), counted from 0.
    Nth(usize),
}

impl User {
    /// The place among the users of the world.
    pub(super) fn index(self) -> usize {
        match self {
            Self::Producer => 0,
            Self::New => 1,
            Self::Receiver => 2,
            Self::Nth(index) => index,
        }
    }
}
