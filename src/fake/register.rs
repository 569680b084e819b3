//! The property register (spec 4.2): search and look-up of invented properties.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::{Value, json};
use url::form_urlencoded;

use super::reply::FakeReply;
use super::world::World;
use crate::profile::{RecordShape, RegisterAuthentication, RegisterProfile};
use crate::secret::Secret;

/// The properties of a world, and the settings of the register.
pub(super) struct FakeRegister {
    pub(super) world: Arc<World>,
    /// The time of the last change, for `If-Modified-Since`.
    pub(super) modified: SystemTime,
    pub(super) profile: RegisterProfile,
    /// The required token or key, if any.
    pub(super) token: Option<Secret>,
}

/// assumed: the specification shows neither
const PAGE_SIZE: usize = 25;
const LARGEST_PAGE_SIZE: usize = 100;

impl FakeRegister {
    /// Answers a request by its path below the base address; `None` for an unknown path.
    pub(super) fn answer(
        &self,
        path: &str,
        query: &str,
        credential: Option<&str>,
        since: Option<&str>,
    ) -> Option<FakeReply> {
        // profile: register.authentication
        let is_asked = self.profile.authentication.value != RegisterAuthentication::Unknown;
        let is_right = match &self.token {
            Some(token) => credential.is_some_and(|given| token.matches(given)),
            None => !is_asked || credential.is_some_and(|given| !given.is_empty()),
        };
        if !is_right {
            let message = "Authorization has been denied for this request.";
            return Some(FakeReply::json(401, &json!({"Message": message})));
        }
        let since = since.and_then(|since| httpdate::parse_http_date(since).ok());
        if since.is_some_and(|since| since >= self.modified) {
            return Some(self.dated(FakeReply::empty(304)));
        }
        match path.trim_start_matches('/') {
            "" => Some(
                self.search(query)
                    .unwrap_or_else(|message| FakeReply::json(400, &json!({"Message": message}))),
            ),
            segment => self.lookup(segment),
        }
    }

    /// `GET .../PICRegister/(PIC=<pic>)`, with the last path segment as sent.
    fn lookup(&self, segment: &str) -> Option<FakeReply> {
        // "(PIC=QAZZ7777)" has the syntax of a form parameter. The equals sign may be percent-encoded.
        let (name, value) = form_urlencoded::parse(segment.as_bytes()).next()?;
        let key = format!("{name}={value}");
        let pic = key
            .strip_prefix("(PIC=")?
            .trim_end_matches('=')
            .strip_suffix(')')?;
        let mut properties = self.world.properties.iter();
        let found = properties.find(|property| equals(&property["PIC"], pic));
        let Some(property) = found else {
            // profile: register.emptyNotFound
            if self.profile.empty_not_found.value == Some(true) {
                return Some(FakeReply::empty(404));
            }
            let message = format!("No property has the PIC {pic}.");
            return Some(FakeReply::json(404, &json!({"Message": message})));
        };
        // profile: register.recordShape
        Some(match self.profile.record_shape.value {
            RecordShape::List => self.envelope(0, PAGE_SIZE, 1, &[property]),
            RecordShape::Value => self.dated(FakeReply::json(200, &json!({"Value": property}))),
            RecordShape::Bare => self.dated(FakeReply::json(200, property)),
        })
    }

    // profile: register.firstPageIndex
    fn first_page(&self) -> usize {
        match self.profile.first_page_index.value {
            Some(0) => 0,
            _ => 1,
        }
    }

