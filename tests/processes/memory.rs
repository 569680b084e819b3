//! Limits on memory: validating a consignment without findings takes a few allocations for any number of questions, a reply
//! with many errors is not kept completely, a compressed reply costs no more than its limit, and the memory of a sync does not
//! grow with the records. The servers run on threads that are not counted.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use envd_sdk::auth::{AccessToken, Provider, StaticToken, TokenManager};
use envd_sdk::model::{ConsignmentInput, Day, Question};
use envd_sdk::ops::{ConsignmentFilter, TemplateFilter};
use envd_sdk::profile::ServiceProfile;
use envd_sdk::register::{PropertySearch, Register};
use envd_sdk::validate::{Context, Questionnaire, validate_fields};
use envd_sdk::{Client, Error, HttpOptions};
use envd_sync::Replica;
use envd_sync::store::MemorySync;
use serde_json::{Value, json};
use test_support::script::rows;
use test_support::{Reply, Server};
use tokio::runtime::Runtime;
use zlib_rs::{DeflateConfig, ReturnCode, compress_slice};

#[path = "../../benches/questions/mod.rs"]
mod questions;

fn fixture(file: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../fixtures")
        .join(file);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn allocations(questionnaire: &Questionnaire, input: &ConsignmentInput) -> u64 {
    let context = Context::on(Day::new(2026, 11, 20).unwrap());
    let look = || assert!(questionnaire.validate(input, &context).ready_to_submit());
    look();
    allocation_counter::measure(look).count_total
}

/// The answers by question, the rows and the applicable questions are a few lists, and some of them grow.
const LISTS: u64 = 12;

#[test]
fn a_valid_consignment_is_validated_without_an_allocation_per_question() {
    for count in [300, 3_000] {
        let list: Vec<Question> = serde_json::from_value(questions::nested(count)).unwrap();
        let mut input = fixture("consignments/lpac1.json")["input"].take();
        input["answers"] = questions::all_yes(count);
        let input = serde_json::from_value(input).unwrap();
        let allocations = allocations(&Questionnaire::prepare(&list), &input);
        assert!(allocations <= LISTS, "{count} questions: {allocations}");
    }
}

#[test]
fn the_sample_questions_with_rows_are_validated_without_an_allocation_per_question() {
    let list = fixture("questions.json")["data"]["questions"]["items"].take();
    let list: Vec<Question> = serde_json::from_value(list).unwrap();
    let questionnaire = Questionnaire::prepare(&list);
    for file in ["lpac1-hsc2", "lpasl1-hssl1", "lpahrg0"] {
        let input = fixture(&format!("consignments/{file}.json"))["input"].take();
        let input = serde_json::from_value(input).unwrap();
        let allocations = allocations(&questionnaire, &input);
        assert!(allocations <= LISTS, "{file}: {allocations}");
    }
}

#[test]
fn allocations_are_counted() {
    let context = Context::on(Day::new(2026, 11, 20).unwrap());
    let empty = ConsignmentInput::default();
    let counted = allocation_counter::measure(|| drop(validate_fields(&empty, &context)));
    assert!(counted.count_total > 0);
}

#[test]
fn a_client_for_another_user_allocates_only_its_token_source_and_its_pause() {
    const USERS: usize = 1_000;
    let source = || async { AccessToken::new("b34r3r") };
    let shared = Client::builder("https://example.com/graphql").token_source(source);
    let shared = shared.build().unwrap();
    let mut users = Vec::with_capacity(USERS);
    let memory = allocation_counter::measure(|| {
        users.extend((0..USERS).map(|_| shared.with_token_source(source)));
    });
    // 16 bytes for the counters of the `Arc` around a source of size zero, and 80 bytes per user: the pool, the source, and the
    // key of the user's pauses.
    assert_eq!(memory.bytes_current, i64::try_from(USERS * 96).unwrap());
    assert_eq!(memory.count_total, u64::try_from(2 * USERS).unwrap());
    assert!(size_of::<Client>() <= 64, "{}", size_of::<Client>());
}

/// The limit for creating a client, in bytes.
const CLIENT: u64 = 64 << 10;

fn bytes_of_a_client(endpoint: &str) -> u64 {
    let mut client = None;
    let source = || async { AccessToken::new("b34r3r") };
    let memory = allocation_counter::measure(|| {
        client = Some(Client::builder(endpoint).token_source(source).build());
    });
    assert!(client.is_some_and(|client| client.is_ok()));
    memory.bytes_total
}

#[test]
fn a_client_without_tls_takes_at_most_64_kb() {
    for client in ["first", "second"] {
        let bytes = bytes_of_a_client("http://127.0.0.1:1/graphql");
        assert!(bytes <= CLIENT, "the {client} client: {bytes} bytes");
    }
}

/// The certificates of an operating system would take more.
#[test]
fn only_the_first_client_reads_the_certificates_of_the_operating_system() {
    println!(
        "first: {}",
        bytes_of_a_client("https://example.com/graphql")
    );
    let bytes = bytes_of_a_client("https://example.com/graphql");
    assert!(bytes <= CLIENT, "the second client: {bytes} bytes");
}

fn client(server: &Server, http: HttpOptions) -> Client {
    Client::builder(format!("http://{}", server.address()))
        .token_source(StaticToken::new("b34r3r").unwrap())
        .http(http)
        .build()
        .unwrap()
}

fn runtime() -> Runtime {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap()
}

#[test]
fn of_300_000_errors_the_first_1000_are_stored_and_the_others_counted() {
    const COUNT: usize = 300_000;
    let error =
        r#"{"message": "Required", "path": ["a"], "extensions": {"data": {"Code": "answers.17"}}}"#;
    let errors = vec![error; COUNT].join(",");
    for data in ["null", r#"{"userDetails": {"firstName": "Sam"}}"#] {
        let body = format!(r#"{{"errors": [{errors}], "data": {data}}}"#);
        let length = body.len();
        let server = Server::script([Reply::json(200, body)]);
        let client = client(&server, HttpOptions::default());
        let runtime = runtime();
        let mut counts = None;
        let memory = allocation_counter::measure(|| {
            counts = Some(
                match runtime.block_on(client.user_details().into_future()) {
                    Ok(outcome) => {
                        let kept = outcome.problems.len();
                        (kept, outcome.strict().unwrap_err().report())
                    }
                    Err(error) => (error.server_errors().len(), error.report()),
                },
            );
        });
        let (kept, report) = counts.unwrap();
        assert_eq!(kept, 1_000);
        assert!(
            report.ends_with("299980 more") && report.len() < 9_000,
            "{report}"
        );
        // The body, the chunks received, and the kept errors.
        let limit = u64::try_from(length).unwrap() * 2;
        assert!(memory.bytes_max < limit, "{} of {limit}", memory.bytes_max);
    }
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let config = DeflateConfig {
        // With gzip header and trailer.
        window_bits: 16 + 15,
        ..DeflateConfig::default()
    };
    let mut packed = vec![0; 4_096 + text.len() / 50];
    let (packed, code) = compress_slice(&mut packed, text, config);
    assert_eq!(code, ReturnCode::Ok);
    packed.to_vec()
}

fn compressed(body: Vec<u8>) -> Reply {
    let reply = Reply::json(200, "");
    reply.header("content-encoding", "gzip").body(body)
}

/// The size of a reply in the next test, and the most memory that it may take.
const WIRE: usize = 64 << 10;
const MEMORY: u64 = 64 << 20;

/// A reply of 64 KB that decompresses to the maximum length: it repeats the element between the two texts. The file name in its
/// header (RFC 1952 section 2.3) pads it.
fn dense(start: &str, element: &str, end: &str) -> Reply {
    const PARTS: usize = 50;
    let length = (WIRE * 100 - 10_000) / PARTS;
    let part = gzip(
        format!("{element},")
            .repeat(length / (element.len() + 1))
            .as_bytes(),
    );
    let end = gzip(format!("{element}{end}").as_bytes());
    let mut packed = [gzip(start.as_bytes()), part.repeat(PARTS), end].concat();
    let name = vec![b'n'; WIRE - packed.len() - 1];
    packed[3] = 8;
    packed.splice(10..10, [name, vec![0]].concat());
    assert_eq!(packed.len(), WIRE);
    compressed(packed)
}

async fn call(name: &str, server: &Server) -> Result<(), Error> {
    async fn end<T>(call: impl IntoFuture<Output = Result<T, Error>>) -> Result<(), Error> {
        call.await.map(drop)
    }
    let client = client(server, HttpOptions::default());
    let account = client.account("envd-1");
    let register = register_of(server);
    let filter = ConsignmentFilter::default();
    let templates = TemplateFilter::default();
    let input = ConsignmentInput::default();
    let pic = "QAZZ7777".parse().unwrap();
    match name {
        "user_details" => end(client.user_details()).await,
        "questions" => end(client.questions()).await,
        "consignments_page" => end(account.consignments_page(&filter, None)).await,
        "full_consignments" => end(account.full_consignments(&filter).next_page()).await,
        "consignment" => end(account.consignment("c-1")).await,
        "save_consignment" => end(account.save_consignment(input)).await,
        "templates_page" => end(account.templates_page(&templates, None)).await,
        "comments" => end(account.comments("C-1")).await,
        "edecs" => end(account.edecs()).await,
        "user_mappings" => end(account.user_mappings("C-1", "PRODUCER")).await,
        "property" => end(register.property(&pic)).await,
        "search" => end(register.search(&PropertySearch::text("yards")).next_page()).await,
        _ => end(register.get("v2/other", &[])).await,
    }
}

/// Each list in a reply has many small elements.
#[test]
fn no_reply_of_64_kb_takes_more_than_64_mb() {
    for row in rows(include_str!("dense_replies.txt")) {
        let calls = row[0].split(' ');
        let elements = ["{}", r#""""#, r#"{"":0}"#];
        for (name, element) in calls.flat_map(|name| elements.map(|it| (name, it))) {
            let server = Server::script([dense(row[1], element, row[2])]);
            let runtime = runtime();
            let memory = allocation_counter::measure(|| {
                let result = runtime.block_on(call(name, &server));
                drop(result.map_err(|error| error.report()));
            });
            let bytes = memory.bytes_max;
            assert!(bytes <= MEMORY, "{name} {row:?} {element}: {bytes} bytes");
        }
    }
}

/// The input of each JSON reader in the next test: the start, the repeated part, the closing part for each repetition, and the end.
const DEEP: &str = r#"
    user_details property get discover device tokens profile | | [ | |
    user_details property get discover device tokens profile | | {"a": | |
    user_details     | {"data":{"userDetails":{"firstName": | [ | ] | }}}
    user_details     | {"data":{"userDetails":{"accounts": | [ | ] | }}}
    user_details     | {"data":{"a":"\ud83d","userDetails": | [ | ] | }}
    user_details     | {"data":{"userDetails":{"firstName": | {"a":0,"a": | } | }}}
    user_details     | {"data":{"userDetails":{"firstName":[" | \ud83d | | "]}}}
    user_details     | {"errors":[{"extensions": | [ | ] | }]}
    questions        | {"data":{"questions":{"items":[ | {"childQuestions":[ | ]} | ]}}}
    save_consignment | {"data":{"createOrSaveConsignment": | {"data": | } | }}
    consignments_page | {"data":{"consignments":{"edges":[{"node": | [ | ] | }]}}}
    property         | {"Value": | {"Value": | } | }
    property         | {"Value":{"SubSet":[{"PIC":"Q","New": | [ | ] | }]}}
    property         | {"Value":{"SubSet":[{"PIC":"Q","Town": | [ | ] | }]}}
    property         | {"Value":{"SubSet":[{"PIC":"Q","Town":[ | "\ud83d", | | 0]}]}}
    discover         | {"mtls_endpoint_aliases": | {"mtls_endpoint_aliases": | } | }
    discover         | {"code_challenge_methods_supported":[ | "", | | ""]}
    device           | {"interval":[ | {"":0}, | | 0]}
    tokens           | {"scope":[ | {"":0}, | | 0]}
    tokens           | {"a":"\ud83d","a": | {"a":0,"a": | } | }
    id_token         | {"aud":[ | {"":0}, | | 0]}
    id_token         | {"a":"\ud83d","a": | {"a":0,"a": | } | }
    profile          | {"roles":{"value": | [ | ] | }}
    profile          | {"operations":{" | a":{"value":{}}," | | ":{}}}
"#;

/// The maximum length of a provider's reply.
const DEEP_TEXT: usize = 1 << 20;

/// The memory limit: lists and values, plus a few copies of the text.
const DEEP_MEMORY: u64 = 28 << 20;

/// Runs a login up to the reply of the endpoint.
async fn ask_provider(name: &str, server: &Server) -> Result<(), Error> {
    let at = |path| format!("http://{}{path}", server.address());
    if name == "discover" {
        return Provider::discover("client", at("/")).await.map(drop);
    }
    let provider = Provider::builder("client")
        .authorize_url(at("/authorize"))
        .token_url(at("/token"))
        .device_authorization_url(at("/device"))
        .redirect_uri("http://127.0.0.1:8400/callback")
        .build()?;
    if name == "device" {
        return provider.authorization().start_device().await.map(drop);
    }
    let manager = TokenManager::builder(provider).build()?;
    let login = manager.provider().authorization().start()?;
    let (_, state) = login
        .url()
        .query_pairs()
        .find(|(name, _)| name == "state")
        .unwrap();
    let callback = format!("http://127.0.0.1:8400/callback?code=c&state={state}");
    manager.complete_login(login, &callback).await.map(drop)
}

/// One byte of text opens a JSON level, and short members repeat a name: neither may take many times the memory of the text.
#[test]
fn neither_depth_nor_repeated_names_cost_a_reader_its_memory() {
    for row in rows(DEEP) {
        let [part, close] = [row[2], row[3]];
        for name in row[0].split(' ') {
            // In an id token, four letters encode three bytes.
            let length = DEEP_TEXT * if name == "id_token" { 3 } else { 4 } / 4 - 1_000;
            let count = length / (part.len() + close.len());
            let text = [row[1], &part.repeat(count), &close.repeat(count), row[4]].concat();
            let reply = if name == "id_token" {
                let claims = URL_SAFE_NO_PAD.encode(&text);
                json!({"access_token": "a", "id_token": format!("a.{claims}.c")}).to_string()
            } else {
                text.clone()
            };
            let server = Server::script([Reply::json(200, reply)]);
            let runtime = runtime();
            let memory = allocation_counter::measure(|| match name {
                "profile" => drop(ServiceProfile::from_json(&text)),
                "discover" | "device" | "tokens" | "id_token" => {
                    let result = runtime.block_on(ask_provider(name, &server));
                    drop(result.map_err(|error| error.report()));
                }
                _ => {
                    let result = runtime.block_on(call(name, &server));
                    drop(result.map_err(|error| error.report()));
                }
            });
            let bytes = memory.bytes_max;
            assert!(bytes <= DEEP_MEMORY, "{name} {row:?}: {bytes} bytes");
        }
    }
}

fn register_of(server: &Server) -> Register {
    let register = Register::builder(format!("http://{}", server.address()));
    let register = register.token_source(StaticToken::new("b34r3r").unwrap());
    register.build().unwrap()
}

/// Every method that sends a request. Each reads its reply like a call in `dense_replies.txt`: `save_consignment_text` like
/// `save_consignment`; `pdf` keeps the bytes unchanged, up to the largest body. Add a new method here, and there if it has its
/// own kind of reply.
const WAYS: [(&str, &str); 2] = [
    (
        "src/ops",
        "choose_account comments consignment consignments consignments_page copy_consignment create_comment delete_consignment \
         delete_template edecs find full_consignments pdf questions registered_user save_consignment save_consignment_text \
         save_template submit_consignment template templates templates_page user_details user_mappings",
    ),
    (
        "src/register",
        "get lookup lookup_many lookup_since property search search_since",
    ),
];

#[test]
fn every_way_to_a_reply_is_listed() {
    for (room, listed) in WAYS {
        let room = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../..")
            .join(room);
        let mut found = Vec::new();
        for file in std::fs::read_dir(room).unwrap() {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            for part in text.split("    pub fn ").skip(1) {
                let signature = part.split(['{', ';']).next().unwrap();
                let (name, rest) = signature.split_once(['(', '<']).unwrap();
                if ["-> Call<", "-> Pager<", "-> LookupMany"]
                    .iter()
                    .any(|returned| rest.contains(returned))
                {
                    found.push(name.to_owned());
                }
            }
        }
        found.sort_unstable();
        assert_eq!(found.join(" "), listed);
    }
}

/// Uncompressed, so that only decoding counts: at most five times the text, including the text itself.
#[test]
fn a_long_reply_takes_a_few_times_its_text() {
    const TEXT: usize = 24 << 20;
    let fields = || {
        (0..TEXT / 12)
            .map(|name| format!(r#""{name:07}":0"#))
            .collect::<Vec<_>>()
            .join(",")
    };
    let unknown = format!(
        r#"{{"Value":{{"SubSet":[{{"PIC":"QAZZ7777",{}}}]}}}}"#,
        fields()
    );
    let mut not_utf8 = b"{\"data\":{\"userDetails\":{\"firstName\":\"".to_vec();
    not_utf8.resize(TEXT, 0xff);
    not_utf8.extend(b"\"}}}");
    for (body, of_register) in [(unknown.into_bytes(), true), (not_utf8, false)] {
        let length = u64::try_from(body.len()).unwrap();
        let server = Server::script([Reply::json(200, "").body(body)]);
        let runtime = runtime();
        let http = HttpOptions::default().max_body_bytes(32 << 20);
        let register = register_of(&server);
        let client = client(&server, http);
        let memory = allocation_counter::measure(|| {
            let error = if of_register {
                let call = register.property(&"QAZZ7777".parse().unwrap());
                runtime.block_on(call.into_future()).map(drop).unwrap_err()
            } else {
                let call = client.user_details().into_future();
                runtime.block_on(call).map(drop).unwrap_err()
            };
            drop(error);
        });
        assert!(
            memory.bytes_max <= 7 * length,
            "{} of {length}",
            memory.bytes_max
        );
    }
}

#[test]
fn a_bomb_of_1_gb_costs_no_more_than_the_limit_of_a_reply() {
    const LIMIT: usize = 4 << 20;
    let body = gzip(&vec![0; 1 << 20]).repeat(1_000);
    let server = Server::script([compressed(body)]);
    let http = HttpOptions::default().max_body_bytes(LIMIT);
    let client = client(&server, http);
    let runtime = runtime();
    let mut error = None;
    let memory = allocation_counter::measure(|| {
        error = runtime.block_on(client.user_details().into_future()).err();
    });
    let error = error.unwrap();
    assert!(
        error.to_string().contains("larger than the limit"),
        "{error}"
    );
    // The decompressed body, and a copy while its buffer grows.
    let limit = u64::try_from(LIMIT).unwrap() * 7 / 4;
    assert!(memory.bytes_max < limit, "{} of {limit}", memory.bytes_max);
}

fn page(request: &Value, records: usize) -> Value {
    let variables = &request["variables"];
    let after = variables["after"].as_str().unwrap_or("0");
    let start: usize = after.parse().unwrap();
    let end = (start + 100).min(records);
    let node = |number: usize| json!({"node": {"id": format!("r{number:06}"), "updatedAt": "2026-11-20T00:00:00Z"}});
    let edges: Vec<Value> = (start..end).map(node).collect();
    let info = json!({"hasNextPage": end < records, "endCursor": end.to_string()});
    json!({"data": {"consignments": {"totalCount": records, "pageInfo": info, "edges": edges}}})
}

/// The most bytes that a first sync holds in addition to the final contents of the store. This cannot count memory that one
/// thread allocates and another frees, as with a store in a file; the part `replica` of `benches/peers` measures that in a
/// process.
fn bytes_of_a_sync(records: usize) -> u64 {
    let server = Server::start(move |request| async move {
        let request = serde_json::from_str(&request.body).unwrap();
        Reply::json(200, page(&request, records))
    });
    let client = client(&server, HttpOptions::default());
    let replica = Replica::new(&client.account("envd-100201"), MemorySync::new());
    let runtime = runtime();
    let memory = allocation_counter::measure(|| {
        let report = runtime.block_on(replica.sync()).unwrap();
        assert_eq!(report.appeared, u64::try_from(records).unwrap());
    });
    memory.bytes_max - u64::try_from(memory.bytes_current).unwrap()
}

#[test]
fn the_memory_of_a_sync_does_not_grow_with_the_records() {
    let few = bytes_of_a_sync(1_000);
    let many = bytes_of_a_sync(20_000);
    // The pager keeps a hash of each id to detect repetitions: 9 to 18 bytes, and half as much again while its table grows.
    let hashes = 27 * 20_000;
    assert!(many < few + hashes + (64 << 10), "{few} bytes, then {many}");
}
