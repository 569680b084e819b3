//! The user, the questions, the eDECs: what needs no account.

use crate::client::{Account, Client};
use crate::error::{Error, Kind};
use crate::graphql::generated::{
    Edecs, Questions, UserDetails as ReadUserDetails, edecs, questions, user_details,
};
use crate::graphql::{Outcome, levels};
use crate::model::{Edec, List, QuestionList, UserDetails};
use crate::send::Call;

impl Client {
    /// The user whom the token names, with accounts and roles.
    ///
    /// The specification names the operation `userDetails` and `userDetailsQuery` and has the record under `data`; public
    /// queries have `userDetails` without it. The forms are tried in turn until the server takes one, which is kept
    /// ([`adapted_operations`](Self::adapted_operations)).
    ///
    /// Source: stated, specification 2.8 and 4.1.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let client = fake.client().build()?;
    /// let user = client.user_details().await?.value;
    /// assert_eq!(user.first_name.as_deref(), Some("Sam"));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`execute`](Self::execute).
    pub fn user_details(&self) -> Call<Outcome<UserDetails>> {
        let variables = user_details::Variables {};
        self.operation::<ReadUserDetails, _>(variables, |data| data.user_details)
    }

    /// The user, if registered with the service. Registration happens on its website or in its app, never here.
    ///
    /// Source: stated, specification 1.5, 2.8 and 5.9.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use envd_sdk::fake::{Fake, User};
    ///
    /// let fake = Fake::builder().user(User::New).start().await?;
    /// let error = fake.client().build()?.registered_user().await.unwrap_err();
    /// assert!(error.is_not_registered());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`is_not_registered`](crate::Error::is_not_registered), and as [`execute`](Self::execute).
    pub fn registered_user(&self) -> Call<Outcome<UserDetails>> {
        self.user_details().then(async |outcome, _| {
            if outcome.value.is_new_user == Some(true) {
                return Err(Error::new(Kind::NotRegistered).with_operation("userDetails"));
            }
            Ok(outcome)
        })
    }

    /// All questions of all forms, as a tree. Five levels are asked for at first, and more when the fifth has children.
    ///
    /// Source: stated, specification 2.6 and 4.1.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let client = fake.client().build()?;
    /// let questions = client.questions().await?.value.items;
    /// assert!(questions.iter().any(|question| question.read_only.is_some()));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`execute`](Self::execute).
    pub fn questions(&self) -> Call<Outcome<QuestionList>> {
        let read = |client: &Self| {
            client.operation::<Questions, _>(questions::Variables {}, |data| data.questions)
        };
        self.all_levels("questions", read, |list| levels(&list.items))
    }
}

impl Account {
    /// The declarations that the user made in the eDEC system.
    ///
    /// Source: operation stated, specification 4.1; argument and fields assumed.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// let edecs = account.edecs().await?.value;
    /// println!("{} eDECs", edecs.len());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`execute`](Client::execute).
    pub fn edecs(&self) -> Call<Outcome<List<Edec>>> {
        let variables = edecs::Variables {
            envd_account_id: Some(self.id().clone()),
        };
        self.client()
            .operation::<Edecs, _>(variables, |data| Some(data.edecs))
    }
}
