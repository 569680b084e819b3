// Written by envd-codegen 0.1.0 from GraphQL documents; change those.

::envd_sdk::operations! {
    /// The query `Page`, with variables and reply in [`page`](self::page).
    ///
    /// The consignments of an account, page by page.
    ///
    /// Source: stated, specification 4.1.
    #[allow(clippy::pedantic, dead_code, non_camel_case_types, unreachable_pub)]
    Page => page, page::QUERY;
}

/// Variables and reply of [`Page`].
#[allow(clippy::pedantic, dead_code, non_camel_case_types, unreachable_pub)]
pub mod page {
    /// The document that is sent.
    pub const QUERY: &str = "query Page($account: String!, $first: Int! = 10, $after: String) { consignments(envdAccountId: $account, first: $first, after: $after) { totalCount pageInfo { hasNextPage endCursor } edges { cursor node { id number status species movementDate movementTime heads createdBy updatedAt owner { name pic address { line1 town state postcode } } origin { name pic address { line1 town state postcode } } destination { name pic address { line1 town state postcode } } consignee { name pic address { line1 town state postcode } } forms { type serialNumber } } } } }";

    /// The variables; those without a value are not sent.
    #[derive(Clone, Debug, Default, PartialEq, ::envd_sdk::serde::Serialize, ::envd_sdk::serde::Deserialize)]
    #[serde(crate = "::envd_sdk::serde")]
    pub struct Variables {
        /// The account whose consignments are listed.
        ///
        /// Source: stated, specification 4.1.
        pub account: ::envd_sdk::model::AccountId,
        /// The maximal number of records on a page; default and maximum are not shown.
        ///
        /// Source: stated, specification 4.1.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub first: Option<i64>,
        /// The cursor of the record after which the page starts.
        ///
        /// Source: stated, specification 4.1.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub after: Option<String>,
    }

    /// The `data` of the reply.
    #[derive(Clone, Debug, Default, PartialEq, ::envd_sdk::serde::Serialize, ::envd_sdk::serde::Deserialize)]
    #[serde(crate = "::envd_sdk::serde")]
    #[non_exhaustive]
    pub struct ResponseData {
        /// The consignments of an account, page by page.
        ///
        /// Source: stated, specification 4.1.
        pub consignments: Option<::envd_sdk::model::Connection<::envd_sdk::model::ConsignmentSummary>>,
    }
}

::envd_sdk::operations! {
    /// The query `Rows`, with variables and reply in [`rows`](self::rows).
    ///
    /// The consignments of an account, page by page.
    ///
    /// Source: stated, specification 4.1.
    #[allow(clippy::pedantic, dead_code, non_camel_case_types, unreachable_pub)]
    Rows => rows, rows::QUERY;
}

/// Variables and reply of [`Rows`].
#[allow(clippy::pedantic, dead_code, non_camel_case_types, unreachable_pub)]
pub mod rows {
    /// The document that is sent.
    pub const QUERY: &str = "query Rows($account: String!) { consignments(envdAccountId: $account) { edges { node { number owner { name pic } } } } }";

    /// The variables; those without a value are not sent.
    #[derive(Clone, Debug, Default, PartialEq, ::envd_sdk::serde::Serialize, ::envd_sdk::serde::Deserialize)]
    #[serde(crate = "::envd_sdk::serde")]
    pub struct Variables {
        /// The account whose consignments are listed.
        ///
        /// Source: stated, specification 4.1.
        pub account: ::envd_sdk::model::AccountId,
    }

    /// The `data` of the reply.
    #[derive(Clone, Debug, Default, PartialEq, ::envd_sdk::serde::Serialize, ::envd_sdk::serde::Deserialize)]
    #[serde(crate = "::envd_sdk::serde")]
    #[non_exhaustive]
    pub struct ResponseData {
        /// The consignments of an account, page by page.
        ///
        /// Source: stated, specification 4.1.
        pub consignments: Option<::envd_sdk::model::Connection<super::Row>>,
    }
}

