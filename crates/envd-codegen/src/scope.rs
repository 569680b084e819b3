//! The names of the items that stand beside each other in the code: types and modules, which share them.

use std::collections::BTreeMap;

use apollo_compiler::parser::{SourceMap, SourceSpan};

use crate::problem::{Problem, at, place};

/// What a name stands for, and where that comes from.
struct Item {
    what: String,
    place: Option<SourceSpan>,
}

/// All names of the file, each once. It is filled before a line is written.
#[derive(Default)]
pub(crate) struct Scope {
    items: BTreeMap<String, Item>,
}

impl Scope {
    /// Takes a name for an item; a problem with both places where another item has it.
    pub(crate) fn declare(
        &mut self,
        name: String,
        what: String,
        span: Option<SourceSpan>,
        sources: &SourceMap,
    ) -> Result<(), Problem> {
        if let Some(other) = self.items.get(&name) {
            let message = format!(
                "two items of the code have the name `{name}`: {what}, and {} at {}; rename one of them",
                other.what,
                place(sources, other.place)
            );
            return Err(at(sources, span, message));
        }
        self.items.insert(name, Item { what, place: span });
        Ok(())
    }
}
