//! Hostile schemas and documents that try to inject code, or to produce code that does not compile.

#![expect(clippy::format_push_string, reason = "documents of tests")]

use fastrand::Rng;
use test_support::seeded::seed;

use super::{generate, named, written};

/// An extension of the schema of the SDK; each `%` is replaced by a text.
const TEXTS: &str = r"
directive @mark(reason: String = %) on FIELD_DEFINITION
extend type Query {
  % herd(% id: ID = %, % kind: Kind = A @deprecated(reason: %)): Herd @deprecated(reason: %) @mark(reason: %)
  % being: Being
  % thing: Thing
}
extend type Mutation { % move(% input: MoveInput!): Herd }
% scalar Money @specifiedBy(url: %)
% enum Kind { % A @deprecated(reason: %) % B }
% interface Being { % tag: String }
% type Herd implements Being { % tag: String @deprecated(reason: %) % name: String % price: Money % kind: Kind }
% union Thing = Herd
% input MoveInput { % note: String = % % kind: Kind = A @deprecated(reason: %) % more: [String!] = [%] }
";

const DOCUMENT: &str = r#"
query Herds($id: ID, $kind: Kind, $money: String = %) {
  herd(id: $id, kind: $kind) { ...Row } being { tag } thing { __typename } other: herd(id: %) { tag }
  consignments(envdAccountId: "a", searchText: $money) { edges { node { number } } }
}
fragment Row on Herd { tag name price kind }
mutation Move($input: MoveInput!) { move(input: $input) { name } }
"#;

/// Texts that end a comment or a string in some language, and code that would then run.
const PIECES: [&str; 38] = [
    "\n",
    "\r",
    "\r\n",
    "\u{b}",
    "\u{c}",
    "\u{85}",
    "\u{2028}",
    "\u{2029}",
    "\0",
    "\u{1b}[2J",
    "\u{202e}",
    "\u{2066}",
    "\t",
    " ",
    "     ",
    "*/",
    "/*",
    "//",
    "/",
    "\"",
    "\"#",
    "\\",
    "```",
    "~~~",
    "- ",
    "> ",
    "1. ",
    "`",
    "[x](y)",
    "<b>",
    ". stated (",
    ". public (",
    ". assumed",
    ")",
    "}",
    "{",
    "impl Drop for Herd { fn drop(&mut self) { loop {} } }",
    "#![cfg(x)] pub fn f() {} //",
];

fn text(random: &mut Rng) -> String {
    let pieces = (0..random.usize(0..9)).map(|_| random.choice(PIECES).unwrap());
    pieces.collect()
}

/// A GraphQL string, or a block string if `is_block` and possible.
fn literal(text: &str, is_block: bool) -> String {
    if is_block && !text.contains(['"', '\\']) {
        return format!("\"\"\"{text}\"\"\"");
    }
    let letters = text.chars().map(|letter| match letter {
        '"' | '\\' => format!("\\{letter}"),
        letter if letter.is_control() => format!("\\u{:04x}", u32::from(letter)),
        letter => letter.to_string(),
    });
    format!("\"{}\"", letters.collect::<String>())
}

fn with_texts(template: &str, mut next: impl FnMut() -> String) -> String {
    let mut parts = template.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + &next() + part)
}

/// Generates code from texts. Some texts are refused, such as a raw control character.
fn code(mut texts: impl FnMut() -> String) -> Result<String, String> {
    let schema = with_texts(TEXTS, &mut texts);
    let document = with_texts(DOCUMENT, texts);
    let schema = named("schema.graphql", &schema);
    let generator = crate::Generator::default().scalar("Money", "String");
    let written = generator.generate_from(Some(&schema), &[named("q.graphql", &document)]);
    written.map_err(|error| error.to_string())
}

#[test]
fn no_text_of_a_schema_or_a_document_becomes_code() {
    let plain = code(|| "\"text\"".to_owned()).unwrap();
    let expected = written::without_texts(&plain);
    let endings = ["", "\n)", ". public (`a`\nfn f() {} //)"];
    for (piece, ending) in PIECES.iter().zip(endings.iter().cycle()) {
        let hostile = format!("A herd. stated (x{piece}impl Drop for Herd {{}} //){ending}");
        let code = code(|| literal(&hostile, false)).unwrap();
        assert_eq!(written::without_texts(&code), expected, "{hostile:?}");
    }
    let mut random = Rng::with_seed(seed());
    let mut accepted = 0;
    for _ in 0..24 {
        let mut texts = Vec::new();
        let written = code(|| {
            texts.push(text(&mut random));
            literal(texts.last().unwrap(), random.bool())
        });
        // A raw control character in a text is refused.
        let Ok(written) = written else { continue };
        accepted += 1;
        assert_eq!(written::without_texts(&written), expected, "{texts:?}");
        // Texts also do not become rustdoc tests or sources, and have no characters that hide text from a reader.
        let comments = written.lines().map(str::trim_start);
        for comment in comments.filter(|line| line.starts_with("///")) {
            let is_text = !comment.contains("```") && !comment.contains("  ");
            assert!(
                is_text && !comment.contains(crate::rust::is_control),
                "{comment:?}"
            );
        }
        let sources = |code: &str| code.matches("Source: ").count();
        assert_eq!(sources(&written), sources(&plain), "{texts:?}");
    }
    assert!(accepted > 5, "{accepted}");
}

