//! The mirror judges by what it is given: no clock, no network, no files, no environment.

use std::path::Path;

const OUTSIDE: [&str; 10] = [
    "SystemTime",
    "Instant",
    "std::time",
    "Utc",
    "Local",
    "std::net",
    "std::fs",
    "std::env",
    "tokio",
    "reqwest",
];

/// The words for the world outside in a source.
fn words(source: &str) -> impl Iterator<Item = &'static str> {
    OUTSIDE.into_iter().filter(|word| source.contains(word))
}

#[test]
fn no_source_of_the_validator_and_the_model_reads_a_clock_or_the_network() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut seen = 0;
    for file in root.join("validate").read_dir().unwrap() {
        let file = file.unwrap().path();
        if file.is_dir() {
            continue;
        }
        let source = std::fs::read_to_string(&file).unwrap();
        let found: Vec<_> = words(&source).collect();
        assert!(found.is_empty(), "{}: {found:?}", file.display());
        seen += 1;
    }
    assert!(seen > 20, "only {seen} sources were read");
    // The model turns times into days, but it does not ask for the time.
    for file in root.join("model").read_dir().unwrap() {
        let file = file.unwrap().path();
        let source = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(!source.contains("::now("), "{}", file.display());
    }
}

#[test]
fn a_clock_and_the_network_would_be_seen() {
    let planted = "use std::time::SystemTime;\nuse std::net::TcpStream;\n";
    assert_eq!(
        words(planted).collect::<Vec<_>>(),
        ["SystemTime", "std::time", "std::net"]
    );
}
