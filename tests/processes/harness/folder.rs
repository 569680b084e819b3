//! A temporary folder for one test.

use std::fs;
use std::path::PathBuf;

use test_support::TestFolder;

/// An empty folder, closed to other users. Dropping it deletes it with its contents.
#[derive(Debug)]
pub struct Folder(TestFolder);

impl Folder {
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(TestFolder::new())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The path as text, for a child process.
    pub fn text(&self, name: &str) -> String {
        self.path(name).into_os_string().into_string().unwrap()
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        self.0.write(name, text)
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }
}
