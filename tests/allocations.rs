//! Bounds on memory: validating a consignment without findings takes a few allocations for any number of questions, and a
//! reply with many errors is not kept as a whole, and a compressed one costs no more than its limit.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;

use envd_sdk::auth::{AccessToken, StaticToken};
use envd_sdk::model::{ConsignmentInput, Day, Question};
use envd_sdk::validate::{Context, Questionnaire, validate_fields};
use envd_sdk::{Client, HttpOptions};
use serde_json::Value;
use zlib_rs::{DeflateConfig, compress_slice};

#[path = "../benches/questions/mod.rs"]
mod questions;

fn fixture(file: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(file);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn allocations(questionnaire: &Questionnaire, input: &ConsignmentInput) -> u64 {
    let context = Context::on(Day::new(2026, 11, 20).unwrap());
    let look = || assert!(questionnaire.validate(input, &context).ready_to_submit());
    look();
    allocation_counter::measure(look).count_total
}

/// The allocations are the answers by question, the rows and the applicable questions: a few lists, some of which grow.
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
fn a_client_for_another_user_allocates_only_its_token_source() {
    const USERS: usize = 1_000;
    let source = || async { AccessToken::new("b34r3r") };
    let shared = Client::builder("https://example.com/graphql").token_source(source);
    let shared = shared.build().unwrap();
    let mut users = Vec::with_capacity(USERS);
    let memory = allocation_counter::measure(|| {
        users.extend((0..USERS).map(|_| shared.with_token_source(source)));
    });
    // The two counters of the `Arc` around a source of size zero.
    assert_eq!(memory.bytes_current, i64::try_from(USERS * 16).unwrap());
    assert_eq!(memory.count_total, u64::try_from(USERS).unwrap());
    assert!(size_of::<Client>() <= 64, "{}", size_of::<Client>());
}

/// In bytes, for all that is allocated while a client is made.
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

/// All certificates of an operating system take more.
#[test]
fn only_the_first_client_reads_the_certificates_of_the_operating_system() {
    println!(
        "first: {}",
        bytes_of_a_client("https://example.com/graphql")
    );
    let bytes = bytes_of_a_client("https://example.com/graphql");
    assert!(bytes <= CLIENT, "the second client: {bytes} bytes");
}

/// A server on a separate thread, which is not counted; it replies to one request with these bytes.
fn serve_once(reply: impl Into<Vec<u8>>) -> String {
    let reply = reply.into();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut seen = 0;
        let mut request = [0; 16_384];
        while !request[..seen].ends_with(b"}") {
            seen += stream.read(&mut request[seen..]).unwrap();
        }
        // OK to ignore: the client may close the connection early.
        let _ = stream.write_all(&reply);
    });
    address
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
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
        let address = serve_once(format!("{head}content-length: {length}\r\n\r\n{body}"));
        drop(body);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let client = Client::builder(address)
            .token_source(StaticToken::new("b34r3r").unwrap())
            .build()
            .unwrap();
        let mut counts = None;
        let memory = allocation_counter::measure(|| {
            counts = Some(
                match runtime.block_on(client.user_details().into_future()) {
                    Ok(outcome) => (outcome.problems.len(), outcome.problem_count()),
                    Err(error) => {
                        let reason = error.report();
                        assert!(
                            reason.contains("299980 more") && reason.len() < 9_000,
                            "{reason}"
                        );
                        (error.server_errors().len(), error.server_error_count())
                    }
                },
            );
        });
        assert_eq!(counts, Some((1_000, COUNT)));
        // The body, the chunks of its transfer, and the errors that are kept.
        let limit = u64::try_from(length).unwrap() * 2;
        assert!(memory.bytes_max < limit, "{} of {limit}", memory.bytes_max);
    }
}

#[test]
fn a_bomb_of_1_gb_costs_no_more_than_the_limit_of_a_reply() {
    const LIMIT: usize = 4 << 20;
    let config = DeflateConfig {
        // With the head and the end of gzip.
        window_bits: 16 + 15,
        ..DeflateConfig::default()
    };
    let mut member = vec![0; 4_096];
    let (member, _) = compress_slice(&mut member, &vec![0; 1 << 20], config);
    let body = member.repeat(1_000);
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let address = serve_once([head.as_bytes(), &body].concat());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let client = Client::builder(address)
        .token_source(StaticToken::new("b34r3r").unwrap())
        .http(HttpOptions::default().max_body_bytes(LIMIT))
        .build()
        .unwrap();
    let mut error = None;
    let memory = allocation_counter::measure(|| {
        error = runtime.block_on(client.user_details().into_future()).err();
    });
    let error = error.unwrap();
    assert!(
        error.to_string().contains("larger than the limit"),
        "{error}"
    );
    // What came out, and a copy while it grows.
    let limit = u64::try_from(LIMIT).unwrap() * 7 / 4;
    assert!(memory.bytes_max < limit, "{} of {limit}", memory.bytes_max);
}
