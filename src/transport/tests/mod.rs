//! Equipment of tests that send requests.

mod in_process;

pub(crate) use self::in_process::InProcess;
