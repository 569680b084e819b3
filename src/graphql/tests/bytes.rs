//! Replies with any bytes and any status neither cause a panic nor lose data or server errors.

use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};
use proptest::{collection, option};
use serde_json::{Map, Value, json};

use super::decode;
use super::replies::{GRAPHQL, JSON};
use test_support::seeded::cases;

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let key = prop_oneof![
            "[a-z]{1,4}",
            Just("message".to_owned()),
            Just("path".to_owned()),
            Just("locations".to_owned()),
            Just("extensions".to_owned()),
            Just("data".to_owned()),
            Just("code".to_owned()),
            Just("Code".to_owned()),
        ];
        prop_oneof![
            collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            collection::vec((key, inner), 0..4)
                .prop_map(|fields| fields.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

fn any_media_type() -> impl Strategy<Value = Option<&'static str>> {
    prop_oneof![
        Just(Some(GRAPHQL)),
        Just(Some(JSON)),
        Just(None),
        Just(Some("text/html")),
        Just(Some("")),
    ]
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn any_bytes_give_an_answer(
        status in any::<u16>(),
        media_type in any_media_type(),
        bytes in prop_oneof![
            collection::vec(any::<u8>(), 0..200),
            ".{0,80}".prop_map(String::into_bytes),
            r#"[{}\[\]":,a-z0-9 \\]{0,80}"#.prop_map(|text| format!("{{{text}").into_bytes()),
        ],
    ) {
        let read = decode::<Value>(status, media_type, &bytes);
        if let Some(Err(error)) = read {
            // After any failure, the status and the start of the body are available.
            assert!(error.http_status() == Some(status));
            assert!(error.body_excerpt().is_some());
            let _ = (error.to_string(), format!("{error:?}"));
        }
    }

    #[test]
    fn no_error_of_the_server_is_lost(
        status in 100_u16..600,
        graphql in any::<bool>(),
        data in option::of(any_value()),
        errors in collection::vec(any_value(), 1..4),
    ) {
        let mut body = json!({"errors": errors});
        if let Some(data) = &data {
            body["data"] = data.clone();
        }
        let bytes = serde_json::to_vec(&body).unwrap();
        let media_type = if graphql { GRAPHQL } else { JSON };
        // A type that fits any data, and one of ours that usually does not.
        let fits = decode::<Value>(status, Some(media_type), &bytes).unwrap();
        let ours = decode::<crate::graphql::generated::consignments::ResponseData>(
            status,
            Some(media_type),
            &bytes,
        );
        let errors_read: Vec<Value> = match &fits {
            Ok(outcome) => {
                assert_eq!(Some(&outcome.value), data.as_ref());
                outcome.problems.iter().map(|problem| problem.raw().clone()).collect()
            }
            Err(error) => {
                let data = data.as_ref().filter(|data| !data.is_null());
                assert_eq!(error.raw_data(), data);
                error.server_errors().iter().map(|problem| problem.raw().clone()).collect()
            }
        };
        assert_eq!(&errors_read, &errors);
        match ours.unwrap() {
            Ok(outcome) => assert_eq!(outcome.problems.len(), errors.len()),
            Err(error) => {
                assert_eq!(error.server_errors().len(), errors.len());
                assert_eq!(error.raw_data(), data.as_ref().filter(|data| !data.is_null()));
            }
        }
    }
}
