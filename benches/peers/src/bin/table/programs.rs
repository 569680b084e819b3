//! The programs, and the medians of their rows.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::row::Row;

/// A program with its arguments for the whole table, and for a quick look.
struct Program {
    name: &'static str,
    whole: &'static [&'static str],
    quick: &'static [&'static str],
}

const PROGRAMS: [Program; 10] = [
    Program::new("load", &["5"], &["3"]),
    Program::new("walk", &["5"], &["2"]),
    Program::new("latency", &["1"], &["1"]),
    Program::new("link", &[], &[]),
    Program::new("memory", &[], &[]),
    Program::new("tokens", &["--bench"], &["--bench"]),
    Program::new("ratios", &[], &[]),
    Program::new("peers", &[], &[]),
    Program::new("start", &[], &[]),
    Program::new(START_WITH_TLS, &[], &[]),
];

/// Clean builds. Run once: it takes minutes, and the CPU time of a build hardly varies.
const BUILD: Program = Program::new("build.sh", &[], &["release"]);

/// A copy of `start`, built with TLS.
const START_WITH_TLS: &str = "start-with-tls";
/// How often each other program runs, unless quickly.
const RUNS: usize = 3;

impl Program {
    const fn new(
        name: &'static str,
        whole: &'static [&'static str],
        quick: &'static [&'static str],
    ) -> Self {
        Self { name, whole, quick }
    }
}

/// The folder of the built programs.
pub(crate) struct Programs(PathBuf);

impl Programs {
    /// Builds them beside this one.
    pub(crate) fn build() -> Self {
        let this = std::env::current_exe().unwrap();
        let folder = this.parent().unwrap().to_owned();
        cargo_build(&folder, &["--bin", "start", "--features", "tls"]);
        std::fs::copy(folder.join("start"), folder.join(START_WITH_TLS)).unwrap();
        let names = PROGRAMS.iter().map(|program| program.name);
        let built = names.filter(|name| *name != START_WITH_TLS);
        let bins: Vec<&str> = built.flat_map(|name| ["--bin", name]).collect();
        cargo_build(&folder, &bins);
        Self(folder)
    }

    /// Runs all in turn, as often as it takes; the medians of their rows.
    pub(crate) fn run(&self, quick: bool) -> Vec<Row> {
        let runs = if quick { 1 } else { RUNS };
        let mut all: Vec<Vec<Row>> = Vec::new();
        for run in 1..=runs {
            let mut rows = Vec::new();
            for program in &PROGRAMS {
                eprintln!("{}, {run} of {runs}", program.name);
                rows.extend(self.rows(program, quick));
            }
            all.push(rows);
        }
        let first = all[0].clone();
        let medians = first.into_iter().map(|row| {
            let same = |other: &&Row| other.work == row.work && other.case == row.case;
            let mut figures: Vec<f64> = all
                .iter()
                .map(|rows| rows.iter().find(same).map(|same| same.figure))
                .map(|figure| figure.unwrap_or_else(|| panic!("not in each run: {row}")))
                .collect();
            figures.sort_by(f64::total_cmp);
            let figure = figures[runs / 2];
            Row { figure, ..row }
        });
        let mut rows: Vec<Row> = medians.collect();
        rows.extend(self.rows(&BUILD, quick));
        rows
    }

    fn rows(&self, program: &Program, quick: bool) -> Vec<Row> {
        let folder = match program.name {
            "build.sh" => Path::new(env!("CARGO_MANIFEST_DIR")),
            _ => &self.0,
        };
        let path = folder.join(program.name);
        let mut command = Command::new(path);
        command.args(if quick { program.quick } else { program.whole });
        let output = command.stderr(Stdio::inherit()).output().unwrap();
        // Many end with 1 when a goal is missed.
        let text = String::from_utf8(output.stdout).unwrap();
        let rows: Vec<Row> = text
            .lines()
            .filter(|line| line.starts_with("| "))
            .map(|line| Row::read(line).unwrap_or_else(|| panic!("not a row: {line}")))
            .collect();
        let ended = matches!(output.status.code(), Some(0 | 1)) && !rows.is_empty();
        assert!(ended, "{} ended with {}", program.name, output.status);
        rows
    }
}

fn cargo_build(folder: &Path, arguments: &[&str]) {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--release", "--quiet", "--manifest-path"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
        .arg("--target-dir")
        .arg(folder.parent().unwrap())
        .args(arguments)
        .status();
    assert!(built.unwrap().success(), "cargo build {arguments:?}");
}
