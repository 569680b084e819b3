// Written by tests/codegen from graphql/; change it there and run UPDATE_GENERATED=1 cargo test -p codegen.

use super::document::{OperationDocument, OperationKind, Selection};
crate::operations! {
    /// The query `comments`.
    /// The comments of a consignment.
    ///
    /// Source: stated, specification 4.1.
    ///
    /// [`AccountClient::comments`](crate::AccountClient::comments) runs it and has an example. The [module](self) shows what else the type is for.
    Comments => comments, comments::DOCUMENT.text;
    /// The query `consignment`.
    /// One consignment.
    ///
    /// Source: stated, specification 4.1.
    ///
    /// [`AccountClient::consignment`](crate::AccountClient::consignment) runs it and has an example. The [module](self) shows what else the type is for.
    Consignment => consignment, consignment::DOCUMENT.text;
    /// The query `consignmentUserMapping`.
    /// The users who may see a consignment, and their roles.
    ///
    /// Source: stated, specification 4.1.
    ///
    /// [`AccountClient::user_mappings`](crate::AccountClient::user_mappings) runs it and has an example. The [module](self) shows what else the type is for.
    ConsignmentUserMapping => consignment_user_mapping, consignment_user_mapping::DOCUMENT.text;
    /// The query `consignments`.
    /// The consignments of an account, page by page.
    ///
    /// Source: stated, specification 4.1.
    ///
    /// [`AccountClient::consignments`](crate::AccountClient::consignments) runs it and has an example. The [module](self) shows what else the type is for.
    Consignments => consignments, consignments::DOCUMENT.text;
    /// The mutation `copyConsignment`.
    /// Copies a consignment that the producer created before; arguments and result are not shown.
    ///
    /// Source: stated, specification 4.1.
    ///
    /// [`AccountClient::copy_consignment`](crate::AccountClient::copy_consignment) runs it and has an example. The [module](self) shows what else the type is for.
    CopyConsignment => copy_consignment, copy_consignment::DOCUMENT.text;
    /// The mutation `createComment`.
    /// Adds a comment to a consignment; arguments and result are not shown.
    ///
    /// Source: stated, specification 4.1.
    ///
    /// [`AccountClient::create_comment`](crate::AccountClient::create_comment) runs it and has an example. The [module](self) shows what else the type is for.
    CreateComment => create_comment, create_comment::DOCUMENT.text;
    /// The mutation `createOrSaveConsignment`.
    /// Creates a consignment, or updates it when it exists.
    ///
    /// Source: stated, specification 4.1.
    ///
    /// [`AccountClient::save_consignment`](crate::AccountClient::save_consignment) runs it and has an example. The [module](self) shows what else the type is for.
    CreateOrSaveConsignment => create_or_save_consignment, create_or_save_consignment::DOCUMENT.text;
    /// The mutation `createOrSaveTemplate`.
    /// Creates a template, or updates it when it exists; arguments and result are not shown.
    ///
    /// Source: stated, specification 4.1.
    ///
    /// [`AccountClient::save_template`](crate::AccountClient::save_template) runs it and has an example. The [module](self) shows what else the type is for.
    CreateOrSaveTemplate => create_or_save_template, create_or_save_template::DOCUMENT.text;
    /// The mutation `deleteConsignment`.
    /// Deletes a consignment; arguments and result are not shown.
    ///
    /// Source: stated, specification 4.1.
    ///
    /// [`AccountClient::delete_consignment`](crate::AccountClient::delete_consignment) runs it and has an example. The [module](self) shows what else the type is for.
    DeleteConsignment => delete_consignment, delete_consignment::DOCUMENT.text;
    /// The mutation `deleteTemplate`.
    /// Deletes a template; arguments and result are not shown.
    ///
    /// Source: stated, specification 4.1.
    ///
    /// [`AccountClient::delete_template`](crate::AccountClient::delete_template) runs it and has an example. The [module](self) shows what else the type is for.
    DeleteTemplate => delete_template, delete_template::DOCUMENT.text;
    /// The query `edecs`.
    /// The declarations that the user made in the electronic declaration system (eDEC).
    ///
    /// Source: stated, specification 4.1.
    ///
    /// [`AccountClient::edecs`](crate::AccountClient::edecs) runs it and has an example. The [module](self) shows what else the type is for.
    Edecs => edecs, edecs::DOCUMENT.text;
    /// The query `consignments`, by the name `FullConsignments`.
    /// The consignments of an account, page by page.
    ///
    /// Source: stated, specification 4.1.
    ///
    /// [`AccountClient::full_consignments`](crate::AccountClient::full_consignments) runs it and has an example. The [module](self) shows what else the type is for.
    FullConsignments => full_consignments, full_consignments::DOCUMENT.text;
    /// The query `questions`.
    /// All questions of all forms.
    ///
    /// Source: stated, specification 4.1.
    ///
    /// [`Client::questions`](crate::Client::questions) runs it and has an example. The [module](self) shows what else the type is for.
    Questions => questions, questions::DOCUMENT.text;
    /// The query `template`.
    /// One template.
    ///
    /// Source: stated, specification 4.1.
    ///
    /// [`AccountClient::template`](crate::AccountClient::template) runs it and has an example. The [module](self) shows what else the type is for.
    Template => template, template::DOCUMENT.text;
    /// The query `templates`.
    /// The templates of an account.
    ///
    /// Source: stated, specification 4.1.
    ///
    /// [`AccountClient::templates_page`](crate::AccountClient::templates_page) runs it and has an example. The [module](self) shows what else the type is for.
    Templates => templates, templates::DOCUMENT.text;
    /// The query `userDetails`.
    /// The user of the access token, with accounts and roles.
    ///
    /// Source: stated, specification 4.1.
    ///
    /// [`Client::user_details`](crate::Client::user_details) runs it and has an example. The [module](self) shows what else the type is for.
    UserDetails => user_details, user_details::DOCUMENT.text;
}
/// The documents of all operations.
pub(super) static DOCUMENTS: [&OperationDocument; 16] = [
    &comments::DOCUMENT, &consignment::DOCUMENT, &consignment_user_mapping::DOCUMENT,
    &consignments::DOCUMENT, &copy_consignment::DOCUMENT, &create_comment::DOCUMENT,
    &create_or_save_consignment::DOCUMENT, &create_or_save_template::DOCUMENT,
    &delete_consignment::DOCUMENT, &delete_template::DOCUMENT, &edecs::DOCUMENT,
    &full_consignments::DOCUMENT, &questions::DOCUMENT, &template::DOCUMENT, &templates::DOCUMENT,
    &user_details::DOCUMENT,
];
/// The selections of each fragment.
mod selections {
    use super::Selection;
    pub(super) const ACCEPTABLE_ANSWER: &[Selection] = &[Selection("displayName", &[]), Selection("value", &[])];
    pub(super) const ACCOUNT_PROPERTY: &[Selection] = &[Selection("propertyName", &[]), Selection("accreditations", ACCREDITATIONS)];
    pub(super) const ACCREDITATIONS: &[Selection] = &[Selection("lPA", &[]), Selection("eU", &[]), Selection("mSA", &[]), Selection("eUGFHQB", &[]), Selection("nFAS", &[]), Selection("hRG", &[])];
    pub(super) const ADDRESS: &[Selection] = &[Selection("line1", &[]), Selection("town", &[]), Selection("state", &[]), Selection("postcode", &[])];
    pub(super) const ANSWER: &[Selection] = &[Selection("questionId", &[]), Selection("index", &[]), Selection("value", &[])];
    pub(super) const COMMENT: &[Selection] = &[Selection("commentId", &[]), Selection("consignmentNumber", &[]), Selection("role", &[]), Selection("firstName", &[]), Selection("lastName", &[]), Selection("commentText", &[]), Selection("createdAt", &[])];
    pub(super) const CONSIGNMENT: &[Selection] = &[Selection("id", &[]), Selection("number", &[]), Selection("status", &[]), Selection("species", &[]), Selection("movementDate", &[]), Selection("movementTime", &[]), Selection("heads", &[]), Selection("pdfUrl", &[]), Selection("createdBy", &[]), Selection("updatedAt", &[]), Selection("updatedBy", &[]), Selection("submittedAt", &[]), Selection("owner", PARTY), Selection("origin", PARTY), Selection("destination", PARTY), Selection("consignee", PARTY), Selection("forms", CONSIGNMENT_FORM), Selection("answers", ANSWER), Selection("questions", QUESTION), Selection("declaration", DECLARATION)];
    pub(super) const CONSIGNMENT_EDGE: &[Selection] = &[Selection("cursor", &[]), Selection("node", CONSIGNMENT_SUMMARY)];
    pub(super) const CONSIGNMENT_FORM: &[Selection] = &[Selection("type", &[]), Selection("serialNumber", &[])];
    pub(super) const CONSIGNMENT_PAGE: &[Selection] = &[Selection("totalCount", &[]), Selection("pageInfo", PAGE_INFO), Selection("edges", CONSIGNMENT_EDGE)];
    pub(super) const CONSIGNMENT_SUMMARY: &[Selection] = &[Selection("id", &[]), Selection("number", &[]), Selection("status", &[]), Selection("species", &[]), Selection("movementDate", &[]), Selection("movementTime", &[]), Selection("heads", &[]), Selection("createdBy", &[]), Selection("updatedAt", &[]), Selection("owner", PARTY), Selection("origin", PARTY), Selection("destination", PARTY), Selection("consignee", PARTY), Selection("forms", CONSIGNMENT_FORM)];
    pub(super) const CONSIGNMENT_USER_MAPPING: &[Selection] = &[Selection("mappingId", &[]), Selection("email", &[]), Selection("firstName", &[]), Selection("lastName", &[]), Selection("role", &[]), Selection("pic", &[]), Selection("numOfHeads", &[])];
    pub(super) const DECLARATION: &[Selection] = &[Selection("accept", &[]), Selection("fullName", &[]), Selection("phone", &[]), Selection("email", &[]), Selection("date", &[]), Selection("signature", &[]), Selection("certificateNumber", &[]), Selection("address", ADDRESS)];
    pub(super) const EDEC: &[Selection] = &[Selection("id", &[]), Selection("number", &[]), Selection("status", &[]), Selection("createdAt", &[])];
    pub(super) const FULL_CONSIGNMENT_EDGE: &[Selection] = &[Selection("cursor", &[]), Selection("node", CONSIGNMENT)];
    pub(super) const FULL_CONSIGNMENT_PAGE: &[Selection] = &[Selection("totalCount", &[]), Selection("pageInfo", PAGE_INFO), Selection("edges", FULL_CONSIGNMENT_EDGE)];
    pub(super) const PAGE_INFO: &[Selection] = &[Selection("hasNextPage", &[]), Selection("endCursor", &[])];
    pub(super) const PARTY: &[Selection] = &[Selection("name", &[]), Selection("pic", &[]), Selection("address", ADDRESS)];
    pub(super) const QUESTION: &[Selection] = &[Selection("id", &[]), Selection("order", &[]), Selection("text", &[]), Selection("help", &[]), Selection("tip", &[]), Selection("readOnly", &[]), Selection("forms", &[]), Selection("type", &[]), Selection("triggers", TRIGGER), Selection("validators", QUESTION_VALIDATOR), Selection("acceptableAnswers", ACCEPTABLE_ANSWER), Selection("childQuestions", QUESTION_DEPTH2)];
    pub(super) const QUESTION_DEPTH2: &[Selection] = &[Selection("id", &[]), Selection("order", &[]), Selection("text", &[]), Selection("help", &[]), Selection("tip", &[]), Selection("readOnly", &[]), Selection("forms", &[]), Selection("type", &[]), Selection("triggers", TRIGGER), Selection("validators", QUESTION_VALIDATOR), Selection("acceptableAnswers", ACCEPTABLE_ANSWER), Selection("childQuestions", QUESTION_DEPTH3)];
    pub(super) const QUESTION_DEPTH3: &[Selection] = &[Selection("id", &[]), Selection("order", &[]), Selection("text", &[]), Selection("help", &[]), Selection("tip", &[]), Selection("readOnly", &[]), Selection("forms", &[]), Selection("type", &[]), Selection("triggers", TRIGGER), Selection("validators", QUESTION_VALIDATOR), Selection("acceptableAnswers", ACCEPTABLE_ANSWER), Selection("childQuestions", QUESTION_DEPTH4)];
    pub(super) const QUESTION_DEPTH4: &[Selection] = &[Selection("id", &[]), Selection("order", &[]), Selection("text", &[]), Selection("help", &[]), Selection("tip", &[]), Selection("readOnly", &[]), Selection("forms", &[]), Selection("type", &[]), Selection("triggers", TRIGGER), Selection("validators", QUESTION_VALIDATOR), Selection("acceptableAnswers", ACCEPTABLE_ANSWER), Selection("childQuestions", QUESTION_DEPTH5)];
    pub(super) const QUESTION_DEPTH5: &[Selection] = &[Selection("id", &[]), Selection("order", &[]), Selection("text", &[]), Selection("help", &[]), Selection("tip", &[]), Selection("readOnly", &[]), Selection("forms", &[]), Selection("type", &[]), Selection("triggers", TRIGGER), Selection("validators", QUESTION_VALIDATOR), Selection("acceptableAnswers", ACCEPTABLE_ANSWER), Selection("childQuestions", QUESTION_DEPTH6)];
    pub(super) const QUESTION_DEPTH6: &[Selection] = &[Selection("id", &[]), Selection("order", &[]), Selection("text", &[]), Selection("help", &[]), Selection("tip", &[]), Selection("readOnly", &[]), Selection("forms", &[]), Selection("type", &[]), Selection("triggers", TRIGGER), Selection("validators", QUESTION_VALIDATOR), Selection("acceptableAnswers", ACCEPTABLE_ANSWER), Selection("childQuestions", QUESTION_DEPTH7)];
    pub(super) const QUESTION_DEPTH7: &[Selection] = &[Selection("id", &[]), Selection("order", &[]), Selection("text", &[]), Selection("help", &[]), Selection("tip", &[]), Selection("readOnly", &[]), Selection("forms", &[]), Selection("type", &[]), Selection("triggers", TRIGGER), Selection("validators", QUESTION_VALIDATOR), Selection("acceptableAnswers", ACCEPTABLE_ANSWER), Selection("childQuestions", QUESTION_DEPTH8)];
    pub(super) const QUESTION_DEPTH8: &[Selection] = &[Selection("id", &[]), Selection("order", &[]), Selection("text", &[]), Selection("help", &[]), Selection("tip", &[]), Selection("readOnly", &[]), Selection("forms", &[]), Selection("type", &[]), Selection("triggers", TRIGGER), Selection("validators", QUESTION_VALIDATOR), Selection("acceptableAnswers", ACCEPTABLE_ANSWER), Selection("childQuestions", QUESTION_DEPTH9)];
    pub(super) const QUESTION_DEPTH9: &[Selection] = &[Selection("id", &[])];
    pub(super) const QUESTION_LIST: &[Selection] = &[Selection("items", QUESTION)];
    pub(super) const QUESTION_VALIDATOR: &[Selection] = &[Selection("type", &[]), Selection("parameter", &[]), Selection("errorMessage", &[])];
    pub(super) const SAVED_CONSIGNMENT: &[Selection] = &[Selection("id", &[]), Selection("number", &[]), Selection("status", &[])];
    pub(super) const SAVED_TEMPLATE: &[Selection] = &[Selection("id", &[]), Selection("number", &[]), Selection("name", &[])];
    pub(super) const TEMPLATE: &[Selection] = &[Selection("id", &[]), Selection("number", &[]), Selection("name", &[]), Selection("species", &[]), Selection("owner", PARTY), Selection("origin", PARTY), Selection("destination", PARTY), Selection("consignee", PARTY), Selection("forms", CONSIGNMENT_FORM)];
    pub(super) const TEMPLATE_EDGE: &[Selection] = &[Selection("cursor", &[]), Selection("node", TEMPLATE)];
    pub(super) const TEMPLATE_PAGE: &[Selection] = &[Selection("totalCount", &[]), Selection("pageInfo", PAGE_INFO), Selection("edges", TEMPLATE_EDGE)];
    pub(super) const TRIGGER: &[Selection] = &[Selection("questionId", &[]), Selection("value", &[])];
    pub(super) const USER_ACCOUNT: &[Selection] = &[Selection("envdAccountId", &[]), Selection("accountLabel", &[]), Selection("accountId", &[]), Selection("accountType", &[]), Selection("email", &[]), Selection("roles", &[]), Selection("properties", ACCOUNT_PROPERTY)];
    pub(super) const USER_DETAILS: &[Selection] = &[Selection("auth0Id", &[]), Selection("isNewUser", &[]), Selection("email", &[]), Selection("firstName", &[]), Selection("lastName", &[]), Selection("mobilePhone", &[]), Selection("defaultAccount", &[]), Selection("accounts", USER_ACCOUNT), Selection("accreditations", ACCREDITATIONS), Selection("roles", &[])];
}
/// Variables and reply of `comments`.
pub mod comments {
    use crate::model::{AccountId, Comment, ConsignmentNumber};
    pub(crate) static DOCUMENT: super::OperationDocument = super::OperationDocument {
        text: "query Comments($envdAccountId: String!, $consignmentNumber: String!) { comments(envdAccountId: $envdAccountId, consignmentNumber: $consignmentNumber) { commentId consignmentNumber role firstName lastName commentText createdAt } }",
        kind: super::OperationKind::Query, operation: "Comments", name: "comments",
        field: "comments",
        variables: &[("envdAccountId", "String!"), ("consignmentNumber", "String!")],
        record: super::selections::COMMENT, list: &["comments"],
    };
    /// The variables; those that are `None` are not sent.
    ///
    /// Of the operation [`Comments`](super::Comments). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Variables {
        /// The id of the account.
        ///
        /// Source: public material (`OAuthSample`), not confirmed.
        pub envd_account_id: AccountId,
        /// The number of the consignment.
        ///
        /// Source: public material (`OAuthSample`), not confirmed.
        pub consignment_number: ConsignmentNumber,
    }
    /// The `data` of the reply.
    ///
    /// Of the operation [`Comments`](super::Comments). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
    #[non_exhaustive]
    pub struct ResponseData {
        /// The comments of a consignment.
        ///
        /// Source: stated, specification 4.1.
        #[serde(default, deserialize_with = "crate::model::list")]
        pub comments: Vec<Comment>,
    }
}
/// Variables and reply of `consignment`.
pub mod consignment {
    use crate::model::{AccountId, Consignment, ConsignmentId};
    pub(crate) static DOCUMENT: super::OperationDocument = super::OperationDocument {
        text: "query Consignment($id: String!, $envdAccountId: String!) { consignment(id: $id, envdAccountId: $envdAccountId) { id number status species movementDate movementTime heads pdfUrl createdBy updatedAt updatedBy submittedAt owner { name pic address { line1 town state postcode } } origin { name pic address { line1 town state postcode } } destination { name pic address { line1 town state postcode } } consignee { name pic address { line1 town state postcode } } forms { type serialNumber } answers { questionId index value } questions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id } } } } } } } } } declaration { accept fullName phone email date signature certificateNumber address { line1 town state postcode } } } }",
        kind: super::OperationKind::Query, operation: "Consignment", name: "consignment",
        field: "consignment", variables: &[("id", "String!"), ("envdAccountId", "String!")],
        record: super::selections::CONSIGNMENT, list: &[],
    };
    /// The variables; those that are `None` are not sent.
    ///
    /// Of the operation [`Consignment`](super::Consignment). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Variables {
        /// The id of the consignment; public material passes its number here.
        ///
        /// Source: public material (`OAuthSample`), not confirmed.
        pub id: ConsignmentId,
        /// The id of the account.
        ///
        /// Source: public material (`OAuthSample`), not confirmed.
        pub envd_account_id: AccountId,
    }
    /// The `data` of the reply.
    ///
    /// Of the operation [`Consignment`](super::Consignment). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
    #[non_exhaustive]
    pub struct ResponseData {
        /// One consignment.
        ///
        /// Source: stated, specification 4.1.
        pub consignment: Option<Consignment>,
    }
}
/// Variables and reply of `consignmentUserMapping`.
pub mod consignment_user_mapping {
    use crate::model::{AccountId, ConsignmentNumber, ConsignmentUserMapping};
    pub(crate) static DOCUMENT: super::OperationDocument = super::OperationDocument {
        text: "query ConsignmentUserMapping($envdAccountId: String!, $consignmentNumber: String!, $role: String!) { consignmentUserMapping(envdAccountId: $envdAccountId, consignmentNumber: $consignmentNumber, role: $role) { mappingId email firstName lastName role pic numOfHeads } }",
        kind: super::OperationKind::Query, operation: "ConsignmentUserMapping",
        name: "consignmentUserMapping", field: "consignmentUserMapping",
        variables: &[("envdAccountId", "String!"), ("consignmentNumber", "String!"), ("role", "String!")],
        record: super::selections::CONSIGNMENT_USER_MAPPING, list: &["consignmentUserMapping"],
    };
    /// The variables; those that are `None` are not sent.
    ///
    /// Of the operation [`ConsignmentUserMapping`](super::ConsignmentUserMapping). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Variables {
        /// The id of the account.
        ///
        /// Source: public material (`OAuthSample`), not confirmed.
        pub envd_account_id: AccountId,
        /// The number of the consignment.
        ///
        /// Source: public material (`OAuthSample`), not confirmed.
        pub consignment_number: ConsignmentNumber,
        /// The role whose users are listed; AUTHVIEWER is a value.
        ///
        /// Source: public material (`OAuthSample`), not confirmed.
        pub role: String,
    }
    /// The `data` of the reply.
    ///
    /// Of the operation [`ConsignmentUserMapping`](super::ConsignmentUserMapping). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    #[non_exhaustive]
    pub struct ResponseData {
        /// The users who may see a consignment, and their roles.
        ///
        /// Source: stated, specification 4.1.
        #[serde(default, deserialize_with = "crate::model::list")]
        pub consignment_user_mapping: Vec<ConsignmentUserMapping>,
    }
}
/// Variables and reply of `consignments`.
pub mod consignments {
    use crate::model::{
        AccountId, Connection, ConsignmentStatus, ConsignmentSummary, Species, Timestamp,
    };
    pub(crate) static DOCUMENT: super::OperationDocument = super::OperationDocument {
        text: "query Consignments($envdAccountId: String!, $first: Int, $after: String, $status: ConsignmentStatus, $species: ConsignmentSpecies, $searchText: String, $fromDate: DateTime, $toDate: DateTime, $onlySubmitted: Boolean) { consignments(envdAccountId: $envdAccountId, first: $first, after: $after, status: $status, species: $species, searchText: $searchText, fromDate: $fromDate, toDate: $toDate, onlySubmitted: $onlySubmitted) { totalCount pageInfo { hasNextPage endCursor } edges { cursor node { id number status species movementDate movementTime heads createdBy updatedAt owner { name pic address { line1 town state postcode } } origin { name pic address { line1 town state postcode } } destination { name pic address { line1 town state postcode } } consignee { name pic address { line1 town state postcode } } forms { type serialNumber } } } } }",
        kind: super::OperationKind::Query, operation: "Consignments", name: "consignments",
        field: "consignments",
        variables: &[("envdAccountId", "String!"), ("first", "Int"), ("after", "String"), ("status", "ConsignmentStatus"), ("species", "ConsignmentSpecies"), ("searchText", "String"), ("fromDate", "DateTime"), ("toDate", "DateTime"), ("onlySubmitted", "Boolean")],
        record: super::selections::CONSIGNMENT_PAGE, list: &["consignments", "edges"],
    };
    /// The variables; those that are `None` are not sent.
    ///
    /// Of the operation [`Consignments`](super::Consignments). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Variables {
        /// The account whose consignments are listed.
        ///
        /// Source: stated, specification 4.1.
        pub envd_account_id: AccountId,
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
        /// Only consignments with this status.
        ///
        /// Source: public material (`OAuthSample`), not confirmed.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub status: Option<ConsignmentStatus>,
        /// Only consignments of this species.
        ///
        /// Source: public material (`OAuthSample`), not confirmed.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub species: Option<Species>,
        /// Only consignments that match this text; what it is matched against is not shown.
        ///
        /// Source: public material (`OAuthSample`), not confirmed.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub search_text: Option<String>,
        /// Only consignments from this instant on; which of the dates is compared is not shown.
        ///
        /// Source: public material (`OAuthSample`), not confirmed.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub from_date: Option<Timestamp>,
        /// Only consignments up to this instant; whether it is included is not shown.
        ///
        /// Source: public material (`OAuthSample`), not confirmed.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub to_date: Option<Timestamp>,
        /// Only consignments that were submitted.
        ///
        /// Source: public material (`OAuthSample`), not confirmed.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub only_submitted: Option<bool>,
    }
    /// The `data` of the reply.
    ///
    /// Of the operation [`Consignments`](super::Consignments). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
    #[non_exhaustive]
    pub struct ResponseData {
        /// The consignments of an account, page by page.
        ///
        /// Source: stated, specification 4.1.
        pub consignments: Option<Connection<ConsignmentSummary>>,
    }
}
/// Variables and reply of `copyConsignment`.
pub mod copy_consignment {
    use crate::model::{Saved, SavedConsignment};
    pub(crate) static DOCUMENT: super::OperationDocument = super::OperationDocument {
        text: "mutation CopyConsignment($envdAccountId: String!, $id: String!) { copyConsignment(envdAccountId: $envdAccountId, id: $id) { data { id number status } } }",
        kind: super::OperationKind::Mutation, operation: "CopyConsignment", name: "copyConsignment",
        field: "copyConsignment", variables: &[("envdAccountId", "String!"), ("id", "String!")],
        record: super::selections::SAVED_CONSIGNMENT, list: &[],
    };
    pub use super::consignment::Variables;
    /// The `data` of the reply.
    ///
    /// Of the operation [`CopyConsignment`](super::CopyConsignment). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    #[non_exhaustive]
    pub struct ResponseData {
        /// Copies a consignment that the producer created before; arguments and result are not shown.
        ///
        /// Source: stated, specification 4.1.
        pub copy_consignment: Option<Saved<SavedConsignment>>,
    }
}
/// Variables and reply of `createComment`.
pub mod create_comment {
    use crate::model::{AccountId, Comment, CommentInput, Saved};
    pub(crate) static DOCUMENT: super::OperationDocument = super::OperationDocument {
        text: "mutation CreateComment($envdAccountId: String!, $input: CreateCommentInput!) { createComment(envdAccountId: $envdAccountId, input: $input) { data { commentId consignmentNumber role firstName lastName commentText createdAt } } }",
        kind: super::OperationKind::Mutation, operation: "CreateComment", name: "createComment",
        field: "createComment",
        variables: &[("envdAccountId", "String!"), ("input", "CreateCommentInput!")],
        record: super::selections::COMMENT, list: &[],
    };
    /// The variables; those that are `None` are not sent.
    ///
    /// Of the operation [`CreateComment`](super::CreateComment). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Variables {
        /// The account in whose name the comment is made.
        ///
        /// Source: assumed.
        pub envd_account_id: AccountId,
        /// The comment.
        ///
        /// Source: assumed.
        pub input: CommentInput,
    }
    /// The `data` of the reply.
    ///
    /// Of the operation [`CreateComment`](super::CreateComment). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    #[non_exhaustive]
    pub struct ResponseData {
        /// Adds a comment to a consignment; arguments and result are not shown.
        ///
        /// Source: stated, specification 4.1.
        pub create_comment: Option<Saved<Comment>>,
    }
}
/// Variables and reply of `createOrSaveConsignment`.
pub mod create_or_save_consignment {
    use crate::model::{AccountId, ConsignmentInput, Saved, SavedConsignment};
    pub(crate) static DOCUMENT: super::OperationDocument = super::OperationDocument {
        text: "mutation CreateOrSaveConsignment($envdAccountId: String!, $input: CreateOrSaveConsignmentInput!) { createOrSaveConsignment(envdAccountId: $envdAccountId, input: $input) { data { id number status } } }",
        kind: super::OperationKind::Mutation, operation: "CreateOrSaveConsignment",
        name: "createOrSaveConsignment", field: "createOrSaveConsignment",
        variables: &[("envdAccountId", "String!"), ("input", "CreateOrSaveConsignmentInput!")],
        record: super::selections::SAVED_CONSIGNMENT, list: &[],
    };
    /// The variables; those that are `None` are not sent.
    ///
    /// Of the operation [`CreateOrSaveConsignment`](super::CreateOrSaveConsignment). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Variables {
        /// The account in whose name the consignment is saved.
        ///
        /// Source: stated, specification 4.1.
        pub envd_account_id: AccountId,
        /// The consignment.
        ///
        /// Source: stated, specification 4.1.
        pub input: ConsignmentInput,
    }
    /// The `data` of the reply.
    ///
    /// Of the operation [`CreateOrSaveConsignment`](super::CreateOrSaveConsignment). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    #[non_exhaustive]
    pub struct ResponseData {
        /// Creates a consignment, or updates it when it exists.
        ///
        /// Source: stated, specification 4.1.
        pub create_or_save_consignment: Option<Saved<SavedConsignment>>,
    }
}
/// Variables and reply of `createOrSaveTemplate`.
pub mod create_or_save_template {
    use crate::model::{AccountId, Saved, SavedTemplate, TemplateInput};
    pub(crate) static DOCUMENT: super::OperationDocument = super::OperationDocument {
        text: "mutation CreateOrSaveTemplate($envdAccountId: String!, $input: CreateOrSaveTemplateInput!) { createOrSaveTemplate(envdAccountId: $envdAccountId, input: $input) { data { id number name } } }",
        kind: super::OperationKind::Mutation, operation: "CreateOrSaveTemplate",
        name: "createOrSaveTemplate", field: "createOrSaveTemplate",
        variables: &[("envdAccountId", "String!"), ("input", "CreateOrSaveTemplateInput!")],
        record: super::selections::SAVED_TEMPLATE, list: &[],
    };
    /// The variables; those that are `None` are not sent.
    ///
    /// Of the operation [`CreateOrSaveTemplate`](super::CreateOrSaveTemplate). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Variables {
        /// The account in whose name the template is saved.
        ///
        /// Source: assumed.
        pub envd_account_id: AccountId,
        /// The template.
        ///
        /// Source: assumed.
        pub input: TemplateInput,
    }
    /// The `data` of the reply.
    ///
    /// Of the operation [`CreateOrSaveTemplate`](super::CreateOrSaveTemplate). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    #[non_exhaustive]
    pub struct ResponseData {
        /// Creates a template, or updates it when it exists; arguments and result are not shown.
        ///
        /// Source: stated, specification 4.1.
        pub create_or_save_template: Option<Saved<SavedTemplate>>,
    }
}
/// Variables and reply of `deleteConsignment`.
pub mod delete_consignment {
    use crate::model::{Saved, SavedConsignment};
    pub(crate) static DOCUMENT: super::OperationDocument = super::OperationDocument {
        text: "mutation DeleteConsignment($envdAccountId: String!, $id: String!) { deleteConsignment(envdAccountId: $envdAccountId, id: $id) { data { id number status } } }",
        kind: super::OperationKind::Mutation, operation: "DeleteConsignment",
        name: "deleteConsignment", field: "deleteConsignment",
        variables: &[("envdAccountId", "String!"), ("id", "String!")],
        record: super::selections::SAVED_CONSIGNMENT, list: &[],
    };
    pub use super::consignment::Variables;
    /// The `data` of the reply.
    ///
    /// Of the operation [`DeleteConsignment`](super::DeleteConsignment). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    #[non_exhaustive]
    pub struct ResponseData {
        /// Deletes a consignment; arguments and result are not shown.
        ///
        /// Source: stated, specification 4.1.
        pub delete_consignment: Option<Saved<SavedConsignment>>,
    }
}
/// Variables and reply of `deleteTemplate`.
pub mod delete_template {
    use crate::model::{AccountId, Saved, SavedTemplate, TemplateId};
    pub(crate) static DOCUMENT: super::OperationDocument = super::OperationDocument {
        text: "mutation DeleteTemplate($envdAccountId: String!, $id: String!) { deleteTemplate(envdAccountId: $envdAccountId, id: $id) { data { id number name } } }",
        kind: super::OperationKind::Mutation, operation: "DeleteTemplate", name: "deleteTemplate",
        field: "deleteTemplate", variables: &[("envdAccountId", "String!"), ("id", "String!")],
        record: super::selections::SAVED_TEMPLATE, list: &[],
    };
    /// The variables; those that are `None` are not sent.
    ///
    /// Of the operation [`DeleteTemplate`](super::DeleteTemplate). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Variables {
        /// The account that owns the template.
        ///
        /// Source: assumed.
        pub envd_account_id: AccountId,
        /// The id or the number of the template.
        ///
        /// Source: assumed.
        pub id: TemplateId,
    }
    /// The `data` of the reply.
    ///
    /// Of the operation [`DeleteTemplate`](super::DeleteTemplate). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    #[non_exhaustive]
    pub struct ResponseData {
        /// Deletes a template; arguments and result are not shown.
        ///
        /// Source: stated, specification 4.1.
        pub delete_template: Option<Saved<SavedTemplate>>,
    }
}
/// Variables and reply of `edecs`.
pub mod edecs {
    use crate::model::{AccountId, Edec};
    pub(crate) static DOCUMENT: super::OperationDocument = super::OperationDocument {
        text: "query Edecs($envdAccountId: String) { edecs(envdAccountId: $envdAccountId) { id number status createdAt } }",
        kind: super::OperationKind::Query, operation: "Edecs", name: "edecs", field: "edecs",
        variables: &[("envdAccountId", "String")], record: super::selections::EDEC,
        list: &["edecs"],
    };
    /// The variables; those that are `None` are not sent.
    ///
    /// Of the operation [`Edecs`](super::Edecs). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Variables {
        /// The id of the account; the arguments of this operation are not shown.
        ///
        /// Source: assumed.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub envd_account_id: Option<AccountId>,
    }
    /// The `data` of the reply.
    ///
    /// Of the operation [`Edecs`](super::Edecs). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
    #[non_exhaustive]
    pub struct ResponseData {
        /// The declarations that the user made in the electronic declaration system (eDEC).
        ///
        /// Source: stated, specification 4.1.
        #[serde(default, deserialize_with = "crate::model::list")]
        pub edecs: Vec<Edec>,
    }
}
/// Variables and reply of `consignments`.
pub mod full_consignments {
    use crate::model::{Connection, Consignment};
    pub(crate) static DOCUMENT: super::OperationDocument = super::OperationDocument {
        text: "query FullConsignments($envdAccountId: String!, $first: Int, $after: String, $status: ConsignmentStatus, $species: ConsignmentSpecies, $searchText: String, $fromDate: DateTime, $toDate: DateTime, $onlySubmitted: Boolean) { fullConsignments: consignments(envdAccountId: $envdAccountId, first: $first, after: $after, status: $status, species: $species, searchText: $searchText, fromDate: $fromDate, toDate: $toDate, onlySubmitted: $onlySubmitted) { totalCount pageInfo { hasNextPage endCursor } edges { cursor node { id number status species movementDate movementTime heads pdfUrl createdBy updatedAt updatedBy submittedAt owner { name pic address { line1 town state postcode } } origin { name pic address { line1 town state postcode } } destination { name pic address { line1 town state postcode } } consignee { name pic address { line1 town state postcode } } forms { type serialNumber } answers { questionId index value } questions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id } } } } } } } } } declaration { accept fullName phone email date signature certificateNumber address { line1 town state postcode } } } } } }",
        kind: super::OperationKind::Query, operation: "FullConsignments", name: "fullConsignments",
        field: "consignments",
        variables: &[("envdAccountId", "String!"), ("first", "Int"), ("after", "String"), ("status", "ConsignmentStatus"), ("species", "ConsignmentSpecies"), ("searchText", "String"), ("fromDate", "DateTime"), ("toDate", "DateTime"), ("onlySubmitted", "Boolean")],
        record: super::selections::FULL_CONSIGNMENT_PAGE, list: &["fullConsignments", "edges"],
    };
    pub use super::consignments::Variables;
    /// The `data` of the reply.
    ///
    /// Of the operation [`FullConsignments`](super::FullConsignments). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    #[non_exhaustive]
    pub struct ResponseData {
        /// The consignments of an account, page by page.
        ///
        /// Source: stated, specification 4.1.
        pub full_consignments: Option<Connection<Consignment>>,
    }
}
/// Variables and reply of `questions`.
pub mod questions {
    use crate::model::QuestionList;
    pub(crate) static DOCUMENT: super::OperationDocument = super::OperationDocument {
        text: "query Questions { questions { items { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id } } } } } } } } } } }",
        kind: super::OperationKind::Query, operation: "Questions", name: "questions",
        field: "questions", variables: &[], record: super::selections::QUESTION_LIST, list: &[],
    };
    /// The variables; those that are `None` are not sent.
    ///
    /// Of the operation [`Questions`](super::Questions). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
    pub struct Variables {}
    /// The `data` of the reply.
    ///
    /// Of the operation [`Questions`](super::Questions). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
    #[non_exhaustive]
    pub struct ResponseData {
        /// All questions of all forms.
        ///
        /// Source: stated, specification 4.1.
        pub questions: Option<QuestionList>,
    }
}
/// Variables and reply of `template`.
pub mod template {
    use crate::model::Template;
    pub(crate) static DOCUMENT: super::OperationDocument = super::OperationDocument {
        text: "query Template($id: String!, $envdAccountId: String!) { template(id: $id, envdAccountId: $envdAccountId) { id number name species owner { name pic address { line1 town state postcode } } origin { name pic address { line1 town state postcode } } destination { name pic address { line1 town state postcode } } consignee { name pic address { line1 town state postcode } } forms { type serialNumber } } }",
        kind: super::OperationKind::Query, operation: "Template", name: "template",
        field: "template", variables: &[("id", "String!"), ("envdAccountId", "String!")],
        record: super::selections::TEMPLATE, list: &[],
    };
    pub use super::delete_template::Variables;
    /// The `data` of the reply.
    ///
    /// Of the operation [`Template`](super::Template). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
    #[non_exhaustive]
    pub struct ResponseData {
        /// One template.
        ///
        /// Source: stated, specification 4.1.
        pub template: Option<Template>,
    }
}
/// Variables and reply of `templates`.
pub mod templates {
    use crate::model::{AccountId, Connection, Template};
    pub(crate) static DOCUMENT: super::OperationDocument = super::OperationDocument {
        text: "query Templates($envdAccountId: String!, $first: Int, $after: String) { templates(envdAccountId: $envdAccountId, first: $first, after: $after) { totalCount pageInfo { hasNextPage endCursor } edges { cursor node { id number name species owner { name pic address { line1 town state postcode } } origin { name pic address { line1 town state postcode } } destination { name pic address { line1 town state postcode } } consignee { name pic address { line1 town state postcode } } forms { type serialNumber } } } } }",
        kind: super::OperationKind::Query, operation: "Templates", name: "templates",
        field: "templates",
        variables: &[("envdAccountId", "String!"), ("first", "Int"), ("after", "String")],
        record: super::selections::TEMPLATE_PAGE, list: &["templates", "edges"],
    };
    /// The variables; those that are `None` are not sent.
    ///
    /// Of the operation [`Templates`](super::Templates). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Variables {
        /// The account whose templates are listed.
        ///
        /// Source: public material (`OAuthSample`), not confirmed.
        pub envd_account_id: AccountId,
        /// The maximal number of records on a page.
        ///
        /// Source: public material (`OAuthSample`), not confirmed.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub first: Option<i64>,
        /// The cursor of the record after which the page starts.
        ///
        /// Source: public material (`OAuthSample`), not confirmed.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub after: Option<String>,
    }
    /// The `data` of the reply.
    ///
    /// Of the operation [`Templates`](super::Templates). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
    #[non_exhaustive]
    pub struct ResponseData {
        /// The templates of an account.
        ///
        /// Source: stated, specification 4.1.
        pub templates: Option<Connection<Template>>,
    }
}
/// Variables and reply of `userDetails`.
pub mod user_details {
    use crate::model::UserDetails;
    pub(crate) static DOCUMENT: super::OperationDocument = super::OperationDocument {
        text: "query UserDetails { userDetails { auth0Id isNewUser email firstName lastName mobilePhone defaultAccount accounts { envdAccountId accountLabel accountId accountType email roles properties { propertyName accreditations { lPA eU mSA eUGFHQB nFAS hRG } } } accreditations { lPA eU mSA eUGFHQB nFAS hRG } roles } }",
        kind: super::OperationKind::Query, operation: "UserDetails", name: "userDetails",
        field: "userDetails", variables: &[], record: super::selections::USER_DETAILS, list: &[],
    };
    pub use super::questions::Variables;
    /// The `data` of the reply.
    ///
    /// Of the operation [`UserDetails`](super::UserDetails). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    #[non_exhaustive]
    pub struct ResponseData {
        /// The user of the access token, with accounts and roles.
        ///
        /// Source: stated, specification 4.1.
        #[serde(default, deserialize_with = "crate::model::record_or_data")]
        pub user_details: Option<UserDetails>,
    }
}
