//! The selections of a document without fragments, as all of ours are: a tree from which fields can be cut.

use super::document::{Token, Tokens};

/// A document of one operation.
pub(super) struct Selections<'a> {
    /// The operation with its variables, up to the first bracket.
    pub(super) head: &'a str,
    pub(super) fields: Vec<Field<'a>>,
}

/// A selected field.
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
    /// A field with selections of its own, which stand at no place of a document.
    pub(super) fn of(text: &'a str, fields: Vec<Self>) -> Self {
        Self {
            text,
            name: text.rsplit(' ').next().unwrap_or(text),
            starts: [None, Some(usize::MAX)],
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

#[cfg(test)]
mod tests {
    use super::super::catalogue::CATALOGUE;
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
}
