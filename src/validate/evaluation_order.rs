//! The order in which questions are evaluated, and the cycles that no order fits.

/// Questions by position, each after all that it depends on.
#[derive(Debug, Default)]
pub(super) struct EvaluationOrder {
    pub(super) positions: Vec<usize>,
    /// The questions that depend on themselves.
    pub(super) cyclic: Vec<usize>,
}

/// What is known of a question during the search.
#[derive(Clone, Copy)]
enum Visit {
    Never,
    /// Its position among the questions whose cycle is not known yet.
    Open(usize),
    Done,
}

impl EvaluationOrder {
    /// Gabow's search for strongly connected components, without recursion: chains may be thousands of questions long.
    pub(super) fn of<I: Iterator<Item = usize>>(
        count: usize,
        depends_on: impl Fn(usize) -> I,
    ) -> Self {
        let mut order = Self::default();
        let mut visits = vec![Visit::Never; count];
        let mut path = Vec::new();
        let mut open = Vec::new();
        // Where in `open` a cycle may begin; what is on the path between two of them belongs together.
        let mut starts = Vec::new();
        for root in 0..count {
            let mut entered = Some(root);
            loop {
                if let Some(question) = entered.take()
                    && let Some(visit @ Visit::Never) = visits.get_mut(question)
                {
                    *visit = Visit::Open(open.len());
                    starts.push(open.len());
                    open.push(question);
                    path.push((question, depends_on(question)));
                }
                let Some((question, dependencies)) = path.last_mut() else {
                    break;
                };
                let question = *question;
                if let Some(other) = dependencies.next() {
                    match visits.get(other) {
                        Some(Visit::Open(at)) => {
                            while starts.last().is_some_and(|start| start > at) {
                                starts.pop();
                            }
                        }
                        Some(Visit::Never) => entered = Some(other),
                        Some(Visit::Done) | None => {}
                    }
                    continue;
                }
                path.pop();
                if let Some(Visit::Open(at)) = visits.get(question).copied()
                    && starts.last() == Some(&at)
                {
                    starts.pop();
                    let members = open.get(at..).unwrap_or_default();
                    for member in members {
                        if let Some(visit) = visits.get_mut(*member) {
                            *visit = Visit::Done;
                        }
                    }
                    if members.len() > 1 || depends_on(question).any(|other| other == question) {
                        order.cyclic.extend(members);
                    }
                    order.positions.extend(open.drain(at..));
                }
            }
        }
        order
    }
}
