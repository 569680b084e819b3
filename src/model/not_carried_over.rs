//! What of a record a save cannot carry.

use super::written_time::WrittenTime;
use super::{Consignment, ConsignmentForm, List, Template, Timestamp, written_time};

impl Consignment {
    /// The fields of this record that an input made from it does not carry, by their wire names.
    ///
    /// The service makes most of them itself, such as `heads` and `updatedAt`. An element of a list is named by its
    /// list, and a date or a time by its field where a part of it is lost: a time in `movementDate`, seconds in
    /// `movementTime`, a fraction of a second or a zone other than UTC in `declaration.date`. Fields that are missing in
    /// the record are not listed.
    ///
    /// ```
    /// use envd_sdk::model::Consignment;
    ///
    /// let record: Consignment = serde_json::from_str(
    ///     r#"{"number": "C-900000101", "heads": 24, "movementDate": "2023-06-10T06:30:00"}"#,
    /// )?;
    /// assert_eq!(record.not_carried_over(), ["heads", "movementDate"]);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn not_carried_over(&self) -> Vec<&'static str> {
        let date = self.declaration.as_ref().and_then(|it| it.date.as_ref());
        let found = [
            ("species", self.species.is_some()),
            ("heads", self.heads.is_some()),
            ("pdfUrl", self.pdf_url.is_some()),
            ("createdBy", self.created_by.is_some()),
            ("updatedAt", self.updated_at.is_some()),
            ("updatedBy", self.updated_by.is_some()),
            ("submittedAt", self.submitted_at.is_some()),
            ("questions", !self.questions.is_empty()),
            (
                "movementDate",
                self.movement_date.as_deref().is_some_and(loses_time),
            ),
            (
                "movementTime",
                self.movement_time.as_deref().is_some_and(loses_seconds),
            ),
            ("declaration.date", date.is_some_and(loses_instant)),
            ("answers", !self.answers.null_positions().is_empty()),
        ];
        named(found).chain(of_forms(&self.forms)).collect()
    }
}

impl Template {
    /// The fields of this record that a [`TemplateInput`](super::TemplateInput) made from it does not carry, by their
    /// wire names. Fields that are missing in the record are not listed.
    ///
    /// ```
    /// use envd_sdk::model::Template;
    ///
    /// let record: Template = serde_json::from_str(r#"{"name": "To the yards", "species": "CATTLE"}"#)?;
    /// assert_eq!(record.not_carried_over(), ["species"]);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn not_carried_over(&self) -> Vec<&'static str> {
        let species = [("species", self.species.is_some())];
        named(species).chain(of_forms(&self.forms)).collect()
    }
}

fn named<const N: usize>(found: [(&'static str, bool); N]) -> impl Iterator<Item = &'static str> {
    found
        .into_iter()
        .filter_map(|(name, lost)| lost.then_some(name))
}

/// An input names its forms only, so a form without a name is lost as a whole.
fn of_forms(forms: &List<ConsignmentForm>) -> impl Iterator<Item = &'static str> {
    let nameless = forms.iter().any(|form| form.form_type.is_none());
    let numbered = forms.iter().any(|form| form.serial_number.is_some());
    named([
        ("forms", nameless || !forms.null_positions().is_empty()),
        ("forms.serialNumber", numbered),
    ])
}

fn loses_time(text: &str) -> bool {
    let clock = WrittenTime::read(text).and_then(|written| written.clock);
    written_time::read_day(text).is_some() && clock.is_some_and(|clock| !clock.is_midnight())
}

fn loses_seconds(text: &str) -> bool {
    written_time::read_time(text).is_some_and(|clock| !clock.has_whole_minutes())
}

fn loses_instant(date: &Timestamp) -> bool {
    let clock = WrittenTime::read(date.as_str()).and_then(|written| written.clock);
    clock.is_some_and(|clock| !clock.has_whole_seconds() || !clock.is_utc())
}
