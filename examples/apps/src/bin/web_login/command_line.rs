//! The arguments of the command line.

use std::env;

use lexopt::Arg::{Long, Short};
use url::Url;

use super::cli::{self, Failure};

const USAGE: &str = "\
usage: web_login [--serve [--port N] [--address URL]]

A web application with many users, on a fake identity provider that needs no password.
Without --serve it logs one user in and out and ends.

  --serve         runs until Ctrl-C; the first line on stdout is {\"url\": ..., \"port\": ...}
  --port N        the port on 127.0.0.1; a free one unless set
  --address URL   the address of the application in the browser, such as https://desk.example/,
                  where a proxy forwards it to the port; with https the cookies are Secure

ENVD_REDIRECT_URI is the redirect address that is registered with the identity provider, below the
address of the application; /callback unless set";

/// The options: whether to keep running, the port (0 for a free port), and the address behind a proxy.
#[derive(Default)]
pub(crate) struct Arguments {
    pub(crate) serve: bool,
    pub(crate) port: u16,
    pub(crate) address: Option<Url>,
}

impl Arguments {
    pub(crate) fn read() -> Self {
        cli::arguments(USAGE, Self::parse)
    }

    fn parse(given: &mut lexopt::Parser) -> Result<Self, lexopt::Error> {
        let mut read = Self::default();
        while let Some(argument) = given.next()? {
            match argument {
                Long("serve") => read.serve = true,
                Long("port") => read.port = cli::port(given)?,
                Long("address") => {
                    let expected = "an http or https address without a path";
                    read.address = Some(cli::value(given, "--address", expected, address)?);
                }
                Short('h') | Long("help") => cli::help(USAGE),
                _ => return Err(argument.unexpected()),
            }
        }
        if read.address.is_some() && !read.serve {
            return Err("--address needs --serve".into());
        }
        Ok(read)
    }
}

/// The redirect address: the registered address from the environment, or a page of the application.
pub(crate) fn redirect_uri(home: &Url) -> Result<Url, Failure> {
    let registered = env::var("ENVD_REDIRECT_URI").unwrap_or_default();
    let address = home.join(if registered.is_empty() {
        "callback"
    } else {
        &registered
    })?;
    let pages = ["/", "/login", "/logout", "/style.css"];
    if address.origin() != home.origin() || pages.contains(&address.path()) {
        return Err(format!("ENVD_REDIRECT_URI must be an unused address below {home}").into());
    }
    Ok(address)
}

/// The address must not have a path: cookies with the prefix `__Host-` apply to the entire host.
fn address(text: &str) -> Option<Url> {
    let address = Url::parse(text).ok()?;
    let is_root =
        address.path() == "/" && address.query().is_none() && address.fragment().is_none();
    let is_web = matches!(address.scheme(), "http" | "https") && address.username().is_empty();
    (is_root && is_web && address.password().is_none()).then_some(address)
}
