//! Starts programs and child processes, and stands between them and their servers.
//!
//! * [`Program`]: an example of the root package, [`Ended`] what it printed, [`Running`] one that serves, [`Terminal`] one at a
//!   terminal.
//! * [`Child`]: the test binary again, with one of its tests as the program ([`child!`]).
//! * [`Proxy`]: a TCP proxy that stops at a request of HTTP or at a statement of Postgres.
//! * [`Folder`]: files of one test.

mod child;
mod folder;
pub mod http;
mod program;
mod proxy;
mod statements;
#[cfg(unix)]
mod terminal;

#[cfg(unix)]
pub use child::signal;
pub use child::{Child, again, reply, task};
pub use folder::Folder;
pub use program::{Ended, Program, Running, json_lines};
pub use proxy::{Mode, Proxy};
#[cfg(unix)]
pub use rustix::process::Signal;
#[cfg(unix)]
pub use terminal::Terminal;
