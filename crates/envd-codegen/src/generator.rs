//! Files in, a file out.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{env, fs};

use apollo_compiler::Schema;
use apollo_compiler::ast::Definition;
use apollo_compiler::parser::Parser;
use apollo_compiler::validation::Valid;

use crate::application;
use crate::ir::Program;
use crate::problem::{Error, found};
use crate::resolve::Resolver;

/// The schema of the SDK: [`envd_sdk::graphql::SCHEMA`](https://docs.rs/envd-sdk).
pub const SCHEMA: &str = include_str!("../graphql/schema.graphql");

/// The records and the operations of the SDK.
const FRAGMENTS: (&str, &str) = (
    "envd-sdk/graphql/fragments.graphql",
    include_str!("../graphql/fragments.graphql"),
);
const OPERATIONS: (&str, &str) = (
    "envd-sdk/graphql/operations.graphql",
    include_str!("../graphql/operations.graphql"),
);

/// How large a file may be: the schema of the SDK has 35 KB, and the largest public ones 5 MB.
const LARGEST: u64 = 16 << 20;

/// The file that [`build`] writes into `OUT_DIR`, and `envd_sdk::include_operations!` includes.
const FILE: &str = "envd_operations.rs";

/// Documents, the schema that they are for, and how its scalars are read.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Generator {
    documents: Vec<PathBuf>,
    schema: Option<PathBuf>,
    scalars: BTreeMap<String, String>,
    with_sdk_operations: bool,
}

impl Generator {
    /// For documents at these paths; of a folder all files that end with `.graphql`.
    pub fn new(documents: impl IntoIterator<Item = impl AsRef<Path>>) -> Self {
        let documents = documents.into_iter();
        Self {
            documents: documents.map(|path| path.as_ref().to_owned()).collect(),
            ..Self::default()
        }
    }

    /// The schema in this file, in place of that of the SDK: as the service shows it. A file that defines no `Query` extends that of
    /// the SDK (`extend type Mutation { .. }`).
    pub fn schema(mut self, file: impl AsRef<Path>) -> Self {
        self.schema = Some(file.as_ref().to_owned());
        self
    }

    /// The type in Rust for a scalar of the schema, by its path. It needs `Clone`, `Debug`, `PartialEq` and the traits of serde.
    pub fn scalar(mut self, graphql: impl Into<String>, rust: impl Into<String>) -> Self {
        self.scalars.insert(graphql.into(), rust.into());
        self
    }

    /// Takes the operations of the SDK as well, to hold them against the schema of a service.
    pub fn sdk_operations(mut self) -> Self {
        self.with_sdk_operations = true;
        self
    }

    /// The Rust code.
    ///
    /// # Errors
    ///
    /// All that is wrong with the documents under the schema, each with its file, line and column.
    pub fn generate(&self) -> Result<String, Error> {
        let schema = self.schema.as_deref().map(read).transpose()?;
        let documents: Vec<_> = self
            .files()?
            .iter()
            .map(|file| read(file))
            .collect::<Result<_, _>>()?;
        self.generate_from(schema.as_ref(), &documents)
    }

    /// The code for texts, each with the name of its file.
    pub(crate) fn generate_from(
        &self,
        schema: Option<&(String, String)>,
        documents: &[(String, String)],
    ) -> Result<String, Error> {
        let sdk = parse("schema.graphql", SCHEMA)?;
        let schema = schema
            .map(|(file, text)| parse_given(file, text))
            .transpose()?;
        let mut resolver = Resolver::new(schema.as_ref().unwrap_or(&sdk), &sdk, &self.scalars);
        resolver.add(FRAGMENTS, true);
        if self.with_sdk_operations {
            resolver.add(OPERATIONS, true);
        }
        for (file, text) in documents {
            resolver.add((file, text), false);
        }
        resolver
            .program()
            .map(|program| application::file(&program))
    }

