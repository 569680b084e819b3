//! Base64 (RFC 4648), as far as the fake needs it.

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Section 4, with padding.
pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = sextets(bytes, STANDARD);
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    text
}

/// Section 5, without padding, as in a JWT.
pub(super) fn encode_url(bytes: &[u8]) -> String {
    sextets(bytes, URL_SAFE)
}

/// Whether a text is Base64 by section 4.
pub(super) fn is_base64(text: &str) -> bool {
    let digits = text.strip_suffix("==").or_else(|| text.strip_suffix('='));
    text.len().is_multiple_of(4)
        && digits
            .unwrap_or(text)
            .bytes()
            .all(|byte| STANDARD.contains(&byte))
}

fn sextets(bytes: &[u8], alphabet: &[u8; 64]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk
            .iter()
            .enumerate()
            .fold(0, |sum, (i, byte)| sum | u32::from(*byte) << (16 - 8 * i));
        for i in 0..=chunk.len() {
            text.push(char::from(alphabet[(group >> (18 - 6 * i) & 63) as usize]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vectors_of_rfc_4648_come_out() {
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encode(plain.as_bytes()), coded);
            assert!(is_base64(coded), "{coded}");
        }
        assert_eq!(encode_url(&[0xfb, 0xff]), "-_8");
    }

    #[test]
    fn other_texts_are_not_base64() {
        for text in [
            "not base64!",
            "Zg=",
            "Zg",
            "Z===",
            "Zm9v\n",
            "====",
            "Zg==Zg==",
        ] {
            assert!(!is_base64(text), "{text}");
        }
    }
}
