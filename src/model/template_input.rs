//! Further fields of a template.

use serde::Serialize;

use super::{TemplateInput, WithExtra};

impl TemplateInput {
    /// Adds a field that this crate does not know, for the fields of a template are not shown; see [`WithExtra`].
    ///
    /// ```
    /// use envd_sdk::model::{FormType, TemplateInput};
    ///
    /// let input = TemplateInput::new("To the works", [FormType::Lpac1]).extra("movementTime", "05:15");
    /// assert_eq!(serde_json::to_value(&input)?["movementTime"], "05:15");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn extra(self, name: impl Into<String>, value: impl Serialize) -> WithExtra<Self> {
        WithExtra::from(self).extra(name, value)
    }
}
