//! Reads the operations of a GraphQL document and the variables they declare, as far as that goes without a schema.
//!
//! GraphQL, October 2021, section 2. Selections are skipped, so a document that passes here may still be refused.

use super::OperationKind;

/// An operation of a document.
#[derive(Debug, PartialEq)]
pub(super) struct OperationDefinition<'a> {
    /// `None` is a subscription.
    pub(super) kind: Option<OperationKind>,
    pub(super) name: Option<&'a str>,
    pub(super) variables: Vec<Variable<'a>>,
}

/// A variable that an operation declares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Variable<'a> {
    pub(super) name: &'a str,
    /// Not null, and without a default.
    pub(super) required: bool,
}

/// The operations of a document; `None` when it cannot be read.
pub(super) fn operations(document: &str) -> Option<Vec<OperationDefinition<'_>>> {
    let mut tokens = Tokens(document.trim_start_matches('\u{feff}'));
    let mut operations = Vec::new();
    while let Some(token) = tokens.next() {
        let kind = match token {
            Token::Sign('{') => {
                tokens.skip_to_close()?;
                operations.push(OperationDefinition {
                    kind: Some(OperationKind::Query),
                    name: None,
                    variables: Vec::new(),
                });
                continue;
            }
            Token::Name("fragment") => {
                tokens.skip_definition()?;
                continue;
            }
            Token::Name("query") => Some(OperationKind::Query),
            Token::Name("mutation") => Some(OperationKind::Mutation),
            Token::Name("subscription") => None,
            _ => return None,
        };
        let name = tokens.take_name();
        let variables = if tokens.take_sign('(') {
            tokens.variables()?
        } else {
            Vec::new()
        };
        tokens.skip_definition()?;
        operations.push(OperationDefinition {
            kind,
            name,
            variables,
        });
    }
    Some(operations)
}

#[derive(Clone, Copy, PartialEq)]
enum Token<'a> {
    Name(&'a str),
    Sign(char),
    /// A text or a number.
    Literal,
    /// Something that is no token.
    Wrong,
}

/// The tokens of what is left of a document.
#[derive(Clone)]
struct Tokens<'a>(&'a str);

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        self.skip_ignored();
        let first = self.0.chars().next()?;
        let (length, token) = match first {
            'a'..='z' | 'A'..='Z' | '_' => {
                let length = length_of(self.0, |c| c.is_ascii_alphanumeric() || c == '_');
                (length, Token::Name(self.0.split_at(length).0))
            }
            '0'..='9' | '-' => {
                let number = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
                (length_of(self.0, number), Token::Literal)
            }
            '"' => match text_length(self.0) {
                Some(length) => (length, Token::Literal),
                None => (self.0.len(), Token::Wrong),
            },
            '!' | '$' | '&' | '(' | ')' | '.' | ':' | '=' | '@' | '[' | ']' | '{' | '|' | '}' => {
                (1, Token::Sign(first))
            }
            _ => (self.0.len(), Token::Wrong),
        };
        self.0 = self.0.split_at(length).1;
        Some(token)
    }
}

impl<'a> Tokens<'a> {
    fn skip_ignored(&mut self) {
        loop {
            self.0 = self
                .0
                .trim_start_matches([' ', '\t', '\r', '\n', ',', '\u{feff}']);
            if !self.0.starts_with('#') {
                return;
            }
            let end = self.0.find(['\n', '\r']).unwrap_or(self.0.len());
            self.0 = self.0.split_at(end).1;
        }
    }

