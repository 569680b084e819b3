//! Each entry of the service profile and the code that depends on it name each other, so that the code can be found on the day when
//! the live service has shown the answer.
//!
//! The entries are those of `src/profile`. A place is a comment `// profile: lists.order` above the code; CONTRIBUTING has a table
//! with what to do for each entry.

use std::collections::BTreeSet;

use super::{product_files, product_text};

/// The public fields of a struct, with their types.
fn fields<'s>(source: &'s str, name: &str) -> Option<Vec<(&'s str, &'s str)>> {
    let start = format!("pub struct {name} {{\n");
    let (_, body) = source.split_once(&start)?;
    let body = body.split("\n}").next().unwrap_or_default();
    let fields = body.lines().filter_map(|line| {
        let field = line.strip_prefix("    pub ")?.strip_suffix(',')?;
        field.split_once(": ")
    });
    Some(fields.collect())
}

/// The name in JSON: the structs of a profile have `rename_all = "camelCase"`.
fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let mut json = words.next().unwrap_or_default().to_owned();
    for word in words {
        json.push_str(&word[..1].to_uppercase());
        json.push_str(&word[1..]);
    }
    json
}

/// The entries by their names in JSON, from the source of the profile.
///
/// A field of `ServiceProfile` is one entry if it is `Sourced` or a plain map. Any other type is a section: a struct with an entry
/// for each field, or a map of such structs.
fn entries(source: &str) -> BTreeSet<String> {
    let mut entries = BTreeSet::new();
    for (name, ty) in fields(source, "ServiceProfile").unwrap() {
        let name = camel_case(name);
        let mut types = ty.split(|it: char| !it.is_ascii_alphanumeric());
        let is_section = !ty.starts_with("Sourced<");
        match types.find_map(|ty| fields(source, ty).filter(|_| is_section && ty != "Sourced")) {
            Some(fields) => {
                let of_section = fields.iter().map(|(field, _)| camel_case(field));
                entries.extend(of_section.map(|field| format!("{name}.{field}")));
            }
            None => {
                entries.insert(name);
            }
        }
    }
    entries
}

fn entries_of_source() -> BTreeSet<String> {
    let mut source = String::new();
    for file in ["src/profile/mod.rs", "src/profile/entries.rs"] {
        source.push_str(&std::fs::read_to_string(file).unwrap());
    }
    entries(&source)
}

/// The entries that the comments of a file name, without those in its test module.
fn places(text: &str) -> impl Iterator<Item = &str> {
    let lines = product_text(text).lines();
    let named = lines.filter_map(|line| line.trim_start().strip_prefix("// profile:"));
    named.map(str::trim)
}

/// The entries without a place, and the places without an entry.
fn differences(
    entries: &BTreeSet<String>,
    places: &BTreeSet<String>,
    of_places: &str,
) -> Vec<String> {
    let missing = entries.difference(places);
    let missing = missing.map(|entry| format!("{entry} has no {of_places}"));
    let unknown = places.difference(entries);
    let unknown = unknown.map(|place| format!("{place} is no entry of the profile"));
    missing.chain(unknown).collect()
}

/// The rows of the table in CONTRIBUTING: the names in the first column.
fn rows(page: &str) -> BTreeSet<String> {
    let section = page.split("\n## ").find(|part| {
        let title = part.lines().next();
        title == Some("When the live service has been seen")
    });
    let rows = section.unwrap_or_default().lines();
    let first = rows.filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    let names = first.flat_map(|cell| cell.split(['`', ',', ' ']));
    names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn each_entry_of_the_profile_has_places_and_each_place_an_entry() {
    let mut found = BTreeSet::new();
    for (_, text) in product_files() {
        found.extend(places(&text).map(str::to_owned));
    }
    let wrong = differences(&entries_of_source(), &found, "place in the code");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn each_entry_of_the_profile_has_a_row_in_contributing() {
    let page = std::fs::read_to_string("CONTRIBUTING.md").unwrap();
    let wrong = differences(&entries_of_source(), &rows(&page), "row in CONTRIBUTING");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn an_entry_without_a_place_and_a_place_without_an_entry_are_reported() {
    let source = "
pub struct ServiceProfile {
    /// A map of sections.
    pub operations: BTreeMap<String, Sourced<OperationProfile>>,
    pub fields: BTreeMap<String, String>,
    pub updates: Sourced<RecordNames>,
    pub lists: Lists,
}
pub struct OperationProfile {
    #[serde(skip)]
    pub left_out: Vec<String>,
}
pub struct RecordNames {
    pub id: Option<String>,
}
pub struct Lists {
    pub order: Sourced<ListOrder>,
}
pub struct Sourced<T> {
    pub value: T,
}
";
    let entries = entries(source);
    let names: Vec<_> = entries.iter().map(String::as_str).collect();
    assert_eq!(
        names,
        ["fields", "lists.order", "operations.leftOut", "updates"]
    );
    let text = "/// profile: not a place
    // profile: fields
    // profile: lists.oder
    // profile: operations.leftOut, updates
#[cfg(test)]
mod tests {
    // profile: updates
}";
    let found = places(text).map(str::to_owned).collect();
    assert_eq!(
        differences(&entries, &found, "place"),
        [
            "lists.order has no place",
            "operations.leftOut has no place",
            "updates has no place",
            "lists.oder is no entry of the profile",
            "operations.leftOut, updates is no entry of the profile",
        ]
    );
    let page = "# A\n\n## When the live service has been seen\n\n| entry | what |\n| --- | --- |\n| `fields`, \
        `updates` | `x` |\n| `lists.oder` | y |\n\n## B\n\n| `lists.order` | z |\n";
    let listed = ["fields", "lists.oder", "updates"];
    assert!(rows(page).iter().eq(listed));
}
