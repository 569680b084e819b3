//! Extracts the message from an error body outside the declaration interface (spec 7.1: JSON or XML).

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{Error, Repr};
use crate::model::json_repair::repaired;
use crate::model::json_text;

impl Error {
    /// The message in a reply that was not the expected JSON, if it can be identified clearly. For a refused login or refresh,
    /// the reason that the identity provider gives (`error_description`, RFC 6749 sections 4.1.2.1 and 5.2), limited to 1,000
    /// characters.
    ///
    /// The message is the member `Message` (or `message`, `detail`, `error_description`, `title`) of a JSON object or of its
    /// member object `error`, the element `Message` of an XML document, or an entire plain text. HTML has none. The names are
    /// assumed: the specification does not show error bodies of the register.
    ///
    /// Servers echo what they receive and may send any characters, so `Display` and `Debug` do not show the message.
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::register::{PropertySearch, Register};
    ///
    /// let fake = envd_sdk::fake::Fake::start().await;
    /// let register = Register::builder(fake.register_url()).build()?;
    /// let mut search = register.search(&PropertySearch::new().town("Sampleton").page_size(0).unchecked());
    /// let error = search.next_page().await.unwrap_err();
    /// assert_eq!(error.http_status(), Some(400));
    /// assert_eq!(error.server_message().as_deref(), Some("pagesize must be at least 1."));
    /// # Ok(()) });
    /// ```
    pub fn server_message(&self) -> Option<String> {
        if let Some(reason) = &self.0.error_description {
            return Some(reason.to_string());
        }
        if !matches!(self.repr(), Repr::Http) {
            return None;
        }
        let media_type = self.media_type().unwrap_or_default();
        let text = self.body_excerpt()?.trim_start_matches('\u{feff}').trim();
        let message = if media_type.contains("html") {
            None
        } else if media_type.contains("json") || text.starts_with(['{', '"']) {
            of_json(repaired(text).as_deref().unwrap_or(text)).map(|(_, message)| message)
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

/// The names of a message member, in order of preference.
const NAMES: [&str; 5] = ["message", "detail", "error_description", "title", "error"];

/// The best message in a JSON text, with the index of its name in [`NAMES`]. Reads as far as the JSON is intact, because the
/// excerpt of a long body is truncated.
fn of_json(text: &str) -> Option<(usize, String)> {
    if text.starts_with('"') {
        return Some((0, next_value(text)?.0));
    }
    let mut rest = text.strip_prefix('{')?;
    let mut best: Option<(usize, String)> = None;
    while let Some((name, after)) = next_value::<String>(rest) {
        let Some(value) = after.trim_start().strip_prefix(':') else {
            break;
        };
        let value = value.trim_start();
        let mut known = NAMES.iter();
        let rank = known.position(|known| name.eq_ignore_ascii_case(known));
        // A member of another type is not a message, but an object is searched for one.
        if let Some(rank) = rank.filter(|rank| best.as_ref().is_none_or(|(best, _)| rank < best))
            && let Some((_, message)) = of_json(value)
        {
            best = Some((rank, message));
        }
        let after = next_value::<IgnoredAny>(value).map(|(_, after)| after.trim_start());
        let Some(next) = after.and_then(|after| after.strip_prefix(',')) else {
            break;
        };
        rest = next;
    }
    best
}

/// The JSON value at the start of a text, and the text after it.
fn next_value<'a, T: Deserialize<'a>>(text: &'a str) -> Option<(T, &'a str)> {
    let (value, length) = json_text::first(text.as_bytes())?;
    Some((value, text.get(length..)?))
}

/// The text of the first complete element `Message`, with or without a prefix.
fn of_xml(text: &str) -> Option<String> {
    text.match_indices('<').find_map(|(at, _)| {
        let (tag, rest) = text.get(at + 1..)?.split_once('>')?;
        let name = tag.split_ascii_whitespace().next()?;
        let local = name.rsplit_once(':').map_or(name, |(_, local)| local);
        if !local.eq_ignore_ascii_case("message") || tag.ends_with('/') {
            return None;
        }
        let (content, end) = rest.split_once('<')?;
        end.starts_with('/').then(|| unescaped(content))
    })
}

/// Decodes the five XML entities and character references (XML 1.0 section 4.1). Other references are left unchanged.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, entity)) = rest.split_once('&') {
        plain.push_str(before);
        let (character, after) = entity
            .split_once(';')
            .and_then(|(name, after)| Some((character(name)?, after)))
            .unwrap_or(('&', entity));
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
    use test_support::script::rows;

    use super::*;
    use crate::error::ReplyParts;
    use crate::model::json_text::work;

    fn message(media_type: Option<&str>, body: &str) -> Option<String> {
        let error = Error::http(ReplyParts::new(400, media_type, body.as_bytes(), None));
        assert!(!format!("{error} {error:?}").contains("Sample"));
        error.server_message()
    }

    /// Media type, body, and message; empty if the message is unclear.
    const MESSAGES: &str = r#"
        application/json         | {"Message": "Sample says no."}                         | Sample says no.
        application/problem+json | {"title": "Bad", "detail": "No Sample"}                | No Sample
        application/json         | {"error": {"code": 5, "message": "No"}}                | No
        application/json         | {"error": "no", "error_description": "Sample gone"}    | Sample gone
        application/json         | "Sample"                                               | Sample
        # A stack trace that the excerpt cuts off.
        application/json         | {"Message": "Failed", "StackTrace": "at Sampl          | Failed
        application/json         | {"error": {"code": 5, "message": "No", "trace": "at Sampl | No
        application/json         | {"error": true, "title": ["x"], "detail": null, "message": "Failed" } | Failed
        text/json                | {"Message": " No "}                                    | No
        application/xml          | <Error><Message>Sample &lt;b&gt; &#38; co &nbsp;</Message></Error> | Sample <b> & co &nbsp;
        text/xml                 | <?xml version="1.0"?><x:Error><x:Message i="1">No</x:Message> | No
        text/plain               | Down for maintenance                                   | Down for maintenance
        application/json         |                                                        |
        application/json         | {}                                                     |
        application/json         | {"Message": null, "title": 5}                          |
        application/json         | {"Message": ["Sample"]}                                |
        application/json         | <html>Sample</html>                                    |
        application/xml          | <Error><Message>Sampl                                  |
        application/xml          | <Error><Message/></Error>                              |
        application/xml          | <Error><Message><b>Sample</b></Message></Error>        |
        text/html                | <html><Message>Sample</Message>                        |
        application/octet-stream | Sample                                                 |
    "#;

    #[test]
    fn the_work_of_a_message_grows_as_the_body() {
        work::assert_linear(&[["", ""], ["{\"Message\":", "}"]], |text| {
            for media_type in ["application/json", "application/xml", "text/plain"] {
                let error = ReplyParts::new(400, Some(media_type), text.as_bytes(), None);
                Error::http(error).report();
            }
        });
    }

    #[test]
    fn the_message_is_found_where_it_is_clear() {
        for row in rows(MESSAGES) {
            let found = message(Some(row[0]), row[1]);
            assert_eq!(found.unwrap_or_default(), row[2], "{row:?}");
        }
        assert_eq!(message(None, r#"{"Message": "No"}"#).as_deref(), Some("No"));
        let marked = message(Some("text/json"), "\u{feff}{\"Message\": \"No\"}");
        assert_eq!(marked.as_deref(), Some("No"));
        assert_eq!(
            message(Some("text/plain"), "Down\n").as_deref(),
            Some("Down")
        );
    }
}
