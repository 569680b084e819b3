//! Starts programs and child processes, and stands between them and their servers.
//!
//! * [`Program`]: an example of the root package, [`Ended`] what it printed, [`Running`] one that serves, [`Terminal`] one at a
//!   terminal.
//! * [`Process`]: one that runs beside the test; it may be the test binary again, with one of its tests as the program ([`child!`]).
//! * [`Proxy`]: a TCP proxy that stops at a request of HTTP or at a statement of Postgres.
//! * [`Folder`]: files of one test.
//! * [`stories`]: tables of what programs are called with and what they print.

mod folder;
pub mod http;
mod process;
mod program;
mod proxy;
mod statements;
pub mod stories;
#[cfg(unix)]
mod terminal;

pub use equipment::script::rows;
pub use folder::Folder;
#[cfg(unix)]
pub use process::signal;
pub use process::{Process, again, reply, task, until, within};
pub use program::{Ended, Program, Running, json_lines};
pub use proxy::{Mode, Proxy};
#[cfg(unix)]
pub use rustix::process::Signal;
#[cfg(unix)]
pub use terminal::Terminal;
