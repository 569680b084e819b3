//! Mistakes that the checks report, and code that looks like one and is right.

use super::{
    Check, LONGEST, declared, features, globs, layers, names, readers, reqwest_users, supers,
};
use super::{code, is_too_long, is_too_short};

/// A line is the path and the text of a file. `/` ends a line of the text, and `FAKE` is an attribute.
fn problems(check: Check, case: &str) -> usize {
    let (path, text) = case.split_once(": ").unwrap();
    let text = text
        .replace(" / ", "\n")
        .replace("FAKE", "#[cfg(feature = \"fake\")]");
    check(path, &code(&text)).len()
}

fn holds(check: Check, wrong: &str, right: &str) {
    for case in wrong.trim().lines() {
        assert_eq!(problems(check, case.trim()), 1, "{case}");
    }
    for case in right.trim().lines() {
        assert_eq!(problems(check, case.trim()), 0, "{case}");
    }
}

#[test]
fn a_use_of_a_higher_layer_is_reported() {
    // Neither the crate root nor an unlisted module is a room.
    let wrong = "
        model/pic.rs: use crate::validate::Report;
        secret.rs: use crate::model::Pic;
        error/mod.rs: fn f(_: crate::transport::Reply) {}
        graphql/body.rs: use crate::transport::{Body, Http};
        graphql/body.rs: use crate::tls::connector;
        ops/user.rs: use crate::register::Register;
        fake/world.rs: use crate::validate::Report;
        auth/token.rs: use crate::Error;
        auth/token.rs: use crate::{error::Error, secret::Secret};
        auth/token.rs: use crate::*;
        auth/token.rs: use crate::clock::Clock;
        clock.rs: use std::fmt;";
    let right = r##"
        model/pdf_url.rs: use crate::secret::Secret;
        transport/http.rs: use crate::tls::connector;
        auth/store/record.rs: pub(in crate::auth) struct Intent;
        auth/token.rs: pub(crate) use crate::error::{Error, Result};
        fake/mod.rs: //! Apart from [`validate`](mod@crate::validate).
        secret.rs: /* crate::model */ const A: &str = "\"crate::model"; // crate::model
        secret.rs: const A: (&str, char) = (r#""crate::model"#, '"'); fn f<'a>(_: &'a str) {}"##;
    holds(layers, wrong, right);
}

#[test]
fn super_to_the_crate_root_is_reported() {
    let wrong = "
        auth/mod.rs: use super::validate::Report;
        auth/token.rs: use super::super::client::Client;
        secret.rs: mod tests { use super::super::model::Pic; }";
    let right = "
        auth/token.rs: use super::token_set::TokenSet;
        auth/store/record.rs: use super::super::token_set::TokenSet;
        secret.rs: mod tests { use super::*; }";
    holds(supers, wrong, right);
}

#[test]
fn a_glob_import_is_reported() {
    let wrong = "
        auth/token.rs: use crate::error::*;
        auth/token.rs: use crate::model::{Pic, / codes::*};
        auth/mod.rs: pub use self::token::*;
        auth/token.rs: use super::*; mod tests { use super::*; }
        graphql/mod.rs: pub use self::generated::*;";
    let right = "
        model/mod.rs: pub use self::generated::*;
        model/pic.rs: #[cfg(test)] mod tests { use super::*; }
        auth/manager/tests/mod.rs: use super::*;
        model/pic.rs: use std::fmt; const A: u8 = 2 * 3;";
    holds(globs, wrong, right);
}

#[test]
fn a_misplaced_cfg_feature_is_reported() {
    let wrong = r#"
        auth/mod.rs: FAKE / struct A;
        auth/mod.rs: #[cfg(all(unix, feature = "fake"))] / impl A {}
        auth/mod.rs: FAKE / mod fake { / fn f() {} / }
        auth/mod.rs: FAKE / pub use self::always::A; / mod always;
        auth/mod.rs: FAKE / use crate::fake::A;
        auth/mod.rs: #[cfg(all( / unix, / feature = "fake" / ))] / const A: u8 = 1;
        auth/mod.rs: #[cfg_attr(feature = "fake", path = "a.rs")] / mod fake;
        auth/mod.rs: fn f() -> bool { / cfg!(feature = "fake") / }"#;
    let right = r#"
        auth/mod.rs: #[cfg(target_os = "linux")] / fn feature() {}
        auth/mod.rs: #[cfg(all(unix, feature = "sealed"))] / #[doc = "a"] / pub(crate) mod sealed;
        auth/mod.rs: FAKE / mod fake; / FAKE / pub use self::fake::A;
        auth/mod.rs: #[cfg(all( / unix, / feature = "sealed" / ))] / pub(in crate::auth) mod sealed;
        auth/mod.rs: FAKE / #[must_use] / pub async fn f() {}
        auth/mod.rs: #![cfg_attr(feature = "fake", doc = "a")] / #[cfg_attr(not(feature = "fake"), doc = "b")] / mod page {}
        auth/mod.rs: const A: &str = "(feature = 1)";"#;
    holds(features, wrong, right);
}

#[test]
fn a_vague_name_and_a_use_of_reqwest_are_reported() {
    let wrong = "
        client/helpers/mod.rs: use std::fmt;
        client/mod.rs: mod common {}";
    holds(names, wrong, "auth/token.rs: mod tests {}");
    let planted = "auth/token.rs: use reqwest::header::HeaderValue;";
    holds(
        reqwest_users,
        planted,
        &planted.replace("auth", "transport"),
    );
}

#[test]
fn a_clock_in_the_validator_is_reported() {
    let wrong = "
        validate/year.rs: fn today() -> Time { Time::now() }
        model/day.rs: use std::fs::File;";
    let right = "
        auth/token.rs: fn today() -> Time { Time::now() }
        validate/year.rs: mod tests { use std::fs::File; }";
    holds(readers, wrong, right);
}

#[test]
fn long_and_short_files_and_declared_names_are_found() {
    let long = "\n".repeat(LONGEST + 1);
    assert!(is_too_long("auth/token.rs", &long) && !is_too_long("auth/token.rs", &long[1..]));
    assert!(!is_too_long("model/generated.rs", &long));
    let lines = "fn f() {}\n".repeat(29);
    let text = format!("//! A page.\n\n{lines}mod tests {{\n{lines}}}\n");
    assert!(is_too_short("auth/token.rs", &code(&text)));
    assert!(!is_too_short("auth/token.rs", &(lines + "fn g() {}\n")));
    assert!(!is_too_short("auth/mod.rs", "") && !is_too_short("auth/manager/tests/mod.rs", ""));
    let text =
        "pub struct A<T>(T);\n    enum B {}\ntype C = u8;\n    type D = u8;\n// trait E {}\n";
    let found: Vec<String> = declared("auth/token.rs", &code(text)).into_iter().collect();
    assert_eq!(found, ["A", "B", "C"]);
}
