//! Builds the programs of README, guide and cookbook like a reader: each block of TOML becomes a package next to a clone, and
//! each program is pasted into it unchanged and must build without a warning.
//!
//! A block with hidden lines and without a visible `main` is a fragment; only the doctests of the crate build it.
#![cfg(unix)]

mod cargo;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use self::cargo::{ROOT, check, new_package};

/// The beginnings of the dependencies on the libraries. The first is in every block of TOML. CONTRIBUTING describes how to
/// remove the path for a release.
const DEPENDENCIES: [&str; 4] = [
    r#"envd-sdk = { path = "../envd-sdk", version = "0.1""#,
    r#"envd-sync = { path = "../envd-sdk/crates/envd-sync", version = "0.1""#,
    r#"envd-postgres = { path = "../envd-sdk/crates/envd-postgres", version = "0.1""#,
    r#"envd-codegen = { path = "../envd-sdk/crates/envd-codegen", version = "0.1""#,
];

/// Redirects the libraries to the clone, once the pages contain no path.
const PATCH: &str = r#"[patch.crates-io]
envd-sdk = { path = "../envd-sdk" }
envd-sync = { path = "../envd-sdk/crates/envd-sync" }
envd-postgres = { path = "../envd-sdk/crates/envd-postgres" }
envd-codegen = { path = "../envd-sdk/crates/envd-codegen" }
"#;

/// A fenced block, named after the path of its page and its position there.
struct Block {
    name: String,
    language: String,
    text: String,
}

fn blocks(page: &Path) -> Vec<Block> {
    let path = page.strip_prefix(ROOT).unwrap().with_extension("");
    let stem = path.to_str().unwrap().replace('/', "_").to_lowercase();
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for line in fs::read_to_string(page).unwrap().lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(language), None) => {
                open = Some(Block {
                    name: format!("{stem}_{}", blocks.len()),
                    language: language.to_owned(),
                    text: String::new(),
                });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(block)) => writeln!(block.text, "{line}").unwrap(),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "{stem} ends within a block");
    blocks
}

/// The pages of a folder, sorted by name.
fn pages(folder: &Path) -> impl Iterator<Item = Vec<Block>> + use<> {
    let files = fs::read_dir(folder).unwrap();
    let mut pages: Vec<PathBuf> = files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension() == Some("md".as_ref()))
        .collect();
    pages.sort();
    pages.into_iter().map(|page| blocks(&page))
}

impl Block {
    /// The program as copied from the page. `None` for a fragment and for other languages.
    fn shown(&self) -> Option<String> {
        let is_rust = ["", "rust", "no_run", "standalone_crate"].contains(&self.language.as_str());
        let hidden = |line: &&str| line.trim() == "#" || line.trim_start().starts_with("# ");
        let lines = self.text.lines().filter(|line| !hidden(line));
        let shown: String = lines.flat_map(|line| [line, "\n"]).collect();
        (is_rust && (shown == self.text || shown.contains("fn main()"))).then_some(shown)
    }

    fn is_test(&self) -> bool {
        self.text.contains("::test]\n")
    }
}

/// A package to build: the dependencies, and the programs for `src` and `tests`.
struct Package {
    name: String,
    dependencies: String,
    sources: Vec<Block>,
}

/// Groups the blocks into packages. The dependencies at the start of the first page apply to programs without their own.
fn packages(pages: impl Iterator<Item = Vec<Block>>) -> Vec<Package> {
    let mut packages: Vec<Package> = Vec::new();
    for page in pages {
        let mut current = 0;
        for block in page {
            if block.language == "toml" {
                let Block { name, text, .. } = block;
                let mut ours = text.lines().filter(|line| line.starts_with("envd-"));
                let has_sdk = text.lines().any(|line| line.starts_with(DEPENDENCIES[0]));
                let is_known = |line: &str| DEPENDENCIES.iter().any(|it| line.starts_with(it));
                assert!(
                    has_sdk && ours.all(is_known),
                    "{name}:\n{text}\ndiffers from {DEPENDENCIES:?}"
                );
                let is_more = text.starts_with("[dev-dependencies]");
                let first = packages.first().filter(|_| is_more);
                let dependencies = first.map_or("", |first| &first.dependencies).to_owned() + &text;
                current = packages.len();
                packages.push(Package {
                    name,
                    dependencies,
                    sources: Vec::new(),
                });
            } else if let Some(text) = block.shown() {
                let package = packages.get_mut(current);
                let package = package.expect("the first page begins with dependencies");
                package.sources.push(Block { text, ..block });
            }
        }
    }
    packages
}

impl Package {
    fn check(&self) {
        let beside = Path::new(env!("CARGO_TARGET_TMPDIR")).join("beside");
        let folder = beside.join(&self.name);
        self.write(&beside, &folder);
        let has_tests = self.sources.iter().any(Block::is_test);
        let targets = if has_tests { "--tests" } else { "--bins" };
        let (is_built, said) = check(&folder, &[targets]);
        assert!(is_built, "{}:\n{}\n{said}", self.name, self.dependencies);
    }

    fn write(&self, beside: &Path, folder: &Path) {
        let patch = match DEPENDENCIES[0].contains("path") {
            true => "",
            false => PATCH,
        };
        let dependencies = format!("{}\n{patch}", self.dependencies);
        new_package(folder, &self.name, &dependencies);
        fs::create_dir_all(folder.join("src/bin")).unwrap();
        fs::create_dir_all(folder.join("tests")).unwrap();
        let clone = beside.join("envd-sdk");
        if !clone.exists() {
            std::os::unix::fs::symlink(ROOT, clone).unwrap();
        }
        fs::write(folder.join("src/main.rs"), "fn main() {}\n").unwrap();
        for block in &self.sources {
            let text = match block.is_test() || block.text.contains("fn main()") {
                true => block.text.clone(),
                // Functions to paste into the reader's program.
                false => format!("#![allow(dead_code)]\n{}\nfn main() {{}}\n", block.text),
            };
            let place = folder.join(if block.is_test() { "tests" } else { "src/bin" });
            fs::write(place.join(&block.name).with_extension("rs"), text).unwrap();
        }
    }
}

#[test]
fn what_readme_guide_and_cookbook_show_builds_in_a_package_of_a_stranger() {
    let mut all = Vec::new();
    for library in ["", "crates/envd-sync", "crates/envd-postgres"] {
        let folder = Path::new(ROOT).join(library);
        let readme = blocks(&folder.join("README.md"));
        let guide = pages(&folder.join("src/guide"));
        all.extend(packages([readme].into_iter().chain(guide)));
    }
    let (dependencies, programs) = pages(&Path::new(ROOT).join("src/guide/cookbook"))
        .partition::<Vec<_>, _>(|page| page.first().is_some_and(|block| block.language == "toml"));
    all.extend(packages(dependencies.into_iter().chain(programs)));
    let pasted: usize = all.iter().map(|package| package.sources.len()).sum();
    assert!(pasted >= 27, "the pages were read");
    for package in &all {
        package.check();
    }
}
