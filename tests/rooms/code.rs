//! Rust source without comments and texts.

/// The source without comments; a string literal is `""`, a character is `''`.
pub(crate) fn code(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let mut next = rest[first.len_utf8()..].chars();
        let (kept, length) = if rest.starts_with("//") {
            ("", rest.find('\n').unwrap_or(rest.len()))
        } else if rest.starts_with("/*") {
            ("", rest.find("*/").map_or(rest.len(), |end| end + 2))
        } else if let Some(length) = raw_string(rest) {
            ("\"\"", length)
        } else if first == '"' {
            ("\"\"", quoted(rest, '"'))
        } else if first == '\'' && (next.next() == Some('\\') || next.next() == Some('\'')) {
            // Not a lifetime.
            ("''", quoted(rest, '\''))
        } else {
            (&rest[..first.len_utf8()], first.len_utf8())
        };
        code.push_str(kept);
        rest = &rest[length..];
    }
    code
}

/// The length of `r"..."`, with any number of `#`.
fn raw_string(text: &str) -> Option<usize> {
    let rest = text.strip_prefix('r')?;
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    let end = format!("\"{}", "#".repeat(hashes));
    let inside = rest[hashes..].strip_prefix('"')?;
    Some(hashes + 2 + inside.find(&end)? + end.len())
}

/// The length of a literal that ends with its first quote without a backslash.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        if letter == quote && !escaped {
            return at + 1;
        }
        escaped = letter == '\\' && !escaped;
    }
    text.len()
}

/// The positions and the rests of the code behind a word, such as `use ` or `crate::`.
pub(crate) fn behind<'a>(code: &'a str, word: &str) -> impl Iterator<Item = (usize, &'a str)> {
    let found = code.match_indices(word);
    let found = found
        .filter(|(at, _)| !code[..*at].ends_with(|one: char| one.is_alphanumeric() || one == '_'));
    found.map(|(at, word)| (at, &code[at + word.len()..]))
}

/// The name at the start, or its first sign.
pub(crate) fn name(code: &str) -> &str {
    let end = code.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
    match end.unwrap_or(code.len()) {
        0 => code.get(..1).unwrap_or_default(),
        end => &code[..end],
    }
}