::envd_sdk::operations! {
    /// The query `Two`, with variables and reply in [`two`](self::two).
    ///
    /// One consignment.
    ///
    /// Source: stated, specification 4.1.
    ///
    /// One consignment.
    ///
    /// Source: stated, specification 4.1.
    #[allow(clippy::pedantic, dead_code, non_camel_case_types, unreachable_pub)]
    Two => two, two::QUERY;
}

/// Variables and reply of [`Two`].
#[allow(clippy::pedantic, dead_code, non_camel_case_types, unreachable_pub)]
pub mod two {
    /// The document that is sent.
    pub const QUERY: &str = "query Two($id: String!, $account: String!) { one: consignment(id: $id, envdAccountId: $account) { number owner { name pic } } consignment(id: $id, envdAccountId: $account) { id number status species movementDate movementTime heads createdBy updatedAt owner { name pic address { line1 town state postcode } } origin { name pic address { line1 town state postcode } } destination { name pic address { line1 town state postcode } } consignee { name pic address { line1 town state postcode } } forms { type serialNumber } answers { questionId index value } } }";

    /// The variables; those without a value are not sent.
    #[derive(Clone, Debug, Default, PartialEq, ::envd_sdk::serde::Serialize, ::envd_sdk::serde::Deserialize)]
    #[serde(crate = "::envd_sdk::serde")]
    pub struct Variables {
        /// The id of the consignment; public material passes its number here.
        ///
        /// Source: public material (`OAuthSample`), not confirmed.
        pub id: ::envd_sdk::model::ConsignmentId,
        /// The id of the account.
        ///
        /// Source: public material (`OAuthSample`), not confirmed.
        pub account: ::envd_sdk::model::AccountId,
    }

    /// The `data` of the reply.
    #[derive(Clone, Debug, Default, PartialEq, ::envd_sdk::serde::Serialize, ::envd_sdk::serde::Deserialize)]
    #[serde(crate = "::envd_sdk::serde")]
    #[non_exhaustive]
    pub struct ResponseData {
        /// One consignment.
        ///
        /// Source: stated, specification 4.1.
        pub one: Option<super::Row>,
        /// One consignment.
        ///
        /// Source: stated, specification 4.1.
        pub consignment: Option<Consignment>,
    }

