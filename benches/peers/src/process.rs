//! Child processes of this program, whose memory or cold start is measured apart, and which print their figures.

use std::path::PathBuf;
use std::process::Command;

/// Runs a task in a child process: the figures that it prints.
pub fn child(arguments: &[&str]) -> Vec<f64> {
    let program = std::env::current_exe().unwrap();
    let output = Command::new(program).arg("child").args(arguments).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let words = text.split_whitespace();
    words.map(|word| word.parse().unwrap()).collect()
}

/// The growth of the resident set from now on up to its peak, in megabytes.
pub fn memory() -> impl Fn() -> f64 {
    // Resets the peak of the resident set to its current size.
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = resident("VmRSS:");
    move || resident("VmHWM:") - before
}

/// A value of /proc/self/status, in megabytes.
fn resident(line: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let value = status.lines().find_map(|text| text.strip_prefix(line));
    let kilobytes = value.unwrap().trim().trim_end_matches(" kB");
    kilobytes.parse::<f64>().unwrap() * 1024.0 / 1e6
}

/// A folder of temporary files, which is deleted with its files.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        let name = format!("envd-sdk-bench-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder).unwrap();
        Self(folder)
    }

    pub fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // OK to ignore: the folder is of the system's temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
