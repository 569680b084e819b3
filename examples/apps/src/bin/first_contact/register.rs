//! The property register: authentication, pages, codes, the shape of one record.

use envd_sdk::ErrorKind;
use envd_sdk::model::{ConsignmentSummary, Pic, PropertyStatus};
use envd_sdk::profile::{RecordShape, RegisterAuthentication, Sourced};
use envd_sdk::register::{PropertySearch, Register};

use super::cli::Failure;
use super::contact::Contact;
use super::finding::Verdict;

const PATH: &str = "api/v2/PICRegister";

/// The most PICs that are looked up until one is found.
const MOST: usize = 5;

pub(crate) async fn ask(
    contact: &mut Contact<'_>,
    records: &[ConsignmentSummary],
) -> Result<(), Failure> {
    let parties = records
        .iter()
        .flat_map(|record| [&record.origin, &record.destination]);
    let pics = parties.filter_map(|party| Pic::parse(party.as_ref()?.pic.as_ref()?).ok());
    let mut tried = Vec::new();
    for pic in pics {
        if tried.len() < MOST && !tried.contains(&pic) {
            tried.push(pic);
        }
    }
    let Some(first) = tried.first() else {
        contact.tell(
            ("the register", "register"),
            "",
            "no PIC to look up",
            Verdict::Open,
        );
        return Ok(());
    };
    let Some(register) = authentication(contact, first).await? else {
        return Ok(());
    };
    let found = look_up(contact, &register, &tried).await?;
    pages(contact, &register).await?;
    match found {
        Some(pic) => codes(contact, &register, pic).await,
        None => Ok(()),
    }
}

/// Determines whether the register needs the user's token, and returns a register that answers.
async fn authentication(contact: &mut Contact<'_>, pic: &Pic) -> Result<Option<Register>, Failure> {
    let what = ("access to the register", "register.authentication");
    let mut refused = None;
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
            // An earlier run found that the register needs the token.
            continue;
        };
        let asked = register.get(PATH, &[("PIC", pic.as_str())]).await;
        // "Not found" is also an answer of the register.
        let answer = asked.map(drop).or_else(|error| match error {
            error if error.kind() == ErrorKind::NotFound => Ok(()),
            error => Err(error),
        });
        match answer {
            Ok(()) if has_token => {
                let bearer = RegisterAuthentication::Bearer;
                contact.settle(what, "none", "the access token", |it| {
                    it.register.authentication = Sourced::seen(bearer);
                })?;
                return Ok(Some(register));
            }
            Ok(()) => {
                contact.tell(what, "none", "none", Verdict::AsAssumed);
                return Ok(Some(register));
            }
            Err(error)
                if error.kind() == ErrorKind::Unauthorized
                    || error.kind() == ErrorKind::Forbidden =>
            {
                refused = Some(error);
            }
            Err(error) => {
                contact.fail(what, "none", error)?;
                return Ok(None);
            }
        }
    }
    let found = "refused with and without the access token: set the header of its key";
    contact.tell(what, "none", found, Verdict::Look);
    if let Some(error) = refused {
        contact.fail(("the refusal", ""), "none", error)?;
    }
    Ok(None)
}

/// Determines the shape of the first record that the register has, and returns its PIC.
async fn look_up<'a>(
    contact: &mut Contact<'_>,
    register: &Register,
    pics: &'a [Pic],
) -> Result<Option<&'a Pic>, Failure> {
    let what = ("one record", "register.recordShape");
    let mut found = None;
    for pic in pics {
        match register.get(&format!("{PATH}/(PIC={pic})"), &[]).await {
            Ok(reply) => {
                found = Some((pic, reply));
                break;
            }
            // A declaration may name a closed property, or a mistyped PIC.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => {
                contact.fail(what, "a page of one", error)?;
                return Ok(None);
            }
        }
    }
    let Some((pic, reply)) = found else {
        let found = format!(
            "none of {} PICs in the records is in the register",
            pics.len()
        );
        contact.tell(what, "a page of one", found, Verdict::Open);
        return Ok(None);
    };
    contact.keep_of_register("PICRegister", &reply);
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
    Ok(Some(pic))
}

/// Determines the number of the first page.
async fn pages(contact: &mut Contact<'_>, register: &Register) -> Result<(), Failure> {
    let what = ("the first page", "register.firstPageIndex");
    let mut pages = Vec::new();
    let mut failed = Vec::new();
    for index in ["0", "1"] {
        let parameters = [
            ("SearchText", "QLD"),
            ("pagesize", "2"),
            ("pageindex", index),
        ];
        let page = register.get(PATH, &parameters).await;
        let page = page.map_err(|error| failed.push(error)).ok();
        let subset = page.map(|mut page| page["Value"]["SubSet"].take());
        pages.push(subset.filter(|subset| subset.as_array().is_some_and(|page| !page.is_empty())));
    }
    // A register may refuse a number below that of its first page.
    if failed.len() == 2 {
        return failed
            .drain(..1)
            .try_for_each(|error| contact.fail(what, "not known", error));
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

/// Determines whether a search finds a property by the name of its status or by its code.
async fn codes(contact: &mut Contact<'_>, register: &Register, pic: &Pic) -> Result<(), Failure> {
    let what = ("a status in a search", "register.statusCodes");
    let property = match register.property(pic).await {
        Ok(Some(property)) => property,
        Ok(None) => {
            contact.tell(what, "its name", "no property to search", Verdict::Open);
            return Ok(());
        }
        Err(error) => return contact.fail(what, "its name", error),
    };
    let status = property.admin_status.unwrap_or(PropertyStatus::Active);
    let search = PropertySearch::new()
        .pic(pic.as_str())
        .status(status.clone());
    let found = register.search(&search).next_page().await;
    let (found, verdict) = match found {
        Ok(Some(page)) if !page.records.is_empty() => ("its name", Verdict::AsAssumed),
        Ok(_) => (
            "not found by its name: see the codes in report.txt",
            Verdict::Look,
        ),
        Err(error) => return contact.fail(what, "its name", error),
    };
    contact.tell(what, "its name", found, verdict);
    Ok(())
}
