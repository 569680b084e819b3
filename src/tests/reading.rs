//! Cases that both implementations of the specification must handle, the validator and the fake, in a short notation.
//!
//! Questions: `1 REPEATABLE ?2=Yes { 3; 4 }` is question 1 above the questions 3 and 4. Its id is followed, in any order, by
//! its type (default `STRING`), triggers (`?id=value`; an underscore is a space), forms (`@LPAC1,EUC1`; `@` for an empty list,
//! LPAC1 by default), year bounds (`>=2000`, `<=2040`, `<=now`), `optional` (questions are required by default) and `readonly`,
//! and finally its acceptable answers (`[A|B]`). The question `-` has no id.
//!
//! Answers: `1=Yes; 2.0=x` answers question 1, and question 2 in row 0. `@LPAG3` sets the forms, which are LPAC1 by default.

use serde_json::{Value, json};

/// For lists of questions, each with some consignments: the applicable questions, with their rows (spec 2.6).
pub(crate) const APPLICABLE: &str = "
// Questions below a hidden one, or triggered by it, are hidden, and stale answers are ignored.
1 { 2 ?1=Yes { 3 ?2=Yes } }; 4 ?2=Yes
    -> 1 / 1=No; 2=Yes -> 1 / 1=Yes -> 1 2 / 1=Yes; 2=Yes -> 1 2 3 4
// Several values of one question are alternatives; several questions must all match.
1; 2; 3 ?1=A ?2=A ?1=B
    1=A; 2=A -> 1 2 3 / 1=B; 2=A -> 1 2 3 / 1=C; 2=A -> 1 2 / 1=A; 2=B -> 1 2 / 1=a; 2=A -> 1 2
// Children without triggers apply below a parent that is answered or cannot be.
1 { 2 }
    -> 1 / 1= -> 1 / 1=x -> 1 2
1 DISPLAY { 2 }
    -> 1 2
// Seen answered with an empty string (public).
1 MULTIPLE_CHOICE { 2 }
    -> 1 / 1= -> 1 2
// A child without forms has those of its parent; a root question without forms has none.
1 DISPLAY { 2 @ { 3 @ }; 4 @EUC1 }; 5 @
    2=x -> 1 2 3
1 DISPLAY @EUC1 { 2 @; 3 }
    -> / @EUC1 -> 1 2
// Three questions do not belong to LPAG3, whatever the list says.
23 @LPAG2,LPAG3,HSG0 { 24 @LPAG2,LPAG3,HSG0 }; 87 @LPAG2,LPAG3,HSG0; 88 @LPAG2,LPAG3,HSG0 { 24 @ }
    @LPAG3; 23=x; 87=x; 88=x -> 88 / @LPAG2; 23=x; 87=x; 88=x -> 23 24 87 88 24 / @LPAG3,HSG0; 23=x; 88=x -> 23 24 87 88 24
// No question of a cycle applies, nor any question that depends on it.
1 ?2=A; 2 ?1=A; 3 ?3=A; 4 ?1=A; 5 ?nobody=A
    1=A; 2=A; 3=A; 4= ->
1; 3 ?4=x ?1=Yes; 4 ?3=x
    1=Yes; 3=x; 4=x -> 1
// A cycle through a question of other forms is ignored.
5; 6 ?5=Yes { 7 }; 5 @EUC1 ?6=No
    5=Yes; 6=x -> 5 6 7
// Only answers to multiple choice are lists.
1 SINGLE_CHOICE; 2 ?1=B
    1=A, B -> 1
1 MULTIPLE_CHOICE; 2 ?1=B
    1=A, B -> 1 2 / 1=A; 1=B -> 1 2 / 1=A -> 1
// An empty string triggers nothing.
1; 2 ?1=
    1= -> 1 / 1=A,,B -> 1
1 MULTIPLE_CHOICE; 2 ?1=
    1= -> 1 / 1=A,,B -> 1
