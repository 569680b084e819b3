//! Selects an account, and the accreditations that apply to it.

use super::{AccountId, AccountType, Accreditations, Role, UserAccount, UserDetails};

impl UserDetails {
    /// The accounts that can create consignments: those of the LPA program, if the user is a Producer.
    ///
    /// The role is taken from the account (public, not confirmed), otherwise from the user (spec 2.8, 5.10). If the service
    /// returns no roles (they are `None`), they are unknown, and this returns all accounts of the LPA program.
    ///
    /// ```
    /// # test_support::example(async {
    /// let fake = envd_sdk::fake::Fake::start().await;
    /// let user = fake.client().build()?.user_details().await?.value;
    /// let first = user.producer_accounts().next().expect("a producer");
    /// assert_eq!(first.envd_account_id.as_ref().expect("an id"), &"envd-100201");
    /// # Ok(()) });
    /// ```
    pub fn producer_accounts(&self) -> impl Iterator<Item = &UserAccount> {
        self.accounts.iter().filter(|account| {
            account.account_type == Some(AccountType::Lpa)
                && self.has_role(account, &Role::Producer).unwrap_or(true)
        })
    }

    /// Whether an account, or else the user, has a role; `None` if unknown.
    pub(crate) fn has_role(&self, account: &UserAccount, role: &Role) -> Option<bool> {
        let given = [&account.roles, &self.roles];
        let mut known = given.iter().filter_map(|roles| roles.as_deref());
        match known.find(|roles| !roles.is_empty()) {
            Some(roles) => Some(roles.contains(role)),
            None => given.iter().all(|roles| roles.is_some()).then_some(false),
        }
    }

    /// The default account, looked up among the accounts; `None` if it is not one of them.
    ///
    /// The specification gives the account id with the prefix `envd-`; public material passes the same text as `envdAccountId`.
    /// This tries both, and nothing else.
    pub fn default_account(&self) -> Option<&UserAccount> {
        let wanted = self
            .default_account
            .as_deref()
            .filter(|text| !text.is_empty())?;
        let by_id = |account: &&UserAccount| {
            let id = account.envd_account_id.as_ref();
            id.is_some_and(|id| id.as_str() == wanted)
        };
        let by_program_id = |account: &&UserAccount| {
            let id = wanted.strip_prefix("envd-");
            id.is_some() && account.account_id.as_deref() == id
        };
        let accounts = || self.accounts.iter();
        accounts()
            .find(by_id)
            .or_else(|| accounts().find(by_program_id))
    }

    /// The accreditations that apply to an account: those of the user (spec 2.8), and those of the account's properties
    /// (public, not confirmed: `OAuthSample`, `guide::sources`). `None` if none of these sources states any.
    ///
    /// An accreditation is true if any source says true, and false if one says false and none says true. assumed: no material
    /// shows conflicting sources. The service rejects a form that is wrongly allowed, whereas a form wrongly blocked could not
    /// be sent at all. Values at other accounts do not count.
    ///
    /// ```
    /// use envd_sdk::model::UserDetails;
    ///
    /// let user: UserDetails = serde_json::from_str(
    ///     r#"{"accreditations": {"lPA": true, "eU": false},
    ///         "accounts": [{"envdAccountId": "envd-7",
    ///                       "properties": [{"accreditations": {"eU": true}}]}]}"#,
    /// )?;
    /// let found = user.accreditations_of("envd-7").expect("some");
    /// assert_eq!((found.lpa, found.eu, found.nfas), (Some(true), Some(true), None));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn accreditations_of(&self, account: impl Into<AccountId>) -> Option<Accreditations> {
        let id = account.into();
        let of_properties = self
            .accounts
            .iter()
            .filter(|account| account.envd_account_id.as_ref() == Some(&id))
            .flat_map(|account| &account.properties)
            .filter_map(|property| property.accreditations.as_ref());
        let mut found = Accreditations::default();
        for place in self.accreditations.iter().chain(of_properties) {
            // None is less than false, and false is less than true.
            found = Accreditations {
                lpa: found.lpa.max(place.lpa),
                eu: found.eu.max(place.eu),
                msa: found.msa.max(place.msa),
                eugfhqb: found.eugfhqb.max(place.eugfhqb),
                nfas: found.nfas.max(place.nfas),
                hrg: found.hrg.max(place.hrg),
            };
        }
        (found != Accreditations::default()).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use test_support::script::rows;

