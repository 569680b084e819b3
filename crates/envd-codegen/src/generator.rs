//! Reads documents and a schema from files, and writes the code to a file.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use apollo_compiler::Schema;
use apollo_compiler::ast::{Definition, Document};
use apollo_compiler::parser::Parser;
use apollo_compiler::schema::SchemaBuilder;
use apollo_compiler::validation::Valid;

use crate::application;
use crate::documents::{Documents, EMPTY, is_blank};
use crate::ir::Program;
use crate::problem::{Error, found};
use crate::resolve::resolve;

/// The schema of the SDK: `envd_sdk::graphql::SCHEMA`.
pub const SCHEMA: &str = include_str!("../graphql/schema.graphql");

const FRAGMENTS: (&str, &str) = (
    "envd-sdk/graphql/fragments.graphql",
    include_str!("../graphql/fragments.graphql"),
);
const OPERATIONS: (&str, &str) = (
    "envd-sdk/graphql/operations.graphql",
    include_str!("../graphql/operations.graphql"),
);

/// The name of a file, and its text.
type File = (String, String);

/// The maximum size of a file. The schema of the SDK has 35 KB, and the largest public schemas have 5 MB.
const LARGEST: u64 = 16 << 20;

/// The file that [`build`] writes into `OUT_DIR`, and `envd_sdk::include_operations!` includes.
const FILE: &str = "envd_operations.rs";

/// Settings of the generator: the documents, their schema, and the types of its scalars.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Generator {
    documents: Vec<PathBuf>,
    schema: Option<PathBuf>,
    scalars: BTreeMap<String, String>,
    with_sdk_operations: bool,
}

impl Generator {
    /// Adds documents: files, or folders with files that end with `.graphql`.
    pub fn documents(mut self, paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.documents.extend(paths.into_iter().map(Into::into));
        self
    }

    /// Uses the schema in this file, as published by the service, instead of that of the SDK.
    ///
    /// A file that defines no `Query` extends the schema of the SDK (`extend type Mutation { .. }`).
    pub fn schema(mut self, file: impl Into<PathBuf>) -> Self {
        self.schema = Some(file.into());
        self
    }

    /// Sets the path of the Rust type for a scalar; the type needs `Clone`, `Debug`, `PartialEq` and the traits of serde.
    pub fn scalar(mut self, graphql: impl Into<String>, rust: impl Into<String>) -> Self {
        self.scalars.insert(graphql.into(), rust.into());
        self
    }

    /// Adds the operations of the SDK, to check them against the schema of a service.
    pub fn sdk_operations(mut self) -> Self {
        self.with_sdk_operations = true;
        self
    }

    /// Generates the Rust code.
    ///
    /// # Errors
    ///
    /// All problems of the documents under the schema, each with its file, line and column.
    pub fn generate(&self) -> Result<String, Error> {
        let schema = self.schema.as_deref().map(read).transpose()?;
        let mut documents = Vec::new();
        for path in &self.documents {
            let files = files(path).map_err(|error| Error::of_file(path, error))?;
            for file in files {
                documents.push(read(&file)?);
            }
        }
        self.generate_from(schema.as_ref(), &documents)
    }

    pub(crate) fn generate_from(
        &self,
        schema: Option<&File>,
        documents: &[File],
    ) -> Result<String, Error> {
        // Parse it only once: descriptions in this file, which name their sources, are recognized by their location.
        let sdk_file = sdk_schema()?;
        let sdk = built(Schema::builder().add_ast(&sdk_file))?;
        let schema = schema.map(|(file, text)| parse_given(file, text, &sdk_file));
        let schema = schema.transpose()?.unwrap_or_else(|| sdk.clone());
        let mut all = Documents::new(&schema);
        all.add(FRAGMENTS, true);
        if self.with_sdk_operations {
            all.add(OPERATIONS, true);
        }
        for (file, text) in documents {
            all.add((file, text), false);
        }
        let program = resolve(all, &sdk, &self.scalars)?;
        Ok(application::file(&program))
    }

