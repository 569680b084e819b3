//! The user's browser.

use url::Url;

use super::login_page::LoginPage;
use crate::error::{Error, Result};

/// Opens an `http` or `https` address in the user's browser: the program that the variable `BROWSER` names, or the
/// system's choice.
///
/// All users of the machine can see the address among the arguments of a process. For a login use
/// [`Loopback::open_browser`](super::Loopback::open_browser), which hides it. Show the user the address as well: a browser
/// that does not open is not always noticed here.
///
/// # Errors
///
/// [`is_config`](Error::is_config) when the address has another scheme, or this machine has no way to open a browser.
pub async fn open_browser(url: &Url) -> Result<()> {
    check_scheme(url)?;
    let address = url.to_string();
    off_the_runtime(move || open(&address)).await
}

/// Opens a page that redirects to the address.
pub(super) async fn open_login_page(url: &Url) -> Result<LoginPage> {
    check_scheme(url)?;
    let url = url.clone();
    off_the_runtime(move || {
        let page = LoginPage::write(&url).map_err(|source| {
            let what = "the page that takes the browser to the login cannot be written";
            Error::config(what).with_source(source)
        })?;
        open(&page.address().map_err(no_browser)?)?;
        Ok(page)
    })
    .await
}

/// Other schemes start other programs.
fn check_scheme(url: &Url) -> Result<()> {
    match url.scheme() {
        "http" | "https" => Ok(()),
        _ => Err(Error::config(
            "only http and https addresses are opened in the browser",
        )),
    }
}

fn open(address: &str) -> Result<()> {
    opener::open_browser(address).map_err(no_browser)
}

fn no_browser(source: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::config("no browser could be opened").with_source(source)
}

async fn off_the_runtime<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(no_browser)?
}