// Rows are the indexes of the answers; answers without an index form a row too (spec 2.4). Elsewhere the index is ignored.
1 REPEATABLE { 2; 3 }
    -> 1 / 2.0=x; 3.4=x -> 1 2.0 3.0 2.4 3.4 / 2.0= -> 1 2.0 3.0 / 2=x -> 1 2 3
1; 2 ?1=Yes
    1.7=Yes -> 1 2
// A trigger searches its own row first, then outside.
1 REPEATABLE { 2 { 3 ?2=Yes }; 4 ?9=Yes }; 9
    2.0=Yes; 2.2=No; 9=Yes -> 1 2.0 3.0 4.0 2.2 4.2 9 / 2.0=Yes; 2.2=No -> 1 2.0 3.0 2.2 9 / -> 1 9
// An answer outside does not count if the row has one, even if the list has the question twice.
1 REPEATABLE { 2; 3 ?2=Yes }; 2
    2.0=No; 2=Yes -> 1 2.0 2 3 2
// A stale answer in the row is ignored there too.
1 REPEATABLE { 4; 2 ?4=Yes; 3 ?2=Yes }; 2
    4.0=Yes; 2.0=No; 2=Yes -> 1 4 3 4.0 2.0 2 / 4.0=No; 2.0=No; 2=Yes -> 1 4 3 4.0 3.0 2
// A row without its own answer does not use that of another row, but any row of another question may trigger.
1 REPEATABLE { 2; 3 ?2=Yes; 4 }
    2.0=Yes; 4.0=x; 4.1=x -> 1 2.0 3.0 4.0 2.1 4.1
1 REPEATABLE { 2 }; 5 REPEATABLE { 6; 7 ?2=Yes }
    2.0=Yes; 6.3=x -> 1 2.0 5 6.3 7.3 / 2.0=No; 6.3=x -> 1 2.0 5 6.3
1 REPEATABLE { 2 }; 5 ?2=any
    2=any -> 1 2 5
// Rows of a hidden question do not count.
1; 2 REPEATABLE ?1=Yes { 3; 4 }
    1=No; 3.0=x -> 1 / 1=Yes; 3.0=x -> 1 2 3.0 4.0
// Nested rows exist once a question in them is answered, if it belongs to the forms.
3 REPEATABLE { 4; 6 REPEATABLE { 7; 8 } }
    4.0=x -> 3 4.0 6.0 / 4.0=x; 7.0=x -> 3 4.0 6.0 7.0 8.0 / 4.0=x; 7.1=x -> 3 4.0 6.0 4.1 6.1 7.1 8.1
1 REPEATABLE { 2 REPEATABLE { 3; 4 @MSAC1 }; 5 }
    5.0=x; 4.0=x -> 1 2.0 5.0 / 5.0=x; 3.0= -> 1 2.0 3.0 5.0
";

/// The same for findings about answers (spec 2.4, 2.6, 7.2): question and row, with an exclamation mark for errors.
pub(crate) const JUDGED: &str = "
1; 2
    -> 1 2 / 1= -> 1 2 / 1=x -> 2 / 2.5=x -> 1
1 REPEATABLE { 2; 3 }
    2.0=x; 3.4=x -> 2.4 3.0 / 2=x -> 3 / ->
1 DISPLAY; 2 readonly; 3 REPEATABLE; 4 optional; -
    ->
1 SINGLE_CHOICE [A|B|A, c]
    1=A, c -> / 1=A, B -> 1! / 1=a -> 1! / 1=B; 1=x; 1=y -> 1! 1!
1 MULTIPLE_CHOICE [A|B|A, c]
    1=A, B -> / 1=B; 1=A -> / 1=A, c -> / 1=A, d -> 1! / 1=A,,B -> 1!
// If choices contain commas, the longest match in the list counts.
1 MULTIPLE_CHOICE [A, b|A|C|D]; 2 ?1=A,_b; 3 ?1=A; 4 ?1=C; 5 ?1=D
    1=A, b -> 2 / 1=A -> 3 / 1=A, b,C -> 2 4 / 1=C,A, b -> 2 4 / 1=C, A, b , D -> 2 4 5 / 1=A,A, b -> 2 3 / 1=A,C -> 3 4 / 1=A,b -> 1! 3 / 1=A, bc -> 1! 3 / 1=A, b, -> 1! 2
