//! Where mirror and server differ.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::excerpt::is_same_but_for_excerpt;
use super::{Finding, Report, Severity};

/// What only one of two reports says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Drift {
    /// Findings of the mirror that the server did not give.
    pub only_mirror: Vec<Arc<Finding>>,
    /// Findings of the server that the mirror did not give.
    pub only_server: Vec<Arc<Finding>>,
}

impl Drift {
    /// Whether both said the same.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.only_mirror.is_empty() && self.only_server.is_empty()
    }
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_none() {
            return f.write_str("mirror and server say the same");
        }
        let mut newline = "";
        for (side, findings) in [("mirror", &self.only_mirror), ("server", &self.only_server)] {
            for finding in findings {
                write!(
                    f,
                    "{newline}only the {side}: {}: {finding}",
                    finding.severity
                )?;
                if !finding.code.is_empty() {
                    write!(f, " ({})", finding.code)?;
                }
                newline = "\n";
            }
        }
        Ok(())
    }
}

/// Names what only one side said: findings match by severity, code, and message whatever its case.
///
/// A message of the mirror repeats at most 60 characters of a value, and nothing of a signature; it matches that of the
/// server with the whole value.
///
/// ```
/// use envd_sdk::model::{ConsignmentInput, Day};
/// use envd_sdk::validate::{Context, Report, compare, validate_fields};
///
/// let mirror = validate_fields(&ConsignmentInput::default(), &Context::on(Day::parse("2026-11-20")?));
/// let server = Report::from_server_errors(&[]);
/// let drift = compare(&mirror, &server);
/// assert_eq!(drift.only_mirror.len(), mirror.findings().len());
/// assert!(drift.only_server.is_empty());
/// # Ok::<(), envd_sdk::model::TextError>(())
/// ```
#[must_use]
pub fn compare(mirror: &Report, server: &Report) -> Drift {
    let mut waiting: HashMap<Key<'_>, VecDeque<usize>> = HashMap::new();
    for (position, said) in server.findings().iter().enumerate() {
        waiting.entry(key(said)).or_default().push_back(position);
    }
    let mut is_shared = vec![false; server.findings().len()];
    let mut only_mirror: Vec<&Arc<Finding>> = Vec::new();
    for finding in mirror.findings() {
        let same = waiting.get_mut(&key(finding)).and_then(VecDeque::pop_front);
        match same {
            Some(position) => is_shared[position] = true,
            None => only_mirror.push(finding),
        }
    }
    // What is left: messages with excerpts, in the order of the mirror.
    let mut left: HashMap<(Severity, &str), Vec<(usize, String)>> = HashMap::new();
    for (position, said) in server.findings().iter().enumerate() {
        if !is_shared[position] {
            let (severity, code, message) = key(said);
            left.entry((severity, code))
                .or_default()
                .push((position, message));
        }
    }
    only_mirror.retain(|finding| {
        let (severity, code, cut) = key(finding);
        let left = left.get_mut(&(severity, code));
        let same = left.and_then(|left| {
            let at = left
                .iter()
                .position(|(_, whole)| is_same_but_for_excerpt(&cut, whole))?;
            Some(left.remove(at).0)
        });
        same.map(|position| is_shared[position] = true).is_none()
    });
    let only_server = server.findings().iter().zip(is_shared);
    let only_server = only_server.filter(|(_, is_shared)| !is_shared);
    Drift {
        only_mirror: only_mirror.into_iter().map(Arc::clone).collect(),
        only_server: only_server.map(|(said, _)| Arc::clone(said)).collect(),
    }
}

type Key<'a> = (Severity, &'a str, String);

fn key(finding: &Finding) -> Key<'_> {
    // Public material spells the same messages in another case.
    let message = finding.message.to_lowercase();
    (finding.severity, &finding.code, message)
}
