//! The feature `gzip` is off: requests do not accept compressed replies, and replies are not decompressed.

use bytes::Bytes;

use crate::error::Error;
use crate::transport::header::HeaderMap;

/// Whether requests accept compressed replies by default.
pub(in crate::transport) const IS_DEFAULT: bool = false;

/// Never constructed.
pub(in crate::transport) enum Decoder {}

pub(in crate::transport) fn decoder(_headers: &mut HeaderMap, _limit: usize) -> Option<Decoder> {
    None
}

impl Decoder {
    pub(in crate::transport) fn push(&mut self, _chunk: &[u8]) -> Result<(), Error> {
        match *self {}
    }

    pub(in crate::transport) fn decoded(&self) -> &[u8] {
        match *self {}
    }

    pub(in crate::transport) fn finish(self) -> (Bytes, Option<Error>) {
        match self {}
    }
}
