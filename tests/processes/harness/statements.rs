//! Parses client messages to count statements: Postgres messages ("Message Formats" in its documentation) and HTTP requests.

use std::ops::Range;

/// The messages of one connection, which arrive in pieces of any size.
#[derive(Default)]
pub(crate) struct Statements {
    has_begun: bool,
    is_http: bool,
    header: Vec<u8>,
    left: usize,
}

impl Statements {
    /// The statements that end in the next piece: the start of each in the piece (or the start of the piece), and its end.
    ///
    /// A statement is a simple query, or all messages up to a `Sync`; with HTTP, the piece with the head of a POST.
    pub(crate) fn ends(&mut self, piece: &[u8]) -> Vec<Range<usize>> {
        let is_request = piece.starts_with(b"POST ") || piece.starts_with(b"GET ");
        if self.is_http || !self.has_begun && self.header.is_empty() && is_request {
            self.is_http = true;
            let is_post = piece.starts_with(b"POST ");
            return is_post.then_some(0..piece.len()).into_iter().collect();
        }
        let mut ends = Vec::new();
        let mut start = 0;
        for (at, byte) in piece.iter().enumerate() {
            if self.left > 0 {
                self.left -= 1;
            } else {
                self.header.push(*byte);
                // The startup message has no type byte.
                let length_at = usize::from(self.has_begun);
                let Some(length) = self.header.get(length_at..length_at + 4) else {
                    continue;
                };
                let length = u32::from_be_bytes(length.try_into().unwrap());
                self.left = usize::try_from(length).unwrap() - 4;
            }
            if self.left == 0 {
                if self.has_begun && matches!(self.header[0], b'Q' | b'S') {
                    ends.push(start..at + 1);
                    start = at + 1;
                } else if !self.has_begun {
                    start = at + 1;
                }
                self.has_begun = true;
                self.header.clear();
            }
        }
        ends
    }
}

#[test]
fn statements_end_with_a_query_or_a_sync_however_they_are_cut() {
    let startup = [&8_u32.to_be_bytes()[..], b"user"].concat();
    let message = |kind: u8, body: &[u8]| {
        let length = u32::try_from(body.len() + 4).unwrap();
        [&[kind][..], &length.to_be_bytes(), body].concat()
    };
    let query = message(b'Q', b"BEGIN\0");
    let typed = [(b'P', &b"SQS"[..]), (b'B', b""), (b'S', b"")];
    let typed = typed.map(|(kind, body)| message(kind, body)).concat();
    let all = [&startup[..], &query, &typed, &query].concat();
    let mut statements = Statements::default();
    let ends = statements.ends(&all);
    let lengths: Vec<usize> = ends.iter().map(|end| end.end - end.start).collect();
    assert_eq!(lengths, [query.len(), typed.len(), query.len()]);
    let mut statements = Statements::default();
    let ends = all.iter().map(|byte| statements.ends(&[*byte]).len());
    assert_eq!(ends.sum::<usize>(), 3);
}
