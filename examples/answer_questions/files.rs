//! The output files: the consignment and the saved form.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use envd_sdk::validate::{Form, SavedForm};
use lexopt::Arg::{Long, Short};

use super::cli::{self, Failure, Unusable};

const USAGE: &str = "\
usage: answer_questions [--resume FILE] [--out FILE]

Asks the questions of the form LPAC1, from a terminal or a pipe with one answer a line, and writes
the consignment as JSON to stdout. When stdin is empty, it plays scripted answers. It runs on a fake
of its own, or on the servers of the ENVD_ settings (examples/README.md).

  --resume FILE    continues with the form in FILE, if there is one, and saves it after each answer
  --out FILE       writes the consignment to a file

An empty line leaves a question open, < goes back, and ? says why it is asked; help shows the rest.
quit or Ctrl-C saves the form, to answer_questions.json unless --resume names a file. The exit code
is then 1, as when a pipe ends before the questions.";

/// The files named in the arguments.
pub(crate) struct Files {
    out: Option<PathBuf>,
    saved: Option<PathBuf>,
}

impl Files {
    pub(crate) fn from_arguments() -> Self {
        cli::arguments(USAGE, |given| {
            let mut out = None;
            let mut saved = None;
            while let Some(argument) = given.next()? {
                match argument {
                    Long("out") => out = Some(given.value()?.into()),
                    Long("resume") => saved = Some(given.value()?.into()),
                    Short('h') | Long("help") => cli::help(USAGE),
                    _ => return Err(argument.unexpected()),
                }
            }
            Ok(Self { out, saved })
        })
    }

    pub(crate) fn has_out(&self) -> bool {
        self.out.is_some()
    }

    /// The file in which the form was saved.
    pub(crate) fn saved(&self) -> String {
        let saved = self.saved.as_ref();
        saved.map_or_else(String::new, |file| file.display().to_string())
    }

    /// Checks before the first question that all files can be written. Leaves them unchanged.
    pub(crate) fn try_to_write(&self) -> Result<(), Unusable> {
        if let Some(file) = &self.out {
            let opened = OpenOptions::new().append(true).create(true).open(file);
            opened.map_err(|error| Unusable::new(file, error))?;
        }
        if let Some(file) = &self.saved {
            let created = cli::file_beside(file);
            let removed = created.and_then(|(beside, _)| fs::remove_file(beside));
            removed.map_err(|error| Unusable::new(file, error))?;
        }
        Ok(())
    }

    /// Reads the saved form. `None` without `--resume`, or if the file does not exist yet.
    pub(crate) fn read(&self) -> Result<Option<SavedForm>, Unusable> {
        let Some(file) = self.saved.as_ref().filter(|file| file.exists()) else {
            return Ok(None);
        };
        let read =
            || -> Result<SavedForm, Failure> { Ok(serde_json::from_str(&cli::read_text(file)?)?) };
        read().map(Some).map_err(|error| Unusable::new(file, error))
    }

    /// Saves the form in the file of `--resume`, if there is one.
    pub(crate) fn save_again(&self, form: &Form) -> Result<(), Failure> {
        match &self.saved {
            Some(file) => replace(file, form),
            None => Ok(()),
        }
    }

    /// Saves the form, in a new file unless `--resume` names one.
    pub(crate) fn save(&mut self, form: &Form) -> Result<(), Failure> {
        if self.saved.is_none() {
            self.saved = Some(new_file()?);
        }
        self.save_again(form)
    }

    /// Writes the consignment to its file or to stdout. If the file fails, falls back to stdout, so that no answer is lost.
    pub(crate) fn write(&self, json: &str) -> Result<(), Failure> {
        let json = cli::json(json);
        if let Some(file) = &self.out {
            match fs::write(file, format!("{json}\n")) {
                Ok(()) => return Ok(()),
                Err(error) => {
                    println!("{json}");
                    return Err(Unusable::new(file, error).into());
                }
            }
        }
        println!("{json}");
        Ok(())
    }
}

fn replace(file: &Path, form: &Form) -> Result<(), Failure> {
    let json = serde_json::to_vec(&form.save())?;
    cli::replace(file, &json).map_err(|error| Unusable::new(file, error).into())
}

/// Creates a new file in the current folder.
fn new_file() -> Result<PathBuf, Unusable> {
    let names = (2..100).map(|number| format!("answer_questions-{number}.json"));
    let mut last = None;
    for name in std::iter::once("answer_questions.json".to_owned()).chain(names) {
        match OpenOptions::new().write(true).create_new(true).open(&name) {
            Ok(_) => return Ok(name.into()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => last = Some(error),
        }
    }
    let problem = last.map_or_else(
        || "there are many already".to_owned(),
        |error| error.to_string(),
    );
    Err(Unusable::new(Path::new("answer_questions.json"), problem))
}
