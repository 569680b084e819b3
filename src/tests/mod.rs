//! What unit tests of several rooms share: seeds of property tests, the runner of random schedules, and cases that both readings of the specification judge.

pub(crate) mod reading;
pub(crate) mod schedules;
pub(crate) mod seeded;
