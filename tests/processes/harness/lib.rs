//! Starts programs and child processes, and proxies their connections to servers.
//!
//! * [`Program`]: an example of the root package; [`Ended`]: its exit code and output; [`Running`]: an example that serves;
//!   [`Terminal`]: an example at a terminal.
//! * [`Process`]: a process that runs alongside the test; it may be the test binary again, with one test as the program ([`child!`]).
//! * [`Proxy`]: a TCP proxy that stops at an HTTP request or a Postgres statement.
//! * [`Folder`]: the files of one test.
//! * [`FormSite`]: the application `web_form`, and its pages over HTTP.
//! * [`stories`]: tables of program calls and their expected output.

mod folder;
mod form_site;
pub mod http;
mod process;
mod program;
mod proxy;
mod statements;
pub mod stories;
#[cfg(unix)]
mod terminal;

pub use folder::Folder;
pub use form_site::{FormDraft, FormPage, FormSite};
#[cfg(unix)]
pub use process::signal;
pub use process::{Process, again, reply, task, until, within};
pub use program::{Ended, Program, Running, json_lines};
pub use proxy::{Mode, Proxy};
#[cfg(unix)]
pub use rustix::process::Signal;
#[cfg(unix)]
pub use terminal::Terminal;
pub use test_support::script::rows;
pub use test_support::table;
