//! Pages from templates.

use std::sync::OnceLock;

use axum::http::StatusCode;
use axum::response::Html;
use envd_sdk::model::Day;
use minijinja::{Environment, Error, UndefinedBehavior, Value};

use super::cli::{chain, printable};

/// The templates of a program, parsed once.
pub(crate) struct Pages {
    /// Names and texts. The names end in `.html`, so values are escaped.
    files: &'static [(&'static str, &'static str)],
    read: OnceLock<Environment<'static>>,
}

impl Pages {
    pub(crate) const fn new(files: &'static [(&'static str, &'static str)]) -> Self {
        let read = OnceLock::new();
        Self { files, read }
    }

    /// Renders a page. After a failure returns status 500 and prints the reason to stderr.
    pub(crate) fn html(&self, name: &str, values: Value) -> Result<Html<String>, StatusCode> {
        self.text(name, values).map(Html).map_err(|error| {
            eprintln!("{}", printable(chain(&error)));
            StatusCode::INTERNAL_SERVER_ERROR
        })
    }

    /// # Errors
    ///
    /// If a template uses a value that does not exist.
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

/// Formats a day in the Australian way, such as 2 Nov 2026; returns any other text unchanged.
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
