//! The field of the input that a finding is about.

use super::Finding;
use crate::model::input_path;

impl Finding {
    /// The field of the input that this is about, from the input down, so that a form can mark it; empty when it is about
    /// no single field.
    ///
    /// The path is the server's, which has older names for some fields; see
    /// [`ServerError::input_path`](crate::model::ServerError::input_path).
    ///
    /// ```
    /// use envd_sdk::model::{ConsignmentInput, Day};
    /// use envd_sdk::validate::{Context, validate_fields};
    ///
    /// let today = Day::parse("2026-11-20")?;
    /// let report = validate_fields(&ConsignmentInput::default(), &Context::on(today));
    /// let finding = report.at("programs").next().unwrap();
    /// assert_eq!(finding.input_path(), ["forms"]);
    /// # Ok::<(), envd_sdk::model::TextError>(())
    /// ```
    #[must_use]
    pub fn input_path(&self) -> Vec<String> {
        input_path(self.path.clone(), &self.code)
    }
}
