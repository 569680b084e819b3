//! Pages from templates.

use std::sync::OnceLock;

use axum::http::StatusCode;
use axum::response::Html;
use envd_sdk::model::Day;
use minijinja::{Environment, Error, UndefinedBehavior, Value};

use super::cli::{chain, printable};

/// The templates of a program. They are read once.
pub(crate) struct Pages {
    /// Names and texts. The names end in `.html`, so what the pages show is escaped.
    files: &'static [(&'static str, &'static str)],
    read: OnceLock<Environment<'static>>,
}

impl Pages {
    pub(crate) const fn new(files: &'static [(&'static str, &'static str)]) -> Self {
        let read = OnceLock::new();
        Self { files, read }
    }

    /// The page, or status 500 if it fails; then stderr says why.
    pub(crate) fn html(&self, name: &str, values: Value) -> Result<Html<String>, StatusCode> {
        self.text(name, values).map(Html).map_err(|error| {
            eprintln!("{}", printable(chain(&error)));
            StatusCode::INTERNAL_SERVER_ERROR
        })
    }

    /// # Errors
    ///
    /// If a template asks for a value that is not there.
    pub(crate) fn text(&self, name: &str, values: Value) -> Result<String, Error> {
        let templates = self.read.get_or_init(|| {
            let mut templates = Environment::new();
            templates.set_undefined_behavior(UndefinedBehavior::Strict);
            templates.add_filter("day", day);
            for (name, text) in self.files {
                // OK because the texts are part of the program, and the tests of the examples read them.
                templates.add_template(name, text).expect(name);
            }
            templates
        });
        templates.get_template(name)?.render(values)
    }
}

/// A day as Australians write it, such as 2 Nov 2026; another text as it is.
pub(crate) fn day(text: &str) -> String {
    let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let day = Day::parse(text.split('T').next().unwrap_or_default());
    day.map_or_else(
        |_| text.to_owned(),
        |day| {
            let month = months[day.month() as usize - 1];
            format!("{} {month} {}", day.day_of_month(), day.year())
        },
    )
}