    fn take_name(&mut self) -> Option<&'a str> {
        let mut ahead = self.clone();
        let Some(Token::Name(name)) = ahead.next() else {
            return None;
        };
        *self = ahead;
        Some(name)
    }

    fn take_sign(&mut self, sign: char) -> bool {
        let mut ahead = self.clone();
        let found = ahead.next() == Some(Token::Sign(sign));
        if found {
            *self = ahead;
        }
        found
    }

    /// To the end of the selection that follows, past conditions and directives.
    fn skip_definition(&mut self) -> Option<()> {
        loop {
            match self.next()? {
                Token::Sign('{') => return self.skip_to_close(),
                Token::Sign('(') => self.skip_to_close()?,
                Token::Wrong | Token::Sign(')' | ']' | '}') => return None,
                _ => {}
            }
        }
    }

    /// Past the bracket that closes the one just read.
    fn skip_to_close(&mut self) -> Option<()> {
        let mut depth = 1_usize;
        while depth > 0 {
            match self.next()? {
                Token::Sign('(' | '[' | '{') => depth += 1,
                Token::Sign(')' | ']' | '}') => depth -= 1,
                Token::Wrong => return None,
                _ => {}
            }
        }
        Some(())
    }

    /// The variables after the opening bracket, to the closing one.
    fn variables(&mut self) -> Option<Vec<Variable<'a>>> {
        let mut variables: Vec<Variable<'a>> = Vec::new();
        // Whether the next `!` would be of the type.
        let mut in_type = false;
        loop {
            match self.next()? {
                Token::Sign(')') => return Some(variables),
                Token::Sign('$') => {
                    let name = self.take_name()?;
                    self.take_sign(':').then_some(())?;
                    let required = false;
                    variables.push(Variable { name, required });
                    in_type = true;
                }
                Token::Sign('!') if in_type => variables.last_mut()?.required = true,
                Token::Sign('=') => {
                    variables.last_mut()?.required = false;
                    in_type = false;
                }
                Token::Sign('@') => in_type = false,
                Token::Sign('(' | '[' | '{') => self.skip_to_close()?,
                Token::Wrong | Token::Sign(']' | '}') => return None,
                _ => {}
            }
        }
    }
}

fn length_of(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

/// The length of a text in quotes, or in three of them, at the start.
fn text_length(text: &str) -> Option<usize> {
    if let Some(inside) = text.strip_prefix("\"\"\"") {
        let (at, _) = inside
            .match_indices("\"\"\"")
            .find(|(at, _)| !inside.split_at(*at).0.ends_with('\\'))?;
        return Some(at + 6);
    }
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' | '\r' => return None,
            '"' if !escaped => return Some(at + 1),
            _ => escaped = c == '\\' && !escaped,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_and_their_variables_are_read() {
        let document = r#"
            # mutation InAComment { a }
            fragment F on T @d(a: {b: "}"}) { a }
            query Read($a: [Int!]! = [1], $b: ID! @x(y: "!"), $c: [T!], $d: In! ) @live { a(x: """ } \""" { """) { ...F } }
            mutation { save }
            { short }"#;
        let found = operations(document).unwrap();
        let names: Vec<_> = found.iter().map(|found| (found.kind, found.name)).collect();
        assert_eq!(
            names,
            [
                (Some(OperationKind::Query), Some("Read")),
                (Some(OperationKind::Mutation), None),
                (Some(OperationKind::Query), None),
            ]
        );
        let variables: Vec<_> = found[0]
            .variables
            .iter()
            .map(|variable| (variable.name, variable.required))
            .collect();
        assert_eq!(
            variables,
            [("a", false), ("b", true), ("c", false), ("d", true)]
        );
    }

    #[test]
    fn what_is_no_document_is_not_read() {
        for bad in [
            "query",
            "query Q",
            "query Q {",
            "nonsense {a}",
            "query Q($a) { a }",
            "query Q($a: Int { a }",
            "{ a(x: \"open) }",
            "{ a } }",
            "query Q(] { a }",
            "\"d\" query Q { a }",
            "{ a ? }",
            "{ a(x: \"\"\"open) }",
        ] {
            assert_eq!(operations(bad), None, "{bad}");
        }
        assert_eq!(operations("").unwrap(), []);
    }
}
