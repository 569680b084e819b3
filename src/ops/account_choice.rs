//! Reads the user, and chooses one of the user's accounts.

use std::fmt;

use crate::client::{AccountClient, Client};
use crate::error::{Error, ErrorKind, Result};
use crate::graphql::Outcome;
use crate::graphql::generated::{UserDetails as ReadUserDetails, user_details};
use crate::model::visible_text::trimmed;
use crate::model::{AccountId, Pic, Role, UserAccount, UserDetails};
use crate::send::Call;

/// Selects one of the user's accounts. Exactly one account must match.
///
/// ```
/// # test_support::example(async {
/// use envd_sdk::model::Pic;
/// use envd_sdk::ops::AccountChoice;
///
/// let fake = envd_sdk::fake::Fake::start().await;
/// let client = fake.client().build()?;
/// let account = client.choose_account(&AccountChoice::Pic(Pic::parse("QBZZ2222")?)).await?;
/// assert_eq!(account.id(), &"envd-100202");
///
/// // Two accounts can create consignments, and one of them is the default.
/// let account = client.choose_account(&AccountChoice::Producer).await?;
/// assert_eq!(account.id(), &"envd-100201");
///
/// // No account has its own roles, so the user's roles hold for all of them.
/// let receiver = AccountChoice::Role(envd_sdk::model::Role::Receiver);
/// let error = client.choose_account(&receiver).await.unwrap_err();
/// assert!(error.kind() == envd_sdk::ErrorKind::AccountChoice);
/// # Ok(()) });
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub enum AccountChoice {
    /// The account that the user details name as the default (spec 2.8), if it is among the accounts.
    Default,
    /// The account that consignments can be created for (spec 5.10). If there are several, the default one (spec 2.8).
    Producer,
    /// The account with this role. Roles of single accounts are public, not confirmed. An account without roles matches if the user
    /// has the role. Roles that the service does not have never match.
    Role(Role),
    /// The account of a property: its label or its property data has the PIC (assumed).
    Pic(Pic),
    /// The account with this label.
    Label(String),
    /// The account with this id, for an application that stored the id.
    Id(AccountId),
}

impl fmt::Debug for AccountChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("Default"),
            Self::Producer => f.write_str("Producer"),
            Self::Role(role) => f.debug_tuple("Role").field(role).finish(),
            Self::Pic(pic) => f.debug_tuple("Pic").field(pic).finish(),
            // Users often label accounts with names of people and companies.
            Self::Label(_) => f.debug_tuple("Label").finish_non_exhaustive(),
            Self::Id(id) => f.debug_tuple("Id").field(id).finish(),
        }
    }
}

fn not_registered() -> Error {
    let what = "the user is not registered with the service; register on its website";
    Error::said(ErrorKind::NotRegistered, what)
}

impl AccountChoice {
    /// The id of the one matching account.
    ///
    /// # Errors
    ///
    /// [`NotRegistered`](crate::ErrorKind::NotRegistered) if the user is not registered with the service, and
    /// [`AccountChoice`](crate::ErrorKind::AccountChoice) unless exactly one account matches.
    pub fn among(&self, user: &UserDetails) -> Result<AccountId> {
        if user.is_new_user == Some(true) {
            return Err(not_registered());
        }
        let accounts = user.accounts.iter();
        let mut found: Vec<&UserAccount> = accounts
            .filter(|account| self.fits(user, account))
            .collect();
        if matches!(self, Self::Producer)
            && let Some(default) = user.default_account()
            && found.iter().any(|account| std::ptr::eq(*account, default))
        {
            found = vec![default];
        }
        let problem = |what: String| Err(Error::said(ErrorKind::AccountChoice, what));
        match found.as_slice() {
            [account] => match &account.envd_account_id {
                Some(id) => Ok(id.clone()),
                None => problem("the account that fits has no envdAccountId".to_owned()),
            },
            [] if self.is_about_unknown_roles(user) => {
                problem("the service does not say which roles the user has".to_owned())
            }
            [] => problem(format!(
                "the user has {} accounts, none {}",
                user.accounts.len(),
                self.words()
            )),
            several => {
                let ids = several
                    .iter()
                    .filter_map(|account| account.envd_account_id.as_ref());
                let ids: Vec<&str> = ids.map(AccountId::as_str).collect();
                problem(format!(
                    "the user has {} accounts {} ({}): choose one by its id, label or PIC",
                    several.len(),
                    self.words(),
                    ids.join(", ")
                ))
            }
        }
    }

