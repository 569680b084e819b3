//! Comments on a consignment, its viewers, and eDECs.

use crate::client::AccountClient;
use crate::graphql::Outcome;
use crate::graphql::generated::{
    Comments, ConsignmentUserMapping as ReadMapping, CreateComment, Edecs, comments,
    consignment_user_mapping, create_comment, edecs,
};
use crate::model::{Comment, CommentInput, ConsignmentNumber, ConsignmentUserMapping, Edec};
use crate::send::Call;

impl AccountClient {
    /// The comments of a consignment.
    ///
    /// Source: operation stated, specification 4.1; arguments public, not confirmed.
    ///
    /// ```
    /// # test_support::example(async {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # use envd_sdk::ops::ConsignmentFilter;
    /// # let first = account.consignments(&ConsignmentFilter::default()).items().next().await.ok_or("none")??;
    /// # let number = first.number.ok_or("no number")?;
    /// let comments = account.comments(&number).await?.value;
    /// assert!(comments.iter().all(|comment| comment.comment_text.is_some()));
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// As [`execute`](crate::Client::execute).
    pub fn comments(&self, number: impl Into<ConsignmentNumber>) -> Call<Outcome<Vec<Comment>>> {
        let variables = comments::Variables {
            envd_account_id: self.id().clone(),
            consignment_number: number.into(),
        };
        self.client()
            .operation::<Comments, _>(variables, |data| Some(data.comments))
    }

    /// Adds a comment to a consignment.
    ///
    /// Source: operation stated, specification 4.1; arguments and result assumed.
    ///
    /// ```
    /// # test_support::example(async {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # use envd_sdk::ops::ConsignmentFilter;
    /// # let first = account.consignments(&ConsignmentFilter::default()).items().next().await.ok_or("none")??;
    /// # let number = first.number.ok_or("no number")?;
    /// use envd_sdk::model::CommentInput;
    ///
    /// let comment = CommentInput::new(&number, "The truck comes at five.");
    /// let (_, problems) = account.create_comment(comment).await?.into_parts();
    /// assert!(problems.is_empty());
    /// assert_eq!(account.comments(&number).await?.value.len(), 1);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// As [`execute`](crate::Client::execute).
    #[doc(alias = "add comment")]
    pub fn create_comment(&self, input: CommentInput) -> Call<Outcome<Comment>> {
        let variables = create_comment::Variables {
            envd_account_id: self.id().clone(),
            input,
        };
        self.client()
            .operation::<CreateComment, _>(variables, |data| data.create_comment?.data)
    }

    /// The users with a role on a consignment.
    ///
    /// A [`Role`](crate::model::Role) is sent as its [`as_str`](crate::model::Role::as_str): `AUTHVIEWER`, which public material
    /// shows, or the names in the specification (assumed). Any other text is sent verbatim.
    ///
    /// Source: operation stated, specification 4.1; arguments public (`OAuthSample`, which calls them the stakeholders of a
    /// consignment), not confirmed.
    ///
    /// ```
    /// # test_support::example(async {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # use envd_sdk::ops::ConsignmentFilter;
    /// # let first = account.consignments(&ConsignmentFilter::default()).items().next().await.ok_or("none")??;
    /// # let number = first.number.ok_or("no number")?;
    /// use envd_sdk::model::Role;
    ///
    /// let viewers = account.user_mappings(&number, Role::AuthenticatedViewer).await?.value;
    /// println!("{} viewers", viewers.len());
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// As [`execute`](crate::Client::execute).
    #[doc(alias = "viewers")]
    #[doc(alias("consignmentUserMapping", "authenticated viewer"))]
    pub fn user_mappings(
        &self,
        number: impl Into<ConsignmentNumber>,
        role: impl Into<String>,
    ) -> Call<Outcome<Vec<ConsignmentUserMapping>>> {
        let variables = consignment_user_mapping::Variables {
            envd_account_id: self.id().clone(),
            consignment_number: number.into(),
            role: role.into(),
        };
        self.client()
            .operation::<ReadMapping, _>(variables, |data| Some(data.consignment_user_mapping))
    }

    /// The user's declarations in the eDEC system. That system was announced to be shut down in 2020 (public: ISC pages,
    /// `guide::sources`), so these are old; new declarations are [consignments](Self::consignments).
    ///
    /// Source: operation stated, specification 4.1; argument and fields assumed.
    ///
    /// ```
    /// # test_support::example(async {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// let edecs = account.edecs().await?.value;
    /// println!("{} eDECs", edecs.len());
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// As [`execute`](crate::Client::execute).
    pub fn edecs(&self) -> Call<Outcome<Vec<Edec>>> {
        let variables = edecs::Variables {
            envd_account_id: Some(self.id().clone()),
        };
        self.client()
            .operation::<Edecs, _>(variables, |data| Some(data.edecs))
    }
}
