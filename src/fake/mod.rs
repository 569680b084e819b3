//! Fakes of both interfaces and of the identity provider, to test applications without credentials.
//!
//! [`Fake`] serves on a loopback address, with no credentials and no network beyond it:
//!
//! | part | address | what it does |
//! |---|---|---|
//! | declarations | [`Fake::graphql_url`] | executes any GraphQL document against the schema, with real state |
//! | property register | [`Fake::register_url`] | searches 60 invented properties |
//! | identity provider | [`Fake::authorize_url`], [`Fake::token_url`], [`Fake::revoke_url`], [`Fake::logout_url`] | code flow with PKCE, rotation of refresh tokens, a discovery document |
//!
//! A test may script what goes wrong ([`Fault`]) and what is answered ([`On`]), start from a world of its own ([`World`]),
//! and look at what was received ([`Fake::requests`]). How to test an application with it is told in
//! [`guide::testing`](crate::guide::testing).
//!
//! It reads the specification by itself, apart from [`validate`](mod@crate::validate), and walks the wire JSON: two
//! readings that agree are worth more than one that agrees with itself. All people, properties and texts are invented;
//! only the four test PICs are the service's own.
//!
//! # What is there
//!
//! Sam Sample, who logs in unless [`FakeBuilder::user`] says otherwise, has the accounts `envd-100201` (PIC QAZZ7777) and
//! `envd-100202` (QBZZ2222) of the type LPA, with eight consignments each, and `envd-100203` of another type, with none.
//! The consignments of `envd-100201` have the numbers `C-900000101` to `C-900000108` and the ids
//! `00000000-0000-4000-8000-000000000101` to `...108`; around the first there are a template, a comment, and a user with
//! the role AUTHVIEWER.
//!
//! # What is assumed
//!
//! The specification leaves much open. Where it does, this is what the fake does:
//!
//! * An account that is not one of the user's: "Access denied" and HTTP 403, as for a missing accreditation. The same for
//!   creating, saving or copying without the role Producer and an account of the type LPA.
//! * A form of a program that the user is not accredited for: "Access denied" and HTTP 403, also for a copy. The forms of the
//!   LPA program want `lPA`, EUC1 also `eU`, LPAHRG0 also `hRG`, MSAC1 `mSA`, those of the NFAS program `nFAS`, others none.
//! * Question 185 of `LPAHRG0`: any answer but Yes is refused; without an answer a draft is saved with the warning
//!   "Required", and anything but a draft is refused. It does not matter whether the list has the question.
//! * `LPAHRG0` is seen with the accreditation hRG only (stated, 9.3): without it such consignments are not listed and are
//!   answered as unknown ones.
//! * An unknown consignment or template: the body that the specification shows for an update of one (7.2), also for reads.
//!   `LOCKED` and `DELETED` records refuse changes with that body.
//! * An update names its record by `id` or `number`, replaces the fields that are given, and is judged as a whole.
//! * Deleted consignments stay readable and are listed only when the status `DELETED` is asked for.
//! * Lists are newest first by creation. A page holds 20 records unless `first` says otherwise, and at most 200.
//!   `fromDate` and `toDate` compare `updatedAt` and are inclusive.
//! * Questions 23, 24 and 87 are no part of LPAG3, also in a list that names them for it (stated, 2.6 and 9.4). A child that
//!   names no forms has those of the question above.
//! * `today` is the day at UTC+11:00, where Australia's days begin first. Answers inside a REPEATABLE question carry the row, answers elsewhere no index; others do
//!   not count.
//! * The register counts pages from 1 (see [`FakeBuilder::register_pages_from`]), gives 25 records a page unless asked, at
//!   most 100, and calls fuzzy what contains the text without regard to case. The properties of the sample are found by one
//!   postcode a state, such as 4999 in Queensland, which their records do not show; see [`World::property_postcode`].
//! * Statuses of errors before execution are 400, also for the media type `application/json`, for which
//!   graphql-over-http would rather have 200.
//! * The identity provider shows no pages: who logs in consents at once. A request with `prompt=none` succeeds when somebody
//!   logged in before and did not log out. ID tokens carry no signature.
//! * Messages of field rules follow the family of the two that the specification shows.

mod base64;
mod builder;
mod front;
mod graphql;
mod handles;
mod instant;
mod ledger;
mod library;
mod listing;
mod logins;
mod problem;
mod provider;
mod record;
mod register;
mod reply;
mod routes;
mod rules;
mod script;
mod seed;
mod server;
pub mod store_conformance;
#[cfg(test)]
mod tests;
mod user;
mod wire;
mod world;

pub use self::builder::FakeBuilder;
pub use self::script::{Fault, On, Received, Times, Untyped};
pub use self::server::Fake;
pub use self::user::User;
pub use self::world::{Person, World};