    /// Writes the code into a file, which is left alone if it has that text already.
    ///
    /// # Errors
    ///
    /// As [`generate`](Self::generate), and those of writing.
    pub fn write(&self, file: impl AsRef<Path>) -> Result<(), Error> {
        let (file, text) = (file.as_ref(), self.generate()?);
        if fs::read_to_string(file).is_ok_and(|old| old == text) {
            return Ok(());
        }
        fs::write(file, text).map_err(|error| Error::of_file(file, error))
    }

    /// Writes the code for `envd_sdk::include_operations!`, in a build script.
    ///
    /// Cargo runs the script again when a document or the schema changes, and shows what is wrong with them.
    pub fn build(&self) {
        for path in self.documents.iter().chain(&self.schema) {
            println!("cargo::rerun-if-changed={}", path.display());
        }
        let folder = env::var_os("OUT_DIR").unwrap_or_default();
        let Err(error) = self.write(Path::new(&folder).join(FILE)) else {
            return;
        };
        for problem in error.problems() {
            println!("cargo::error={}", problem.to_string().replace('\n', " "));
        }
    }

    fn files(&self) -> Result<Vec<PathBuf>, Error> {
        let mut files = Vec::new();
        for path in &self.documents {
            if !path.is_dir() {
                files.push(path.clone());
                continue;
            }
            let entries = fs::read_dir(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
            let entries = entries.map_err(|error| Error::of_file(path, error))?;
            let inside = entries.iter().map(fs::DirEntry::path);
            let mut inside: Vec<_> = inside
                .filter(|path| path.extension() == Some(OsStr::new("graphql")))
                .collect();
            inside.sort();
            files.extend(inside);
        }
        Ok(files)
    }
}

/// In a build script: writes typed operations for documents against the schema of the SDK, for `envd_sdk::include_operations!`.
///
/// See [`Generator`] for another schema.
pub fn build(documents: impl IntoIterator<Item = impl AsRef<Path>>) {
    Generator::new(documents).build();
}

/// The operations and all types of the SDK itself.
///
/// # Errors
///
/// All that is wrong with `graphql/`.
pub fn sdk() -> Result<Program, Error> {
    let schema = parse("schema.graphql", SCHEMA)?;
    let scalars = BTreeMap::new();
    let mut resolver = Resolver::new(&schema, &schema, &scalars);
    resolver.add(FRAGMENTS, true);
    resolver.add(OPERATIONS, true);
    resolver.program()
}

/// A file with its name.
fn read(file: &Path) -> Result<(String, String), Error> {
    let failed = |error| Error::of_file(file, error);
    let size = fs::metadata(file).map_err(failed)?.len();
    if size > LARGEST {
        return Err(Error::of_file(
            file,
            format!("has {size} bytes; at most {LARGEST} are read"),
        ));
    }
    Ok((
        file.display().to_string(),
        fs::read_to_string(file).map_err(failed)?,
    ))
}

/// The schema of a service, or that of the SDK with an extension.
fn parse_given(file: &str, text: &str) -> Result<Valid<Schema>, Error> {
    let given = Parser::new().parse_ast(text, file);
    let given = given.map_err(|errors| Error::new(found(&errors.errors)))?;
    let is_whole = given.definitions.iter().any(|definition| match definition {
        Definition::SchemaDefinition(_) => true,
        Definition::ObjectTypeDefinition(object) => object.name == "Query",
        _ => false,
    });
    let builder = Schema::builder();
    let builder = if is_whole {
        builder
    } else {
        builder.parse(SCHEMA, "envd-sdk/graphql/schema.graphql")
    };
    let schema = builder.add_ast(&given).build();
    let schema = schema.and_then(Schema::validate);
    schema.map_err(|errors| Error::new(found(&errors.errors)))
}

fn parse(file: &str, text: &str) -> Result<Valid<Schema>, Error> {
    Schema::parse_and_validate(text, file).map_err(|errors| Error::new(found(&errors.errors)))
}
