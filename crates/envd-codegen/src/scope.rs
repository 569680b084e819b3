//! The names of the items in one module: types and modules share one namespace.

use std::collections::BTreeMap;

use apollo_compiler::parser::{SourceMap, SourceSpan};

use crate::problem::{Problem, at, place};

/// The item with a name, and its location in the sources.
struct Item {
    what: String,
    place: Option<SourceSpan>,
}

/// All names of the file. It is filled before any code is written.
#[derive(Default)]
pub(crate) struct Scope {
    items: BTreeMap<String, Item>,
}

impl Scope {
    /// Reserves a name for an item; if another item has it, the problem states both places.
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
