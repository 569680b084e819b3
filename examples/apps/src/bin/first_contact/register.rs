//! The property register: authentication, pages, codes, the shape of one record.

use envd_sdk::model::{ConsignmentSummary, Pic, PropertyStatus};
use envd_sdk::profile::{RecordShape, RegisterAuthentication, Sourced};
use envd_sdk::register::{PropertySearch, Register};
use serde_json::Value;

use super::cli::{self, Failure};
use super::contact::Contact;
use super::finding::Verdict;

const PATH: &str = "api/v2/PICRegister";

pub(crate) async fn ask(
    contact: &mut Contact<'_>,
    records: &[ConsignmentSummary],
) -> Result<(), Failure> {
    let pics = records
        .iter()
        .filter_map(|record| record.origin.as_ref()?.pic.as_ref());
    let mut pics = pics.filter_map(|pic| Pic::parse(pic).ok());
    let Some(pic) = pics.next() else {
        contact.tell(
            ("the register", "register"),
            "",
            "no PIC to look up",
            Verdict::Open,
        );
        return Ok(());
    };
    let Some(register) = authentication(contact, &pic).await? else {
        return Ok(());
    };
    look_up(contact, &register, &pic).await?;
    pages(contact, &register).await?;
    codes(contact, &register, &pic).await
}

/// The register as it answers: without a token, or with that of the user.
async fn authentication(contact: &mut Contact<'_>, pic: &Pic) -> Result<Option<Register>, Failure> {
    let what = ("access to the register", "register.authentication");
    for has_token in [false, true] {
        let Ok(settings) = contact.register(has_token) else {
            contact.tell(
                what,
                "none",
                "no address: ENVD_REGISTER_URL is not set",
                Verdict::Open,
            );
            return Ok(None);
        };
        let Ok(register) = settings.build() else {
            // By the profile of an earlier run it needs the token.
            continue;
        };
        match register.get(PATH, &[("PIC", pic.as_str())]).await {
            Ok(_) if has_token => {
                let bearer = RegisterAuthentication::Bearer;
                contact.settle(what, "none", "the access token", |it| {
                    it.register.authentication = Sourced::seen(bearer);
                })?;
                return Ok(Some(register));
            }
            Ok(_) => {
                contact.tell(what, "none", "none", Verdict::AsAssumed);
                return Ok(Some(register));
            }
            Err(error) if error.is_unauthorized() || error.is_forbidden() => {}
            Err(error) => {
                contact.tell(what, "none", cli::printable(&error), Verdict::Look);
                return Ok(None);
            }
        }
    }
    let found = "neither without nor with the access token: name the header of its key";
    contact.tell(what, "none", found, Verdict::Look);
    Ok(None)
}

/// The shape of one record.
async fn look_up(contact: &mut Contact<'_>, register: &Register, pic: &Pic) -> Result<(), Failure> {
    let what = ("one record", "register.recordShape");
    let reply = register.get(&format!("{PATH}/(PIC={pic})"), &[]).await;
    let reply: Value = match reply {
        Ok(reply) => reply,
        Err(error) => {
            contact.tell(what, "a page of one", cli::printable(&error), Verdict::Look);
            return Ok(());
        }
    };
    contact.keep("PICRegister", &reply);
    let shape = match &reply {
        _ if reply["Value"]["SubSet"].is_array() => Some(RecordShape::List),
        _ if reply["Value"]["PIC"].is_string() => Some(RecordShape::Value),
        _ if reply["PIC"].is_string() => Some(RecordShape::Bare),
        _ => None,
    };
    match shape {
        Some(RecordShape::List) => {
            contact.tell(what, "a page of one", "a page of one", Verdict::AsAssumed);
        }
        Some(shape) => {
            contact.settle(what, "a page of one", format!("{shape:?}"), |it| {
                it.register.record_shape = Sourced::seen(shape);
            })?;
        }
        None => contact.tell(what, "a page of one", "another shape", Verdict::Look),
    }
    Ok(())
}

/// The number of the first page.
async fn pages(contact: &mut Contact<'_>, register: &Register) -> Result<(), Failure> {
    let what = ("the first page", "register.firstPageIndex");
    let mut pages = Vec::new();
    for index in ["0", "1"] {
        let parameters = [
            ("SearchText", "QLD"),
            ("pagesize", "2"),
            ("pageindex", index),
        ];
        let page = register.get(PATH, &parameters).await;
        let subset = page.ok().map(|mut page| page["Value"]["SubSet"].take());
        pages.push(subset.filter(|subset| subset.as_array().is_some_and(|page| !page.is_empty())));
    }
    let first = match (&pages[0], &pages[1]) {
        (None, Some(_)) => Some(1),
        (Some(zero), Some(one)) if zero != one => Some(0),
        (Some(_), None) => Some(0),
        _ => None,
    };
    match first {
        Some(first) => {
            contact.settle(what, "not known", first.to_string(), |it| {
                it.register.first_page_index = Sourced::seen(Some(first));
            })?;
        }
        None => contact.tell(what, "not known", "both are one page", Verdict::Open),
    }
    Ok(())
}

/// Whether a search finds a property by the name of its status, or by its code.
async fn codes(contact: &mut Contact<'_>, register: &Register, pic: &Pic) -> Result<(), Failure> {
    let what = ("a status in a search", "register.statusCodes");
    let Ok(Some(property)) = register.property(pic).await else {
        contact.tell(what, "its name", "no property to search", Verdict::Open);
        return Ok(());
    };
    let status = property.admin_status.unwrap_or(PropertyStatus::Active);
    let search = PropertySearch::new()
        .pic(pic.as_str())
        .status(status.clone());
    let found = register.search(&search).next_page().await;
    let (found, verdict) = match found {
        Ok(Some(page)) if !page.records.is_empty() => ("its name", Verdict::AsAssumed),
        Ok(_) => (
            "nothing by its name: see the codes in report.txt",
            Verdict::Look,
        ),
        Err(_) => ("refused by its name", Verdict::Look),
    };
    contact.tell(what, "its name", found, verdict);
    Ok(())
}