    /// `GET .../PICRegister?...`. The error states why the parameters are refused.
    fn search(&self, query: &str) -> Result<FakeReply, String> {
        // The examples of the specification use different letter cases for the names.
        let mut parameters: HashMap<String, String> = form_urlencoded::parse(query.as_bytes())
            .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
            .filter(|(_, value)| !value.is_empty())
            .collect();
        let mut number = |name: &str, default| match parameters.remove(name) {
            Some(text) => text
                .parse::<usize>()
                .map_err(|_| "pageindex and pagesize must be numbers.".to_owned()),
            None => Ok(default),
        };
        let page = number("pageindex", self.first_page());
        let size = number("pagesize", PAGE_SIZE);
        let text = parameters.remove("searchtext");
        if text.is_some() && !parameters.is_empty() {
            return Err("Use either SearchText or the specific parameters.".to_owned());
        }
        let mut names = parameters.keys();
        let is_unknown = |name: &&String| self.matches(&Value::Null, name, "").is_none();
        if let Some(unknown) = names.find(is_unknown) {
            return Err(format!("The parameter {unknown} is unknown."));
        }
        let page = page?;
        let size = size?;
        let pages_before = page
            .checked_sub(self.first_page())
            .ok_or_else(|| format!("pageindex starts at {}.", self.first_page()))?;
        if size == 0 {
            return Err("pagesize must be at least 1.".to_owned());
        }
        let size = size.min(LARGEST_PAGE_SIZE);
        let properties = self.world.properties.iter();
        let found = properties.filter(|property| match &text {
            Some(text) => text.split_whitespace().all(|word| mentions(property, word)),
            None => parameters
                .iter()
                .all(|(name, value)| self.matches(property, name, value) == Some(true)),
        });
        let found: Vec<&Value> = found.collect();
        let offset = pages_before.saturating_mul(size);
        let page: Vec<&Value> = found.iter().skip(offset).take(size).copied().collect();
        Ok(self.envelope(offset, size, found.len(), &page))
    }

    /// Whether a property matches a parameter; `None` for an unknown parameter.
    fn matches(&self, property: &Value, name: &str, value: &str) -> Option<bool> {
        let person = |field: &str| {
            let contacts = property["ContactDetails"].as_array().into_iter().flatten();
            contacts
                .chain([property])
                .any(|person| contains(&person[field], value))
        };
        let code = |list: &str, matches: fn(&Value, &str) -> bool| {
            let mut codes = property[list].as_array().into_iter().flatten();
            codes.any(|code| matches(&code["ShortCode"], value))
        };
        Some(match name {
            "pic" => equals(&property["PIC"], value),
            "firstname" => person("FirstName"),
            "lastname" => person("LastName"),
            "businessname" => contains(&property["BusinessName"], value),
            "propertyname" => contains(&property["PICName"], value),
            "brand" => code("Brands", contains),
            "town" => contains(&property["Town"], value),
            "state" => equals(&property["RegisteredState"], value),
            "postcode" => {
                let pic = property["PIC"].as_str().unwrap_or_default();
                let postcode = self.world.postcodes.get(pic);
                postcode.is_some_and(|postcode| postcode == value)
            }
            "picstatus" => {
                let status = &property["AdminStatus"];
                let name = status["Description"].as_str().unwrap_or_default();
                // profile: register.statusCodes
                match self.profile.status_codes.value.get(name) {
                    Some(code) => code == value,
                    None => {
                        equals(&status["ShortCode"], value) || equals(&status["Description"], value)
                    }
                }
            }
            "pictype" => code("PropertyTypes", equals),
            _ => return None,
        })
    }

    fn dated(&self, reply: FakeReply) -> FakeReply {
        reply.header("last-modified", httpdate::fmt_http_date(self.modified))
    }

    fn envelope(&self, offset: usize, limit: usize, total: usize, records: &[&Value]) -> FakeReply {
        let value = json!({"Offset": offset, "Limit": limit, "Total": total, "SubSet": records});
        self.dated(FakeReply::json(200, &json!({"Value": value})))
    }
}

/// Whether one of the five fields contains the word. assumed: also inside a longer word
fn mentions(property: &Value, word: &str) -> bool {
    ["PIC", "PICName", "LastName", "Town", "RegisteredState"]
        .iter()
        .any(|field| contains(&property[field], word))
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
