//! Checks the examples in README, in the guide and in doc comments.

use std::collections::BTreeSet;
use std::path::Path;

use super::{ends, files, rust_files};

/// The longest line of code that a documentation page shows without scrolling.
const WIDEST: usize = 100;

/// The text of each page and example, by its path; for the library, only the comments.
fn pages() -> impl Iterator<Item = (String, String)> {
    let folders = ["src", "crates", "examples"].into_iter();
    let below = |folder| {
        let files = files(folder).into_iter();
        files.map(move |(path, text)| (format!("{folder}/{path}"), text))
    };
    let readme = include_str!("../../README.md").to_owned();
    let all = folders
        .flat_map(below)
        .chain([("README.md".to_owned(), readme)]);
    let all = all.filter(|(path, _)| ends(path, "rs") || ends(path, "md"));
    all.map(|(path, mut text)| {
        let is_library = path.split('/').any(|part| part == "src");
        if ends(&path, "rs") && is_library && !path.starts_with("examples") {
            // Skip the code around examples.
            let is_doc = |line: &&str| line.trim_start().starts_with("//");
            text = text.lines().filter(is_doc).collect::<Vec<_>>().join("\n");
        }
        (path, text)
    })
}

/// The lines that check the server's errors before `may_have_applied`, in the same example or function.
fn errors_first(text: &str) -> Vec<usize> {
    let lines: Vec<&str> = text.lines().collect();
    let rejected = ".server_errors().is_empty()";
    let unknown = ".may_have_applied()";
    let asks_first = |at: &usize| {
        let line = lines[*at];
        line.contains(rejected)
            && !line.contains(unknown)
            && lines[*at + 1..]
                .iter()
                .take(12)
                .take_while(|line| !line.contains("```") && **line != "}")
                .any(|line| line.contains(unknown))
    };
    (0..lines.len()).filter(asks_first).collect()
}

/// An error may have server errors and still leave the change in doubt: with the wrong order, a program could send the change twice.
#[test]
fn examples_check_may_have_applied_before_the_errors_of_the_server() {
    let errors = "  error if !error.server_errors().is_empty() => {}\n";
    let unknown = "  error if error.may_have_applied() => {}\n";
    let wrong = format!("match e {{\n{errors}{unknown}}}");
    let right = format!("match e {{\n{unknown}{errors}}}");
    assert_eq!(errors_first(&wrong), [1]);
    assert_eq!(errors_first(&right), [0; 0]);
    for (path, text) in pages() {
        assert_eq!(errors_first(&text), [0; 0], "{path}");
    }
}

/// The pages of docs.rs do not exist before the release, so links lead to files of the repository.
#[test]
fn no_page_links_to_documentation_that_is_not_published() {
    let readme = include_str!("../../README.md");
    if !readme.contains("not yet on crates.io") {
        return;
    }
    let address = concat!("docs.rs/", "envd-");
    for (path, text) in pages() {
        assert!(!text.contains(address) || ends(&path, "toml"), "{path}");
    }
}

/// Links to other files exist. The part after `#` is not checked.
#[test]
fn links_of_the_pages_of_the_repository_lead_to_its_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut links = 0;
    for page in [
        "README.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "CHANGELOG.md",
        "benches/README.md",
        "crates/envd-codegen/README.md",
        "crates/envd-postgres/README.md",
        "crates/envd-sync/README.md",
        "examples/README.md",
    ] {
        let folder = root.join(page);
        let folder = folder.parent().unwrap();
        let text = std::fs::read_to_string(root.join(page)).unwrap();
        for target in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            let file = target.split('#').next().unwrap_or_default();
            if !file.is_empty() && !file.contains(':') {
                assert!(folder.join(file).exists(), "{page}: {target}");
                links += 1;
            }
        }
    }
    assert!(links > 20, "the pages were read");
}

/// Lines of code that are too wide, except those that rustdoc hides.
fn wide(text: &str) -> Vec<&str> {
    let mut is_code = false;
    let mut wide = Vec::new();
    for line in text.lines() {
        let comment = line.trim_start().strip_prefix("//");
        let inside = comment.and_then(|rest| rest.strip_prefix(['/', '!']));
        let line = inside.map_or(line, |rest| rest.strip_prefix(' ').unwrap_or(rest));
        if line.starts_with("```") {
            is_code = !is_code;
        } else if is_code && line.chars().count() > WIDEST && !line.starts_with("# ") {
            wide.push(line);
        }
    }
    wide
}