    /// One movement of livestock from an origin to a destination.
    ///
    /// Source: stated, specification 1.2, 2.5.
    #[derive(Clone, Default, PartialEq, ::envd_sdk::serde::Serialize, ::envd_sdk::serde::Deserialize)]
    #[serde(rename_all = "camelCase", crate = "::envd_sdk::serde")]
    #[non_exhaustive]
    pub struct Consignment {
        /// The identifier of the consignment.
        ///
        /// Source: stated, specification 2.5.
        pub id: Option<::envd_sdk::model::ConsignmentId>,
        /// The number of the consignment; public records have `C-` and nine digits.
        ///
        /// Source: stated, specification 2.5.
        pub number: Option<::envd_sdk::model::ConsignmentNumber>,
        /// The state of the consignment.
        ///
        /// Source: stated, specification 2.5.
        pub status: Option<::envd_sdk::model::ConsignmentStatus>,
        /// The kind of livestock.
        ///
        /// Source: public material (`OAuthSample`), not confirmed.
        pub species: Option<::envd_sdk::model::Species>,
        /// The day of the movement: yyyy-MM-dd when it is sent (2.1); a public record has a time after it.
        ///
        /// Source: public material (`OAuthSample`), not confirmed.
        pub movement_date: Option<String>,
        /// The time of the movement, HH:mm when it is sent (2.1).
        ///
        /// Source: public material (`OAuthSample`), not confirmed.
        pub movement_time: Option<String>,
        /// The number of animals.
        ///
        /// Source: public material (`OAuthSample`), not confirmed.
        #[serde(default, deserialize_with = "::envd_sdk::model::lenient::int")]
        pub heads: Option<i64>,
        /// The user who created the consignment.
        ///
        /// Source: public material (`OAuthSample`), not confirmed.
        pub created_by: Option<String>,
        /// The time of the last change.
        ///
        /// Source: public material (`OAuthSample`), not confirmed.
        pub updated_at: Option<::envd_sdk::model::Timestamp>,
        /// The owner of the livestock.
        ///
        /// Source: public material (`OAuthSample`), not confirmed.
        pub owner: Option<::envd_sdk::model::Party>,
        /// The origin of the livestock.
        ///
        /// Source: public material (`OAuthSample`), not confirmed.
        pub origin: Option<::envd_sdk::model::Party>,
        /// The destination of the livestock.
        ///
        /// Source: public material (`OAuthSample`), not confirmed.
        pub destination: Option<::envd_sdk::model::Party>,
        /// The consignee.
        ///
        /// Source: public material (`OAuthSample`), not confirmed.
        pub consignee: Option<::envd_sdk::model::Party>,
        /// The forms of the consignment.
        ///
        /// Source: public material (`OAuthSample`), not confirmed.
        #[serde(default, deserialize_with = "::envd_sdk::model::lenient::list")]
        pub forms: Vec<::envd_sdk::model::ConsignmentForm>,
        /// The answers to the questions of the forms.
        ///
        /// Source: public material (`OAuthSample`), not confirmed.
        #[serde(default, deserialize_with = "::envd_sdk::model::lenient::list")]
        pub answers: Vec<::envd_sdk::model::Answer>,
    }
    impl ::std::fmt::Debug for Consignment {
        fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            f.debug_struct("Consignment")
                .field("id", &self.id)
                .field("number", &self.number)
                .field("status", &self.status)
                .field("species", &self.species)
                .field("movement_date", &self.movement_date)
                .field("movement_time", &self.movement_time)
                .field("heads", &self.heads)
                .field("updated_at", &self.updated_at)
                .field("owner", &self.owner)
                .field("origin", &self.origin)
                .field("destination", &self.destination)
                .field("consignee", &self.consignee)
                .field("forms", &self.forms)
                .field("answers", &self.answers)
                .finish_non_exhaustive()
        }
    }
}

::envd_sdk::operations! {
    /// The query `Herd`, with variables and reply in [`herd`](self::herd).
    ///
    /// `Query.herd`.
    ///
    /// `Query.grid`.
    ///
    /// `Query.thing`.
    #[allow(clippy::pedantic, dead_code, non_camel_case_types, unreachable_pub)]
    Herd => herd, herd::QUERY;
}

/// Variables and reply of [`Herd`].
#[allow(clippy::pedantic, dead_code, non_camel_case_types, unreachable_pub)]
pub mod herd {
    /// The document that is sent.
    pub const QUERY: &str = "query Herd($kind: Kind, $money: Money) { herd(kind: $kind, money: $money) { __typename type self price fooBar foo_bar kind animals { tag } party { name pic address { line1 town state postcode } } } grid thing { __typename } }";

    /// The variables; those without a value are not sent.
    #[derive(Clone, Debug, Default, PartialEq, ::envd_sdk::serde::Serialize, ::envd_sdk::serde::Deserialize)]
    #[serde(crate = "::envd_sdk::serde")]
    pub struct Variables {
        /// `Query.herd(kind:)`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub kind: Option<super::Kind>,
        /// `Query.herd(money:)`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub money: Option<String>,
    }

    /// The `data` of the reply.
    #[derive(Clone, Debug, Default, PartialEq, ::envd_sdk::serde::Serialize, ::envd_sdk::serde::Deserialize)]
    #[serde(crate = "::envd_sdk::serde")]
    #[non_exhaustive]
    pub struct ResponseData {
        /// `Query.herd`.
        pub herd: Option<Herd>,
        /// `Query.grid`.
        #[serde(default, deserialize_with = "::envd_sdk::model::lenient::list")]
        pub grid: Vec<Vec<i64>>,
        /// `Query.thing`.
        pub thing: Option<Thing>,
    }

