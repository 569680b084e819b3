//! Decompresses a gzip body while it arrives.

use bytes::Bytes;
use zlib_rs::{Inflate, InflateFlush, Status};

use crate::error::{Error, ErrorKind};
use crate::transport::failure::too_large;
use crate::transport::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderMap};
use crate::transport::message::content_encoding;

/// Whether requests accept compressed replies by default.
pub(in crate::transport) const IS_DEFAULT: bool = true;

/// zlib's parameter for gzip with the largest window.
const GZIP: u8 = 16 + 15;

/// The first estimate of how much a chunk grows: JSON repeats its names in each record.
const RATIO: usize = 8;

/// The smallest output buffer.
const LEAST: usize = 4 << 10;

/// Limits on growth: a body may exceed `FREE` only up to `MAX_RATIO` times its compressed size. A page of a hundred records that
/// differ only in their numbers grows 80 times; a body built to exhaust memory, 1,000 times.
const MAX_RATIO: usize = 100;
const FREE: usize = 4 << 20;

/// The most members of a body; encoders write one. Each needs fifty kilobytes of cleared memory.
const MAX_MEMBERS: usize = 1_000;

/// Decompresses a body chunk by chunk. It may have several members in sequence (RFC 1952 section 2.2). Lengths and checksums are
/// checked, and bytes outside the members are an error.
#[derive(Default)]
pub(in crate::transport) struct Decoder {
    /// The most bytes of output.
    limit: usize,
    /// The input bytes still allowed. Members may be empty, so an endless body could otherwise stay below `limit`.
    left: usize,
    /// The input bytes so far.
    read: usize,
    /// The unfinished member.
    member: Option<Inflate>,
    /// The number of members started.
    members: usize,
    /// The output, with room for more.
    buffer: Vec<u8>,
    length: usize,
}

/// A decoder for the body of a reply with these headers, if it is compressed with gzip. Removes the headers that describe the
/// compressed body.
pub(in crate::transport) fn decoder(headers: &mut HeaderMap, limit: usize) -> Option<Decoder> {
    // `x-gzip` is equivalent (RFC 9110 section 8.4.1.3).
    let names = ["gzip", "x-gzip"];
    let encoding = content_encoding(headers)?;
    if !names.iter().any(|name| encoding.eq_ignore_ascii_case(name)) {
        return None;
    }
    headers.remove(CONTENT_ENCODING);
    headers.remove(CONTENT_LENGTH);
    Some(Decoder::new(limit))
}

impl Decoder {
    /// A decoder for at most this many bytes of output.
    fn new(limit: usize) -> Self {
        Self {
            limit,
            // Encoders add 18 bytes, plus 5 for each incompressible 16 KB.
            left: limit.saturating_add(limit / 8).saturating_add(LEAST),
            ..Self::default()
        }
    }

    /// Decompresses the next chunk.
    ///
    /// An error ends the body; [`decoded`](Self::decoded) has the output so far.
    pub(in crate::transport) fn push(&mut self, mut chunk: &[u8]) -> Result<(), Error> {
        self.left = self.left.checked_sub(chunk.len()).ok_or_else(too_large)?;
        self.read += chunk.len();
        while !chunk.is_empty() {
            let read = self.member(chunk)?;
            chunk = chunk.get(read..).unwrap_or_default();
        }
        Ok(())
    }

    /// The output so far.
    pub(in crate::transport) fn decoded(&self) -> &[u8] {
        let end = self.length.min(self.limit);
        self.buffer.get(..end).unwrap_or_default()
    }

    /// The body, with an error if it is truncated. An empty body is complete, since a reply may have no content.
    pub(in crate::transport) fn finish(mut self) -> (Bytes, Option<Error>) {
        let cut = self.member.is_some();
        self.buffer.truncate(self.length.min(self.limit));
        let cut = cut.then(incomplete);
        (self.buffer.into(), cut)
    }

    /// Decompresses the part of the chunk that belongs to one member, and returns its length.
    #[allow(clippy::cast_possible_truncation)] // OK because the sums grow by no more than the lengths of the slices.
    fn member(&mut self, chunk: &[u8]) -> Result<usize, Error> {
        let mut member = match self.member.take() {
            Some(member) => member,
            None if self.members == MAX_MEMBERS => return Err(suspicious()),
            None => {
                self.members += 1;
                Inflate::new(true, GZIP)
            }
        };
        let mut read = 0;
        loop {
            self.make_room(chunk.len() - read);
            let before = (member.total_in(), member.total_out());
            let room = self.buffer.get_mut(self.length..).unwrap_or_default();
            let rest = chunk.get(read..).unwrap_or_default();
            let status = member
                .decompress(rest, room, InflateFlush::NoFlush)
                .map_err(|_| damaged())?;
            read += (member.total_in() - before.0) as usize;
            self.length += (member.total_out() - before.1) as usize;
            if self.length > self.limit {
                return Err(too_large());
            }
            if self.length > FREE.max(self.read.saturating_mul(MAX_RATIO)) {
                return Err(suspicious());
            }
            if status == Status::StreamEnd {
                return Ok(read);
            }
            // There is room left, so the entire chunk was decompressed.
            if self.length < self.buffer.len() {
                self.member = Some(member);
                return (read == chunk.len()).then_some(read).ok_or_else(damaged);
            }
        }
    }

