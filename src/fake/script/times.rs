//! How often a call is expected.

use std::fmt;
use std::ops::{RangeFrom, RangeInclusive, RangeToInclusive};

/// A number of calls: `2`, `1..=3`, `1..` or `..=3`.
///
/// ```
/// use envd_sdk::fake::Times;
///
/// assert_eq!(Times::from(1).to_string(), "1 call");
/// assert_eq!(Times::from(1..=3).to_string(), "1 to 3 calls");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    least: usize,
    most: usize,
}

impl Times {
    pub(super) fn contains(self, calls: usize) -> bool {
        (self.least..=self.most).contains(&calls)
    }
}

impl From<usize> for Times {
    fn from(exactly: usize) -> Self {
        (exactly..=exactly).into()
    }
}

impl From<RangeInclusive<usize>> for Times {
    fn from(range: RangeInclusive<usize>) -> Self {
        Self {
            least: *range.start(),
            most: *range.end(),
        }
    }
}

impl From<RangeFrom<usize>> for Times {
    fn from(range: RangeFrom<usize>) -> Self {
        (range.start..=usize::MAX).into()
    }
}

impl From<RangeToInclusive<usize>> for Times {
    fn from(range: RangeToInclusive<usize>) -> Self {
        (0..=range.end).into()
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.least, self.most) {
            (0, 0) => f.write_str("no call"),
            (1, 1) => f.write_str("1 call"),
            (least, most) if least == most => write!(f, "{least} calls"),
            (least, usize::MAX) => write!(f, "at least {least} calls"),
            (0, most) => write!(f, "at most {most} calls"),
            (least, most) => write!(f, "{least} to {most} calls"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_number_reads_well() {
        assert_eq!(Times::from(0).to_string(), "no call");
        assert_eq!(Times::from(2).to_string(), "2 calls");
        assert_eq!(Times::from(2..).to_string(), "at least 2 calls");
        assert_eq!(Times::from(..=2).to_string(), "at most 2 calls");
        assert!(Times::from(1..=2).contains(2) && !Times::from(1..=2).contains(3));
    }
}
