//! The programs of the cookbook can be pasted: each is complete, without lines that rustdoc hides, and the table of contents
//! lists them all.

use std::fs;
use std::path::Path;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/cookbook");

const CONTENTS: &str = "cookbook.md";
/// The text at the end of the contents and of each page.
const DEPENDENCIES: &str = "dependencies.md";

/// A heading of a page, with the Rust blocks below it.
type Section = (String, Vec<String>);

fn sections(page: &str) -> Vec<Section> {
    let mut sections = Vec::new();
    let mut block: Option<(bool, String)> = None;
    for line in page.lines() {
        match (line.strip_prefix("```"), block.take()) {
            (Some(language), None) => block = Some((is_rust(language), String::new())),
            (Some(_), Some((keep, text))) => {
                let section: Option<&mut Section> = sections.last_mut();
                if keep && let Some((_, blocks)) = section {
                    blocks.push(text);
                }
            }
            (None, Some((keep, text))) => block = Some((keep, text + line + "\n")),
            (None, None) => {
                if let Some(heading) = line.strip_prefix("# ") {
                    sections.push((heading.to_owned(), Vec::new()));
                }
            }
        }
    }
    sections
}

/// True for Rust. A program with process-wide settings is marked as a standalone crate.
fn is_rust(language: &str) -> bool {
    ["", "no_run", "standalone_crate"].contains(&language)
}

/// The reasons why a block cannot be the `main.rs` of a crate.
fn faults(program: &str) -> Vec<&str> {
    let hidden = |line: &&str| *line == "#" || line.trim_start().starts_with("# ");
    let mut faults: Vec<&str> = program.lines().filter(hidden).collect();
    if !program.contains("\nasync fn main()") && !program.contains("\nfn main()") {
        faults.push("no main");
    }
    if !program.starts_with("use ") {
        faults.push("no imports at the top");
    }
    faults
}

/// The link from the contents to a program.
fn link(page: &str, heading: &str) -> String {
    let words = heading.to_lowercase().replace(',', "");
    format!("[{page}]({page}#{})", words.replace(' ', "-"))
}

#[test]
fn every_program_of_the_cookbook_is_whole_and_listed() {
    let contents = fs::read_to_string(Path::new(FOLDER).join(CONTENTS)).unwrap();
    let mut programs = 0;
    for entry in fs::read_dir(FOLDER).unwrap() {
        let path = entry.unwrap().path();
        let is_page = path.extension() == Some("md".as_ref())
            && ![CONTENTS, DEPENDENCIES]
                .iter()
                .any(|name| path.ends_with(name));
        if !is_page {
            continue;
        }
        let page = path.file_stem().unwrap().to_str().unwrap();
        for (heading, blocks) in sections(&fs::read_to_string(&path).unwrap()) {
            let [program] = &blocks[..] else {
                panic!("{page}: {heading}: {} programs", blocks.len());
            };
            assert_eq!(faults(program), [""; 0], "{page}: {heading}");
            let link = link(page, &heading);
            assert!(contents.contains(&link), "the contents lack {link}");
            programs += 1;
        }
    }
    assert_eq!(programs, 18);
    assert_eq!(
        contents.matches("](").count(),
        programs + other_links(&contents)
    );
}

/// The number of links in the contents that lead to no program.
fn other_links(contents: &str) -> usize {
    let others = [
        "](crate::",
        "](crate#",
        "](mod@crate::",
        "](#",
        "](https://",
    ];
    others
        .map(|link| contents.matches(link).count())
        .iter()
        .sum()
}

#[test]
fn a_hidden_line_and_a_missing_main_are_reported() {
    let page = "Text\n\n# A task\n\n```text\n# no Rust\n```\n```\nuse a::B;\n# fn main() {\n#[b]\nc\n# }\n```\n";
    let [(heading, blocks)] = &sections(page)[..] else {
        panic!("one section");
    };
    assert_eq!(heading, "A task");
    assert_eq!(faults(&blocks[0]), ["# fn main() {", "# }", "no main"]);
    assert!(faults("use a::B;\n\nfn main() {}\n").is_empty());
}
