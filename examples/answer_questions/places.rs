//! The items of a form as a list, in display order.

use envd_sdk::validate::{Item, ItemKind, QuestionRef};

/// An item and the section whose row contains it.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) item: &'a Item,
    /// The section that has the row.
    pub(crate) section: Option<&'a Item>,
}

/// All sections and all items that the user can answer.
pub(crate) fn places(items: &[Item]) -> Vec<Place<'_>> {
    let mut open: Vec<Place> = below(items, None).collect();
    open.reverse();
    let mut places = Vec::new();
    while let Some(place) = open.pop() {
        let item = place.item;
        if item.kind != ItemKind::Display && !item.read_only {
            places.push(place);
        }
        // A section inside a row has no rows, so its items belong to the outer section.
        let section = place.section.or(Some(item));
        let rows = item.rows.iter().flat_map(|row| below(&row.items, section));
        let mut all: Vec<Place> = rows.chain(below(&item.children, place.section)).collect();
        all.reverse();
        open.append(&mut all);
    }
    places
}

fn below<'a>(items: &'a [Item], section: Option<&'a Item>) -> impl Iterator<Item = Place<'a>> {
    items.iter().map(move |item| Place { item, section })
}

pub(crate) fn find<'a>(places: &[Place<'a>], question: &QuestionRef) -> Option<Place<'a>> {
    places
        .iter()
        .find(|place| place.item.question == *question)
        .copied()
}

/// The place before a question; the last place if there is no question.
pub(crate) fn before(items: &[Item], question: Option<&QuestionRef>) -> Option<QuestionRef> {
    let places = places(items);
    let is_here = |place: &Place| Some(&place.item.question) == question;
    let at = places.iter().position(is_here).unwrap_or(places.len());
    places[..at].last().map(|place| place.item.question.clone())
}

/// The last place in the rows of a section.
pub(crate) fn last_in(items: &[Item], section: &QuestionRef) -> Option<QuestionRef> {
    let places = places(items);
    let mut inside = places.iter().filter(|place| {
        place
            .section
            .is_some_and(|above| above.question == *section)
    });
    inside.next_back().map(|place| place.item.question.clone())
}
