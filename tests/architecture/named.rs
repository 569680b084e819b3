//! Checks that names in code font exist: each word occurs in code, a manifest or a script, each path leads to a file, and each
//! cargo command finds its package, target, features and options.

use std::collections::BTreeSet;

use serde_json::Value;

use super::files;
use super::packages::metadata;

/// Words that occur only on pages: names of other programs and formats, and placeholders.
const OF_OTHERS: &str = "Authenticate Bidi_Control Desk ERR_CERT_AUTHORITY_INVALID ESC GraphQlClient Hello LOCALAPPDATA LockFileEx \
    MILLISECONDS MainForm MessagePack OPEN_CREATE OPEN_URI ReFS Since T09 T13 WARN WWW apalis autovacuum_vacuum_scale_factor base_url cdylib \
    default_pool_size e999 end_session_endpoint fffffff gcc id_token_hint libsqlite3 mkcert npm opentelemetry ourName pgcrypto post_logout_redirect_uri realloc \
    rfc7523bis self_signed_tls_client_auth semver sqlite3 sss sys taskset theirName tls_client_auth traceparent tz verb wasm_bindgen xcode";

/// Extensions of files in the repository; other file names on pages are the reader's.
const ENDINGS: [&str; 7] = [".rs", ".md", ".sh", ".graphql", ".mjs", ".toml", ".yml"];
const FOLDERS: &str = "src/ crates/ examples/ tests/ benches/ graphql/ .ci/ .github/";

/// Files of other repositories and of the reader, and an entry of the profile that looks like a file.
const PATHS_OF_OTHERS: [&str; 3] = [
    "src/shared/index.js",
    "DIR/schema.graphql",
    "addresses.graphql",
];

/// The index of a repository, or of planted files.
#[derive(Default)]
struct Named {
    /// All files and folders.
    paths: BTreeSet<String>,
    /// The words of paths, and of code without comments.
    words: BTreeSet<String>,
    /// The pages, and the comments of code, by path.
    pages: Vec<(String, String)>,
    /// The packages from `cargo metadata`.
    packages: Vec<Value>,
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|it: char| !it.is_ascii_alphanumeric() && it != '_');
    // A prefix such as `also_` stands for the names that begin with it.
    let words = words.map(|word| word.trim_end_matches('_'));
    words.map(|word| word.trim_start_matches(|it: char| it.is_ascii_digit()))
}

impl Named {
    fn add(&mut self, path: &str, text: &str) {
        let is_comment = |line: &&str| line.trim_start().starts_with("//");
        let folders = path.match_indices('/').map(|(end, _)| &path[..end]);
        self.paths
            .extend(folders.chain([path]).map(ToOwned::to_owned));
        let code = match path.rsplit_once('.') {
            // `promises.rs` checks the names in these tables.
            Some((name, "md"))
                if name.ends_with("failure_modes") || name.ends_with("guarantees") =>
            {
                String::new()
            }
            Some((_, "md")) => {
                self.pages.push((path.to_owned(), text.to_owned()));
                String::new()
            }
            Some((_, "rs")) => {
                let lines = text.lines().filter(is_comment).map(|line| {
                    let line = line.trim_start().trim_start_matches('/');
                    let line = line.strip_prefix('!').unwrap_or(line);
                    line.strip_prefix(' ').unwrap_or(line)
                });
                let comments = lines.collect::<Vec<_>>().join("\n");
                self.pages.push((path.to_owned(), comments));
                let lines = text.lines().filter(|line| !is_comment(line));
                lines.collect::<Vec<_>>().join("\n")
            }
            _ => text.to_owned(),
        };
        let all = words(&code).chain(words(path));
        self.words.extend(all.map(ToOwned::to_owned));
    }

    fn of_repository() -> Self {
        let packages = metadata("--no-deps")["packages"]
            .as_array()
            .unwrap()
            .clone();
        let mut found = Self {
            packages,
            ..Self::default()
        };
        for (path, text) in files("") {
            // Skip the words of GraphiQL, which is not our code.
            let is_ours = !path.contains("/graphiql/");
            found.add(&path, if is_ours { &text } else { "" });
        }
        found
    }

    fn has_path(&self, path: &str) -> bool {
        let below = format!("/{path}");
        self.paths.contains(path) || self.paths.iter().any(|it| it.ends_with(&below))
    }

