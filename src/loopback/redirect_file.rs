//! The file that redirects the browser to the identity provider.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use url::Url;

use super::request::escaped;
use crate::auth::PrivateFile;
use crate::error::{Error, Result};

const PREFIX: &str = "envd-sdk-login-";

/// The lifetime of a pending login.
const LIFETIME: Duration = Duration::from_secs(600);

/// A file that redirects the browser to the address of a login. Only its owner may read it (mode 600). Deleted on drop.
///
/// All users of the machine can see the arguments of a process, so the browser gets the name of this file instead of the
/// address, which contains the `state` of the login.
#[derive(Debug)]
pub(super) struct RedirectFile(PathBuf);

impl RedirectFile {
    /// Writes the file and opens it in the browser.
    pub(super) async fn open(address: &Url) -> Result<Self> {
        // Other schemes would start other programs.
        if !matches!(address.scheme(), "http" | "https") {
            return Err(Error::config(
                "only http and https addresses are opened in the browser",
            ));
        }
        let text = redirect_to(address);
        let opened = tokio::task::spawn_blocking(move || {
            let file = Self::write(&text).map_err(|source| {
                let what = "the file that redirects the browser cannot be written";
                Error::config(what).with_source(source)
            })?;
            opener::open_browser(file.address().map_err(no_browser)?).map_err(no_browser)?;
            Ok(file)
        });
        opened.await.map_err(no_browser)?
    }

    fn write(text: &str) -> io::Result<Self> {
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for directory in directories() {
            match Self::write_in(&directory, text) {
                Ok(file) => return Ok(file),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn write_in(directory: &Path, text: &str) -> io::Result<Self> {
        // The name need not be unpredictable: an existing file is an error.
        let path = directory.join(format!("{PREFIX}{:016x}.html", fastrand::u64(..)));
        // A user who can replace the file controls where the login goes.
        let private =
            PrivateFile::new(&path, "the file that redirects the browser").in_sticky_directory();
        private.check().map_err(io::Error::other)?;
        // Runs before the file is created. If the clock is ahead of the file system's, the new file would look like a leftover.
        remove_leftovers(directory);
        let mut file = private
            .open(OpenOptions::new().write(true).create_new(true))
            .map_err(io::Error::other)?
            .ok_or(io::ErrorKind::NotFound)?;
        let path = Self(path);
        file.write_all(text.as_bytes())?;
        Ok(path)
    }

    /// The `file` URL for the browser.
    fn address(&self) -> io::Result<String> {
        let address = Url::from_file_path(&self.0);
        let address = address.map_err(|()| io::Error::from(io::ErrorKind::InvalidFilename))?;
        Ok(address.into())
    }
}

impl Drop for RedirectFile {
    fn drop(&mut self) {
        // OK to ignore: the login in the file expires after ten minutes.
        let _ = fs::remove_file(&self.0);
    }
}

fn no_browser(source: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::config("no browser could be opened").with_source(source)
}

/// The directories to try, in order. Browsers installed as a snap cannot read hidden files, the temporary directory or the
/// runtime directory, so the home directory comes first, and the file name is not hidden.
fn directories() -> impl Iterator<Item = PathBuf> {
    let home = env::home_dir().filter(|path| path.is_absolute());
    let runtime = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let runtime = runtime.filter(|path| path.is_absolute());
    home.into_iter().chain(runtime).chain([env::temp_dir()])
}

/// Removes files that killed programs left behind.
fn remove_leftovers(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let prefixed = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let is_ours = prefixed && path.extension().is_some_and(|kind| kind == "html");
        let changed = || entry.metadata().and_then(|about| about.modified());
        let age = |time| SystemTime::now().duration_since(time);
        if is_ours && changed().is_ok_and(|time| age(time).is_ok_and(|age| age > LIFETIME)) {
            // OK to ignore: the file may belong to another user, or be gone.
            let _ = fs::remove_file(path);
        }
    }
}

/// A page with a redirect, and a link for browsers that do not follow it.
fn redirect_to(address: &Url) -> String {
    let address = escaped(address.as_str());
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
         <meta http-equiv=\"refresh\" content=\"0; url={address}\"><title>Login</title>\
         <p><a href=\"{address}\">Go to the login</a></p></html>\n"
    )
}

#[cfg(test)]
mod tests {
    use test_support::TestFolder;

    use super::*;

    #[test]
    fn the_address_cannot_break_out_of_the_page() {
        let address = "https://id.example/authorize;'x'?a=\"b\"&c=<script>&amp=1#'\"><script>";
        let address = Url::parse(address).unwrap();
        let page = redirect_to(&address);
        assert!(!page.contains("<script"), "{page}");
        let link = page.split("href=\"").nth(1).unwrap();
        let link = link.split('"').next().unwrap();
        let signs = [
            ("&#39;", "'"),
            ("&quot;", "\""),
            ("&gt;", ">"),
            ("&lt;", "<"),
            ("&amp;", "&"),
        ];
        let unescaped = signs.iter().fold(link.to_owned(), |text, (name, sign)| {
            text.replace(name, sign)
        });
        assert_eq!(unescaped, address.as_str());
        // Once unescaped, the redirect has the same target.
        assert!(page.contains(&format!("content=\"0; url={link}\"")));
    }

    #[test]
    fn the_file_of_a_killed_program_is_removed_by_the_next_login() {
        let folder = TestFolder::new();
        let hours_ago = SystemTime::now() - Duration::from_secs(7_200);
        for (name, changed) in [
            ("envd-sdk-login-1.html", hours_ago),
            ("envd-sdk-login-2.html", SystemTime::now()),
            ("envd-sdk-login-notes.txt", hours_ago),
            ("other.html", hours_ago),
        ] {
            let file = fs::File::create(folder.path().join(name)).unwrap();
            file.set_modified(changed).unwrap();
        }
        drop(RedirectFile::write_in(folder.path(), "text").unwrap());
        let left = "envd-sdk-login-2.html envd-sdk-login-notes.txt other.html";
        assert_eq!(folder.names().join(" "), left);
    }

    #[cfg(unix)]
    #[test]
    fn a_directory_in_which_others_can_replace_the_file_is_refused() {
        use std::os::unix::fs::PermissionsExt;

        let folder = TestFolder::new();
        for (mode, fine) in [(0o777, false), (0o1777, true), (0o755, true)] {
            let mode = fs::Permissions::from_mode(mode);
            fs::set_permissions(folder.path(), mode.clone()).unwrap();
            let written = RedirectFile::write_in(folder.path(), "text");
            assert_eq!(written.is_ok(), fine, "{mode:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_private_and_deleted_on_drop() {
        use std::os::unix::fs::PermissionsExt;

        let folder = TestFolder::new();
        let page = RedirectFile::write_in(folder.path(), "text").unwrap();
        let path = page.0.clone();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(page.address().unwrap().starts_with("file:///"));
        drop(page);
        assert!(!path.exists());
    }
}
