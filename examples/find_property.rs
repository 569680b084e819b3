//! Searches the property register: `cargo run --example find_property -- [TEXT]`.
//!
//! Searches at `ENVD_REGISTER_URL`, with `ENVD_ACCESS_TOKEN` as bearer token if it is set; with no settings, in a fake
//! register of invented properties.

mod settings;

use envd_sdk::model::{Property, PropertyTypeCode};
use envd_sdk::register::TextSearch;

use settings::{Failure, Settings};

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let text = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "yards".to_owned());
    let settings = Settings::read().await?;
    let register = settings.register()?.build()?;

    let search = TextSearch::new(text.as_str()).page_size(50);
    let mut page = register.search_text(&search).await?;
    println!(
        "{:8}  {:24}  {:16}  {:5}  {:10}  TYPES",
        "PIC", "NAME", "TOWN", "STATE", "STATUS"
    );
    let mut shown = 0;
    loop {
        page.records().iter().for_each(print_row);
        shown += page.records().len();
        match page.next_page().await? {
            Some(next) => page = next,
            None => break,
        }
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