1 STRING [A|B]
    1=anything ->
// Validators apply whatever the type of the question, and an unknown type may be a multiple choice.
1 COLOUR >=2000 <=2040 [2001|2002]
    -> 1 / 1=2001 -> / 1=1999 -> 1 1! / 1=2041 -> 1 1! / 1=2003 -> 1! / 1=2001, 2002 -> 1
// Headings are not answered.
1 DISPLAY >=2000 [Yes]; 2 REPEATABLE >=2000 [Yes]
    1=1999; 2=1999 ->
1 DATE optional >=2000 <=now
    1= -> / 1=2000-01-01 -> / 1=1999-12-31 -> 1 / 1=2026-11-20 -> / 1=2026-11-21 -> 1 / 1=soon -> 1
1 NUMBER >=_2000_ <=Now
    1=2000 -> / 1=1999 -> 1 / 1=2027 -> 1
// The strictest of several bounds applies, and an unreadable one is ignored.
1 DATE >=2000 >=1990 <=2040 <=2050 <=soon
    1=1999 -> 1 / 1=2041 -> 1 / 1=2040 ->
// Question 185 of rangeland goats is reported once, whether or not the list has it.
1 REPEATABLE @LPAHRG0 { 185 @LPAHRG0; 2 @LPAHRG0 }; 3 @LPAHRG0
    @LPAHRG0; 2=x -> 185 3 / @LPAHRG0; 3=x; 185=Yes -> 2
";

/// For year bounds: dates that satisfy them and dates that violate them, on 2026-11-20.
pub(crate) const YEARS: &str = "
>=2000
    2000|2000-01|2000-01-01|2000-01-01T00:00|2000-01-01T00:00:00|2001-02-03T04:05:06.789Z|2001-02-03T04:05:06.5+10:00|2024-02-29
    1999|1999-12|1999-12-31|1999-12-31T23:59:59|2026-02-30|soon|20000|12/2024|+200|2024-13|2024-01-01T24:00|2024-01-01T00:00:60|2024-01-01T00:00.5|2024-01-01T00:00:00.|2024-01-01T00:00:00+1|2024-01-01T|2024-01-01T0ü:00|2024-0|２０００
<=2040
    2040|2040-12|2040-12-31|2040-12-31T23:59:59Z|0001|0001-01
    2041|2041-01|2041-01-01|0000|0000-01|0000-01-01
<=now
    2026|2026-11|2026-11-20|2026-11-20T23:59:59
    2027|2026-12|2026-11-21|2026-11-21T00:00
";

/// For fields: valid and invalid texts (spec 2.1 to 2.3). `ü*300` stands for 300 letters. `a&b` are two fields compared by a
/// rule, with two texts; the finding is reported at the first field.
///
/// A leap second requires a known time zone (RFC 3339, section 5.7), which the format of `declaration.date` lacks.
pub(crate) const FIELDS: &str = r"
origin.pic destination.pic owner.pic consignee.pic
    QAZZ7777|qazz7777|3ZZZZ002
    |QAZZ777|QAZZ77777|QAZZ-777|QÄZZ777| QAZZ7777|🐄🐄
origin.name owner.name declaration.fullName owner.address.line1 declaration.address.line1
    ü*300|
    ü*301|u*301
consignee.address.town declaration.address.town
    ü*100
    ü*101
declaration.certificateNumber
    ZZ00001|🐄*7
    ZZ000001
origin.address.postcode destination.address.postcode owner.address.postcode consignee.address.postcode declaration.address.postcode
    1000|9999|4999
    |0999|0800|10000|999|４999|4 99|-999|4a99
origin.address.state destination.address.state owner.address.state consignee.address.state declaration.address.state
    ACT|NSW|NT|QLD|SA|TAS|VIC|WA
    |qld|NSW |XX
