//! The pure files of the outbox, included from `envd-sync`. Two models check them: `explorer` tries every interleaving of a small
//! world, `model` runs random schedules.

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
