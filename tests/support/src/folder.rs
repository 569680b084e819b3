//! The temporary folder of a test.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, process};

/// A temporary folder that is closed to other users under any umask and group, because stores refuse files and folders that
/// others can write. Dropping it deletes it with its contents.
#[derive(Debug)]
pub struct TestFolder(PathBuf);

impl TestFolder {
    /// Creates an empty folder with mode 700.
    ///
    /// # Panics
    ///
    /// If it cannot be created.
    #[must_use]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("envd-sdk-test-{}-{number}", process::id()));
        fs::create_dir(&path).unwrap();
        set_mode(&path, 0o700);
        Self(path)
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file with mode 600.
    ///
    /// # Panics
    ///
    /// If it cannot be written.
    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let file = self.0.join(name);
        fs::write(&file, contents).unwrap();
        set_mode(&file, 0o600);
        file
    }

    /// The names in the folder, sorted.
    ///
    /// # Panics
    ///
    /// If it cannot be read.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
        let mut names: Vec<_> = entries.map(|entry| name(entry.unwrap())).collect();
        names.sort();
        names
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Sets the mode, on systems that have modes.
fn set_mode(path: &Path, mode: u32) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    let _ = (path, mode);
}
