//! `src/model/generated.rs`: the records of fragments, the inputs with their setters, and the enums.

use std::collections::BTreeMap;

use envd_codegen::ir::{Field, Program, Struct};
use envd_codegen::rust::{self, Style, comment, indent};

use crate::names;
use crate::operations::{fill, import};

const STYLE: Style = Style {
    serde: "",
    serde_crate: "",
    model: "",
    lenient: "super::lenient::",
    shared: "",
};

const USES: &str = "AccountId AccountType ConsignmentId ConsignmentNumber Maybe PdfUrl QuestionId QuestionType Role TemplateId \
    Timestamp ValidatorType";

pub(crate) fn file(program: &Program) -> String {
    let mut items = String::new();
    let mut debugs = BTreeMap::new();
    // The outermost question has all fields and serves all levels of the tree; generic types are written by hand.
    let is_written = |record: &&Struct| {
        record.generic.is_none() && envd_codegen::type_name(&record.name) == record.name
    };
    for record in program.records.iter().filter(is_written) {
        items += &STYLE.record(record);
        debugs.insert(record.name.as_str(), debug(record));
    }
    for input in &program.inputs {
        items += &STYLE.input(input, "#[must_use]\n#[non_exhaustive]\n");
        items += &setters(input);
        debugs.insert(&input.name, debug(input));
    }
    let enums = program.enums.iter();
    let enums = enums.map(|one| rust::open_enum(one, "open_enum", ""));
    format!(
        "use serde::{{Deserialize, Serialize}};\n\
         use super::open_enum::open_enum;\n\
         use super::redact::redacted_debug;\n\
         {}{items}redacted_debug! {{\n{}}}\n{}",
        import("super", USES.split(' '), 0),
        debugs.into_values().flatten().collect::<String>(),
        enums.collect::<String>(),
    )
}

/// A setter for each field.
fn setters(input: &Struct) -> String {
    let mut setters = String::new();
    for field in &input.fields {
        let rust = &field.rust;
        let argument = match field.lists {
            0 => format!("impl Into<{}>", STYLE.input_type(field)),
            _ => format!("impl IntoIterator<Item = {}>", STYLE.leaf(&field.leaf)),
        };
        let value = match (field.lists > 0, field.required) {
            (true, true) => format!("{rust}.into_iter().collect()"),
            (true, false) => format!("Maybe::Value({rust}.into_iter().collect())"),
            (false, _) => format!("{rust}.into()"),
        };
        let setter = names::setter(field);
        setters += &comment(&field.docs);
        let function = format!(
            "pub fn {setter}(mut self, {rust}: {argument}) -> Self {{\n    self.{rust} = {value};\n    self\n}}\n\n"
        );
        setters += &function;
    }
    let setters = setters.trim_end();
    format!(
        "impl {} {{\n{}}}\n",
        input.name,
        indent(&format!("{setters}\n"))
    )
}

/// A row for the `Debug` macro: the fields, and which of them hold personal data, answers or signatures. `None` if no field is hidden.
fn debug(record: &Struct) -> Option<String> {
    if !rust::hides(&record.fields) {
        return None;
    }
    let word = |field: &Field| {
        let mode = if field.is_hidden() { ": hidden" } else { "" };
        format!("{}{mode}", field.rust)
    };
    let start = format!("    {} {{", record.name);
    let row = fill(&start, record.fields.iter().map(word), "        ", 100);
    Some(row.trim_end_matches(',').to_owned() + " }\n")
}
