//! Builds and runs all parts, and writes the table of `src/guide/performance.md`.
//!
//! They run in turn, several times; each figure is the median of the runs, but clean builds are measured once: they take
//! minutes, and their CPU time hardly varies. `--quick` runs each once with fewer rounds and writes nothing. `--check` exits
//! with an error when a goal is missed. The date is that of the commit unless it is given.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::{env, fs, thread};

use crate::PARTS;
use crate::row::Row;

/// How often each part runs, unless quickly.
const RUNS: usize = 3;

/// A copy of this program, built with TLS.
const WITH_TLS: &str = "table-with-tls";

pub fn run(options: &[&str]) -> ExitCode {
    let is_quick = options.contains(&"--quick");
    let is_check = options.contains(&"--check");
    let date = options.windows(2).find(|pair| pair[0] == "--date");
    let known = usize::from(is_quick) + usize::from(is_check) + 2 * usize::from(date.is_some());
    if known != options.len() {
        eprintln!("usage: table [--quick] [--check] [--date YYYY-MM-DD] | PART [ROUNDS]");
        return ExitCode::from(2);
    }
    let rows = rows(is_quick);
    let of_commit = || output("git", &["log", "-1", "--format=%cs"]);
    let date = date.map_or_else(of_commit, |pair| pair[1].to_owned());
    let about = about(&date);
    let all = format!("{about}\n{HEAD}{}", grouped(&rows));
    if is_quick {
        println!("{all}");
    } else {
        write("src/guide/performance.md", &all);
    }
    let missed: Vec<_> = rows.iter().filter(|row| !row.is_met()).collect();
    let some = missed.len();
    let all = rows.len();
    println!("{some} of {all} figures miss their goals");
    missed.iter().for_each(|row| println!("{row}"));
    ExitCode::from(u8::from(is_check && !missed.is_empty()))
}

/// Builds and runs all, as often as it takes: the medians of their rows.
fn rows(is_quick: bool) -> Vec<Row> {
    let (runs, rounds) = if is_quick { (1, "2") } else { (RUNS, "5") };
    let this = env::current_exe().unwrap();
    let folder = this.parent().unwrap();
    cargo_build(folder, &["--bin", "table", "--features", "tls"]);
    fs::copy(&this, folder.join(WITH_TLS)).unwrap();
    cargo_build(folder, &["--bins"]);
    let mut programs = PARTS
        .map(|(part, _)| ("table", vec![part, rounds]))
        .to_vec();
    programs.push((WITH_TLS, vec!["start", rounds]));
    programs.extend([("tokens", vec!["--bench"]), ("ratios", vec![])]);
    let mut all: Vec<Vec<Row>> = Vec::new();
    for run in 1..=runs {
        let each = programs.iter().flat_map(|(program, arguments)| {
            eprintln!("{program} {}, {run} of {runs}", arguments.join(" "));
            printed(&folder.join(program), arguments)
        });
        all.push(each.collect());
    }
    let median = |row: &Row| {
        let is_same = |other: &&Row| other.work == row.work && other.case == row.case;
        let same = |rows: &Vec<Row>| rows.iter().find(is_same).map(|same| same.figure);
        let figures: Option<Vec<f64>> = all.iter().map(same).collect();
        let mut figures = figures.unwrap_or_else(|| panic!("not in each run: {row}"));
        figures.sort_by(f64::total_cmp);
        Row {
            figure: figures[runs / 2],
            ..row.clone()
        }
    };
    let mut rows: Vec<Row> = all[0].iter().map(median).collect();
    let build = Path::new(env!("CARGO_MANIFEST_DIR")).join("build.sh");
    rows.extend(printed(&build, if is_quick { &["release"] } else { &[] }));
    rows
}

/// The rows that a program prints.
fn printed(program: &Path, arguments: &[&str]) -> Vec<Row> {
    let mut command = Command::new(program);
    let output = command.args(arguments).stderr(Stdio::inherit()).output();
    let output = output.unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().filter(|line| line.starts_with("| "));
    let rows: Vec<Row> = lines
        .map(|line| Row::read(line).unwrap_or_else(|| panic!("not a row: {line}")))
        .collect();
    // 1 when a goal is missed.
    let is_done = matches!(output.status.code(), Some(0 | 1)) && !rows.is_empty();
    assert!(is_done, "{program:?} {arguments:?}: {}", output.status);
    rows
}

fn cargo_build(folder: &Path, arguments: &[&str]) {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--release", "--quiet", "--manifest-path"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
        .arg("--target-dir")
        .arg(folder.parent().unwrap())
        .args(arguments)
        .status();
    assert!(built.unwrap().success(), "cargo build {arguments:?}");
}

/// What a program prints, which must succeed.
fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(output.status.success(), "{program}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// On what, when and how the figures are measured.
fn about(date: &str) -> String {
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or(env::consts::ARCH, |(_, model)| model);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let compiler = output("rustc", &["--version"]);
    let compiler = compiler.split(" (").next().unwrap_or_default();
    format!(
        "Measured on {date} on {cores} cores ({model}) with {compiler}, release builds. To repeat it:\n\
         `cargo run --release --manifest-path benches/peers/Cargo.toml --bin table`\n"
    )
}

const HEAD: &str = "| work | case | figure | goal |\n| --- | --- | --- | --- |\n";

/// The rows, of which the first of a group names the work.
fn grouped(rows: &[Row]) -> String {
    let mut last = "";
    let rows = rows.iter().map(|row| {
        let line = format!("{row}\n");
        if row.work == last {
            return line.replacen(&row.work, "", 1);
        }
        last = &row.work;
        line
    });
    rows.collect()
}

const BEGIN: &str = "<!-- performance: written by benches/peers -->\n";
const END: &str = "<!-- /performance -->\n";

/// Replaces what is between the markers of a file.
fn write(file: &str, block: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(file);
    let text = fs::read_to_string(&path).unwrap();
    let parts = text.split_once(BEGIN);
    let parts = parts.and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = parts.unwrap_or_else(|| panic!("{file} has no markers"));
    fs::write(&path, [before, BEGIN, block, END, after].concat()).unwrap();
}
