//! Owned records of the register, written by hand.

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Reply {
    pub value: Found,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
#[allow(dead_code)]
pub struct Found {
    pub offset: Option<u64>,
    pub limit: Option<u64>,
    pub total: Option<u64>,
    pub sub_set: Vec<Property>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
#[allow(dead_code)]
pub struct Property {
    #[serde(rename = "PIC")]
    pub pic: Option<String>,
    #[serde(rename = "PICName")]
    pub name: Option<String>,
    #[serde(rename = "PICRegisterId")]
    pub register_id: Option<i64>,
    pub business_name: Option<String>,
    pub first_name: Option<String>,
    pub last_name: Option<String>,
    pub town: Option<String>,
    pub species: Vec<Code>,
    pub property_types: Vec<Code>,
    pub brands: Vec<Code>,
    pub registered_state: Option<String>,
    pub admin_status: Option<Status>,
    pub shire_code: Option<String>,
    pub contact_details: Vec<Contact>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
#[allow(dead_code)]
pub struct Code {
    pub short_code: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
#[allow(dead_code)]
pub struct Status {
    pub short_code: Option<String>,
    pub description: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
#[allow(dead_code)]
pub struct Contact {
    pub first_name: Option<String>,
    pub last_name: Option<String>,
    pub contact_type_short_code: Option<String>,
}