    /// Writes the code into a file, unless the file already has exactly this text.
    ///
    /// # Errors
    ///
    /// As [`generate`](Self::generate), and errors of the file system.
    pub fn write(&self, file: impl AsRef<Path>) -> Result<(), Error> {
        let (file, text) = (file.as_ref(), self.generate()?);
        let is_as_long = |old: fs::Metadata| old.is_file() && old.len() == text.len() as u64;
        let may_be_same = fs::metadata(file).is_ok_and(is_as_long);
        if may_be_same && fs::read_to_string(file).is_ok_and(|old| old == text) {
            return Ok(());
        }
        fs::write(file, text).map_err(|error| Error::of_file(file, error))
    }

    /// Writes the code for `envd_sdk::include_operations!`, in a build script.
    ///
    /// Cargo runs the script again when a document or the schema changes, and shows all problems.
    pub fn build(&self) {
        for path in self.documents.iter().chain(&self.schema) {
            println!("cargo::rerun-if-changed={}", path.display());
        }
        let folder = env::var_os("OUT_DIR").unwrap_or_default();
        if let Err(error) = self.write(Path::new(&folder).join(FILE)) {
            // One line for each problem.
            error
                .to_string()
                .lines()
                .for_each(|line| println!("cargo::error={line}"));
        }
    }
}

/// Writes typed operations for documents against the schema of the SDK, for `envd_sdk::include_operations!` in a build script.
///
/// See [`Generator`] for another schema.
pub fn build(documents: impl IntoIterator<Item = impl Into<PathBuf>>) {
    Generator::default().documents(documents).build();
}

/// Returns the operations and all types of the SDK itself.
///
/// # Errors
///
/// All problems of the files in `graphql/`.
pub fn sdk() -> Result<Program, Error> {
    let schema = sdk_schema()?;
    let schema = built(Schema::builder().add_ast(&schema))?;
    let mut documents = Documents::new(&schema);
    documents.add(FRAGMENTS, true);
    documents.add(OPERATIONS, true);
    resolve(documents, &schema, &BTreeMap::new())
}

/// The files of a path: the document itself, or the documents of a folder.
fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let inside = fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path()));
    let mut inside = inside.collect::<io::Result<Vec<PathBuf>>>()?;
    inside.retain(|file| file.extension() == Some("graphql".as_ref()));
    inside.sort();
    Ok(inside)
}

/// Reads a file. Devices and pipes, also behind a link, are refused, since reading them may never end.
fn read(path: &Path) -> Result<File, Error> {
    let failed = |error| Error::of_file(path, error);
    let file = fs::File::open(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(Error::of_file(path, "is not a file that can be read"));
    }
    let mut bytes = Vec::new();
    file.take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > LARGEST {
        return Err(Error::of_file(
            path,
            "has more than 16 MB, which are not read",
        ));
    }
    let text = String::from_utf8(bytes);
    let text = text.map_err(|_| Error::of_file(path, "is not text in UTF-8"))?;
    Ok((path.display().to_string(), text))
}

/// The definitions of the schema of the SDK.
fn sdk_schema() -> Result<Document, Error> {
    parse("envd-sdk/graphql/schema.graphql", SCHEMA)
}

/// The definitions of a file.
fn parse(file: &str, text: &str) -> Result<Document, Error> {
    let parsed = Parser::new().parse_ast(text, file);
    parsed.map_err(|errors| Error::new(found(&errors.errors)))
}

/// Parses the schema of a service, or an extension of that of the SDK.
fn parse_given(file: &str, text: &str, sdk_file: &Document) -> Result<Valid<Schema>, Error> {
    if is_blank(text) {
        return Err(Error::of_file(Path::new(file), EMPTY));
    }
    let given = parse(file, text)?;
    let is_whole = given.definitions.iter().any(|definition| match definition {
        Definition::SchemaDefinition(_) => true,
        Definition::ObjectTypeDefinition(object) => object.name == "Query",
        _ => false,
    });
    let builder = Schema::builder();
    let builder = if is_whole {
        builder
    } else {
        builder.add_ast(sdk_file)
    };
    built(builder.add_ast(&given))
}

fn built(builder: SchemaBuilder) -> Result<Valid<Schema>, Error> {
    let schema = builder.build().and_then(Schema::validate);
    schema.map_err(|errors| Error::new(found(&errors.errors)))
}