// No rule compares them: an address may be in a different state than its postcode or PIC.
owner.address.state&owner.address.postcode declaration.address.state&declaration.address.postcode
    NSW&4999|QLD&2000|VIC&6999|WA&3000|ACT&7000|TAS&2600
origin.address.state&origin.pic
    NSW&QAZZ7777|QLD&3ZZZZ002
movementDate
    2026-11-23|2024-02-29
    |2026-02-29|2026-1-2|20260203| 2026-02-03|+2026-02-03|23/11/2026|2026-11-23T00:00:00|0000-01-01|+12026-11-23
movementTime
    00:00|23:59|05:15
    |24:00|12:60|5:15|05:15:00|05-15|0５:15|ab:cd
declaration.date
    2026-11-20T09:45:00|2024-02-29T23:59:59
    |2026-11-20|2026-02-29T00:00:00|2026-11-20T24:00:00|2026-11-20T09:45:60|2016-12-31T23:59:60|0000-01-01T00:00:00|+12026-11-20T09:45:00|2026-11-20T09:45|2026-11-20 09:45:00|2026-11-20T09:45:00Z
declaration.email
    sam@example.com|a.b+c@x-y.example|o'sample@example.com.au
    |sam|@example.com|sam@|sam@example|a b@example.com|a@b..com|a@.example|a@example.|a@-x.example|.a@example.com|a.@example.com|a@example.com |sam@example,com
declaration.phone
    0491570156|+61491570156|(07) 5550 1234|1300-975-707|131114|13 11 14|1234567|123456789012345
    |+|12345|+131114|13 TAXI|1234567890123456|call me|07+5550123|0491570156x
declaration.signature
    |Zg==|Zm8=|Zm9v|Zm9=
    Zg|Zg=|Zg==Zg==|====|Z===|Zm9v\n|not base64!|Zm-_|data:image/png;base64,Zm9v|file:a.png;data:image/png;base64,Zm9v|data:,Zm9v
";

/// The entries of a table: each a line with the indented lines after it.
pub(crate) fn entries(table: &'static str) -> Vec<(&'static str, Vec<&'static str>)> {
    let mut entries: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in table
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
    {
        match line.strip_prefix("    ") {
            Some(line) => entries.last_mut().unwrap().1.push(line),
            None => entries.push((line, Vec::new())),
        }
    }
    entries
}

/// Checks an implementation against a table. `read` takes a list of questions and a consignment, and returns its results in any
/// order.
pub(crate) fn check(table: &'static str, read: impl Fn(&Value, &Value) -> Vec<String>) {
    let sorted = |mut found: Vec<String>| {
        found.sort();
        found.join(" ")
    };
    for (list, cases) in entries(table) {
        for case in cases[0].split(" / ") {
            let (answers, wanted) = case.split_once("->").unwrap();
            let wanted = wanted.split_whitespace().map(str::to_owned).collect();
            let found = read(&questions(list), &input(answers.trim()));
            assert_eq!(sorted(found), sorted(wanted), "{list} / {answers}");
        }
    }
}

/// Checks an implementation against the year bounds. `read` returns the number of findings for an answer.
pub(crate) fn check_years(read: impl Fn(&Value, &Value) -> Vec<String>) {
    for (bound, lists) in entries(YEARS) {
        for (found, texts) in lists.into_iter().enumerate() {
            for text in texts.split('|') {
                let list = questions(&format!("1 DATE {bound}"));
                let input = input(&format!("1={text}"));
                assert_eq!(read(&list, &input).len(), found, "{bound} {text}");
            }
        }
    }
}

/// Checks an implementation against the fields. `read` takes a consignment, and returns the codes of its findings.
pub(crate) fn check_fields(read: impl Fn(&Value) -> Vec<String>) {
    for (paths, lists) in entries(FIELDS) {
        let [good, bad] = [0, 1].map(|at| {
            let texts = lists.get(at).into_iter().flat_map(|texts| texts.split('|'));
            let texts = texts.map(|text| text.replace("\\n", "\n"));
            texts
                .map(|text| match text.split_once('*') {
                    Some((text, times)) => text.repeat(times.parse().unwrap()),
                    None => text,
                })
                .collect::<Vec<_>>()
        });
        for path in paths.split(' ') {
            for text in &good {
                assert_eq!(read(&input_with(path, text)), [""; 0], "{text} at {path}");
            }
            for text in &bad {
                let first = path.split('&').next().unwrap();
                assert_eq!(read(&input_with(path, text)), [first], "{text} at {path}");
            }
        }
    }
}