    /// `Herd`.
    #[derive(Clone, Debug, Default, PartialEq, ::envd_sdk::serde::Serialize, ::envd_sdk::serde::Deserialize)]
    #[serde(rename_all = "camelCase", crate = "::envd_sdk::serde")]
    #[non_exhaustive]
    pub struct Herd {
        /// `Herd.__typename`.
        #[serde(rename = "__typename")]
        pub typename: Option<String>,
        /// `Herd.type`.
        pub type_: Option<String>,
        /// `Herd.self`.
        #[serde(default, deserialize_with = "::envd_sdk::model::lenient::int")]
        pub self_: Option<i64>,
        /// `Herd.price`.
        pub price: Option<String>,
        /// `Herd.fooBar`.
        #[serde(default, deserialize_with = "::envd_sdk::model::lenient::int")]
        pub foo_bar: Option<i64>,
        /// `Herd.foo_bar`.
        #[serde(rename = "foo_bar", default, deserialize_with = "::envd_sdk::model::lenient::int")]
        pub foo_bar_: Option<i64>,
        /// `Herd.kind`.
        pub kind: Option<super::Kind>,
        /// `Herd.animals`.
        #[serde(default, deserialize_with = "::envd_sdk::model::lenient::list")]
        pub animals: Vec<HerdAnimals>,
        /// `Herd.party`.
        pub party: Option<::envd_sdk::model::Party>,
    }

    /// `Animal`.
    #[derive(Clone, Debug, Default, PartialEq, ::envd_sdk::serde::Serialize, ::envd_sdk::serde::Deserialize)]
    #[serde(crate = "::envd_sdk::serde")]
    #[non_exhaustive]
    pub struct HerdAnimals {
        /// `Animal.tag`.
        pub tag: Option<String>,
    }

    /// `Thing`.
    #[derive(Clone, Debug, Default, PartialEq, ::envd_sdk::serde::Serialize, ::envd_sdk::serde::Deserialize)]
    #[serde(crate = "::envd_sdk::serde")]
    #[non_exhaustive]
    pub struct Thing {
        /// `Thing.__typename`.
        #[serde(rename = "__typename")]
        pub typename: Option<String>,
    }
}

::envd_sdk::operations! {
    /// The mutation `Move`, with variables and reply in [`move_`](self::move_).
    ///
    /// `Mutation.move`.
    #[allow(clippy::pedantic, dead_code, non_camel_case_types, unreachable_pub)]
    Move => move_, move_::QUERY;
}

/// Variables and reply of [`Move`].
#[allow(clippy::pedantic, dead_code, non_camel_case_types, unreachable_pub)]
pub mod move_ {
    /// The document that is sent.
    pub const QUERY: &str = "mutation Move($input: MoveInput!) { move(input: $input) { type } }";

    /// The variables; those without a value are not sent.
    #[derive(Clone, Debug, Default, PartialEq, ::envd_sdk::serde::Serialize, ::envd_sdk::serde::Deserialize)]
    #[serde(crate = "::envd_sdk::serde")]
    pub struct Variables {
        /// `Mutation.move(input:)`.
        pub input: super::MoveInput,
    }

    /// The `data` of the reply.
    #[derive(Clone, Debug, Default, PartialEq, ::envd_sdk::serde::Serialize, ::envd_sdk::serde::Deserialize)]
    #[serde(rename_all = "camelCase", crate = "::envd_sdk::serde")]
    #[non_exhaustive]
    pub struct ResponseData {
        /// `Mutation.move`.
        pub move_: Option<Move>,
    }

    /// `Herd`.
    #[derive(Clone, Debug, Default, PartialEq, ::envd_sdk::serde::Serialize, ::envd_sdk::serde::Deserialize)]
    #[serde(rename_all = "camelCase", crate = "::envd_sdk::serde")]
    #[non_exhaustive]
    pub struct Move {
        /// `Herd.type`.
        pub type_: Option<String>,
    }
}

