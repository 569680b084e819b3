//! What a browser posts.

use url::form_urlencoded;

/// The names and values of the fields, in the order of the page.
#[derive(Default)]
pub(crate) struct Post(pub(crate) Vec<(String, String)>);

impl Post {
    /// `None` for what is not UTF-8.
    pub(crate) fn read(body: &str) -> Option<Self> {
        let fields: Vec<_> = form_urlencoded::parse(body.as_bytes())
            .into_owned()
            .collect();
        // The mark of bytes that could not be read.
        let is_read = |(name, value): &(String, String)| {
            !name.contains('\u{fffd}') && !value.contains('\u{fffd}')
        };
        fields.iter().all(is_read).then_some(Self(fields))
    }

    /// The values of a name, with commas between them; empty where there is none.
    pub(crate) fn value(&self, name: &str) -> String {
        let named = self
            .0
            .iter()
            .filter(|(known, value)| known == name && !value.is_empty());
        let values: Vec<&str> = named.map(|(_, value)| value.as_str()).collect();
        values.join(",")
    }
}
