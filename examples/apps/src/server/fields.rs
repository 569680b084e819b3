//! The fields of a form, or of the query of an address, as a browser sends them.

use url::form_urlencoded;

/// The names and values of the fields, in page order.
#[derive(Clone, Default)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Parses the fields. `None` if a field is not UTF-8.
    pub(crate) fn read(text: &str) -> Option<Self> {
        const UNREADABLE: char = '\u{fffd}';
        let mut fields = Self::default();
        let mut unreadable = 0;
        for (name, value) in form_urlencoded::parse(text.as_bytes()) {
            unreadable += name.matches(UNREADABLE).count() + value.matches(UNREADABLE).count();
            fields.add(&name, &value);
        }
        // A person may have typed that character. Others stand for bytes that are not UTF-8.
        let typed = text.to_ascii_uppercase().matches("%EF%BF%BD").count()
            + text.matches(UNREADABLE).count();
        (unreadable == typed).then_some(fields)
    }

    /// Adds a field. Joins the non-empty values of consecutive fields with the same name (the checkboxes of a list) with commas.
    pub(crate) fn add(&mut self, name: &str, value: &str) {
        match self.0.last_mut() {
            Some((last, values)) if last == name => {
                let comma = if values.is_empty() || value.is_empty() {
                    ""
                } else {
                    ","
                };
                values.extend([comma, value]);
            }
            _ => self.0.push((name.to_owned(), value.to_owned())),
        }
    }

    /// The value of the first field with this name.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(known, _)| known == name)?;
        Some(value)
    }

    /// Each name with its value.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &str)> {
        let pairs = self.0.iter();
        pairs.map(|(name, value)| (name.as_str(), value.as_str()))
    }
}
