// Written by tests/codegen from graphql/; change it there and run UPDATE_GENERATED=1 cargo test -p codegen.

use super::document::operation_types;
operation_types! {
    /// The query `comments`.
    /// The comments of a consignment.
    ///
    /// Source: stated, specification 4.1.
    ///
    /// [`Account::comments`](crate::Account::comments) runs it and has an example. The [module](self) shows what else the type is for.
    Comments => comments;
    /// The query `consignment`.
    /// One consignment.
    ///
    /// Source: stated, specification 4.1.
    ///
    /// [`Account::consignment`](crate::Account::consignment) runs it and has an example. The [module](self) shows what else the type is for.
    Consignment => consignment;
    /// The query `consignmentUserMapping`.
    /// The users who may see a consignment, and their roles.
    ///
    /// Source: stated, specification 4.1.
    ///
    /// [`Account::user_mappings`](crate::Account::user_mappings) runs it and has an example. The [module](self) shows what else the type is for.
    ConsignmentUserMapping => consignment_user_mapping;
    /// The query `consignments`.
    /// The consignments of an account, page by page.
    ///
    /// Source: stated, specification 4.1.
    ///
    /// [`Account::consignments`](crate::Account::consignments) runs it and has an example. The [module](self) shows what else the type is for.
    Consignments => consignments;
    /// The mutation `copyConsignment`.
    /// Copies a consignment that the producer created before; arguments and result are not shown.
    ///
    /// Source: stated, specification 4.1.
    ///
    /// [`Account::copy_consignment`](crate::Account::copy_consignment) runs it and has an example. The [module](self) shows what else the type is for.
    CopyConsignment => copy_consignment;
    /// The mutation `createComment`.
    /// Adds a comment to a consignment; arguments and result are not shown.
    ///
    /// Source: stated, specification 4.1.
    ///
    /// [`Account::create_comment`](crate::Account::create_comment) runs it and has an example. The [module](self) shows what else the type is for.
    CreateComment => create_comment;
    /// The mutation `createOrSaveConsignment`.
    /// Creates a consignment, or updates it when it exists.
    ///
    /// Source: stated, specification 4.1.
    ///
    /// [`Account::save_consignment`](crate::Account::save_consignment) runs it and has an example. The [module](self) shows what else the type is for.
    CreateOrSaveConsignment => create_or_save_consignment;
    /// The mutation `createOrSaveTemplate`.
    /// Creates a template, or updates it when it exists; arguments and result are not shown.
    ///
    /// Source: stated, specification 4.1.
    ///
    /// [`Account::save_template`](crate::Account::save_template) runs it and has an example. The [module](self) shows what else the type is for.
    CreateOrSaveTemplate => create_or_save_template;
    /// The mutation `deleteConsignment`.
    /// Deletes a consignment; arguments and result are not shown.
    ///
    /// Source: stated, specification 4.1.
    ///
    /// [`Account::delete_consignment`](crate::Account::delete_consignment) runs it and has an example. The [module](self) shows what else the type is for.
    DeleteConsignment => delete_consignment;
    /// The mutation `deleteTemplate`.
    /// Deletes a template; arguments and result are not shown.
    ///
    /// Source: stated, specification 4.1.
    ///
    /// [`Account::delete_template`](crate::Account::delete_template) runs it and has an example. The [module](self) shows what else the type is for.
    DeleteTemplate => delete_template;
    /// The query `edecs`.
    /// The declarations that the user made in the electronic declaration system (eDEC).
    ///
    /// Source: stated, specification 4.1.
    ///
    /// [`Account::edecs`](crate::Account::edecs) runs it and has an example. The [module](self) shows what else the type is for.
    Edecs => edecs;
    /// The query `consignments`, by the name `FullConsignments`.
    /// The consignments of an account, page by page.
    ///
    /// Source: stated, specification 4.1.
    ///
    /// [`Account::full_consignments`](crate::Account::full_consignments) runs it and has an example. The [module](self) shows what else the type is for.
    FullConsignments => full_consignments;
    /// The query `questions`.
    /// All questions of all forms.
    ///
    /// Source: stated, specification 4.1.
    ///
    /// [`Client::questions`](crate::Client::questions) runs it and has an example. The [module](self) shows what else the type is for.
    Questions => questions;
    /// The query `template`.
    /// One template.
    ///
    /// Source: stated, specification 4.1.
    ///
    /// [`Account::template`](crate::Account::template) runs it and has an example. The [module](self) shows what else the type is for.
    Template => template;
    /// The query `templates`.
    /// The templates of an account.
    ///
    /// Source: stated, specification 4.1.
    ///
    /// [`Account::templates_page`](crate::Account::templates_page) runs it and has an example. The [module](self) shows what else the type is for.
    Templates => templates;
    /// The query `userDetails`.
    /// The user of the access token, with accounts and roles.
    ///
    /// Source: stated, specification 4.1.
    ///
    /// [`Client::user_details`](crate::Client::user_details) runs it and has an example. The [module](self) shows what else the type is for.
    UserDetails => user_details;
}
/// Variables and reply of `comments`.
pub mod comments {
    use serde::{Deserialize, Serialize};
    use crate::model::{AccountId, Comment, ConsignmentNumber};
    pub(crate) const QUERY: &str = "query Comments($envdAccountId: String!, $consignmentNumber: String!) { comments(envdAccountId: $envdAccountId, consignmentNumber: $consignmentNumber) { commentId consignmentNumber role firstName lastName commentText createdAt } }";
    /// The variables; those that are `None` are not sent.
    ///
    /// Of the operation [`Comments`](super::Comments). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    use serde::{Deserialize, Serialize};
    use crate::model::{AccountId, Consignment, ConsignmentId};
    pub(crate) const QUERY: &str = "query Consignment($id: String!, $envdAccountId: String!) { consignment(id: $id, envdAccountId: $envdAccountId) { id number status species movementDate movementTime heads pdfUrl createdBy updatedAt updatedBy submittedAt owner { name pic address { line1 town state postcode } } origin { name pic address { line1 town state postcode } } destination { name pic address { line1 town state postcode } } consignee { name pic address { line1 town state postcode } } forms { type serialNumber } answers { questionId index value } questions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id } } } } } } } } } declaration { accept fullName phone email date signature certificateNumber address { line1 town state postcode } } } }";
    /// The variables; those that are `None` are not sent.
    ///
    /// Of the operation [`Consignment`](super::Consignment). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    use serde::{Deserialize, Serialize};
    use crate::model::{AccountId, ConsignmentNumber, ConsignmentUserMapping};
    pub(crate) const QUERY: &str = "query ConsignmentUserMapping($envdAccountId: String!, $consignmentNumber: String!, $role: String!) { consignmentUserMapping(envdAccountId: $envdAccountId, consignmentNumber: $consignmentNumber, role: $role) { mappingId email firstName lastName role pic numOfHeads } }";
    /// The variables; those that are `None` are not sent.
    ///
    /// Of the operation [`ConsignmentUserMapping`](super::ConsignmentUserMapping). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    use serde::{Deserialize, Serialize};
    use crate::model::{
        AccountId, Connection, ConsignmentStatus, ConsignmentSummary, Species, Timestamp,
    };
    pub(crate) const QUERY: &str = "query Consignments($envdAccountId: String!, $first: Int, $after: String, $status: ConsignmentStatus, $species: ConsignmentSpecies, $searchText: String, $fromDate: DateTime, $toDate: DateTime, $onlySubmitted: Boolean) { consignments(envdAccountId: $envdAccountId, first: $first, after: $after, status: $status, species: $species, searchText: $searchText, fromDate: $fromDate, toDate: $toDate, onlySubmitted: $onlySubmitted) { totalCount pageInfo { hasNextPage endCursor } edges { cursor node { id number status species movementDate movementTime heads createdBy updatedAt owner { name pic address { line1 town state postcode } } origin { name pic address { line1 town state postcode } } destination { name pic address { line1 town state postcode } } consignee { name pic address { line1 town state postcode } } forms { type serialNumber } } } } }";
    /// The variables; those that are `None` are not sent.
    ///
    /// Of the operation [`Consignments`](super::Consignments). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    use serde::{Deserialize, Serialize};
    use crate::model::{AccountId, ConsignmentId, Saved, SavedConsignment};
    pub(crate) const QUERY: &str = "mutation CopyConsignment($envdAccountId: String!, $id: String!) { copyConsignment(envdAccountId: $envdAccountId, id: $id) { data { id number status } } }";
    /// The variables; those that are `None` are not sent.
    ///
    /// Of the operation [`CopyConsignment`](super::CopyConsignment). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Variables {
        /// The account that owns the consignment.
        ///
        /// Source: assumed.
        pub envd_account_id: AccountId,
        /// The id or the number of the consignment to copy.
        ///
        /// Source: assumed.
        pub id: ConsignmentId,
    }
    /// The `data` of the reply.
    ///
    /// Of the operation [`CopyConsignment`](super::CopyConsignment). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    use serde::{Deserialize, Serialize};
    use crate::model::{AccountId, Comment, CommentInput, Saved};
    pub(crate) const QUERY: &str = "mutation CreateComment($envdAccountId: String!, $input: CreateCommentInput!) { createComment(envdAccountId: $envdAccountId, input: $input) { data { commentId consignmentNumber role firstName lastName commentText createdAt } } }";
    /// The variables; those that are `None` are not sent.
    ///
    /// Of the operation [`CreateComment`](super::CreateComment). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    use serde::{Deserialize, Serialize};
    use crate::model::{AccountId, ConsignmentInput, Saved, SavedConsignment};
    pub(crate) const QUERY: &str = "mutation CreateOrSaveConsignment($envdAccountId: String!, $input: CreateOrSaveConsignmentInput!) { createOrSaveConsignment(envdAccountId: $envdAccountId, input: $input) { data { id number status } } }";
    /// The variables; those that are `None` are not sent.
    ///
    /// Of the operation [`CreateOrSaveConsignment`](super::CreateOrSaveConsignment). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    use serde::{Deserialize, Serialize};
    use crate::model::{AccountId, Saved, SavedTemplate, TemplateInput};
    pub(crate) const QUERY: &str = "mutation CreateOrSaveTemplate($envdAccountId: String!, $input: CreateOrSaveTemplateInput!) { createOrSaveTemplate(envdAccountId: $envdAccountId, input: $input) { data { id number name } } }";
    /// The variables; those that are `None` are not sent.
    ///
    /// Of the operation [`CreateOrSaveTemplate`](super::CreateOrSaveTemplate). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    use serde::{Deserialize, Serialize};
    use crate::model::{AccountId, ConsignmentId, Saved, SavedConsignment};
    pub(crate) const QUERY: &str = "mutation DeleteConsignment($envdAccountId: String!, $id: String!) { deleteConsignment(envdAccountId: $envdAccountId, id: $id) { data { id number status } } }";
    /// The variables; those that are `None` are not sent.
    ///
    /// Of the operation [`DeleteConsignment`](super::DeleteConsignment). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Variables {
        /// The account that owns the consignment.
        ///
        /// Source: assumed.
        pub envd_account_id: AccountId,
        /// The id or the number of the consignment.
        ///
        /// Source: assumed.
        pub id: ConsignmentId,
    }
    /// The `data` of the reply.
    ///
    /// Of the operation [`DeleteConsignment`](super::DeleteConsignment). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    use serde::{Deserialize, Serialize};
    use crate::model::{AccountId, Saved, SavedTemplate, TemplateId};
    pub(crate) const QUERY: &str = "mutation DeleteTemplate($envdAccountId: String!, $id: String!) { deleteTemplate(envdAccountId: $envdAccountId, id: $id) { data { id number name } } }";
    /// The variables; those that are `None` are not sent.
    ///
    /// Of the operation [`DeleteTemplate`](super::DeleteTemplate). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    use serde::{Deserialize, Serialize};
    use crate::model::{AccountId, Edec};
    pub(crate) const QUERY: &str = "query Edecs($envdAccountId: String) { edecs(envdAccountId: $envdAccountId) { id number status createdAt } }";
    /// The variables; those that are `None` are not sent.
    ///
    /// Of the operation [`Edecs`](super::Edecs). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    use serde::{Deserialize, Serialize};
    use crate::model::{
        AccountId, Connection, Consignment, ConsignmentStatus, Species, Timestamp,
    };
    pub(crate) const QUERY: &str = "query FullConsignments($envdAccountId: String!, $first: Int, $after: String, $status: ConsignmentStatus, $species: ConsignmentSpecies, $searchText: String, $fromDate: DateTime, $toDate: DateTime, $onlySubmitted: Boolean) { fullConsignments: consignments(envdAccountId: $envdAccountId, first: $first, after: $after, status: $status, species: $species, searchText: $searchText, fromDate: $fromDate, toDate: $toDate, onlySubmitted: $onlySubmitted) { totalCount pageInfo { hasNextPage endCursor } edges { cursor node { id number status species movementDate movementTime heads pdfUrl createdBy updatedAt updatedBy submittedAt owner { name pic address { line1 town state postcode } } origin { name pic address { line1 town state postcode } } destination { name pic address { line1 town state postcode } } consignee { name pic address { line1 town state postcode } } forms { type serialNumber } answers { questionId index value } questions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id } } } } } } } } } declaration { accept fullName phone email date signature certificateNumber address { line1 town state postcode } } } } } }";
    /// The variables; those that are `None` are not sent.
    ///
    /// Of the operation [`FullConsignments`](super::FullConsignments). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// Of the operation [`FullConsignments`](super::FullConsignments). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    use serde::{Deserialize, Serialize};
    use crate::model::QuestionList;
    pub(crate) const QUERY: &str = "query Questions { questions { items { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id order text help tip readOnly forms type triggers { questionId value } validators { type parameter errorMessage } acceptableAnswers { displayName value } childQuestions { id } } } } } } } } } } }";
    /// The variables; those that are `None` are not sent.
    ///
    /// Of the operation [`Questions`](super::Questions). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    pub struct Variables {}
    /// The `data` of the reply.
    ///
    /// Of the operation [`Questions`](super::Questions). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    use serde::{Deserialize, Serialize};
    use crate::model::{AccountId, Template, TemplateId};
    pub(crate) const QUERY: &str = "query Template($id: String!, $envdAccountId: String!) { template(id: $id, envdAccountId: $envdAccountId) { id number name species owner { name pic address { line1 town state postcode } } origin { name pic address { line1 town state postcode } } destination { name pic address { line1 town state postcode } } consignee { name pic address { line1 town state postcode } } forms { type serialNumber } } }";
    /// The variables; those that are `None` are not sent.
    ///
    /// Of the operation [`Template`](super::Template). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Variables {
        /// The id of the template; public material passes its number here.
        ///
        /// Source: public material (`OAuthSample`), not confirmed.
        pub id: TemplateId,
        /// The id of the account.
        ///
        /// Source: public material (`OAuthSample`), not confirmed.
        pub envd_account_id: AccountId,
    }
    /// The `data` of the reply.
    ///
    /// Of the operation [`Template`](super::Template). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    use serde::{Deserialize, Serialize};
    use crate::model::{AccountId, Connection, Template};
    pub(crate) const QUERY: &str = "query Templates($envdAccountId: String!, $first: Int, $after: String) { templates(envdAccountId: $envdAccountId, first: $first, after: $after) { totalCount pageInfo { hasNextPage endCursor } edges { cursor node { id number name species owner { name pic address { line1 town state postcode } } origin { name pic address { line1 town state postcode } } destination { name pic address { line1 town state postcode } } consignee { name pic address { line1 town state postcode } } forms { type serialNumber } } } } }";
    /// The variables; those that are `None` are not sent.
    ///
    /// Of the operation [`Templates`](super::Templates). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    use serde::{Deserialize, Serialize};
    use crate::model::UserDetails;
    pub(crate) const QUERY: &str = "query UserDetails { userDetails { auth0Id isNewUser email firstName lastName mobilePhone defaultAccount accounts { envdAccountId accountLabel accountId accountType email roles properties { propertyName accreditations { lPA eU mSA eUGFHQB nFAS hRG } } } accreditations { lPA eU mSA eUGFHQB nFAS hRG } roles } }";
    /// The variables; those that are `None` are not sent.
    ///
    /// Of the operation [`UserDetails`](super::UserDetails). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    pub struct Variables {}
    /// The `data` of the reply.
    ///
    /// Of the operation [`UserDetails`](super::UserDetails). See the [module](super) for an example.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
