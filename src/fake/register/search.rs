//! `GET .../PICRegister?...`.

use std::collections::HashMap;

use serde_json::{Value, json};
use url::form_urlencoded;

use super::{LARGEST_PAGE, PAGE, Register};
use crate::fake::reply::Reply;

/// The parameters in lower case: their casing varies in the specification's examples.
type Wanted = HashMap<String, String>;

/// Answers a search.
pub(in crate::fake) fn search(register: &Register, query: &str) -> Reply {
    let mut wanted: Wanted = form_urlencoded::parse(query.as_bytes())
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .filter(|(_, value)| !value.is_empty())
        .collect();
    let (page, size) = (wanted.remove("pageindex"), wanted.remove("pagesize"));
    let text = wanted.remove("searchtext");
    if text.is_some() && !wanted.is_empty() {
        return bad("Use either SearchText or the specific parameters.");
    }
    if let Some(unknown) = wanted.keys().find(|name| !KNOWN.contains(&name.as_str())) {
        return bad(&format!("The parameter {unknown} is not known."));
    }
    let number =
        |text: Option<String>, default| text.map_or(Ok(default), |text| text.parse::<usize>());
    let (Ok(page), Ok(size)) = (number(page, register.first_page), number(size, PAGE)) else {
        return bad("pageindex and pagesize must be numbers.");
    };
    let Some(before) = page.checked_sub(register.first_page) else {
        return bad(&format!("pageindex starts at {}.", register.first_page));
    };
    if size == 0 {
        return bad("pagesize must be at least 1.");
    }
    let size = size.min(LARGEST_PAGE);
    let found: Vec<&Value> = register
        .properties
        .iter()
        .filter(|property| match &text {
            Some(text) => text.split_whitespace().all(|word| mentions(property, word)),
            None => wanted
                .iter()
                .all(|(name, value)| register.fits(property, name, value)),
        })
        .collect();
    let offset = before.saturating_mul(size);
    let shown: Vec<&Value> = found.iter().skip(offset).take(size).copied().collect();
    register.envelope(offset, size, found.len(), &shown)
}

const KNOWN: [&str; 11] = [
    "pic",
    "firstname",
    "lastname",
    "businessname",
    "propertyname",
    "brand",
    "town",
    "state",
    "postcode",
    "picstatus",
    "pictype",
];

fn bad(message: &str) -> Reply {
    Reply::json(400, &json!({"Message": message}))
}

/// Each word must be found in one of the five fields. assumed: also inside of a longer word
fn mentions(property: &Value, word: &str) -> bool {
    ["PIC", "PICName", "LastName", "Town", "RegisteredState"]
        .iter()
        .any(|field| contains(&property[field], word))
}

impl Register {
    fn fits(&self, property: &Value, name: &str, value: &str) -> bool {
        if name != "postcode" {
            return fits(property, name, value);
        }
        let pic = property["PIC"].as_str().unwrap_or_default();
        self.postcodes
            .get(pic)
            .is_some_and(|postcode| postcode == value)
    }
}

fn fits(property: &Value, name: &str, value: &str) -> bool {
    let manager = |field: &str| {
        let contacts = property["ContactDetails"].as_array().into_iter().flatten();
        contacts
            .chain([property])
            .any(|person| contains(&person[field], value))
    };
    let coded = |list: &str, fits: &dyn Fn(&Value) -> bool| {
        let codes = property[list].as_array().into_iter().flatten();
        codes.map(|code| &code["ShortCode"]).any(fits)
    };
    match name {
        "pic" => equals(&property["PIC"], value),
        "firstname" => manager("FirstName"),
        "lastname" => manager("LastName"),
        "businessname" => contains(&property["BusinessName"], value),
        "propertyname" => contains(&property["PICName"], value),
        "brand" => coded("Brands", &|code| contains(code, value)),
        "town" => contains(&property["Town"], value),
        "state" => equals(&property["RegisteredState"], value),
        "picstatus" => {
            let status = &property["AdminStatus"];
            equals(&status["ShortCode"], value) || equals(&status["Description"], value)
        }
        "pictype" => coded("PropertyTypes", &|code| equals(code, value)),
        _ => false,
    }
}

fn equals(field: &Value, value: &str) -> bool {
    field
        .as_str()
        .is_some_and(|text| text.eq_ignore_ascii_case(value))
}

fn contains(field: &Value, value: &str) -> bool {
    let text = field.as_str().unwrap_or_default();
    text.to_lowercase().contains(&value.to_lowercase())
}
