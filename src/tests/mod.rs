//! What unit tests of several rooms share: cases that both readings of the specification judge.

pub(crate) mod reading;
