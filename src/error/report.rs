//! All details of a failure as one text, for logs that may contain personal data.

use std::fmt::Write;

use super::Error;
use crate::model::{OneLine, ServerError};

/// The maximum number of server errors to include.
const ERRORS: usize = 20;
/// The maximum length of each text, in bytes.
const TEXT: usize = 1_000;

impl Error {
    /// All details as one text: `Display`, the [`source`](std::error::Error::source) chain, and each server error with its
    /// message, code and path. If the body was not one of the interface, its beginning is included instead.
    ///
    /// For development, and for logs that may contain user input: servers echo names, addresses and answers. Control characters
    /// are escaped, and long texts are truncated.
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    ///
    /// let fake = envd_sdk::fake::Fake::start().await;
    /// let account = fake.client().build()?.account(fake.account_id());
    /// let origin = PartyInput::new("QAZZ777");
    /// let destination = PartyInput::new("QDZZ3333");
    /// let input = ConsignmentInput::new([FormType::Lpac1], origin, destination);
    /// let error = account.save_consignment(input).await.unwrap_err();
    /// assert!(!error.to_string().contains("QAZZ777"));
    /// assert!(error.report().contains("QAZZ777 is not a valid value for PIC"));
    /// # Ok(()) });
    /// ```
    pub fn report(&self) -> String {
        let mut report = self.to_string();
        let mut source = std::error::Error::source(self);
        while let Some(cause) = source {
            line(&mut report, "caused by", &cause.to_string());
            source = cause.source();
        }
        if let Some(path) = self.json_path() {
            line(&mut report, "at", path);
        }
        let errors = self.server_errors();
        for error in errors.iter().take(ERRORS) {
            line(&mut report, "server error", &words(error));
        }
        if errors.len() > ERRORS {
            let left_out = format!("{} more", errors.len() + self.errors().omitted - ERRORS);
            line(&mut report, "server errors", &left_out);
        }
        if errors.is_empty() {
            if let Some(message) = self.server_message() {
                line(&mut report, "server message", &message);
            } else if let Some(body) = self.body_excerpt().filter(|body| !body.is_empty()) {
                line(&mut report, "body", body);
            }
        }
        report
    }
}

fn words(error: &ServerError) -> String {
    let mut words = error.to_string();
    if let Some(code) = error.code().or_else(|| error.schema_code()) {
        // OK because writing to a string does not fail.
        let _ = write!(words, " (code {code})");
    }
    if !error.path().is_empty() {
        let _ = write!(words, " (path {})", error.path().join("."));
    }
    words
}

fn line(report: &mut String, name: &str, text: &str) {
    let text = OneLine(start_of(text, TEXT));
    // OK because writing to a string does not fail.
    let _ = write!(report, "\n  {name}: {text}");
}

/// The longest prefix of a text that has at most this many bytes.
pub(super) fn start_of(text: &str, limit: usize) -> &str {
    (0..=text.len().min(limit))
        .rev()
        .find_map(|end| text.get(..end))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::error::{ReplyParts, ServerErrors};

    #[test]
    fn the_servers_messages_are_on_lines_of_their_own_and_escaped() {
        let errors = vec![
            ServerError::from_value(json!({
                "message": "Sam\n2026-11-21 ERROR forged \u{1b}[2J\u{202e}",
                "path": ["save", "Sam\r"], "extensions": {"data": {"Code": "a\tb", "Description": "why"}}
            }));
            2_000
        ];
        let first = errors;
        let omitted = 7;
        let error = Error::decode(
            ReplyParts::status_only(200),
            "data.Sam\u{7}".to_owned(),
            "a value of another type",
            ServerErrors { first, omitted },
        )
        .with_source(std::io::Error::other("below\nhere"));
        let report = error.report();
        let lines: Vec<&str> = report.lines().collect();
        assert_eq!(lines[0], error.to_string());
        assert_eq!(lines[1], r"  caused by: below\nhere");
        assert_eq!(lines[2], r"  at: data.Sam\u{7}");
        assert_eq!(
            lines[3],
            r"  server error: Sam\n2026-11-21 ERROR forged \u{1b}[2J\u{202e}: why (code a\tb) (path save.Sam\r)"
        );
        assert_eq!(lines.len(), 3 + ERRORS + 1);
        assert_eq!(lines.last(), Some(&"  server errors: 1987 more"));
    }

    #[test]
    fn a_body_of_another_kind_is_shown_in_part_or_by_its_message() {
        let of = |media_type: &str, excerpt: &str| {
            let excerpt = excerpt.as_bytes();
            Error::http(ReplyParts::new(500, Some(media_type), excerpt, None)).report()
        };
        let long = "ä<br>\n".repeat(300);
        let report = of("text/html", &long);
        assert!(report.contains(r"  body: ä<br>\n"), "{report}");
        assert!((900..1_500).contains(&report.len()), "{}", report.len());
        let body = r#"{"Message": "No\u0007 Sample", "Trace": "x"}"#;
        let report = of("application/json", body);
        let end = "\n  server message: No\\u{7} Sample";
        assert!(report.ends_with(end), "{report}");
        assert_eq!(of("text/html", "").lines().count(), 1);
    }
}