/// Names that collide unchanged, as Rust names, or with names that the code uses.
const NAMES: [&str; 40] = [
    "heads",
    "Heads",
    "HEADS",
    "Yard",
    "yard",
    "Herd",
    "herd",
    "HerdKind",
    "Kind",
    "kind",
    "Kind_",
    "match",
    "Match",
    "Self",
    "self",
    "Option",
    "option",
    "Vec",
    "String",
    "Box",
    "Std",
    "std",
    "Str",
    "Bool",
    "u64",
    "Ok",
    "Err",
    "ERR",
    "None",
    "Some",
    "Result",
    "Variables",
    "ResponseData",
    "QUERY",
    "Query",
    "_",
    "__",
    "_1",
    "EFormType",
    "QuestionDepth9",
];

/// A schema with such names, and the names of three of its types.
struct Schema {
    text: String,
    herd: &'static str,
    kind: &'static str,
    input: &'static str,
}

fn random_schema(random: &mut Rng) -> Schema {
    let mut names = NAMES.to_vec();
    random.shuffle(&mut names);
    names.retain(|name| !["Query", "String", "__"].contains(name));
    let [herd, kind, input, inner] = [names[0], names[1], names[2], names[3]];
    let values = names[4..12].join(" ");
    let fields = names[12..20].iter().map(|name| format!("{name}: {kind}\n"));
    let fields: String = fields.collect();
    let mut needed = || if random.bool() { "!" } else { "" };
    let text = format!(
        "extend type Query {{ a(k: {kind}, i: {input}): {herd} b: [{herd}] c(f: [[Int]]): [[{kind}]] }}
         extend type Mutation {{ d(i: {input}{}): {herd} }}
         enum {kind} {{ {values} }}
         type {herd} {{ x: {herd} y: [{herd}] z: String {fields} }}
         input {input} {{ z_: String! k_: {kind}{} n_: {inner}{} {fields} }}
         input {inner} {{ k: {kind}{} i: {input} l: [{inner}!]! s: ConsignmentSpecies{} }}",
        needed(),
        needed(),
        needed(),
        needed(),
        needed(),
    );
    Schema {
        text,
        herd,
        kind,
        input,
    }
}

/// A selection with such names, alone or next to the fields of a fragment.
fn random_selection(random: &mut Rng, fragments: &[&str], level: usize) -> String {
    let mut selection = "z ".to_owned();
    for _ in 0..random.usize(0..3) {
        let field = random.choice(["x", "y"]).unwrap();
        let alias = random.choice(NAMES).filter(|name| *name != "__");
        let alias = alias.map_or(String::new(), |alias| format!("{alias}: "));
        let inside = match random.choice(fragments) {
            Some(fragment) if random.bool() => format!("...{fragment}"),
            _ if level < 3 => random_selection(random, fragments, level + 1),
            _ => "z".to_owned(),
        };
        selection += &format!("{alias}{field} {{ {inside} }} ");
    }
    selection
}

/// Operations and fragments with such names.
fn random_document(random: &mut Rng, schema: &Schema) -> String {
    let Schema {
        herd, kind, input, ..
    } = schema;
    let mut document = String::new();
    let mut names = NAMES.to_vec();
    random.shuffle(&mut names);
    // A fragment uses only earlier ones, so none contains itself.
    let fragments = &names[..random.usize(0..3)];
    for (at, name) in fragments.iter().enumerate() {
        let inside = random_selection(random, &fragments[..at], 1);
        document += &format!("fragment {name} on {herd} {{ {inside} }}\n");
    }
    for number in 0..random.usize(1..4) {
        let name = random.choice(NAMES).unwrap();
        let inside = random_selection(random, fragments, 1);
        document += &match number {
            0 => {
                format!(
                    "query {name}($k: {kind}!, $i: {input}) {{ a(k: $k, i: $i) {{ {inside} }} c }}\n"
                )
            }
            1 => format!("query {name} {{ b {{ {inside} }} __schema {{ types {{ kind }} }} }}\n"),
            _ => format!("mutation {name}($i: {input}!) {{ d(i: $i) {{ {inside} }} }}\n"),
        };
    }
    document
}

#[test]
fn every_document_that_is_accepted_has_each_name_once() {
    let mut random = Rng::with_seed(seed());
    let mut accepted = 0;
    let mut refused = String::new();
    for _ in 0..60 {
        let schema = random_schema(&mut random);
        let document = random_document(&mut random, &schema);
        match generate(Some(&schema.text), &document) {
            Ok(code) => {
                accepted += 1;
                written::check(&code);
            }
            Err(errors) => refused += &errors,
        }
    }
    assert!(accepted > 5, "{accepted}");
    for reason in [
        "two items of the code",
        "is a word of Rust",
        "is the name of the module as well",
    ] {
        assert!(refused.contains(reason), "{reason}: {refused}");
    }
}
