//! The plain service as the outbox sees it.

use serde_json::json;
use test_support::plain_service::Service;

use super::people::shown_fields;
use crate::outbox::compare::ServiceRecord;

/// Reduces a record to the content of a reply: its id and status.
pub(super) fn reply(mut record: ServiceRecord) -> ServiceRecord {
    record.fields = json!({"status": record.fields["status"]});
    record.created_by = None;
    record
}

/// Requests a list.
pub(super) fn list(service: &mut Service) -> Vec<ServiceRecord> {
    let ids: Vec<String> = service.list().map(|(id, _)| id.clone()).collect();
    ids.iter().map(|id| shown(service, id)).collect()
}

pub(super) fn date(at: u64) -> String {
    format!("{at:012}")
}

pub(super) fn shown(service: &Service, id: &str) -> ServiceRecord {
    let record = &service.records[id];
    ServiceRecord {
        id: id.to_owned(),
        updated_at: date(record.last().at),
        created_by: (!service.habits.hides_author).then(|| record.created_by.to_owned()),
        fields: shown_fields(service, id),
    }
}
