//! The generated blocks, between two markers of a file.

use std::path::Path;
use std::{fs, thread};

use crate::output;
use crate::row::Row;

pub(crate) struct Place(&'static str);

const BEGIN: &str = "<!-- performance: written by benches/peers -->\n";
const END: &str = "<!-- /performance -->\n";

impl Place {
    pub(crate) const GUIDE: Self = Self("src/guide/performance.md");
    pub(crate) const README: Self = Self("README.md");

    /// Replaces what is between the markers.
    pub(crate) fn write(&self, block: &str) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let path = path.join(self.0);
        let text = fs::read_to_string(&path).unwrap();
        let parts = text.split_once(BEGIN);
        let parts = parts.and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
        let (before, after) = parts.unwrap_or_else(|| panic!("{} has no markers", self.0));
        fs::write(&path, [before, BEGIN, block, END, after].concat()).unwrap();
    }
}

/// On what, when and how the figures are measured.
pub(crate) fn about(date: &str) -> String {
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or(std::env::consts::ARCH, |(_, model)| model);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let compiler = output("rustc", &["--version"]);
    let compiler = compiler.split(" (").next().unwrap_or_default().to_owned();
    format!(
        "Measured on {date} on {cores} cores ({model}) with {compiler}, release builds. To repeat it:\n\
         `cargo run --release --manifest-path benches/peers/Cargo.toml --bin table`\n"
    )
}

const HEAD: &str = "| work | case | figure | goal |\n| --- | --- | --- | --- |\n";

pub(crate) fn of_guide(about: &str, rows: &[Row]) -> String {
    let rows: String = rows.iter().map(|row| format!("{row}\n")).collect();
    format!("{about}\n{HEAD}{rows}")
}

/// The rows of the README, by their beginnings; all are ratios to a client by hand.
const IN_README: [(&str, &str); 5] = [
    (
        "save with 40 answers, 16 at a time, one thread",
        "reqwest by hand",
    ),
    (
        "save with 40 answers, 16 at a time, one thread",
        "envd-sdk, token manager",
    ),
    ("full record of a list", "envd-sdk"),
    ("full record of a list", "`graphql_client`"),
    ("record of the register", "envd-sdk"),
];

pub(crate) fn of_readme(about: &str, rows: &[Row]) -> String {
    let first = |(work, case): (&str, &str)| {
        let row = rows.iter();
        let mut row = row.filter(|row| row.work.starts_with(work) && row.case.starts_with(case));
        row.next()
            .unwrap_or_else(|| panic!("no row: {work}, {case}"))
    };
    let rows: String = IN_README.map(first).map(|row| format!("{row}\n")).concat();
    let rows = rows.replace(" times |", " times hyper by hand |");
    format!("{about}\n{HEAD}{rows}")
}
