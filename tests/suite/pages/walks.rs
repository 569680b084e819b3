//! Walks through lists that do not end, fail, change while they are read, or have unreadable records.

use envd_sdk::model::ListNotice;
use envd_sdk::register::PropertySearch;
use envd_sdk::{ErrorKind, Page};
use serde_json::{Value, json};
use test_support::script::{listed, rows};
use test_support::{Reply, Server};

use super::{account, assert_resumes, end, filter, ok, page, placed, serve};
use crate::profiles::paged_from;
use crate::scripted;

/// The pages of a service, how they are read, and the expected result with the number of requests.
///
/// A page is `cursor: records`; `*` is any cursor, and the first page needs none. A record is written as its number, which is
/// also its cursor; `1+` has the cursor of the page; `!1` is unreadable, `-` is null, and `_` is an edge with a null node. `>a`
/// leads to the next page, `>+` to a cursor with an additional x; any other text is the JSON of `pageInfo`. `500` fails, `500,`
/// fails once. A list that `resumes` has a page after each record.
const WALKS: &str = r#"
# A cursor that comes again ends the list with an error, also in a cycle.
*: 1+ >a                                                   |         | 1 / 1a / Stalled at a | 2
1+ >a / a: 1+ >b / b: 1+ >c / c: 1+ >a                     | ahead=0 | 1 / 1a / 1b / 1c / Stalled at c | 4
# A missing cursor is an error after the page was returned.
1 {"hasNextPage":true}                                     |         | 1 / Stalled at start | 1
1 {"hasNextPage":true,"endCursor":null}                    |         | 1 / Stalled at start | 1
1 {"hasNextPage":true,"endCursor":""}                      |         | 1 / Stalled at start | 1
1 {"endCursor":"a"}                                        |         | 1 / Stalled at start | 1
1 null                                                     |         | 1 / Stalled at start | 1
# A last page needs none.
{"hasNextPage":false,"endCursor":null}                     |         | nothing / end | 1
# Pages without new records end the list with an error, from which the caller may go on.
1 >x / *: 1 >+                                             | ahead=0 on | 1 / 1 again 1 x20 / Stalled at xxxxxxxxxxxxxxxxxxxxx / 1 again 1 | 22
1 >x / *: >+                                               | ahead=0 on | 1 / nothing x20 / Stalled at xxxxxxxxxxxxxxxxxxxxx / nothing | 22
1 >x / *: - _ >+                                           | ahead=0 on | 1 / nothing -2 x20 / Stalled at xxxxxxxxxxxxxxxxxxxxx / nothing -2 | 22
# Some empty pages do not.
1 >x / x: >xx / xx: 2 >xxx / xxx: >xxxx / xxxx: 3          |  | 1 / nothing / 2 / nothing / 3 / end | 5
# A changed total, null records and repeated ones are reported.
1 2 3 >a / a: total=7 - _ 3                                |         | 1 2 3 / 3 -2 total 9 to 7 again 3 / end | 2
1 2 >2 / 2: total=10 2 3 >3 / 3: total=10 4 4              |         | 1 2 / 2 3 total 9 to 10 again 2 / 4 4 again 4 / end | 3
# A failed page is requested again.
1 2 >a / a: 500, 3                                         | ahead=0 on | 1 2 / Internal at a / 3 / end | 3
# A record that cannot be read does not lose its page, and another field does.
1 !2 3 >3 / 3: 4 !5 >5 / 5: !6 7                           | resumes | 1 3 !edges[1].node.number / 4 !edges[1].node.number / 7 !edges[0].node.number / end | 3
1 - _ 2 >2 / 2: 3                                          | resumes | 1 2 -2 / 3 / end | 2
1 !2 "none"                                                |         | Decode at start | 1
"#;

