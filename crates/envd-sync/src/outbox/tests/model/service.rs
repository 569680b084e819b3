//! The records of the plain service, as the programs see them.

use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};
use test_support::plain_service::Service;

use super::people::shown_fields;
use crate::outbox::compare::ServiceRecord;
use crate::outbox::reading::updated_key;
use envd_sdk::model::Timestamp;

fn instant(at: u64) -> Timestamp {
    Timestamp::from(UNIX_EPOCH + Duration::from_secs(at))
}

/// A time in the form that the outbox stores.
pub(super) fn date(at: u64) -> String {
    updated_key(&instant(at))
}

/// A record as the user sees it.
pub(super) fn seen(service: &Service, id: &str) -> ServiceRecord {
    let record = &service.records[id];
    ServiceRecord {
        id: id.to_owned(),
        updated_at: date(record.last().at),
        created_by: Some(record.created_by.to_owned()),
        fields: shown_fields(service, id),
    }
}

/// A record as reads and replies show it.
pub(super) fn shown(service: &Service, id: &str) -> Value {
    let record = &service.records[id];
    let mut value = shown_fields(service, id);
    // A record has its forms as objects.
    if let Some(forms) = value["forms"].as_array() {
        value["forms"] = forms.iter().map(|form| json!({"type": form})).collect();
    }
    value["id"] = json!(id);
    value["number"] = json!(id.to_uppercase().replace('C', "C-"));
    if !service.habits.hides_author {
        value["createdBy"] = json!(record.created_by);
    }
    value["updatedAt"] = json!(instant(record.last().at));
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
    let mut listed: Vec<String> = listed.map(|(id, _)| id.clone()).collect();
    if newest_first {
        listed.reverse();
    }
    let start: usize = variables["after"]
        .as_str()
        .map_or(0, |after| after.parse().unwrap());
    let size = usize::try_from(variables["first"].as_u64().unwrap()).unwrap();
    let end = (start + size).min(listed.len());
    let page = listed.get(start..end).unwrap_or_default();
    let edges = page.iter().map(|id| {
        // Lists show neither answers nor declaration.
        let mut summary = shown(service, id);
        let fields = summary.as_object_mut().unwrap();
        fields.remove("answers");
        fields.remove("declaration");
        json!({"node": summary})
    });
    let info = json!({"hasNextPage": end < listed.len(), "endCursor": end.to_string()});
    let edges: Value = edges.collect();
    json!({"consignments": {"totalCount": listed.len(), "pageInfo": info, "edges": edges}})
}
