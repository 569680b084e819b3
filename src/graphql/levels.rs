//! How deep questions stand under questions, and documents that ask for more levels of them.

use super::selections::{Field, Selections};
use crate::model::Question;

const CHILDREN: &str = "childQuestions";

/// How many levels of questions there are.
pub(crate) fn levels(questions: &[Question]) -> usize {
    let below = questions
        .iter()
        .map(|question| 1 + levels(&question.child_questions));
    below.max().unwrap_or(0)
}

/// How many levels of whole questions a document asks for. One more only shows whether it exists.
pub(super) fn asked_levels(document: &str) -> Option<usize> {
    let mut read = Selections::read(document)?;
    Some(depth(find(&mut read.fields)?))
}

/// The document with about as many levels again, when a reply went deeper than it asks for.
pub(super) fn deeper(document: &str, reached: usize) -> Option<String> {
    let mut read = Selections::read(document)?;
    let first = find(&mut read.fields)?;
    if reached <= depth(first) {
        return None;
    }
    let whole = first.clone();
    *innermost(first) = whole;
    Some(read.write())
}

/// The first level is not under `childQuestions`, and the last one is not whole.
fn depth(first: &Field<'_>) -> usize {
    let mut levels = first.fields.iter().filter(|field| field.name == CHILDREN);
    1 + levels.next().map_or(0, depth)
}

/// The first selection of children.
fn find<'f, 'a>(fields: &'f mut [Field<'a>]) -> Option<&'f mut Field<'a>> {
    fields.iter_mut().find_map(|field| {
        if field.name == CHILDREN {
            Some(field)
        } else {
            find(&mut field.fields)
        }
    })
}

fn innermost<'f, 'a>(field: &'f mut Field<'a>) -> &'f mut Field<'a> {
    match field.fields.iter().position(|field| field.name == CHILDREN) {
        Some(at) => innermost(&mut field.fields[at]),
        None => field,
    }
}

#[cfg(test)]
mod tests {
    use super::super::generated::{consignment, questions};
    use super::*;

    fn nested(levels: usize) -> Vec<Question> {
        (0..levels).fold(Vec::new(), |below, _| {
            vec![Question {
                child_questions: below.into(),
                ..Question::default()
            }]
        })
    }

    #[test]
    fn levels_are_counted_down_the_deepest_branch() {
        assert_eq!(levels(&[]), 0);
        let mut questions = nested(2);
        questions.extend(nested(7));
        questions.extend(nested(1));
        assert_eq!(levels(&questions), 7);
    }

    #[test]
    fn a_document_is_deepened_when_its_last_level_was_reached() {
        for document in [questions::QUERY, consignment::QUERY] {
            let count = |text: &str| text.matches("childQuestions {").count();
            let texts = |text: &str| text.matches(" text ").count();
            assert_eq!((count(document), texts(document)), (5, 5));
            assert_eq!(asked_levels(document), Some(5));
            assert_eq!(deeper(document, 5), None);
            let more = deeper(document, 6).unwrap();
            // Five more with all their fields, and again one that only shows whether there is more.
            assert_eq!((count(&more), texts(&more)), (9, 9));
            assert_eq!(asked_levels(&more), Some(9));
            assert!(more.contains("childQuestions { id }"));
            assert_eq!(deeper(&more, 9), None);
            assert!(deeper(&more, 10).is_some());
        }
    }

    #[test]
    fn a_document_without_questions_is_left_alone() {
        assert_eq!(asked_levels("{ comments { role } }"), None);
        assert_eq!(deeper("{ comments { role } }", 9), None);
    }
}
