//! The selections of a document without fragments, as all of ours are: a tree from which fields can be cut, and to which
//! levels of questions can be added.

use super::document::{Token, Tokens};
use crate::model::Question;

/// A document of one operation.
pub(super) struct Selections<'a> {
    /// The operation with its variables, up to the first bracket.
    head: &'a str,
    pub(super) fields: Vec<Field<'a>>,
}

/// A selected field.
#[derive(Clone)]
pub(super) struct Field<'a> {
    /// Alias, name and arguments, as they are written.
    pub(super) text: &'a str,
    pub(super) name: &'a str,
    /// Where the field starts in the document, in bytes, and where its selections do.
    starts: [Option<usize>; 2],
    pub(super) fields: Vec<Field<'a>>,
}

impl<'a> Selections<'a> {
    /// Reads a document; `None` when it has fragments, directives on fields, or cannot be read.
    pub(super) fn read(document: &'a str) -> Option<Self> {
        let mut tokens = Tokens(document);
        loop {
            match tokens.next()? {
                Token::Sign('{') => break,
                Token::Sign('(') => tokens.skip_to_close()?,
                _ => {}
            }
        }
        let head = document.get(..document.len() - tokens.0.len() - 1)?;
        let fields = fields(document, &mut tokens)?;
        tokens.next().is_none().then_some(Self {
            head: head.trim_end(),
            fields,
        })
    }

    /// The document as a text, on one line when it was read from one.
    pub(super) fn write(&self) -> String {
        let mut text = self.head.to_owned();
        write(&self.fields, &mut text);
        text
    }
}

impl<'a> Field<'a> {
    /// A field with selections of its own.
    pub(super) fn of(text: &'a str, fields: Vec<Self>) -> Self {
        Self {
            text,
            name: text.rsplit(' ').next().unwrap_or(text),
            starts: [None; 2],
            fields,
        }
    }

    pub(super) fn starts_at(&self, offset: usize) -> bool {
        self.starts.contains(&Some(offset))
    }
}

/// The fields up to the closing bracket.
fn fields<'a>(document: &'a str, tokens: &mut Tokens<'a>) -> Option<Vec<Field<'a>>> {
    let at = |tokens: &Tokens<'_>| document.len() - tokens.0.len();
    let mut found = Vec::new();
    loop {
        let first = match tokens.next()? {
            Token::Sign('}') => return Some(found),
            Token::Name(name) => name,
            _ => return None,
        };
        let start = at(tokens) - first.len();
        let name = if tokens.take_sign(':') {
            tokens.take_name()?
        } else {
            first
        };
        if tokens.take_sign('(') {
            tokens.skip_to_close()?;
        }
        let text = document.get(start..at(tokens))?.trim_end();
        let open = tokens.take_sign('{').then(|| at(tokens) - 1);
        let fields = match open {
            Some(_) => fields(document, tokens)?,
            None => Vec::new(),
        };
        found.push(Field {
            text,
            name,
            starts: [Some(start), open],
            fields,
        });
    }
}

fn write(fields: &[Field<'_>], text: &mut String) {
    text.push_str(" {");
    for field in fields {
        text.push(' ');
        text.push_str(field.text);
        if !field.fields.is_empty() {
            write(&field.fields, text);
        } else if field.starts[1].is_some() {
            // A selection must not be empty, and the type is always there.
            text.push_str(" { __typename }");
        }
    }
    text.push_str(" }");
}

/// The member with the questions under a question.
const CHILDREN: &str = "childQuestions";

/// How many levels of questions there are.
pub(crate) fn levels(questions: &[Question]) -> usize {
    let below = questions
        .iter()
        .map(|question| 1 + levels(&question.child_questions));
    below.max().unwrap_or(0)
}

/// How many levels of whole questions a document selects. One more only shows whether it exists.
pub(super) fn selected_levels(document: &str) -> Option<usize> {
    let mut read = Selections::read(document)?;
    Some(depth(find(&mut read.fields)?))
}

/// The document with about as many levels again, when a reply went deeper than it selects.
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
    let at = field.fields.iter().position(|field| field.name == CHILDREN);
    match at {
        // OK because the position was found in these fields.
        #[allow(clippy::indexing_slicing)]
        Some(at) => innermost(&mut field.fields[at]),
        None => field,
    }
}

#[cfg(test)]
mod tests {
    use super::super::catalogue::CATALOGUE;
    use super::super::generated::{consignment, questions};
    use super::*;

    #[test]
    fn every_document_of_ours_is_read_and_written_as_it_is() {
        for known in &CATALOGUE {
            let read = Selections::read(known.document).unwrap();
            assert_eq!(read.write(), known.document);
            let field = &read.fields[0];
            let alias = format!("{}:", known.name);
            assert!(field.name == known.name || field.text.starts_with(&alias));
        }
    }

    #[test]
    fn fields_are_found_where_they_start_and_where_their_selections_do() {
        let document = r#"query Q($a: In = {b: 1}) { x: one(a: {b: "}"}) { two three { four } } }"#;
        let read = Selections::read(document).unwrap();
        assert_eq!(read.write(), document);
        let one = &read.fields[0];
        assert_eq!((one.name, one.text), ("one", r#"x: one(a: {b: "}"})"#));
        assert!(one.starts_at(document.find("x:").unwrap()));
        assert!(one.fields[1].starts_at(document.find("three").unwrap()));
        assert!(one.fields[1].starts_at(document.find("{ four").unwrap()));
        assert!(!one.fields[1].starts_at(document.find("four").unwrap()));
    }

    #[test]
    fn a_selection_that_lost_all_its_fields_asks_for_the_type() {
        let mut read = Selections::read("{ a { b } }").unwrap();
        read.fields[0].fields.clear();
        assert_eq!(read.write(), " { a { __typename } }");
    }

    #[test]
    fn a_document_with_anything_else_is_not_read() {
        for document in [
            "{ ...F } fragment F on T { a }",
            "{ a @skip(if: true) }",
            "{ ... on T { a } }",
            "{ a",
            "query",
            "{ a } { b }",
        ] {
            assert!(Selections::read(document).is_none(), "{document}");
        }
    }

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
            assert_eq!(selected_levels(document), Some(5));
            assert_eq!(deeper(document, 5), None);
            let more = deeper(document, 6).unwrap();
            // Five more with all their fields, and again one that only shows whether there is more.
            assert_eq!((count(&more), texts(&more)), (9, 9));
            assert_eq!(selected_levels(&more), Some(9));
            assert!(more.contains("childQuestions { id }"));
            assert_eq!(deeper(&more, 9), None);
            assert!(deeper(&more, 10).is_some());
        }
    }

    #[test]
    fn a_document_without_questions_is_left_alone() {
        assert_eq!(selected_levels("{ comments { role } }"), None);
        assert_eq!(deeper("{ comments { role } }", 9), None);
    }
}