    fn fits(&self, user: &UserDetails, account: &UserAccount) -> bool {
        match self {
            Self::Default => user
                .default_account()
                .is_some_and(|default| std::ptr::eq(default, account)),
            Self::Producer => user
                .producer_accounts()
                .any(|producer| std::ptr::eq(producer, account)),
            Self::Role(role) => user.has_role(account, role).unwrap_or(false),
            Self::Pic(pic) => {
                let label = account.account_label.as_deref();
                account
                    .properties
                    .iter()
                    .filter_map(|property| property.property_name.as_deref())
                    .chain(label)
                    .any(|text| has_word(text, pic.as_str()))
            }
            Self::Label(label) => {
                let found = account.account_label.as_deref();
                found.is_some_and(|found| trimmed(found) == trimmed(label))
            }
            Self::Id(id) => {
                let found = account.envd_account_id.as_ref();
                found.is_some_and(|found| trimmed(found.as_str()) == trimmed(id.as_str()))
            }
        }
    }

    fn is_about_unknown_roles(&self, user: &UserDetails) -> bool {
        let is_unknown = |role| {
            user.accounts
                .iter()
                .any(|account| user.has_role(account, role).is_none())
        };
        matches!(self, Self::Role(role) if is_unknown(role))
    }

    /// Omits label and PIC, which are the user's data.
    fn words(&self) -> &'static str {
        match self {
            Self::Default => "that is the default",
            Self::Producer => "that can create consignments",
            Self::Role(_) => "with this role",
            Self::Pic(_) => "of this PIC",
            Self::Label(_) => "with this label",
            Self::Id(_) => "with this id",
        }
    }
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .any(|part| part.eq_ignore_ascii_case(word))
}

impl Client {
    /// The user of the token, with accounts and roles.
    ///
    /// The specification calls the operation both `userDetails` and `userDetailsQuery`, with the record under `data`. Public
    /// queries use `userDetails` with the record at the top. The client tries each form until the server accepts one, and
    /// remembers it ([`profile`](Self::profile)). Fields for roles that the service does not have become `None`.
    ///
    /// Source: stated, specification 2.8 and 4.1.
    ///
    /// ```
    /// # test_support::example(async {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let client = fake.client().build()?;
    /// let user = client.user_details().await?.value;
    /// assert_eq!(user.first_name.as_deref(), Some("Sam"));
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// As [`execute`](Self::execute).
    pub fn user_details(&self) -> Call<Outcome<UserDetails>> {
        let client = self.clone();
        let variables = user_details::Variables {};
        let read = self.operation::<ReadUserDetails, _>(variables, |data| data.user_details);
        read.then(move |mut outcome| {
            let user = &mut outcome.value;
            // profile: operations.leftOut
            let left_out = client.left_out("userDetails");
            let is_left_out = |path: &str| left_out.iter().any(|left_out| left_out == path);
            if is_left_out("roles") {
                user.roles = None;
            }
            if is_left_out("accounts.roles") {
                let accounts = user.accounts.iter_mut();
                accounts.for_each(|account| account.roles = None);
            }
            let of_accounts = user.accounts.iter_mut().map(|account| &mut account.roles);
            for role in of_accounts
                .chain([&mut user.roles])
                .flat_map(|roles| roles.iter_mut().flatten())
            {
                // profile: roles
                if let Some(named) = client.given_profile().role(role) {
                    *role = named.clone();
                }
            }
            Ok(outcome)
        })
    }

    /// The user, if registered with the service. Users register on its website or in its app; this crate cannot register them.
    ///
    /// Source: stated, specification 1.5, 2.8 and 5.9.
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::fake::{Fake, User};
    ///
    /// let fake = Fake::builder().user(User::New).start().await?;
    /// let error = fake.client().build()?.registered_user().await.unwrap_err();
    /// assert!(error.kind() == envd_sdk::ErrorKind::NotRegistered);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// [`NotRegistered`](crate::ErrorKind::NotRegistered), and as [`execute`](Self::execute).
    pub fn registered_user(&self) -> Call<Outcome<UserDetails>> {
        self.user_details().then(|outcome| {
            if outcome.value.is_new_user == Some(true) {
                return Err(not_registered().with_operation("userDetails"));
            }
            Ok(outcome)
        })
    }

    /// Reads the user details and chooses one of the accounts.
    ///
    /// Source: stated, specification 1.4, 2.8 and 5.10.
    ///
    /// # Errors
    ///
    /// As [`AccountChoice::among`] and [`execute`](Self::execute).
    pub fn choose_account(&self, choice: &AccountChoice) -> Call<AccountClient> {
        let client = self.clone();
        let choice = choice.clone();
        self.registered_user().then(move |user| {
            let id = choice.among(&user.value);
            Ok(client.account(id.map_err(|error| error.with_operation("userDetails"))?))
        })
    }
}
