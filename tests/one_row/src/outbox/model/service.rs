//! What the outbox sees of the plain service.

use equipment::plain_service::Service;
use serde_json::json;

use super::people::shown_fields;
use crate::outbox::compare::ServiceRecord;

/// What a reply shows of a record: its id and its status.
pub(super) fn reply(mut record: ServiceRecord) -> ServiceRecord {
    record.fields = json!({"status": record.fields["status"]});
    record.created_by = None;
    record
}

/// All that is listed now.
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