    use super::*;

    fn user(json: &str) -> UserDetails {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn the_default_account_is_looked_up_and_never_guessed() {
        let accounts = r#""accounts": [{"envdAccountId": "x-9", "accountId": "100201"}, {"envdAccountId": "envd-7", "accountId": "8"}]"#;
        for (default, id) in [
            ("envd-100201", Some("x-9")),
            ("envd-7", Some("envd-7")),
            ("envd-9", None),
            ("", None),
        ] {
            let user = user(&format!(r#"{{"defaultAccount": "{default}", {accounts}}}"#));
            let found = user.default_account();
            let found = found.and_then(|account| account.envd_account_id.clone());
            assert_eq!(found, id.map(Into::into), "{default}");
        }
    }

    #[test]
    fn a_role_of_the_account_counts_before_those_of_the_user() {
        let user = user(
            r#"{"roles": ["Producer"], "accounts": [
                {"accountId": "1", "accountType": "LPA"},
                {"accountId": "2", "accountType": "LPA", "roles": ["Receiver"]},
                {"accountId": "3", "accountType": "PIC"}]}"#,
        );
        let ids: Vec<_> = user
            .producer_accounts()
            .filter_map(|account| account.account_id.as_deref())
            .collect();
        assert_eq!(ids, ["1"]);
    }

    #[test]
    fn roles_that_are_not_known_are_not_none() {
        for (of_user, of_account, is_producer) in [
            (r#""roles": ["Producer"],"#, "", true),
            (r#""roles": ["Receiver"],"#, "", false),
            (r#""roles": [],"#, r#", "roles": []"#, false),
            (r#""roles": [],"#, "", true),
            ("", "", true),
            (r#""roles": null,"#, "", true),
            (r#""roles": null,"#, r#", "roles": ["Receiver"]"#, false),
            (r#""roles": [],"#, r#", "roles": null"#, true),
            (r#""roles": ["Receiver"],"#, r#", "roles": null"#, false),
        ] {
            let user = user(&format!(
                r#"{{{of_user} "accounts": [{{"accountType": "LPA"{of_account}}}, {{"accountType": "PIC"}}]}}"#
            ));
            let found = user.producer_accounts().count();
            assert_eq!(found, usize::from(is_producer), "{of_user} {of_account}");
        }
    }

    #[test]
    fn accreditations_of_the_user_and_of_the_accounts_properties_count() {
        let merged = |user_wide: &str, properties: &str| {
            let user = user(&format!(
                r#"{{"accreditations": {user_wide}, "accounts": [
                    {{"envdAccountId": "a", "properties": {properties}}},
                    {{"envdAccountId": "b", "properties": {{"accreditations": {{"nFAS": true}}}}}}]}}"#
            ));
            let found = user.accreditations_of("a")?;
            assert_eq!(found.nfas, None, "that of another account");
            Some((found.lpa, found.hrg))
        };
        for row in rows(
            r#"
            {"lPA": true, "hRG": false} | {}                                                | Some((Some(true), Some(false)))
            null           | [{"accreditations": {"lPA": true, "hRG": false}}]              | Some((Some(true), Some(false)))
            {"lPA": true}  | [{"accreditations": {"lPA": false}}]                           | Some((Some(true), None))
            {"lPA": false} | [{"accreditations": {"lPA": null}}]                            | Some((Some(false), None))
            {"hRG": false} | [{"accreditations": {"hRG": false}}, {"accreditations": {"hRG": true}}] | Some((None, Some(true)))
            {}             | null                                                           | None
            null           | [{"accreditations": null}]                                     | None
            "#,
        ) {
            let found = format!("{:?}", merged(row[0], row[1]));
            assert_eq!(found, row[2], "{row:?}");
        }
    }
}
