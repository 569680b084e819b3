//! All that was scripted, and how often it was called.

use std::collections::VecDeque;
use std::fmt::Write;

use super::called::Called;
use super::step::Step;
use super::times::Times;

/// Which calls a rule is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Operation(String),
    Path(String),
}

impl Target {
    fn fits(&self, called: &Called) -> bool {
        match self {
            Self::Operation(name) => called.calls(name),
            Self::Path(path) => called.path == *path,
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Operation(name) | Self::Path(name) => name,
        }
    }
}

/// The rules, in the order in which they were made.
#[derive(Default)]
pub(in crate::fake) struct Plan(Vec<Rule>);

struct Rule {
    target: Target,
    steps: VecDeque<(Step, usize)>,
    calls: usize,
    /// Whether a call has used a step.
    is_used: bool,
    expected: Option<Times>,
}

impl Plan {
    pub(in crate::fake) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Counts a call and takes the step that is next for it.
    pub(in crate::fake) fn take(&mut self, called: &Called) -> Option<Step> {
        let mut taken = None;
        for rule in self.0.iter_mut().filter(|rule| rule.target.fits(called)) {
            rule.calls += 1;
            if taken.is_none() {
                taken = rule.take();
            }
        }
        taken
    }

    pub(super) fn push(&mut self, target: &Target, step: Step) {
        self.rule(target).steps.push_back((step, 1));
    }

    /// How often the newest step is taken.
    pub(super) fn repeat(&mut self, target: &Target, times: usize) {
        let steps = &mut self.rule(target).steps;
        match (times, steps.back_mut()) {
            (0, _) => drop(steps.pop_back()),
            (_, Some(newest)) => newest.1 = times,
            (_, None) => {}
        }
    }

    pub(super) fn expect(&mut self, target: &Target, times: Times) {
        self.rule(target).expected = Some(times);
    }

    pub(in crate::fake) fn clear(&mut self) {
        self.0.clear();
    }

    /// What was expected and did not happen, or happened too often.
    pub(super) fn unmet(&self) -> Option<String> {
        let mut text = String::new();
        for rule in &self.0 {
            if let Some(expected) = rule.expected.filter(|times| !times.contains(rule.calls)) {
                let (name, received) = (rule.target.name(), Times::from(rule.calls));
                let _ = write!(text, "\n  {name}: expected {expected}, received {received}");
            }
        }
        (!text.is_empty()).then_some(text)
    }

    /// The rules of which no step was used.
    pub(super) fn unused(&self) -> Vec<String> {
        let unused = self
            .0
            .iter()
            .filter(|rule| !rule.is_used && !rule.steps.is_empty());
        unused.map(|rule| rule.target.name().to_owned()).collect()
    }

    fn rule(&mut self, target: &Target) -> &mut Rule {
        let known = self.0.iter().position(|rule| rule.target == *target);
        let at = known.unwrap_or_else(|| {
            self.0.push(Rule {
                target: target.clone(),
                steps: VecDeque::new(),
                calls: 0,
                is_used: false,
                expected: None,
            });
            self.0.len() - 1
        });
        &mut self.0[at]
    }
}

impl Rule {
    fn take(&mut self) -> Option<Step> {
        let (step, left) = self.steps.front_mut()?;
        self.is_used = true;
        if *left == usize::MAX {
            return Some(step.clone());
        }
        *left -= 1;
        if *left > 0 {
            return Some(step.clone());
        }
        self.steps.pop_front().map(|(step, _)| step)
    }
}