    /// Makes room for at least one more byte. One byte beyond the limit shows that the body exceeds it.
    fn make_room(&mut self, coming: usize) {
        if self.length < self.buffer.len() {
            return;
        }
        let guess = coming.saturating_mul(RATIO).max(LEAST);
        let length = self.length.saturating_add(guess.max(self.length));
        // The last growth copies all output, so it should come early.
        let length = if length > self.limit / 2 {
            self.limit.saturating_add(1)
        } else {
            length
        };
        self.buffer.reserve_exact(length - self.length);
        self.buffer.resize(length, 0);
    }
}

/// A fault of the server: the same request would fail again.
fn damaged() -> Error {
    Error::protocol("the gzip body of the reply is damaged, see HttpOptions::gzip")
}

/// A body that looks built to exhaust memory or time.
fn suspicious() -> Error {
    Error::protocol("the gzip body of the reply grows too much, see HttpOptions::gzip")
}

/// Like a lost connection: another attempt may succeed.
fn incomplete() -> Error {
    let what = "the gzip body of the reply ends too early";
    Error::said(ErrorKind::Transport, what)
        .with_passes(true)
        .with_sent(true)
}

#[cfg(test)]
mod tests {
    use zlib_rs::{DeflateConfig, ReturnCode, compress_bound, compress_slice};

    use super::*;
    use crate::error::tests::assert_fails;

    /// The output of Python's `gzip`, with a file name and a time.
    const BY_PYTHON: &[u8] = b"\x1f\x8b\x08\x08\x00\xf1\x53\x65\x02\xff\x70\x61\x67\x65\x2e\x6a\x73\x6f\x6e\x00\xab\x56\x4a\x49\x2c\x49\x54\xb2\x52\xa8\x56\x02\x91\x86\xb5\xb5\x5c\x00\xfa\xef\x22\x1d\x13\x00\x00\x00";
    const TEXT: &[u8] = b"{\"data\": {\"a\": 1}}\n";

    fn gzip(body: &[u8]) -> Vec<u8> {
        let mut buffer = vec![0; compress_bound(body.len()) + 18];
        let config = DeflateConfig {
            window_bits: GZIP.into(),
            ..DeflateConfig::default()
        };
        let (packed, code) = compress_slice(&mut buffer, body, config);
        assert_eq!(code, ReturnCode::Ok);
        packed.to_vec()
    }

    /// Text without long repetitions.
    fn text(length: usize) -> Vec<u8> {
        let mut random = fastrand::Rng::with_seed(test_support::seeded::seed());
        (0..length).map(|_| random.u8(b' '..b'~')).collect()
    }

