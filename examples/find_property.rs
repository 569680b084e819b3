//! Searches the property register: `cargo run --example find_property -- [TEXT]`.
//!
//! Searches at `ENVD_REGISTER_URL`, with `ENVD_ACCESS_TOKEN` as bearer token if it is set; with no settings, in a fake
//! register of invented properties.

mod reader;
mod settings;

use envd_sdk::model::{Property, PropertyTypeCode};
use envd_sdk::register::TextSearch;

use settings::{Failure, Settings};

#[tokio::main]
async fn main() -> Result<(), Failure> {
    reader::may_leave();
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word.starts_with('-')) {
        println!("usage: find_property [TEXT]");
        return Ok(());
    }
    if words.is_empty() {
        words.push("yards".to_owned());
    }
    let text = words.join(" ");
    let settings = Settings::read().await?;
    let register = settings.register()?.build()?;

    println!(
        "{:8}  {:24}  {:16}  {:5}  {:10}  TYPES",
        "PIC", "NAME", "TOWN", "STATE", "STATUS"
    );
    let mut properties = register
        .search(TextSearch::new(&text))
        .page_size(50)
        .items();
    let mut shown = 0;
    while let Some(property) = properties.next().await {
        print_row(&property?);
        shown += 1;
    }
    println!("{shown} found for {text:?}");
    Ok(())
}

fn print_row(property: &Property) {
    let or_dash = |field: &Option<String>| field.clone().unwrap_or_else(|| "-".to_owned());
    let status = property
        .admin_status
        .as_ref()
        .map_or("-", |status| status.as_str());
    let types: Vec<&str> = property
        .property_types
        .iter()
        .map(PropertyTypeCode::as_str)
        .collect();
    println!(
        "{:8}  {:24}  {:16}  {:5}  {status:10}  {}",
        or_dash(&property.pic),
        or_dash(&property.name),
        or_dash(&property.town),
        or_dash(&property.registered_state),
        types.join(" "),
    );
}
