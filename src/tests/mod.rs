//! What unit tests of several rooms share: seeds of property tests, and cases that both readings of the specification judge.

pub(crate) mod reading;
pub(crate) mod seeded;
