//! Each field rule with values that it accepts and values that it rejects (spec 2.1 to 2.3).

use serde_json::{Value, json};

use crate::model::{ConsignmentInput, Day};
use crate::validate::{Context, Severity, validate_fields};

/// The codes found in a consignment that is fine but for these fields.
fn codes(fields: &Value) -> Vec<String> {
    let mut input = json!({
        "forms": ["LPAC1"],
        "origin": {"pic": "QAZZ7777"},
        "destination": {"pic": "QDZZ3333"},
    });
    for (name, value) in fields.as_object().unwrap() {
        input[name] = value.clone();
    }
    let input: ConsignmentInput = serde_json::from_value(input).unwrap();
    let report = validate_fields(&input, &Context::on(Day::new(2026, 11, 20).unwrap()));
    assert!(
        report
            .findings()
            .iter()
            .all(|f| f.severity == Severity::Error)
    );
    report
        .errors()
        .map(|finding| finding.code.clone())
        .collect()
}

/// Puts each value at a dotted path and looks for exactly one finding there, or none.
fn check(at: &str, good: &[&str], bad: &[&str]) {
    let put = |value: Value| {
        let names = at.split('.').rev();
        let mut fields = names.fold(value, |inner, name| json!({name: inner}));
        if at.starts_with("origin.") || at.starts_with("destination.") {
            let party = at.split('.').next().unwrap();
            if fields[party]["pic"].is_null() {
                fields[party]["pic"] = "QAZZ7777".into();
            }
        }
        codes(&fields)
    };
    assert_eq!(put(Value::Null), [""; 0], "null at {at}");
    for value in good {
        assert_eq!(put((*value).into()), [""; 0], "{value} at {at}");
    }
    for value in bad {
        assert_eq!(put((*value).into()), [at], "{value} at {at}");
    }
}

#[test]
fn pics_have_eight_letters_or_digits() {
    let good = ["QAZZ7777", "qazz7777", "3ZZZZ002"];
    let bad = [
        "",
        "QAZZ777",
        "QAZZ77777",
        "QAZZ-777",
        "QÄZZ777",
        " QAZZ7777",
        "🐄🐄",
    ];
    for party in ["owner.pic", "consignee.pic"] {
        check(party, &good, &bad);
    }
    for party in ["origin", "destination"] {
        for pic in good {
            assert_eq!(codes(&json!({party: {"pic": pic}})), [""; 0]);
        }
        for pic in bad {
            assert_eq!(
                codes(&json!({party: {"pic": pic}})),
                [format!("{party}.pic")]
            );
        }
    }
    for missing in [
        json!({"origin": {}}),
        json!({"origin": {"pic": null}}),
        json!({"origin": null}),
    ] {
        assert_eq!(codes(&missing), ["origin.pic"]);
    }
    assert_eq!(codes(&json!({"destination": {}})), ["destination.pic"]);
    assert_eq!(codes(&json!({"origin": {"pic": "x"}})), ["origin.pic"]);
}

#[test]
fn lengths_count_characters() {
    let (u300, u301) = ("ü".repeat(300), "ü".repeat(301));
    for at in ["owner.name", "declaration.fullName", "owner.address.line1"] {
        check(at, &[&u300, ""], &[&u301, &"u".repeat(301)]);
    }
    check(
        "declaration.address.town",
        &[&"ü".repeat(100)],
        &[&"ü".repeat(101)],
    );
    check(
        "declaration.certificateNumber",
        &["ZZ00001", "🐄🐄🐄🐄🐄🐄🐄"],
        &["ZZ000001"],
    );
}

#[test]
fn addresses_have_a_postcode_and_a_state() {
    for party in ["origin", "destination", "owner", "consignee", "declaration"] {
        check(
            &format!("{party}.address.postcode"),
            &["1000", "9999", "4999"],
            &["0999", "0800", "10000", "999", "", "４999", "4 99", "-999"],
        );
        check(
            &format!("{party}.address.state"),
            &["ACT", "NSW", "NT", "QLD", "SA", "TAS", "VIC", "WA"],
            &["", "qld", "XX", "NSW "],
        );
    }
}

#[test]
fn dates_and_times_exist() {
    check(
        "movementDate",
        &["2026-11-23", "2024-02-29"],
        &[
            "",
            "2026-02-29",
            "2026-1-2",
            "23/11/2026",
            "2026-11-23T00:00:00",
            "0000-01-01",
            "+12026-11-23",
        ],
    );
    check(
        "movementTime",
        &["00:00", "23:59", "05:15"],
        &["", "24:00", "12:60", "5:15", "05:15:00", "05-15", "0５:15"],
    );
    check(
        "declaration.date",
        &["2026-11-20T09:45:00", "2024-02-29T23:59:59"],
        &[
            "",
            "2026-11-20",
            "2026-02-29T00:00:00",
            "2026-11-20T24:00:00",
            // A leap second needs a known time zone (RFC 3339, section 5.7), which the form of spec 2.3 lacks.
            "2026-11-20T09:45:60",
            "2026-01-29T14:00:60",
            "2016-12-31T23:59:60",
            "0000-01-01T00:00:00",
            "2026-11-20T09:45",
            "2026-11-20 09:45:00",
            "2026-11-20T09:45:00Z",
        ],
    );
}

#[test]
fn email_phone_and_signature_have_their_formats() {
    check(
        "declaration.email",
        &[
            "sam@example.com",
            "a.b+c@x-y.example",
            "o'sample@example.com.au",
            "\"a@b\"@example.com",
        ],
        &[
            "",
            "sam",
            "@example.com",
            "sam@",
            "sam@example",
            "a b@example.com",
            "a@b..com",
            "a@.example",
            "a@example.",
            "a@-x.example",
            ".a@example.com",
            "a.@example.com",
            "a..b@example.com",
            "a@b@example.com",
            "a@example.com ",
            "sam@example,com",
            "Sam <sam@example.com>",
            "sam@[127.0.0.1]",
        ],
    );
    check(
        "declaration.phone",
        &[
            "0491570156",
            "+61491570156",
            "(07) 5550 1234",
            "1300-975-707",
            "131114",
            "13 11 14",
            "1234567",
            "123456789012345",
        ],
        &[
            "",
            "+",
            "12345",
            "+131114",
            "13 TAXI",
            "1234567890123456",
            "call me",
            "07+5550123",
            "0491570156x",
        ],
    );
    check(
        "declaration.signature",
        &["", "Zg==", "Zm8=", "Zm9v", "data:image/png;base64,Zm9v"],
        &[
            "Zg",
            "Zg=",
            "Zg==Zg==",
            "====",
            "Zm9v\n",
            "not base64!",
            "Zm-_",
            "data:text/plain;base64,Zm9v",
        ],
    );
}

#[test]
fn the_origin_pic_is_compared_only_with_a_known_account() {
    let input: ConsignmentInput = serde_json::from_value(
        json!({"forms": ["LPAC1"], "origin": {"pic": "qazz7777"}, "destination": {"pic": "QDZZ3333"}}),
    )
    .unwrap();
    let context = Context::on(Day::new(2026, 11, 20).unwrap());
    for (pic, valid) in [
        (None, true),
        (Some("QAZZ7777"), true),
        (Some("QDZZ3333"), false),
    ] {
        let context = match pic {
            Some(pic) => context.clone().account_pic(pic),
            None => context.clone(),
        };
        let report = validate_fields(&input, &context);
        assert_eq!(report.is_valid(), valid, "{pic:?}");
        assert_eq!(report.at("consignorPic").count(), usize::from(!valid));
    }
}
