//! Finds the cursor of the next page while a page still arrives.

use crate::model::{PageInfo, json_text};

/// The length of the prefix to scan: in our documents, `pageInfo` comes before the records.
pub(crate) const BEGINNING: usize = 4_096;

/// Decodes `pageInfo` as soon as it is complete. It is a hint: the decoded page is authoritative.
pub(crate) fn early_page_info(body: &[u8]) -> Option<PageInfo> {
    const KEY: &[u8] = b"\"pageInfo\"";
    let body = body.get(..BEGINNING).unwrap_or(body);
    let at = body.windows(KEY.len()).position(|window| window == KEY)?;
    let rest = body
        .get(at + KEY.len()..)?
        .trim_ascii_start()
        .strip_prefix(b":")?;
    json_text::first(rest).map(|(info, _)| info)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_once_it_is_complete() {
        let body = br#"{"data": {"list": {"totalCount": 9, "pageInfo" : {"hasNextPage": true, "endCursor": "x\"y"}, "edges": [{"#;
        let complete = body.iter().rposition(|&byte| byte == b'}').unwrap() + 1;
        for length in 0..body.len() {
            let found = early_page_info(&body[..length]);
            assert_eq!(found.is_some(), length >= complete, "{length}");
        }
        let info = early_page_info(body).unwrap();
        assert_eq!(info.end_cursor.as_deref(), Some("x\"y"));
    }

    #[test]
    fn other_bodies_have_none() {
        let bodies = r#"<html>|{"a": "\"pageInfo\": {}"}|{"a": "pageInfo"}|{"pageInfo": null}"#;
        let bodies = bodies.split('|').map(str::as_bytes);
        for body in bodies.chain([&b"\xff\xfe"[..]]) {
            assert!(early_page_info(body).is_none(), "{body:?}");
        }
    }
}
