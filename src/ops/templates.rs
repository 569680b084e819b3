//! Templates: list, read, save, delete.

use std::borrow::Cow;

use super::TemplateFilter;
use super::filter::accepted;
use crate::client::{AccountClient, Client};
use crate::graphql::Outcome;
use crate::graphql::generated::{
    CreateOrSaveTemplate, DeleteTemplate, Template as ReadTemplate, Templates,
    create_or_save_template, delete_template, template, templates,
};
use crate::model::{Connection, SavedTemplate, Template, TemplateId, TemplateInput, WithExtra};
use crate::send::Call;
use crate::send::pages::Pager;

impl AccountClient {
    /// One page of templates: the first, or the one after a cursor.
    ///
    /// Source: operation stated, specification 4.1; arguments public, not confirmed.
    ///
    /// ```
    /// # test_support::example(async {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # use envd_sdk::model::{FormType, TemplateInput};
    /// # let input = TemplateInput::new("To the works", [FormType::Lpac1]);
    /// # let id = account.save_template(input).await?.id()?;
    /// use envd_sdk::ops::TemplateFilter;
    ///
    /// let page = account.templates_page(&TemplateFilter::default(), None).await?.value;
    /// assert!(!page.edges.is_empty());
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// As [`execute`](crate::Client::execute).
    #[doc(alias = "templates")]
    pub fn templates_page(
        &self,
        filter: &TemplateFilter,
        after: Option<&str>,
    ) -> Call<Outcome<Connection<Template>>> {
        let variables = templates::Variables {
            envd_account_id: self.id().clone(),
            first: accepted(self.client(), filter.page_size),
            after: after.map(str::to_owned),
        };
        self.client()
            .operation::<Templates, _>(variables, |data| data.templates)
    }

    /// All templates, page by page or one by one. Nothing is sent until the first page is requested.
    ///
    /// Source: operation stated, specification 4.1; arguments public, not confirmed.
    ///
    /// # Errors
    ///
    /// Those of its pages: see [`next_page`](Pager::next_page).
    pub fn templates(&self, filter: &TemplateFilter) -> Pager<Template> {
        let account = self.id().clone();
        let first = filter.page_size;
        let call = move |client: &Client, after| {
            let variables = templates::Variables {
                envd_account_id: account.clone(),
                first: accepted(client, first),
                after,
            };
            client.operation::<Templates, _>(variables, |data| data.templates?.if_listed())
        };
        self.client().list("templates", call, |record| {
            let id = record.id.as_ref().map(TemplateId::as_str);
            id.or(record.number.as_deref()).map(Cow::Borrowed)
        })
    }

    /// One template, by its id or its number.
    ///
    /// Source: operation stated, specification 4.1; arguments public, not confirmed.
    ///
    /// ```
    /// # test_support::example(async {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # use envd_sdk::model::{FormType, TemplateInput};
    /// # let input = TemplateInput::new("To the works", [FormType::Lpac1]);
    /// # let id = account.save_template(input).await?.id()?;
    /// let template = account.template(id).await?.value;
    /// assert_eq!(template.name.as_deref(), Some("To the works"));
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// As [`execute`](crate::Client::execute).
    pub fn template(&self, id: impl Into<TemplateId>) -> Call<Outcome<Template>> {
        let variables = template::Variables {
            id: id.into(),
            envd_account_id: self.id().clone(),
        };
        self.client()
            .operation::<ReadTemplate, _>(variables, |data| data.template)
    }

    /// Creates a template, or updates an existing one.
    ///
    /// Takes a [`TemplateInput`], optionally with further fields ([`TemplateInput::extra`]). To save a template that you read, use
    /// `TemplateInput::from(&template)`.
    ///
    /// Source: operation stated, specification 4.1; arguments and result assumed.
    ///
    /// ```
    /// # test_support::example(async {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// use envd_sdk::model::{FormType, PartyInput, TemplateInput};
    ///
    /// let mut input = TemplateInput::new("To the works", [FormType::Lpac1]);
    /// input.destination = PartyInput::new("QDZZ3333").into();
    /// let (saved, problems) = account.save_template(input).await?.into_parts();
    /// assert_eq!(saved.name.as_deref(), Some("To the works"));
    /// assert!(problems.is_empty());
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// As [`execute`](crate::Client::execute).
    #[doc(alias = "createOrSaveTemplate")]
    pub fn save_template(
        &self,
        input: impl Into<WithExtra<TemplateInput>>,
    ) -> Call<Outcome<SavedTemplate>> {
        self.save::<CreateOrSaveTemplate, _>(
            &create_or_save_template::DOCUMENT,
            &input.into(),
            |data| data.create_or_save_template?.data,
        )
    }

    /// Deletes a template. The returned record is empty if the server answers only `true`.
    ///
    /// Source: operation stated, specification 4.1; arguments and result assumed.
    ///
    /// ```
    /// # test_support::example(async {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # use envd_sdk::model::{FormType, TemplateInput};
    /// # let input = TemplateInput::new("To the works", [FormType::Lpac1]);
    /// # let id = account.save_template(input).await?.id()?;
    /// let (_, problems) = account.delete_template(id.clone()).await?.into_parts();
    /// assert!(problems.is_empty());
    /// assert!(account.template(id).await.is_err());
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// As [`execute`](crate::Client::execute).
    pub fn delete_template(&self, id: impl Into<TemplateId>) -> Call<Outcome<SavedTemplate>> {
        let variables = delete_template::Variables {
            envd_account_id: self.id().clone(),
            id: id.into(),
        };
        self.client()
            .operation::<DeleteTemplate, _>(variables, |data| data.delete_template?.data)
    }
}
