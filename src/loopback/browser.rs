//! The user's browser.

use url::Url;

use crate::error::{Error, Result};

/// Opens an address in the user's browser: the program that the variable `BROWSER` names, or the system's choice.
///
/// Other programs of the same user may see the address among the arguments of a process. That is why a login is bound to
/// its own callback by PKCE and `state`. Show the user the address as well: a browser that does not open is not always
/// noticed here.
///
/// # Errors
///
/// [`is_config`](Error::is_config) when this machine has no way to open a browser.
pub async fn open_browser(url: &Url) -> Result<()> {
    let address = url.to_string();
    let opened = tokio::task::spawn_blocking(move || opener::open_browser(address)).await;
    match opened {
        Ok(Ok(())) => Ok(()),
        Ok(Err(source)) => Err(no_browser().with_source(source)),
        Err(source) => Err(no_browser().with_source(source)),
    }
}

fn no_browser() -> Error {
    Error::config("no browser could be opened")
}