    /// The missing names on each page.
    fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        for (page, text) in &self.pages {
            let mut report = |what: &str| missing.push(format!("{page}: {what}"));
            for (number, part) in text.split("```").enumerate() {
                // Every second part is a fenced block.
                if number % 2 == 1 {
                    let lines = part.replace("\\\n", "");
                    let lines = lines.lines().filter(|_| part.starts_with("text\n"));
                    lines.for_each(|line| self.command(line, &mut report));
                    continue;
                }
                for code in part.split('`').skip(1).step_by(2) {
                    let code = code.replace('\n', " ");
                    self.command(&code, &mut report);
                    words(&code)
                        .filter(|word| !self.words.contains(*word))
                        .filter(|word| !OF_OTHERS.split_whitespace().any(|it| it == *word))
                        .for_each(&mut report);
                    code.split([' ', '#', ';', ','])
                        .map(|path| path.trim_end_matches(['/', ':']))
                        .filter(|path| {
                            let is_ours = FOLDERS.split(' ').any(|it| path.starts_with(it))
                                || ENDINGS.iter().any(|it| path.ends_with(it));
                            let is_plain =
                                |it: char| it.is_ascii_alphanumeric() || "._/-".contains(it);
                            is_ours && path.chars().all(is_plain) && !ENDINGS.contains(path)
                        })
                        .filter(|path| !PATHS_OF_OTHERS.contains(path) && !self.has_path(path))
                        .for_each(&mut report);
                }
            }
        }
        missing
    }

    /// Reports missing names in a cargo command.
    fn command(&self, line: &str, report: &mut impl FnMut(&str)) {
        let Some((_, command)) = line.split_once("cargo ") else {
            return;
        };
        let (of_cargo, of_program) = command.split_once(" -- ").unwrap_or((command, ""));
        let arguments: Vec<&str> = of_cargo.split_whitespace().collect();
        let values = |option: &'static str| {
            let pairs = arguments.windows(2).filter(move |pair| pair[0] == option);
            pairs.map(|pair| pair[1])
        };
        for path in values("--manifest-path").filter(|path| !self.has_path(path)) {
            report(path);
        }
        if arguments.contains(&"--manifest-path") {
            return;
        }
        let named: Vec<&str> = values("-p").collect();
        let is_named =
            |it: &&Value| named.is_empty() || named.iter().any(|name| it["name"] == **name);
        let packages: Vec<&Value> = self.packages.iter().filter(is_named).collect();
        if packages.len() < named.len() {
            report(line);
        }
        let of = |packages: &[&Value], kind: &str, name: &str| {
            let targets = packages.iter().filter_map(|it| it["targets"].as_array());
            let mut targets = targets.flatten();
            targets.any(|it| it["name"] == name && it["kind"][0] == kind)
        };
        for kind in ["example", "bin", "bench", "test"] {
            let option = ["--example", "--bin", "--bench", "--test"]
                .into_iter()
                .find(|it| it.ends_with(kind));
            for name in values(option.unwrap_or_default()) {
                if !of(&packages, kind, name) {
                    report(line);
                }
            }
        }
        let features = values("--features").flat_map(|list| list.split(','));
        for feature in features.filter(|it| *it != "..") {
            // Without a package, features would apply to all default members.
            if named.is_empty()
                || !packages
                    .iter()
                    .any(|it| it["features"].get(feature).is_some())
            {
                report(line);
            }
        }
        let options = of_program.split([' ', '[', ']', '|']);
        for option in options.filter_map(|word| word.strip_prefix("--")) {
            if !words(option).all(|word| self.words.contains(word)) {
                report(line);
            }
        }
    }
}

#[test]
fn all_that_a_page_names_is_there() {
    let missing = Named::of_repository().missing();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn planted_names_that_are_gone_are_reported() {
    let mut named = Named::default();
    let package =
        r#"{"name": "a", "features": {"f": []}, "targets": [{"name": "e", "kind": ["example"]}]}"#;
    named.packages = vec![serde_json::from_str(package).unwrap()];
    named.add("src/there.rs", "// `Gone`\nstruct There; fn here() {}");
    named.add("ci.sh", "cargo run test -p a --example e --features f");
    named.add(
        "README.md",
        "`There::here`, `src/there.rs`, `there.rs`, `src/`, `cargo run -p a --example\ne --features f -- --here`\n\
         `There::gone`, `src/here.rs`\n```text\ncargo run --example there\n```\n```text\ncargo test --features f\n```\n\
         `cargo run -p there`, `cargo run -p a --features here`, `cargo test -p a --test e`",
    );
    let expected = [
        "src/there.rs: Gone",
        "README.md: gone",
        "README.md: src/here.rs",
        "README.md: cargo run --example there",
        "README.md: cargo test --features f",
        "README.md: cargo run -p there",
        "README.md: cargo run -p a --features here",
        "README.md: cargo test -p a --test e",
    ];
    assert_eq!(named.missing(), expected);
}
