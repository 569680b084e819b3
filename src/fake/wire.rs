//! How a reply goes over the wire, where that is not as usual: told to the front in a header that it takes away.

use std::time::Duration;

/// The header between server and front. It never reaches a client.
pub(super) const HEADER: &str = "x-fake-wire";

/// What the front does with a reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wire {
    /// Wait this long on the fake's clock.
    pub(super) hold: Duration,
    /// Close the connection instead.
    pub(super) dropped: bool,
    /// Close the connection after this many bytes of the body.
    pub(super) cut: Option<usize>,
    /// Send pieces of this many bytes, each after a pause on the fake's clock.
    pub(super) slow: Option<(usize, Duration)>,
}

impl Wire {
    pub(super) fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    /// The value of the header.
    pub(super) fn text(&self) -> String {
        let (bytes, pause) = self.slow.unwrap_or_default();
        format!(
            "{} {} {} {bytes} {}",
            self.hold.as_nanos(),
            u8::from(self.dropped),
            self.cut.map_or("-".to_owned(), |bytes| bytes.to_string()),
            pause.as_nanos()
        )
    }

    /// Reads the value of the header.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let mut number = || words.next().map(str::parse::<u64>);
        let hold = Duration::from_nanos(number()?.ok()?);
        let dropped = number()?.ok()? == 1;
        let cut = number()?.ok().and_then(|bytes| bytes.try_into().ok());
        let bytes = usize::try_from(number()?.ok()?).ok()?;
        let pause = Duration::from_nanos(number()?.ok()?);
        Some(Self {
            hold,
            dropped,
            cut,
            slow: (bytes > 0).then_some((bytes, pause)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let all = Wire {
            hold: Duration::from_millis(1_500),
            dropped: true,
            cut: Some(0),
            slow: Some((7, Duration::from_nanos(3))),
        };
        for wire in [Wire::default(), all] {
            assert_eq!(Wire::parse(&wire.text()), Some(wire));
        }
        assert_eq!(Wire::parse("nonsense"), None);
    }
}
