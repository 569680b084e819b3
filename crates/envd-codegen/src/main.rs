//! The command: writes typed operations from GraphQL documents into a file to be checked in.

use std::process::ExitCode;

use envd_codegen::Generator;
use lexopt::Arg::{Long, Short, Value};
use lexopt::ValueExt;

const USAGE: &str = "usage: envd-codegen [--schema FILE] [--scalar NAME=TYPE].. [--sdk-operations] --out FILE [DOCUMENT..]

Writes typed operations for envd-sdk from GraphQL documents: files, or folders with files that end with .graphql.

  --schema FILE      the schema of the service, instead of that of the SDK
  --scalar N=TYPE    the type in Rust for a scalar, such as Money=String
  --sdk-operations   check the operations of the SDK as well
  --out FILE         the file to write";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let (mut generator, mut documents, mut out) = (Generator::default(), Vec::new(), None);
    let mut given = lexopt::Parser::from_env();
    while let Some(argument) = given.next()? {
        match argument {
            Long("schema") => generator = generator.schema(given.value()?),
            Long("scalar") => {
                let mapping = given.value()?.string()?;
                let (graphql, rust) = mapping.split_once('=').ok_or("--scalar takes NAME=TYPE")?;
                generator = generator.scalar(graphql, rust);
            }
            Long("sdk-operations") => generator = generator.sdk_operations(),
            Long("out") => out = Some(given.value()?),
            Long("help") | Short('h') => {
                println!("{USAGE}");
                return Ok(());
            }
            Value(document) => documents.push(document),
            other => return Err(format!("{}\n\n{USAGE}", other.unexpected()).into()),
        }
    }
    let out = out.ok_or_else(|| format!("--out is missing\n\n{USAGE}"))?;
    Ok(generator.documents(documents).write(out)?)
}
