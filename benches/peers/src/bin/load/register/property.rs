//! Records of the register, written by hand.

use serde::Deserialize;

/// Reads a page of records that own their strings, or with `&str` borrow them: the number of records.
pub fn read<'a, S: Deserialize<'a>>(text: &'a str) -> usize {
    let reply: Reply<S> = serde_json::from_str(text).unwrap();
    reply.value.sub_set.len()
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Reply<S> {
    pub value: Found<S>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
#[allow(dead_code)]
pub struct Found<S> {
    pub offset: Option<u64>,
    pub limit: Option<u64>,
    pub total: Option<u64>,
    pub sub_set: Vec<Property<S>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
#[allow(dead_code)]
pub struct Property<S> {
    #[serde(rename = "PIC")]
    pub pic: Option<S>,
    #[serde(rename = "PICName")]
    pub name: Option<S>,
    #[serde(rename = "PICRegisterId")]
    pub register_id: Option<i64>,
    pub business_name: Option<S>,
    pub first_name: Option<S>,
    pub last_name: Option<S>,
    pub town: Option<S>,
    pub species: Vec<Code<S>>,
    pub property_types: Vec<Code<S>>,
    pub brands: Vec<Code<S>>,
    pub registered_state: Option<S>,
    pub admin_status: Option<Status<S>>,
    pub shire_code: Option<S>,
    pub contact_details: Vec<Contact<S>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
#[allow(dead_code)]
pub struct Code<S> {
    pub short_code: Option<S>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
#[allow(dead_code)]
pub struct Status<S> {
    pub short_code: Option<S>,
    pub description: Option<S>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
#[allow(dead_code)]
pub struct Contact<S> {
    pub first_name: Option<S>,
    pub last_name: Option<S>,
    pub contact_type_short_code: Option<S>,
}