::envd_sdk::operations! {
    /// The mutation `Save`, with variables and reply in [`save`](self::save).
    ///
    /// Creates a consignment, or updates it when it exists.
    ///
    /// Source: stated, specification 4.1.
    #[allow(clippy::pedantic, dead_code, non_camel_case_types, unreachable_pub)]
    Save => save, save::QUERY;
}

/// Variables and reply of [`Save`].
#[allow(clippy::pedantic, dead_code, non_camel_case_types, unreachable_pub)]
pub mod save {
    /// The document that is sent.
    pub const QUERY: &str = "mutation Save($account: String!, $input: CreateOrSaveConsignmentInput!) { createOrSaveConsignment(envdAccountId: $account, input: $input) { data { id number status } } }";

    /// The variables; those without a value are not sent.
    #[derive(Clone, Debug, Default, PartialEq, ::envd_sdk::serde::Serialize, ::envd_sdk::serde::Deserialize)]
    #[serde(crate = "::envd_sdk::serde")]
    pub struct Variables {
        /// The account in whose name the consignment is saved.
        ///
        /// Source: stated, specification 4.1.
        pub account: ::envd_sdk::model::AccountId,
        /// The consignment.
        ///
        /// Source: stated, specification 4.1.
        pub input: ::envd_sdk::model::ConsignmentInput,
    }

    /// The `data` of the reply.
    #[derive(Clone, Debug, Default, PartialEq, ::envd_sdk::serde::Serialize, ::envd_sdk::serde::Deserialize)]
    #[serde(rename_all = "camelCase", crate = "::envd_sdk::serde")]
    #[non_exhaustive]
    pub struct ResponseData {
        /// Creates a consignment, or updates it when it exists.
        ///
        /// Source: stated, specification 4.1.
        pub create_or_save_consignment: Option<::envd_sdk::model::Saved<::envd_sdk::model::SavedConsignment>>,
    }
}

::envd_sdk::operations! {
    /// The mutation `Note`, with variables and reply in [`note`](self::note).
    ///
    /// `Mutation.move`.
    #[allow(clippy::pedantic, dead_code, non_camel_case_types, unreachable_pub)]
    Note => note, note::QUERY;
}

/// Variables and reply of [`Note`].
#[allow(clippy::pedantic, dead_code, non_camel_case_types, unreachable_pub)]
pub mod note {
    /// The document that is sent.
    pub const QUERY: &str = "mutation Note($note: String, $kind: Kind!) { move(input: {note: $note, kind: $kind}) { type } }";

    /// The variables; those without a value are not sent.
    #[derive(Clone, Debug, Default, PartialEq, ::envd_sdk::serde::Serialize, ::envd_sdk::serde::Deserialize)]
    #[serde(default, crate = "::envd_sdk::serde")]
    pub struct Variables {
        /// `$note`.
        #[serde(skip_serializing_if = "::envd_sdk::model::Maybe::is_absent")]
        pub note: ::envd_sdk::model::Maybe<String>,
        /// `$kind`.
        #[serde(skip_serializing_if = "::envd_sdk::model::Maybe::is_absent")]
        pub kind: ::envd_sdk::model::Maybe<super::Kind>,
    }

    /// The `data` of the reply.
    #[derive(Clone, Debug, Default, PartialEq, ::envd_sdk::serde::Serialize, ::envd_sdk::serde::Deserialize)]
    #[serde(rename_all = "camelCase", crate = "::envd_sdk::serde")]
    #[non_exhaustive]
    pub struct ResponseData {
        /// `Mutation.move`.
        pub move_: Option<Move>,
    }

    /// `Herd`.
    #[derive(Clone, Debug, Default, PartialEq, ::envd_sdk::serde::Serialize, ::envd_sdk::serde::Deserialize)]
    #[serde(rename_all = "camelCase", crate = "::envd_sdk::serde")]
    #[non_exhaustive]
    pub struct Move {
        /// `Herd.type`.
        pub type_: Option<String>,
    }
}

