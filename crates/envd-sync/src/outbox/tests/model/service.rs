//! What the programs see of the plain service, and what a user knows of a record.

use std::time::{Duration, UNIX_EPOCH};

use equipment::plain_service::{Author, Record, Service};
use serde_json::{Value, json};

use envd_sdk::model::Timestamp;

/// The record as reads and replies show it.
pub(super) fn shown(id: &str, record: &Record) -> Value {
    let last = record.last();
    let mut value = last.value.clone();
    value["id"] = json!(id);
    value["number"] = json!(id.to_uppercase().replace('C', "C-"));
    value["createdBy"] = json!(record.created_by);
    value["updatedAt"] = json!(Timestamp::from(UNIX_EPOCH + Duration::from_secs(last.at)));
    value
}

pub(super) fn page(service: &mut Service, variables: &Value) -> Value {
    let from = variables["fromDate"].as_str().map(|from| {
        let from = Timestamp::from(from).to_time().unwrap();
        from.duration_since(UNIX_EPOCH).unwrap().as_secs()
    });
    let newest_first = service.habits.lists_newest_first;
    let listed = service.list();
    let listed = listed.filter(|(_, record)| from.is_none_or(|from| record.last().at >= from));
    let mut listed: Vec<(&String, &Record)> = listed.collect();
    if newest_first {
        listed.reverse();
    }
    let start: usize = variables["after"]
        .as_str()
        .map_or(0, |after| after.parse().unwrap());
    let size = usize::try_from(variables["first"].as_u64().unwrap()).unwrap();
    let end = (start + size).min(listed.len());
    let page = listed.get(start..end).unwrap_or_default();
    let edges = page.iter().map(|(id, record)| {
        // Lists show neither answers nor declaration.
        let mut summary = shown(id, record);
        let fields = summary.as_object_mut().unwrap();
        fields.remove("answers");
        fields.remove("declaration");
        json!({"node": summary})
    });
    let info = json!({"hasNextPage": end < listed.len(), "endCursor": end.to_string()});
    let edges: Value = edges.collect();
    json!({"consignments": {"totalCount": listed.len(), "pageInfo": info, "edges": edges}})
}

/// Whether the website has changed nothing up to the second version that somebody who has seen the first one and what
/// the outbox has made of it does not know, nor wants just so. Versions count from 1.
pub(super) fn shows_nothing_new(
    record: &Record,
    seen: usize,
    up_to: usize,
    wanted: &Value,
) -> bool {
    let versions = &record.versions[..up_to];
    let Some(theirs) = up_to.checked_sub(1).filter(|at| *at >= seen) else {
        return true;
    };
    // What the outbox has saved over it was checked then.
    if versions[theirs].author != Author::Website {
        return true;
    }
    let ours = versions[..theirs]
        .iter()
        .rposition(|one| one.author != Author::Website);
    let known = ours.map_or(0, |at| at + 1).max(seen);
    let Some(known) = known.checked_sub(1) else {
        return false;
    };
    // A service that merges objects would have kept what the user saw in the version that our save has replaced.
    let [known, theirs] = [&versions[known].value, &versions[theirs].value];
    let saw = seen.checked_sub(1).map(|at| &versions[at].value);
    let mut fields = theirs.as_object().unwrap().iter();
    fields.all(|(name, value)| {
        let was_seen = saw.is_some_and(|saw| saw[name] == *value);
        let is_known = known[name] == *value || wanted[name] == *value;
        is_known || was_seen && name == "destination"
    })
}
