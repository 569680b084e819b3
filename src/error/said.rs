//! What a server said in an error body that is not of the declaration interface (spec 7.1: JSON or XML).

use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor};

use super::{Error, Kind};

impl Error {
    /// The message in a reply that was not the expected JSON, when it is clear which of its texts that is.
    ///
    /// It is taken from the member `Message` (or `message`, `detail`, `error_description`, `title`) of a JSON object or of
    /// the object `error` in it, from the element `Message` of XML, or from a body of plain text. HTML has none. The
    /// names are assumed: the specification does not show error bodies of the register.
    ///
    /// Servers repeat what they were sent: `Display` and `Debug` do not show it.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use envd_sdk::register::{PropertySearch, Register};
    ///
    /// let fake = envd_sdk::fake::Fake::start().await;
    /// let register = Register::builder(fake.register_url()).build()?;
    /// let mut search = register.search(&PropertySearch::new().town("Sampleton").page_size(0).unchecked());
    /// let error = search.next_page().await.unwrap_err();
    /// assert_eq!(error.http_status(), Some(400));
    /// assert_eq!(error.server_message().as_deref(), Some("pagesize must be at least 1."));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn server_message(&self) -> Option<String> {
        let Kind::Http {
            media_type,
            excerpt,
            ..
        } = self.kind()
        else {
            return None;
        };
        let media_type = media_type.as_deref().unwrap_or_default();
        let text = excerpt.trim_start_matches('\u{feff}').trim();
        let message = if media_type.contains("html") {
            None
        } else if media_type.contains("json") || text.starts_with(['{', '"']) {
            of_json(text)
        } else if media_type.contains("xml") || text.starts_with('<') {
            of_xml(text)
        } else {
            (media_type == "text/plain").then(|| text.to_owned())
        };
        message
            .map(|message| message.trim().to_owned())
            .filter(|message| !message.is_empty())
    }
}

/// The names of a message, the best first.
const NAMES: [&str; 5] = ["message", "detail", "error_description", "title", "error"];

/// Reads as far as there is JSON: the excerpt of a long body ends early.
fn of_json(text: &str) -> Option<String> {
    let mut found = Found::default();
    // OK because what was found before the end counts.
    let _ = Said(&mut found).deserialize(&mut serde_json::Deserializer::from_str(text));
    found.0.map(|(_, message)| message)
}

/// The best message so far, and the place of its name in [`NAMES`].
#[derive(Default)]
struct Found(Option<(usize, String)>);

struct Said<'a>(&'a mut Found);

impl<'de> DeserializeSeed<'de> for Said<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Said<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or an object")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.0.0 = Some((0, text.to_owned()));
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            let known = NAMES
                .iter()
                .position(|known| name.eq_ignore_ascii_case(known));
            let better = known.filter(|rank| self.0.0.as_ref().is_none_or(|(best, _)| rank < best));
            let Some(rank) = better else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let mut inner = Found::default();
            // A member of another type is no message; where it is an object, its own members count.
            let read = map.next_value_seed(Said(&mut inner));
            if let Some((_, message)) = inner.0 {
                self.0.0 = Some((rank, message));
            }
            read?;
        }
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut sequence: A) -> Result<(), A::Error> {
        while sequence.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

/// The text of the first element `Message`, with or without a prefix. It must be complete.
fn of_xml(text: &str) -> Option<String> {
    text.match_indices('<').find_map(|(at, _)| {
        let (tag, rest) = text[at + 1..].split_once('>')?;
        let name = tag.split_ascii_whitespace().next()?;
        let local = name.rsplit_once(':').map_or(name, |(_, local)| local);
        if !local.eq_ignore_ascii_case("message") || tag.ends_with('/') {
            return None;
        }
        let (content, end) = rest.split_once('<')?;
        end.starts_with('/').then(|| unescaped(content))
    })
}

/// The five entities of XML and character references (XML 1.0 section 4.1); others stay as they are.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, entity)) = rest.split_once('&') {
        plain.push_str(before);
        let known = entity
            .split_once(';')
            .and_then(|(name, after)| Some((character(name)?, after)));
        let (character, after) = known.unwrap_or(('&', entity));
        plain.push(character);
        rest = after;
    }
    plain + rest
}

fn character(entity: &str) -> Option<char> {
    Some(match entity {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let number = entity.strip_prefix('#')?;
            let code = match number.strip_prefix('x') {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)?
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(media_type: Option<&str>, body: &str) -> Option<String> {
        let error = Error::new(Kind::Http {
            status: 400,
            media_type: media_type.map(str::to_owned),
            excerpt: body.to_owned(),
        });
        assert!(!format!("{error} {error:?}").contains("Sample"));
        error.server_message()
    }

    #[test]
    fn the_message_is_found_where_it_is_clear() {
        for (media_type, body, message) in [
            (
                "application/json",
                r#"{"Message": "Sample says no."}"#,
                "Sample says no.",
            ),
            (
                "application/problem+json",
                r#"{"title": "Bad", "detail": "No Sample"}"#,
                "No Sample",
            ),
            (
                "application/json",
                r#"{"error": {"code": 5, "message": "No"}}"#,
                "No",
            ),
            (
                "application/json",
                r#"{"error": "no", "error_description": "Sample gone"}"#,
                "Sample gone",
            ),
            ("application/json", r#""Sample""#, "Sample"),
            // A stack trace that the excerpt cuts off.
            (
                "application/json",
                r#"{"Message": "Failed", "StackTrace": "at Sampl"#,
                "Failed",
            ),
            ("text/json", "\u{feff}{\"Message\": \" No \"}", "No"),
            (
                "application/xml",
                "<Error><Message>Sample &lt;b&gt; &#38; co &nbsp;</Message></Error>",
                "Sample <b> & co &nbsp;",
            ),
            (
                "text/xml",
                "<?xml version=\"1.0\"?><x:Error><x:Message i=\"1\">No</x:Message>",
                "No",
            ),
            (
                "text/plain",
                "Down for maintenance\n",
                "Down for maintenance",
            ),
        ] {
            assert_eq!(
                said(Some(media_type), body).as_deref(),
                Some(message),
                "{body}"
            );
        }
        assert_eq!(said(None, r#"{"Message": "No"}"#).as_deref(), Some("No"));
    }

    #[test]
    fn where_it_is_not_clear_there_is_none() {
        for (media_type, body) in [
            ("application/json", ""),
            ("application/json", "{}"),
            ("application/json", r#"{"Message": null, "title": 5}"#),
            ("application/json", r#"{"Message": ["Sample"]}"#),
            ("application/json", "<html>Sample</html>"),
            ("application/xml", "<Error><Message>Sampl"),
            ("application/xml", "<Error><Message/></Error>"),
            (
                "application/xml",
                "<Error><Message><b>Sample</b></Message></Error>",
            ),
            ("text/html", "<html><Message>Sample</Message>"),
            ("application/octet-stream", "Sample"),
        ] {
            assert_eq!(said(Some(media_type), body), None, "{body}");
        }
    }
}
