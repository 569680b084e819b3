//! Finds the operations in a caller's GraphQL document and the variables they declare, as far as possible without a schema.
//!
//! Based on GraphQL, October 2021, section 2. Selections are skipped, so a server may still refuse a document accepted here.

use crate::graphql::OperationKind;

/// An operation in a document.
#[derive(Debug, PartialEq)]
pub(in crate::graphql) struct OperationDefinition<'a> {
    /// `None` for a subscription.
    pub(in crate::graphql) kind: Option<OperationKind>,
    pub(in crate::graphql) name: Option<&'a str>,
    pub(in crate::graphql) variables: Vec<DeclaredVariable>,
}

/// A variable declared by an operation.
// profile: operations.document
#[derive(Clone, Debug, PartialEq)]
pub(in crate::graphql) struct DeclaredVariable {
    pub(in crate::graphql) name: String,
    /// Non-null and without a default.
    pub(in crate::graphql) required: bool,
}

/// The operations in a document; `None` if it cannot be parsed.
pub(in crate::graphql) fn operations(document: &str) -> Option<Vec<OperationDefinition<'_>>> {
    let tokens = tokens(document)?;
    let mut rest = tokens.as_slice();
    let mut operations = Vec::new();
    while let [first, after @ ..] = rest {
        let kind = match *first {
            "{" | "query" => Some(OperationKind::Query),
            "mutation" => Some(OperationKind::Mutation),
            "subscription" | "fragment" => None,
            _ => return None,
        };
        let name = after.first().filter(|name| *first != "{" && is_name(name));
        let declared = after.get(usize::from(name.is_some())..)?;
        let (head, selections) = match *first {
            "{" => (&[][..], rest),
            // A condition or a directive may have arguments with objects.
            _ => split_at_selections(declared)?,
        };
        rest = behind_bracket(selections)?;
        if *first != "fragment" {
            operations.push(OperationDefinition {
                kind,
                name: name.copied(),
                variables: variables(head)?,
            });
        }
    }
    Some(operations)
}

/// Splits a definition into the tokens before its selections, and those starting with them.
fn split_at_selections<'t, 'a>(tokens: &'t [&'a str]) -> Option<(&'t [&'a str], &'t [&'a str])> {
    let mut rest = tokens;
    while *rest.first()? != "{" {
        rest = behind_bracket(rest)?;
    }
    tokens.split_at_checked(tokens.len() - rest.len())
}

/// The tokens after the first one, or after the bracket that it opens.
fn behind_bracket<'t, 'a>(tokens: &'t [&'a str]) -> Option<&'t [&'a str]> {
    let mut open = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match *token {
            "(" => open.push(")"),
            "[" => open.push("]"),
            "{" => open.push("}"),
            ")" | "]" | "}" if open.pop() != Some(*token) => return None,
            _ => {}
        }
        if open.is_empty() {
            return tokens.get(at + 1..);
        }
    }
    None
}

/// The variables that an operation declares before its selections.
fn variables(head: &[&str]) -> Option<Vec<DeclaredVariable>> {
    if head.first() != Some(&"(") {
        return Some(Vec::new());
    }
    let inside = head.get(..head.len() - behind_bracket(head)?.len() - 1)?;
    // Defaults and directives in a declaration contain no variables.
    let declared = inside.split(|token| *token == "$").skip(1);
    declared
        .map(|tokens| {
            let [name, ":", rest @ ..] = tokens else {
                return None;
            };
            let end = rest.iter().position(|token| ["=", "@"].contains(token));
            let (ty, rest) = rest.split_at_checked(end.unwrap_or(rest.len()))?;
            is_name(name).then(|| DeclaredVariable {
                name: (*name).to_owned(),
                required: ty.last() == Some(&"!") && rest.first() != Some(&"="),
            })
        })
        .collect()
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// Splits a text into names, numbers, strings and punctuators, without insignificant tokens; `None` if it is not a document.
fn tokens(document: &str) -> Option<Vec<&str>> {
    let mut rest = document;
    let mut tokens = Vec::new();
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n', ',', '\u{feff}']);
        let Some(first) = rest.chars().next() else {
            return Some(tokens);
        };
        let length = match first {
            '#' => rest.find(['\n', '\r']).unwrap_or(rest.len()),
            'a'..='z' | 'A'..='Z' | '_' => length_of(rest, "_"),
            '0'..='9' | '-' => length_of(rest, "+-."),
            '"' => text_length(rest)?,
            '!' | '$' | '&' | '(' | ')' | '.' | ':' | '=' | '@' | '[' | ']' | '{' | '|' | '}' => 1,
            _ => return None,
        };
        let (token, after) = rest.split_at(length);
        if first != '#' {
            tokens.push(token);
        }
        rest = after;
    }
}

/// The length of the prefix that consists of letters, digits and these signs.
fn length_of(text: &str, signs: &str) -> usize {
    let ends = |c: char| !c.is_ascii_alphanumeric() && !signs.contains(c);
    text.find(ends).unwrap_or(text.len())
}

/// The length of a quoted or triple-quoted string at the start.
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
        let query = Some(OperationKind::Query);
        let mutation = Some(OperationKind::Mutation);
        assert_eq!(
            names,
            [(query, Some("Read")), (mutation, None), (query, None)]
        );
        let variables = found[0].variables.iter();
        let variables: Vec<_> = variables.map(|it| (&*it.name, it.required)).collect();
        let expected = [("a", false), ("b", true), ("c", false), ("d", true)];
        assert_eq!(variables, expected);
    }

    #[test]
    fn what_is_no_document_is_not_read() {
        let bad = r#"query|query Q|query Q {|nonsense {a}|query Q($a) { a }|query Q($a: Int { a }|{ a } }
            |query Q(] { a }|"d" query Q { a }|{ a ? }|{ a(x: "open) }|{ a(x: """open) }"#;
        for bad in bad.split('|') {
            assert_eq!(operations(bad), None, "{bad}");
        }
        assert_eq!(operations("").unwrap(), []);
    }
}