#[allow(clippy::pedantic, dead_code, non_camel_case_types, unreachable_pub)]
/// One movement of livestock from an origin to a destination.
///
/// Source: stated, specification 1.2, 2.5.
#[derive(Clone, Debug, Default, PartialEq, ::envd_sdk::serde::Serialize, ::envd_sdk::serde::Deserialize)]
#[serde(crate = "::envd_sdk::serde")]
#[non_exhaustive]
pub struct Row {
    /// The number of the consignment; public records have `C-` and nine digits.
    ///
    /// Source: stated, specification 2.5.
    pub number: Option<::envd_sdk::model::ConsignmentNumber>,
    /// The owner of the livestock.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub owner: Option<RowOwner>,
}

#[allow(clippy::pedantic, dead_code, non_camel_case_types, unreachable_pub)]
/// A party to a consignment.
///
/// Source: public material (`OAuthSample`), not confirmed.
#[derive(Clone, Default, PartialEq, ::envd_sdk::serde::Serialize, ::envd_sdk::serde::Deserialize)]
#[serde(crate = "::envd_sdk::serde")]
#[non_exhaustive]
pub struct RowOwner {
    /// The name of the party, at most 300 characters when it is sent (2.2).
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub name: Option<String>,
    /// The property identification code (PIC), 8 characters.
    ///
    /// Source: public material (`OAuthSample`), not confirmed.
    pub pic: Option<String>,
}
impl ::std::fmt::Debug for RowOwner {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        f.debug_struct("RowOwner")
            .field("pic", &self.pic)
            .finish_non_exhaustive()
    }
}

#[allow(clippy::pedantic, dead_code, non_camel_case_types, unreachable_pub)]
/// `MoveInput`.
#[derive(Clone, Debug, Default, PartialEq, ::envd_sdk::serde::Serialize, ::envd_sdk::serde::Deserialize)]
#[serde(default, crate = "::envd_sdk::serde")]
pub struct MoveInput {
    /// A note \[with](x) `marks`.
    #[serde(skip_serializing_if = "::envd_sdk::model::Maybe::is_absent")]
    pub note: ::envd_sdk::model::Maybe<String>,
    /// `MoveInput.kind`.
    #[serde(skip_serializing_if = "::envd_sdk::model::Maybe::is_absent")]
    pub kind: ::envd_sdk::model::Maybe<Kind>,
    /// `MoveInput.party`.
    #[serde(skip_serializing_if = "::envd_sdk::model::Maybe::is_absent")]
    pub party: ::envd_sdk::model::Maybe<::envd_sdk::model::PartyInput>,
    /// `MoveInput.within`.
    #[serde(skip_serializing_if = "::envd_sdk::model::Maybe::is_absent")]
    pub within: ::envd_sdk::model::Maybe<Box<MoveInput>>,
    /// `MoveInput.all`.
    #[serde(skip_serializing_if = "::envd_sdk::model::Maybe::is_absent")]
    pub all: ::envd_sdk::model::Maybe<Vec<MoveInput>>,
    /// `MoveInput.price`.
    #[serde(skip_serializing_if = "::envd_sdk::model::Maybe::is_absent")]
    pub price: ::envd_sdk::model::Maybe<String>,
}

::envd_sdk::open_enum! {
    /// `Kind`.
    #[allow(clippy::pedantic, dead_code, non_camel_case_types, unreachable_pub)]
    Kind {
        /// `Kind.A_B`.
        AB = "A_B",
        /// `Kind.AB`.
        Ab = "AB",
        /// `Kind.UNRECOGNIZED`.
        Unrecognized_ = "UNRECOGNIZED",
        /// `Kind.SELF`.
        Self_ = "SELF",
        /// `Kind._1`.
        n1 = "_1",
    }
}
