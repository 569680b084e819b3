//! Lists of consignments: pages, order, and the date that a filter compares.

use std::time::SystemTime;

use envd_sdk::model::{ConsignmentSummary, Day, Timestamp};
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::profile::{ComparedDate, ListOrder, Sourced};

use super::cli::Failure;
use super::contact::Contact;
use super::finding::Verdict;

/// Page sizes to try, the largest first. Typical programs request a hundred records at a time.
const SIZES: [u32; 7] = [200, 100, 50, 25, 10, 3, 1];

/// Reads the first records of the list, as many as the service returns in one page.
pub(crate) async fn records(contact: &mut Contact<'_>) -> Result<Vec<ConsignmentSummary>, Failure> {
    let filter = ConsignmentFilter::default();
    let page = contact.ask("consignments", |_, account| {
        account.consignments_page(&filter, None)
    });
    let Some(page) = page.await? else {
        return Ok(Vec::new());
    };
    let own = page.edges.len();
    let total = page.total_count;
    let (found, verdict) = match total {
        Some(total) => (
            format!("{total} of all, {own} on a page"),
            Verdict::AsAssumed,
        ),
        None => (format!("none, {own} on a page"), Verdict::Look),
    };
    contact.tell(
        ("the total of a list", ""),
        "the number of all",
        found,
        verdict,
    );

    let Some(account) = contact.account.clone() else {
        return Ok(Vec::new());
    };
    let mut refused = false;
    for size in SIZES {
        let asked = account.consignments_page(&ConsignmentFilter::default().page_size(size), None);
        match asked.await {
            Ok(page) => {
                let what = ("the largest page", "lists.largestPage");
                let known = contact.profile().lists.largest_page.value;
                if let Some(largest) = known.or(refused.then_some(size)) {
                    contact.settle(what, "any", largest.to_string(), |it| {
                        it.lists.largest_page = Sourced::seen(Some(largest));
                    })?;
                } else {
                    let found = format!("{size} or more");
                    contact.tell(what, "any", found, Verdict::AsAssumed);
                }
                let nodes = page.value.edges.into_iter();
                let records: Vec<ConsignmentSummary> = nodes.filter_map(|edge| edge.node).collect();
                order(contact, &records)?;
                return Ok(records);
            }
            Err(error) if !error.server_errors().is_empty() => refused = true,
            Err(error) => {
                contact.fail(("the largest page", "lists.largestPage"), "any", error)?;
                break;
            }
        }
    }
    Ok(Vec::new())
}

/// Determines the order of the list, as far as these records distinguish the possible orders.
fn order(contact: &mut Contact<'_>, records: &[ConsignmentSummary]) -> Result<(), Failure> {
    let numbers: Vec<&str> = records
        .iter()
        .filter_map(|record| Some(record.number.as_ref()?.as_str()))
        .collect();
    let updated: Vec<_> = records
        .iter()
        .filter_map(|record| record.updated_at.as_ref()?.to_time())
        .collect();
    let orders: Vec<ListOrder> = [
        (ListOrder::NewestFirst, numbers.is_sorted_by(|a, b| a >= b)),
        (ListOrder::OldestFirst, numbers.is_sorted()),
        (
            ListOrder::LatestUpdateFirst,
            updated.is_sorted_by(|a, b| a >= b),
        ),
        (ListOrder::EarliestUpdateFirst, updated.is_sorted()),
    ]
    .into_iter()
    .filter_map(|(order, holds)| holds.then_some(order))
    .collect();
    let assumed = contact.profile().lists.order.value;
    let what = ("the order of a list", "lists.order");
    let assumed_text = format!("{assumed:?}");
    match orders.as_slice() {
        [] => contact.tell(what, assumed_text, "another", Verdict::Look),
        orders if orders.contains(&assumed) => {
            let found = if orders.len() == 1 {
                "so"
            } else {
                "so, or by the last change"
            };
            contact.tell(what, assumed_text, found, Verdict::AsAssumed);
        }
        [order, ..] => {
            let order = *order;
            contact.settle(what, assumed_text, format!("{order:?}"), |it| {
                it.lists.order = Sourced::seen(order);
            })?;
        }
    }
    Ok(())
}

/// Determines which date a filter compares, and whether a search finds a number.
pub(crate) async fn dates(
    contact: &mut Contact<'_>,
    records: &[ConsignmentSummary],
) -> Result<(), Failure> {
    let Some(account) = contact.account.clone() else {
        return Ok(());
    };
    let size = contact.profile().lists.largest_page.value.unwrap_or(200);
    let what = ("the date of a filter", "lists.comparedDate");
    if let Some(from) = telling_date(records) {
        let filter = ConsignmentFilter::default()
            .from(Timestamp::from(from))
            .page_size(size);
        let page = match account.consignments_page(&filter, None).await {
            Ok(page) => page.value,
            Err(error) => return contact.fail(what, "not known", error),
        };
        let nodes = page.edges.iter().filter_map(|edge| edge.node.as_ref());
        let listed: Vec<_> = nodes.filter_map(|record| record.id.clone()).collect();
        let is = |reading: Reading| {
            records.iter().all(|record| {
                let is_later = reading(record).is_some_and(|at| at >= from);
                record.id.as_ref().is_some_and(|id| listed.contains(id)) == is_later
            })
        };
        let changed = is(updated);
        let moves = is(movement);
        let found = match (changed, moves) {
            (true, false) => None,
            (false, true) => Some(ComparedDate::Movement),
            _ => Some(ComparedDate::Creation),
        };
        match found {
            None => {
                let found = "that of the last change, or of the creation";
                contact.tell(what, "not known", found, Verdict::Open);
            }
            Some(date) => {
                contact.settle(what, "not known", format!("{date:?}"), |it| {
                    it.lists.compared_date = Sourced::seen(Some(date));
                })?;
            }
        }
    } else {
        contact.tell(
            what,
            "not known",
            "the records do not distinguish the dates",
            Verdict::Open,
        );
    }
    let number = records.iter().find_map(|record| record.number.clone());
    if let Some(number) = number {
        let filter = ConsignmentFilter::default().search_text(number.as_str());
        let what = ("a search for a number", "");
        let (found, verdict) = match account.consignments_page(&filter, None).await {
            Ok(page) if page.value.edges.len() == 1 => ("that record", Verdict::AsAssumed),
            Ok(page) if page.value.edges.is_empty() => ("nothing", Verdict::Look),
            Ok(_) => ("several records", Verdict::Look),
            Err(error) => return contact.fail(what, "that record", error),
        };
        contact.tell(what, "that record", found, verdict);
    }
    Ok(())
}

type Reading = fn(&ConsignmentSummary) -> Option<SystemTime>;

fn updated(record: &ConsignmentSummary) -> Option<SystemTime> {
    record.updated_at.as_ref()?.to_time()
}

fn movement(record: &ConsignmentSummary) -> Option<SystemTime> {
    let day = record.movement_date.as_ref()?.get(..10)?;
    Timestamp::from(Day::parse(day).ok()?).to_time()
}

/// A date since which the changed records differ from the records that moved.
fn telling_date(records: &[ConsignmentSummary]) -> Option<SystemTime> {
    let since = |reading: Reading, from: SystemTime| -> Vec<bool> {
        let is_later = |record| reading(record).is_some_and(|at| at >= from);
        records.iter().map(is_later).collect()
    };
    let changes = records.iter().filter_map(updated);
    let mut dates = changes.chain(records.iter().filter_map(movement));
    dates.find(|from| since(updated, *from) != since(movement, *from))
}
