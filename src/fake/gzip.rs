//! Compresses replies for clients that accept it.

use zlib_rs::{DeflateConfig, ReturnCode, compress_bound, compress_slice};

/// Shorter bodies fit into one packet either way, and servers leave them as they are.
const LEAST: usize = 1_024;

/// zlib's parameter for gzip with the largest window.
const GZIP: i32 = 16 + 15;

/// The most that head and end of a gzip member add.
const FRAME: usize = 18;

/// Whether a client with this `accept-encoding` accepts gzip (RFC 9110 section 12.5.3).
pub(super) fn is_accepted(accept_encoding: &str) -> bool {
    accept_encoding.split(',').any(|part| {
        let (coding, weight) = part.split_once(';').unwrap_or((part, "q=1"));
        let weight = weight.trim().trim_start_matches("q=").parse();
        let is_gzip =
            ["gzip", "x-gzip", "*"].contains(&coding.trim().to_ascii_lowercase().as_str());
        is_gzip && weight.is_ok_and(|weight: f32| weight > 0.0)
    })
}

/// The compressed body, if it pays.
pub(super) fn compress(body: &[u8]) -> Option<Vec<u8>> {
    if body.len() < LEAST {
        return None;
    }
    let mut buffer = vec![0; compress_bound(body.len()) + FRAME];
    let config = DeflateConfig {
        window_bits: GZIP,
        ..DeflateConfig::best_speed()
    };
    let (compressed, code) = compress_slice(&mut buffer, body, config);
    let pays = code == ReturnCode::Ok && compressed.len() < body.len();
    pays.then(|| compressed.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_sent_to_those_who_accept_it() {
        for accepts in [
            "gzip",
            "GZIP",
            "x-gzip",
            "*",
            "br, gzip;q=0.5",
            "gzip; q=1.0",
        ] {
            assert!(is_accepted(accepts), "{accepts}");
        }
        for refuses in ["", "identity", "br", "gzip;q=0", "gzip; q=0.000", "gzipped"] {
            assert!(!is_accepted(refuses), "{refuses}");
        }
    }

    #[test]
    fn short_bodies_stay_as_they_are() {
        assert!(compress(&[b' '; LEAST - 1]).is_none());
        assert!(compress(&[b' '; LEAST]).is_some_and(|body| body.len() < 50));
    }
}