#[test]
fn code_on_pages_fits_the_page() {
    let long = "a".repeat(WIDEST + 1);
    let page = format!("{long}\n```\n{long}\n# {long}\n```\n/// ```\n/// {long}\n/// ```\n");
    assert_eq!(wide(&page), [&long, &long]);
    let mut found = Vec::new();
    for (path, text) in pages() {
        if path.starts_with("src") || path.starts_with("README.md") {
            let lines = wide(&text).into_iter();
            found.extend(lines.map(|line| format!("{path}: {line}")));
        }
    }
    assert_eq!(found, [""; 0]);
}

/// A public function that can return the error of this crate.
struct Fallible {
    /// The file and the name.
    place: String,
    name: String,
    /// The text under `# Errors`.
    errors: String,
}

/// The public functions of a file that return a `Result` with [`Error`](envd_sdk::Error), or a call or list that can end with this error.
fn fallible(path: &str, text: &str) -> Vec<Fallible> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let function = line
            .strip_prefix("pub fn ")
            .or(line.strip_prefix("pub async fn "));
        let Some(rest) = function else {
            continue;
        };
        let mut end = lines[at..].iter();
        let end = end.position(|line| line.contains(['{', '|']));
        let signature = lines[at..at + end.map_or(0, |end| end + 1)].join(" ");
        let (_, returned) = signature.rsplit_once("->").unwrap_or_default();
        let returned = returned.split(" where ").next().unwrap_or_default();
        let own = returned
            .split_once("Result<")
            .is_some_and(|(_, rest)| !has_two(rest));
        if !own && !returned.contains("Call<") && !returned.contains("Pager<") {
            continue;
        }
        let is_above = |line: &&&str| line.starts_with("///") || line.starts_with("#[");
        let above = lines[..at].iter().rev().take_while(is_above).count();
        let doc = lines[at - above..at].join("\n");
        let (_, errors) = doc.split_once("# Errors").unwrap_or_default();
        let errors = errors
            .split("\n/// # ")
            .next()
            .unwrap_or_default()
            .to_owned();
        let name = rest.split(['<', '(']).next().unwrap_or_default().to_owned();
        let place = format!("{path}: {name}");
        found.push(Fallible {
            place,
            name,
            errors,
        });
    }
    found
}

/// True if a type has two arguments: then a `Result` has another error type.
fn has_two(arguments: &str) -> bool {
    let mut depth = 0_i32;
    for sign in arguments.chars() {
        match sign {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' if depth == 0 => return false,
            '>' | ')' | ']' => depth -= 1,
            ',' if depth == 0 => return true,
            _ => {}
        }
    }
    false
}

/// Functions whose documentation neither names a kind of error nor links to a page that does.
fn without_kinds(functions: &[Fallible]) -> Vec<&str> {
    // The page of this type names the kinds of all its calls.
    let mut known = BTreeSet::from(["Register"]);
    loop {
        let is_known = |it: &Fallible| {
            let mut links = it.errors.split("[`").skip(1);
            it.errors.contains("ErrorKind::")
                || it.errors.contains("guide::errors#kinds")
                || links.any(|link| {
                    let name = link.split('`').next().unwrap_or_default();
                    known.contains(name.rsplit("::").next().unwrap_or_default())
                })
        };
        let (with, without): (Vec<_>, Vec<_>) = functions.iter().partition(|it| is_known(it));
        let before = known.len();
        known.extend(with.iter().map(|it| it.name.as_str()));
        if known.len() == before {
            return without.iter().map(|it| it.place.as_str()).collect();
        }
    }
}

#[test]
fn each_function_that_can_fail_names_the_kinds_of_its_errors() {
    let planted = "
        /// # Errors
        ///
        /// [`Config`](crate::ErrorKind::Config) when it is wrong.
        #[must_use]
        pub fn one() -> Result<Vec<(u8, u8)>> {}
        /// # Errors
        ///
        /// As [`One::one`].
        pub async fn two<T>(
            one: T,
        ) -> Result<T> {}
        /// # Errors
        ///
        /// When it is wrong.
        pub fn three() -> Call<u8> {}
        /// # Errors
        ///
        /// As [`three`](Self::three).
        pub fn four() -> Option<Result<u8>> {}
        pub fn five() -> Pager<u8> {}
        pub fn other() -> Result<u8, TextError> {}
        fn private() -> Result<u8> {}
    ";
    let without = |functions: &[Fallible]| without_kinds(functions).join(", ");
    let found = without(&fallible("x", planted));
    assert_eq!(found, "x: three, x: four, x: five");
    let files = rust_files("src").into_iter();
    let functions: Vec<_> = files
        .flat_map(|(path, text)| fallible(&path, &text))
        .collect();
    assert!(functions.len() > 60);
    assert_eq!(without(&functions), "");
}
