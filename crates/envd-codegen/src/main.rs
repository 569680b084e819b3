//! The command: typed operations from GraphQL documents, into a file that is checked in.

use std::process::ExitCode;

use envd_codegen::Generator;
use lexopt::Arg::{Long, Short, Value};
use lexopt::ValueExt;

const USAGE: &str = "usage: envd-codegen [--schema FILE] [--scalar NAME=TYPE].. [--sdk-operations] --out FILE [DOCUMENT..]

Writes typed operations for envd-sdk from GraphQL documents: files, or folders with files that end with .graphql.

  --schema FILE      the schema of the service, in place of that of the SDK
  --scalar N=TYPE    the type in Rust for a scalar, such as Money=String
  --sdk-operations   the operations of the SDK as well
  --out FILE         where the code goes";

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
    let (mut documents, mut out, mut schema) = (Vec::new(), None, None);
    let (mut scalars, mut with_sdk) = (Vec::new(), false);
    let mut given = lexopt::Parser::from_env();
    while let Some(argument) = given.next()? {
        match argument {
            Long("schema") => schema = Some(given.value()?),
            Long("scalar") => scalars.push(given.value()?.string()?),
            Long("sdk-operations") => with_sdk = true,
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
    let mut generator = Generator::new(documents);
    if let Some(schema) = schema {
        generator = generator.schema(schema);
    }
    for scalar in scalars {
        let mapping = scalar.split_once('=').ok_or("--scalar takes NAME=TYPE")?;
        generator = generator.scalar(mapping.0, mapping.1);
    }
    if with_sdk {
        generator = generator.sdk_operations();
    }
    Ok(generator.write(out)?)
}
