//! Decodes the text of a file.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// The text, and the name of its encoding if that was guessed.
pub(crate) struct Text {
    pub(crate) text: String,
    pub(crate) assumed: Option<&'static str>,
}

/// Reads UTF-8 and UTF-16 with or without a byte order mark, and Windows-1252.
pub(crate) fn decode(bytes: &[u8]) -> Result<Text, String> {
    let marked = Encoding::for_bom(bytes).map(|(encoding, mark)| (encoding, &bytes[mark..]));
    let (encoding, bytes) = marked.unwrap_or_else(|| (guess(bytes), bytes));
    let Some(text) = encoding.decode_without_bom_handling_and_without_replacement(bytes) else {
        return Err(format!(
            "the text is not valid {}: save the list again as CSV UTF-8",
            encoding.name()
        ));
    };
    if let Some(at) = text.find('\0') {
        let line = 1 + text[..at].matches('\n').count();
        return Err(format!(
            "line {line} has a NUL character, so this is not a list: save it again as CSV UTF-8"
        ));
    }
    let assumed = (encoding != UTF_8 && marked.is_none()).then(|| encoding.name());
    Ok(Text {
        text: text.into_owned(),
        assumed,
    })
}

/// Guesses the encoding of a text without a byte order mark. Each ASCII character in UTF-16 has a zero byte; the other
/// encodings have no zero bytes.
fn guess(bytes: &[u8]) -> &'static Encoding {
    let start = &bytes[..bytes.len().min(4096)];
    let zeros = |at: usize| {
        start
            .iter()
            .skip(at)
            .step_by(2)
            .filter(|byte| **byte == 0)
            .count()
    };
    let even = zeros(0);
    let odd = zeros(1);
    if odd > even && odd * 4 > start.len() {
        UTF_16LE
    } else if even > odd && even * 4 > start.len() {
        UTF_16BE
    } else if std::str::from_utf8(bytes).is_ok() {
        UTF_8
    } else {
        WINDOWS_1252
    }
}

/// Recognises other file formats by their first bytes, and returns advice.
pub(crate) fn foreign(bytes: &[u8]) -> Option<&'static str> {
    let starts: [(&[u8], &str); 6] = [
        (b"%PDF", "this is a PDF"),
        (b"{\\rtf", "this is a word processor document"),
        (b"<", "this is a web page or XML"),
        (b"\x89PNG", "this is a picture"),
        (b"\xff\xd8\xff", "this is a picture"),
        (b"GIF8", "this is a picture"),
    ];
    let start = bytes
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(bytes)
        .trim_ascii_start();
    let kind = starts.iter().find(|(first, _)| start.starts_with(first));
    kind.map(|(_, kind)| *kind)
}
