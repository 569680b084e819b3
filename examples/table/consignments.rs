//! Consignments as rows of a table.

use std::fmt::Display;

use console::Term;
use envd_sdk::model::{ConsignmentSummary, Day, Party, Species};

use super::super::cli;
use super::Columns;

/// The columns: number, status, species, head, from, to and day.
pub(crate) struct Consignments {
    columns: Columns<6>,
    /// The width of a party.
    width: usize,
}

impl Consignments {
    /// The columns of the parties get the remaining width of the terminal.
    pub(crate) fn new() -> Self {
        let terminal = Term::stdout()
            .size_checked()
            .map_or(120, |(_, width)| width.into());
        let others = 11 + 9 + 7 + 4 + 11 + 2 * 6;
        let width = usize::saturating_sub(terminal, others) / 2;
        let width = width.clamp(12, 30);
        let columns = Columns::new([11, 9, 7, 4, width, width]);
        Self { columns, width }
    }

    pub(crate) fn headings(&self) -> String {
        self.columns
            .headings(["NUMBER", "STATUS", "SPECIES", "HEAD", "FROM", "TO"], "DAY")
    }

    pub(crate) fn row(&self, consignment: &ConsignmentSummary) -> String {
        let head = consignment
            .heads
            .map_or(String::new(), |heads| format!("{heads:>4}"));
        let species = consignment.species.as_ref().map(species);
        let day = text(consignment.movement_date.as_ref());
        // Records seen in public material have a time after the day.
        let day = day.split('T').next().unwrap_or_default();
        let day = Day::parse(day).map_or_else(|_| day.to_owned(), cli::day);
        self.columns.line(
            [
                &text(consignment.number.as_ref()),
                &text(consignment.status.as_ref()),
                &text(species),
                &head,
                &self.party(consignment.origin.as_ref()),
                &self.party(consignment.destination.as_ref()),
            ],
            super::or_dash(&day),
        )
    }

    /// PIC and name if they fit, otherwise only the name.
    fn party(&self, party: Option<&Party>) -> String {
        let Some(party) = party else {
            return String::new();
        };
        match (&party.pic, &party.name) {
            (Some(pic), Some(name)) if self.width >= 24 => format!("{pic} {name}"),
            (Some(text), None) | (_, Some(text)) => text.clone(),
            (None, None) => String::new(),
        }
    }
}

/// The species in a word; an unknown species is shown by the service's code.
fn species(species: &Species) -> &str {
    match species {
        Species::Cattle => "cattle",
        Species::BobbyCalves => "calves",
        Species::SheepLamb => "sheep",
        Species::Goat => "goats",
        other => other.as_str(),
    }
}

fn text(field: Option<impl Display>) -> String {
    field.map_or(String::new(), |field| field.to_string())
}