/// A server for the pages of a row.
fn service(pages: &'static str) -> Server {
    let failed = std::sync::atomic::AtomicBool::new(false);
    serve(move |after| {
        let of_cursor = |page: &&str| match page.split_once(": ") {
            Some((cursor, _)) => cursor == after || cursor == "*",
            None => after.is_empty(),
        };
        let Some(page) = pages.split(" / ").find(of_cursor) else {
            let mut words = pages.split(' ');
            words
                .find(|word| word.trim_start_matches('!') == after)
                .expect("a record");
            let rest: Vec<&str> = words.take_while(|word| *word != "/").collect();
            return ok(body(&rest.join(" "), after));
        };
        let words = page.split_once(": ").map_or(page, |(_, words)| words);
        if words.starts_with("500") && !failed.swap(true, std::sync::atomic::Ordering::SeqCst) {
            return Reply::json(500, r#"{"Message": "no"}"#);
        }
        ok(body(words.trim_start_matches("500, "), after))
    })
}

fn body(words: &str, after: &str) -> Value {
    let mut body = page(end(), &[]);
    let list = &mut body["data"]["consignments"];
    for word in words.split_whitespace() {
        let number = word.trim_start_matches('!').replace('+', after);
        let edge = |number: Value| json!({"cursor": word.trim_start_matches('!'), "node": number});
        if let Some(next) = word.strip_prefix('>') {
            let next = next.replace('+', &format!("{after}x"));
            list["pageInfo"] = json!({"hasNextPage": true, "endCursor": next});
        } else if let Some(total) = word.strip_prefix("total=") {
            list["totalCount"] = total.parse::<u32>().unwrap().into();
        } else if word.starts_with(['{', '"', 'n']) {
            list["pageInfo"] = serde_json::from_str(word).unwrap();
        } else {
            list["edges"].as_array_mut().unwrap().push(match word {
                "-" => Value::Null,
                "_" => edge(Value::Null),
                _ if word.starts_with('!') => edge(json!({ "number": [number] })),
                _ => edge(json!({ "number": number })),
            });
        }
    }
    body
}

/// Describes a page.
fn seen<T, P>(page: &Page<T, P>, name: impl Fn(&T) -> &str) -> String {
    let names: Vec<&str> = page.records.iter().map(name).collect();
    let mut seen = if names.is_empty() {
        "nothing".to_owned()
    } else {
        names.join(" ")
    };
    if page.missing > 0 {
        seen.extend([" -", &page.missing.to_string()]);
    }
    for error in &page.unreadable {
        let path = error.json_path().unwrap();
        let path = path.replace("data.consignments.", " !");
        seen += &path.replace("Value.SubSet", " !");
        assert!(!format!("{error} {error:?} {seen}").contains("hidden"));
        assert!(error.raw_data().is_some() && error.kind() == ErrorKind::UnreadableRecord);
    }
    for notice in &page.notices {
        seen.push_str(&reported(notice));
    }
    seen
}

fn reported(notice: &ListNotice) -> String {
    match notice {
        ListNotice::TotalChanged { before, now, .. } => format!(" total {before} to {now}"),
        ListNotice::Repeated { ids, .. } => format!(" again {}", listed(ids.clone())),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn walks_end_and_say_what_happened() {
    let mut wrong = Vec::new();
    for row in rows(WALKS) {
        let server = service(row[0]);
        if row[1] == "resumes" {
            let list = || account(&server).consignments(&filter());
            assert_resumes(|place| list().start_at(placed(place)).items()).await;
        }
        let server = service(row[0]);
        let mut pager = account(&server).consignments(&filter());
        for (name, value) in row[1]
            .split(' ')
            .filter_map(|option| option.split_once('='))
        {
            assert_eq!(name, "ahead", "{row:?}");
            pager = pager.look_ahead(value.parse().unwrap());
        }
        let mut all = Vec::<String>::new();
        let mut may_go_on = row[1].ends_with("on");
        // After an error the list continues once, to its end or by one page.
        while all.len() < 60 {
            match pager.next_page().await {
                Ok(Some(page)) => all.push(seen(&page, |it| it.number.as_ref().unwrap().as_str())),
                Ok(None) => {
                    all.push("end".to_owned());
                    break;
                }
                Err(error) => {
                    assert_eq!(error.operation(), Some("consignments"));
                    assert_eq!(error.resume_from(), Some(pager.position()));
                    let at = pager.position().cursor().unwrap_or("start");
                    all.push(format!("{:?} at {at}", error.kind()));
                    if !std::mem::take(&mut may_go_on) {
                        break;
                    }
                    continue;
                }
            }
            if row[1].ends_with("on") && !may_go_on && !row[0].contains("500") {
                break;
            }
        }
        let runs = all.chunk_by(|one, next| one == next);
        let runs = runs.map(|run| match run.len() {
            1 => run[0].clone(),
            count => format!("{} x{count}", run[0]),
        });
        let all = runs.collect::<Vec<_>>().join(" / ");
        if (all.as_str(), server.count().to_string().as_str()) != (row[2], row[3]) {
            wrong.push(format!(
                "{}\n  expected {} | {}\n  seen     {all} | {}",
                row[0],
                row[2],
                row[3],
                server.count()
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[tokio::test]
async fn a_stream_collects_the_notices_of_the_pages_that_it_has_read() {
    let server = service("1 2 >2 / 2: total=10 2 3 >3 / 3: total=10 4 4");
    let mut items = account(&server).consignments(&filter()).items();
    let mut seen = Vec::new();
    while let Some(record) = items.next().await {
        let notices: String = items.notices().iter().map(reported).collect();
        seen.push(format!("{}{notices}", record.unwrap().number.unwrap()));
    }
    let second = "total 9 to 10 again 2";
    assert_eq!(
        seen.join(" / "),
        format!("1 / 2 / 2 {second} / 3 {second} / 4 {second} again 4 / 4 {second} again 4")
    );
}

/// Pages of two register records, and the expected results. `!A` is unreadable, `-` is null, `A:7` has its own number.
const REGISTER: &str = "
A B total=5 / B C total=6 / D D:7 total=6      | A B / B C total 5 to 6 again B / D D
- A total=4 / B C total=4                      | A -1 / B C
!A B total=6 / C !D total=6 / !E F total=6     | B ![0].Town / C ![1].Town / F ![0].Town
A B / C D / E                                  | A B / C D / E
";

fn page_of_register(words: &str, index: usize) -> Value {
    let mut value = json!({"Offset": 2 * index, "Limit": 2, "SubSet": []});
    for word in words.split_whitespace() {
        let (pic, number) = word
            .trim_start_matches('!')
            .split_once(':')
            .unwrap_or((word, "0"));
        if let Some(total) = word.strip_prefix("total=") {
            value["Total"] = total.parse::<u32>().unwrap().into();
            continue;
        }
        let mut record = json!({ "PIC": pic.trim_start_matches('!') });
        match (word.starts_with('!'), number.parse::<u32>().unwrap()) {
            (true, _) => record["Town"] = json!(["hidden"]),
            (false, 0) => {}
            (false, number) => record["PICRegisterId"] = number.into(),
        }
        let record = if word == "-" { Value::Null } else { record };
        value["SubSet"].as_array_mut().unwrap().push(record);
    }
    json!({ "Value": value })
}

#[tokio::test]
async fn an_unreadable_record_does_not_lose_its_page() {
    for row in rows(REGISTER) {
        let pages: Vec<&str> = row[0].split(" / ").collect();
        let server = crate::register::by_index(move |index| {
            let index = index.unwrap_or(0);
            ok(page_of_register(pages.get(index).unwrap_or(&""), index))
        });
        let register = scripted::register(&server).profile(&paged_from(0));
        let register = register.build().unwrap();
        let list = || register.search(&PropertySearch::text("x"));
        let mut all = Vec::new();
        let mut walk = list();
        while let Some(page) = walk.next_page().await.unwrap() {
            all.push(seen(&page, |it| it.pic.as_deref().unwrap()));
        }
        assert_eq!(all.join(" / "), row[1]);
        assert_resumes(|place| list().start_at(placed(place)).items()).await;
    }
}
