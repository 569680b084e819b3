//! A reply, compressed for clients that accept it, with the instructions for its delivery by the proxy.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use wiremock::ResponseTemplate;
use zlib_rs::{DeflateConfig, ReturnCode, compress_bound, compress_slice};

const ENCODING_HEADER: &str = "content-encoding";

/// The header with which the server tells the proxy how to deliver a reply. The proxy removes it.
pub(super) const DELIVERY_HEADER: &str = "x-fake-delivery";

/// How the proxy delivers a reply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Delivery {
    /// The delay on the fake's clock.
    pub(super) delay: Duration,
    /// Close the connection instead of replying.
    pub(super) is_dropped: bool,
    /// Close the connection after this many bytes of the body.
    pub(super) cut: Option<usize>,
    /// Send chunks of this many bytes, each after a pause on the fake's clock.
    pub(super) slow: Option<(usize, Duration)>,
}

/// The status, headers and body of a reply. Without a media type there is no body.
#[derive(Clone, Debug, Default)]
pub(super) struct FakeReply {
    status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) media_type: Option<String>,
    pub(super) body: Vec<u8>,
    pub(super) delivery: Delivery,
}

impl FakeReply {
    pub(super) fn json(status: u16, body: &Value) -> Self {
        Self::raw(status, "application/json", body.to_string())
    }

    /// Adds a date from the fake's clock, unless a script has set one. Otherwise the server would send the system date.
    pub(super) fn add_date(&mut self, now: SystemTime) {
        let is_date = |(name, _): &(String, String)| name.eq_ignore_ascii_case("date");
        // An HTTP date has a four-digit year.
        let since = now.duration_since(UNIX_EPOCH).map(|since| since.as_secs());
        if !self.headers.iter().any(is_date) && since.is_ok_and(|since| since < 253_402_300_800) {
            let date = httpdate::fmt_http_date(now);
            self.headers.push(("date".to_owned(), date));
        }
    }

    pub(super) fn raw(status: u16, media_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            media_type: Some(media_type.to_owned()),
            body: body.into(),
            ..Self::empty(status)
        }
    }

    pub(super) fn empty(status: u16) -> Self {
        Self {
            status,
            ..Self::default()
        }
    }

    pub(super) fn redirect(to: &str) -> Self {
        Self::empty(302).header("location", to)
    }

    pub(super) fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Compresses the body, unless a fault counts its bytes or sets its own encoding.
    pub(super) fn compress(&mut self) {
        let counts_bytes = self.delivery.cut.is_some() || self.delivery.slow.is_some();
        let mut names = self.headers.iter().map(|(name, _)| name);
        if !counts_bytes
            && !names.any(|name| name.eq_ignore_ascii_case(ENCODING_HEADER))
            && let Some(compressed) = compress(&self.body)
        {
            self.body = compressed;
            let header = (ENCODING_HEADER.to_owned(), "gzip".to_owned());
            self.headers.push(header);
        }
    }

    /// Replaces the value at a JSON pointer in the body.
    pub(super) fn replace(&mut self, pointer: &str, value: &Value) {
        if let Ok(mut json) = serde_json::from_slice::<Value>(&self.body)
            && let Some(old) = json.pointer_mut(pointer)
        {
            *old = value.clone();
            self.body = json.to_string().into_bytes();
        }
    }
}

impl From<FakeReply> for ResponseTemplate {
    fn from(reply: FakeReply) -> Self {
        let mut template = Self::new(reply.status);
        for (name, value) in reply.headers {
            template = template.append_header(name, value);
        }
        if reply.delivery != Delivery::default()
            && let Ok(delivery) = serde_json::to_string(&reply.delivery)
        {
            template = template.append_header(DELIVERY_HEADER, delivery);
        }
        match &reply.media_type {
            Some(media_type) => template.set_body_raw(reply.body, media_type),
            None => template,
        }
    }
}

/// Shorter bodies fit into one packet anyway, and servers do not compress them.
const LEAST: usize = 1_024;

/// zlib's parameter for gzip with the largest window.
const GZIP: i32 = 16 + 15;

/// The maximum size of a gzip header and trailer.
const FRAME: usize = 18;

/// Whether a client with this `accept-encoding` accepts gzip (RFC 9110 section 12.5.3).
pub(super) fn accepts_gzip(accept_encoding: &str) -> bool {
    accept_encoding.split(',').any(|part| {
        let (coding, weight) = part.split_once(';').unwrap_or((part, "q=1"));
        let weight = weight.trim().trim_start_matches("q=").parse();
        let is_gzip =
            ["gzip", "x-gzip", "*"].contains(&coding.trim().to_ascii_lowercase().as_str());
        is_gzip && weight.is_ok_and(|weight: f32| weight > 0.0)
    })
}

/// The compressed body, if it is smaller.
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
        for accepts in "gzip|GZIP|x-gzip|*|br, gzip;q=0.5|gzip; q=1.0".split('|') {
            assert!(accepts_gzip(accepts), "{accepts}");
        }
        for refuses in ["", "identity", "br", "gzip;q=0", "gzip; q=0.000", "gzipped"] {
            assert!(!accepts_gzip(refuses), "{refuses}");
        }
    }

    #[test]
    fn short_bodies_stay_as_they_are() {
        assert!(compress(&[b' '; LEAST - 1]).is_none());
        assert!(compress(&[b' '; LEAST]).is_some_and(|body| body.len() < 50));
    }
}
