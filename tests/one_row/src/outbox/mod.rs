//! The pure half of the outbox, from the files of `envd-sync`: it compiles without a store, a clock or a request.

#[path = "../../../../crates/envd-sync/src/outbox/apply.rs"]
mod apply;
#[path = "../../../../crates/envd-sync/src/outbox/compare.rs"]
mod compare;
#[path = "../../../../crates/envd-sync/src/outbox/decide.rs"]
mod decide;
#[path = "../../../../crates/envd-sync/src/outbox/decision.rs"]
mod decision;
#[cfg(test)]
mod explorer;
#[cfg(test)]
mod model;
#[cfg(test)]
mod planted;
#[path = "../../../../crates/envd-sync/src/outbox/row.rs"]
mod row;
#[cfg(test)]
#[path = "."]
mod tests {
    #[path = "../../../../crates/envd-sync/src/outbox/tests/cases.rs"]
    pub(super) mod cases;
}