    /// The body, or the first error.
    fn decode<'a>(
        chunks: impl IntoIterator<Item = &'a [u8]>,
        limit: usize,
    ) -> Result<Bytes, Error> {
        let mut decoder = Decoder::new(limit);
        for chunk in chunks {
            decoder.push(chunk)?;
            assert!(decoder.buffer.capacity() <= limit + 1);
        }
        match decoder.finish() {
            (body, None) => Ok(body),
            (_, Some(error)) => Err(error),
        }
    }

    #[test]
    fn chunks_of_any_size_make_the_same_body() {
        for body in [text(1), text(50_000), vec![b'0'; 300_000]] {
            let packed = gzip(&body);
            for size in [1, 7, 1_000, packed.len()] {
                assert_eq!(decode(packed.chunks(size), 1 << 20).unwrap(), body);
            }
        }
        assert_eq!(decode([BY_PYTHON], 1 << 20).unwrap(), TEXT);
        assert_eq!(decode([], 10).unwrap(), "");
    }

    #[test]
    fn received_bytes_are_decoded_immediately() {
        let body = text(100_000);
        let packed = gzip(&body);
        let mut decoder = Decoder::new(1 << 20);
        decoder.push(&packed[..packed.len() / 2]).unwrap();
        let start = decoder.decoded();
        assert!(start.len() > 40_000 && body.starts_with(start));
    }

    /// RFC 1952 section 2.2.
    #[test]
    fn members_follow_one_another() {
        let first = text(9_000);
        let empty = gzip(b"");
        let last = text(8_192);
        let packed = [gzip(&first), empty.clone(), gzip(&last), empty].concat();
        for size in [1, 20, packed.len()] {
            let body = decode(packed.chunks(size), 1 << 20).unwrap();
            assert_eq!(body, [first.as_slice(), &last].concat());
        }
    }

    #[test]
    fn a_body_that_ends_early_is_an_error_at_every_length() {
        let packed = [BY_PYTHON, &gzip(TEXT)].concat();
        for length in 1..packed.len() {
            let result = decode([&packed[..length]], 1 << 20);
            if length == BY_PYTHON.len() {
                assert_eq!(result.unwrap(), TEXT);
                continue;
            }
            let said = "Transport retryable: the gzip body of the reply ends too early";
            assert_fails(result, said);
        }
    }

    #[test]
    fn no_changed_byte_changes_the_body() {
        let mut errors = 0;
        for place in 0..BY_PYTHON.len() {
            for change in [0x01, 0x80, 0xff] {
                let mut packed = BY_PYTHON.to_vec();
                packed[place] ^= change;
                match decode([packed.as_slice()], 1 << 20) {
                    // Time, file name and the like are not part of the body.
                    Ok(body) => assert_eq!(body, TEXT, "{place}"),
                    Err(_) => errors += 1,
                }
            }
        }
        assert!(errors > 80, "{errors}");
        // The checksum and the length at the end.
        for place in 1..=8 {
            let mut packed = gzip(TEXT);
            let end = packed.len();
            packed[end - place] ^= 1;
            assert_fails(decode([packed.as_slice()], 1 << 20), "Protocol: damaged");
        }
    }

    #[test]
    fn bytes_after_the_last_member_are_an_error() {
        for rest in ["\0", "\0\0\0\0\0\0\0\0\0\0\0\0", "{}", "\u{1f}", "\n"] {
            for chunks in [
                vec![gzip(TEXT), rest.into()],
                vec![[&gzip(TEXT), rest.as_bytes()].concat()],
            ] {
                assert!(decode(chunks.iter().map(Vec::as_slice), 1 << 20).is_err());
            }
        }
        assert!(decode([TEXT], 1 << 20).is_err());
    }

    #[test]
    fn the_limit_applies_to_the_output() {
        for length in [0, 1, LEAST - 1, LEAST, LEAST + 1, 70_000] {
            for body in [text(length), vec![b'0'; length]] {
                let packed = gzip(&body);
                assert_eq!(decode([packed.as_slice()], length).unwrap(), body);
                if let Some(less) = length.checked_sub(1) {
                    let error = decode(packed.chunks(300), less).unwrap_err();
                    assert_eq!(error.to_string(), too_large().to_string());
                    assert!(!error.is_transient());
                }
            }
        }
    }

    /// 1 GB from 1 MB.
    #[test]
    fn a_bomb_costs_no_more_than_the_limit() {
        let bomb = gzip(&vec![0; 1 << 20]).repeat(1_000);
        assert!(bomb.len() < 1_100_000, "{}", bomb.len());
        let limit = 3 << 20;
        let mut decoder = Decoder::new(limit);
        let failed = bomb.chunks(16_384).position(|chunk| {
            assert!(decoder.buffer.capacity() <= limit + 1);
            decoder.push(chunk).is_err()
        });
        assert_eq!(failed, Some(0));
        assert!(decoder.finish().0.len() <= limit);
    }

    #[test]
    fn a_long_body_becomes_at_most_a_hundred_times_its_bytes() {
        // Deflate turns one byte into 1,030 bytes.
        let grows = |length: usize| decode([gzip(&vec![b'0'; length]).as_slice()], 1 << 30);
        assert_eq!(grows(FREE).unwrap().len(), FREE);
        assert_fails(grows(FREE + 1), "Protocol: grows too much");
        // Equally large, but less than a hundred times its compressed size.
        let mut body = text(60_000);
        body.resize(FREE + 1, b'0');
        assert_eq!(decode([gzip(&body).as_slice()], 1 << 30).unwrap(), body);
    }

    #[test]
    fn a_body_has_at_most_a_thousand_members() {
        let member = gzip(b"1");
        let body = decode([member.repeat(MAX_MEMBERS).as_slice()], 1 << 20).unwrap();
        assert_eq!(body.len(), MAX_MEMBERS);
        for member in [member, gzip(b"")] {
            let packed = member.repeat(MAX_MEMBERS + 1);
            let body = decode(packed.chunks(1_000), 1 << 20);
            assert_fails(body, "Protocol: grows too much");
        }
    }
}
