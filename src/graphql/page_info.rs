//! The `pageInfo` of a reply that has not arrived in full.

use crate::model::PageInfo;

/// How much of a body is looked at: in our documents `pageInfo` comes before the records.
pub(crate) const BEGINNING: usize = 4_096;

/// Reads `pageInfo` as soon as it is complete. It is a hint: the decoded page has the last word.
pub(crate) fn early_page_info(body: &[u8]) -> Option<PageInfo> {
    const KEY: &[u8] = b"\"pageInfo\"";
    let body = &body[..body.len().min(BEGINNING)];
    let at = body.windows(KEY.len()).position(|window| window == KEY)?;
    let rest = body[at + KEY.len()..]
        .trim_ascii_start()
        .strip_prefix(b":")?;
    let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<PageInfo>();
    values.next()?.ok()
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
        for body in [
            &b"<html>"[..],
            br#"{"a": "\"pageInfo\": {}"}"#,
            br#"{"a": "pageInfo"}"#,
            br#"{"pageInfo": null}"#,
            b"\xff\xfe",
        ] {
            assert!(early_page_info(body).is_none(), "{body:?}");
        }
    }
}
