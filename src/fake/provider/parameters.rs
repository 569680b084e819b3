//! Parameters of a request: a query, a form, or a JSON object.

use std::collections::HashMap;

use serde_json::Value;
use url::form_urlencoded;

/// Names and values; of a name that stands twice, the first value.
pub(super) struct Parameters(HashMap<String, String>);

impl Parameters {
    pub(super) fn of_query(query: &str) -> Self {
        let mut map = HashMap::new();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            map.entry(name.into_owned()).or_insert(value.into_owned());
        }
        Self(map)
    }

    /// Form or JSON: Auth0 takes both.
    pub(super) fn of_body(media_type: &str, body: &[u8]) -> Self {
        if media_type.contains("json") {
            let body: Value = serde_json::from_slice(body).unwrap_or_default();
            let fields = body.as_object().into_iter().flatten();
            let texts = fields.filter_map(|(k, v)| Some((k.clone(), v.as_str()?.to_owned())));
            return Self(texts.collect());
        }
        Self::of_query(&String::from_utf8_lossy(body))
    }

    /// A parameter that is there and not empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let value = self.0.get(name).map(String::as_str);
        value.filter(|value| !value.is_empty())
    }
}
