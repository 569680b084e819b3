//! What a message repeats of what the user entered: the beginning, never megabytes or a whole signature.

use std::borrow::Cow;

/// How many characters of a value a message repeats.
const LENGTH: usize = 60;

/// Stands for what is left out.
pub(super) const ELLIPSIS: char = '…';

/// The first 60 characters of a value, with an ellipsis if there are more.
pub(super) fn excerpt(value: &str) -> Cow<'_, str> {
    match value.char_indices().nth(LENGTH) {
        // There are never more characters than bytes, which settles nearly all.
        _ if value.len() <= LENGTH => Cow::Borrowed(value),
        None => Cow::Borrowed(value),
        Some((end, _)) => Cow::Owned(format!("{}{ELLIPSIS}", &value[..end])),
    }
}

/// Whether a message with an excerpt and a message with the whole value are the same otherwise.
pub(super) fn is_same_but_for_excerpt(cut: &str, whole: &str) -> bool {
    let mut ellipses = cut.match_indices(ELLIPSIS);
    ellipses.any(|(at, ellipsis)| {
        let rest = whole.strip_prefix(&cut[..at]);
        rest.is_some_and(|rest| rest.ends_with(&cut[at + ellipsis.len()..]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixty_characters_are_repeated_and_no_more() {
        let sixty = "ü".repeat(60);
        assert_eq!(excerpt(&sixty), sixty);
        assert_eq!(excerpt(&format!("{sixty}x")), format!("{sixty}…"));
        assert_eq!(excerpt(""), "");
    }

    #[test]
    fn an_excerpt_is_the_same_as_what_it_was_cut_from() {
        for (cut, whole, same) in [
            ("Answer: ab… is bad", "Answer: abcd is bad", true),
            ("Answer: ab… is bad", "Answer: ab is bad", true),
            ("Answer: a…b… is bad", "Answer: a…bcd is bad", true),
            (
                "Answer: ab… is bad: a…, b",
                "Answer: abcd is bad: a…, b",
                true,
            ),
            ("Answer: ab… is bad", "Answer: acd is bad", false),
            ("Answer: ab… is bad", "Answer: abcd is not bad", false),
            ("ab…b", "ab", false),
            ("ab", "ab", false),
        ] {
            assert_eq!(is_same_but_for_excerpt(cut, whole), same, "{cut} {whole}");
        }
    }
}
