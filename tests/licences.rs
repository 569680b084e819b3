//! The licences of all dependencies, for all features and platforms.

use std::env;
use std::process::Command;

use serde_json::Value;

/// Permissive licences. .ci/deny.toml has the same list.
const ALLOWED: [&str; 10] = [
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Zlib",
];

/// Packages that name a file instead of a licence, with the licence in that file.
const BY_FILE: [(&str, &str); 1] = [("jsonpath-rust", "MIT License\n")];

/// Whether the allowed licences satisfy an SPDX expression; older packages write a slash for `OR`.
fn is_allowed(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ");
    let spaced = spaced.replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    any(&mut rest) && rest.is_empty()
}

fn any(rest: &mut &[&str]) -> bool {
    let mut met = all(rest);
    while rest.first() == Some(&"OR") {
        *rest = &rest[1..];
        met |= all(rest);
    }
    met
}

fn all(rest: &mut &[&str]) -> bool {
    let mut met = one(rest);
    while rest.first() == Some(&"AND") {
        *rest = &rest[1..];
        met &= one(rest);
    }
    met
}

fn one(rest: &mut &[&str]) -> bool {
    let Some((first, after)) = rest.split_first() else {
        return false;
    };
    *rest = after;
    if *first == "(" {
        let met = any(rest);
        let closed = rest.first() == Some(&")");
        *rest = rest.get(1..).unwrap_or_default();
        return met && closed;
    }
    if let ["WITH", exception, after @ ..] = *rest {
        *rest = after;
        return ALLOWED.contains(&format!("{first} WITH {exception}").as_str());
    }
    ALLOWED.contains(first)
}

#[test]
fn licence_expressions_are_evaluated() {
    for met in [
        "MIT",
        "MIT/Apache-2.0",
        "GPL-3.0 OR MIT",
        "ISC AND (GPL-3.0 OR Apache-2.0)",
        "GPL-3.0 AND ISC OR MIT",
        "Apache-2.0 WITH LLVM-exception",
    ] {
        assert!(is_allowed(met), "{met}");
    }
    for not in [
        "",
        "GPL-3.0",
        "MIT AND GPL-3.0",
        "MIT AND (GPL-3.0 OR AGPL-3.0)",
        "GPL-2.0 WITH Classpath-exception-2.0",
        "(MIT",
        "MIT)",
    ] {
        assert!(!is_allowed(not), "{not}");
    }
}

#[test]
fn every_dependency_has_an_allowed_licence() {
    let cargo = env::var_os("CARGO").unwrap();
    let mut metadata = Command::new(cargo);
    metadata.args([
        "metadata",
        "--locked",
        "--all-features",
        "--format-version=1",
    ]);
    let output = metadata
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 100, "{}", packages.len());
    let mut refused = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap();
        let fine = match (
            package["license"].as_str(),
            package["license_file"].as_str(),
        ) {
            (Some(expression), _) => is_allowed(expression),
            (None, Some(file)) => {
                let manifest = std::path::Path::new(package["manifest_path"].as_str().unwrap());
                let text = std::fs::read_to_string(manifest.with_file_name(file)).unwrap();
                let known = BY_FILE.iter().find(|(known, _)| *known == name);
                known.is_some_and(|(_, start)| text.starts_with(start))
            }
            (None, None) => false,
        };
        if !fine {
            refused.push(format!("{name}: {}", package["license"]));
        }
    }
    assert!(refused.is_empty(), "{refused:#?}");
}