/// A consignment with texts at dotted paths, and no other faults.
fn input_with(paths: &str, texts: &str) -> Value {
    let mut input = input("");
    for (path, text) in paths.split('&').zip(texts.split('&')) {
        let place = path
            .split('.')
            .fold(&mut input, |place, name| &mut place[name]);
        *place = text.into();
    }
    input
}

/// Parses a list of questions to JSON.
pub(crate) fn questions(text: &str) -> Value {
    let mut rest = text;
    let list = list(&mut rest);
    assert!(rest.is_empty(), "{text}");
    list
}

fn list(rest: &mut &str) -> Value {
    let mut found = Vec::new();
    loop {
        let end = rest.find([';', '{', '}']).unwrap_or(rest.len());
        let (head, tail) = rest.split_at(end);
        if !head.trim().is_empty() {
            found.push(question(head.trim()));
        }
        *rest = tail.get(1..).unwrap_or_default();
        match tail.get(..1) {
            Some(";") => {}
            Some("{") => found.last_mut().unwrap()["childQuestions"] = list(rest),
            _ => return found.into(),
        }
    }
}

fn question(text: &str) -> Value {
    let (text, choices) = text.split_once('[').unwrap_or((text, ""));
    let choices = choices.trim_end_matches(']').split('|');
    let choices = choices.filter(|value| !value.is_empty());
    let choices: Vec<Value> = choices.map(|value| json!({"value": value})).collect();
    let mut words = text.split_whitespace();
    let id = words.next().filter(|id| *id != "-");
    let mut kind = "STRING";
    let mut forms = vec!["LPAC1"];
    let mut read_only = false;
    let mut validators = vec![json!({"type": "required", "parameter": ""})];
    let mut triggers = Vec::new();
    for word in words {
        match (word.split_at(1), word) {
            (("?", trigger), _) => {
                let (id, value) = trigger.split_once('=').unwrap();
                triggers.push(json!({"questionId": id, "value": value.replace('_', " ")}));
            }
            (("@", names), _) => forms = names.split(',').filter(|form| !form.is_empty()).collect(),
            ((sign @ (">" | "<"), bound), _) => {
                let kind = if sign == ">" { "minYear" } else { "maxYear" };
                let parameter = bound.trim_start_matches('=').replace('_', " ");
                validators.push(json!({"type": kind, "parameter": parameter}));
            }
            (_, "optional") => drop(validators.remove(0)),
            (_, "readonly") => read_only = true,
            _ => kind = word,
        }
    }
    json!({"id": id, "type": kind, "forms": forms, "readOnly": read_only, "triggers": triggers, "validators": validators,
        "acceptableAnswers": choices, "childQuestions": []})
}

/// Parses a consignment with answers to JSON.
pub(crate) fn input(text: &str) -> Value {
    let mut forms = vec!["LPAC1"];
    let mut answers = Vec::new();
    for item in text
        .split(';')
        .map(str::trim_start)
        .filter(|item| !item.is_empty())
    {
        if let Some(names) = item.strip_prefix('@') {
            forms = names.split(',').collect();
            continue;
        }
        let (question, value) = item.split_once('=').unwrap();
        let (id, row) = match question.split_once('.') {
            Some((id, row)) => (id, Some(row.parse::<i64>().unwrap())),
            None => (question, None),
        };
        answers.push(json!({"questionId": id, "index": row, "value": value}));
    }
    json!({"forms": forms, "origin": {"pic": "QAZZ7777"}, "destination": {"pic": "QDZZ3333"}, "answers": answers})
}
