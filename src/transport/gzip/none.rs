//! The feature `gzip` is off: no request asks for compressed replies, and none is decompressed.

use bytes::Bytes;

use crate::error::Error;
use crate::transport::header::HeaderMap;

/// Whether requests ask for compressed replies unless set.
pub(in crate::transport) const IS_DEFAULT: bool = false;

/// There is none.
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
