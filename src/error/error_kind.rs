//! The kinds of the opaque error, for callers to match on, and the questions that several kinds answer.

use super::reply_meaning::{is_rate_limit, is_transient_status, kind_of_reply, kind_of_status};
use super::{Error, ErrorCase, Repr};
use crate::model::Condition;

/// What kind of failure an [`Error`] is: one kind for each reaction. [`guide::errors`](crate::guide::errors#kinds) has them in a
/// table.
///
/// It does not tell whether a change was carried out: check [`Error::may_have_applied`] first.
///
/// ```
/// # equipment::example(async {
/// use envd_sdk::ErrorKind;
///
/// let fake = envd_sdk::fake::Fake::start().await;
/// let account = fake.client().build()?.account(fake.account_id());
/// let error = account.consignment("00000000-0000-4000-8000-000000000000").await.unwrap_err();
/// match error.kind() {
///     ErrorKind::NotFound => println!("it was deleted, or belongs to another user"),
///     ErrorKind::ReauthRequired => println!("log in again"),
///     ErrorKind::Connect | ErrorKind::Timeout | ErrorKind::NoAnswer => println!("no reception"),
///     _ => println!("{}", error.report()),
/// }
/// assert_eq!(error.kind(), ErrorKind::NotFound);
/// # Ok(()) });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A setting or an argument is invalid and nothing was sent, or the identity provider refused the client's settings.
    /// Correct the program or its settings.
    Config,
    /// No connection could be made, and nothing was sent. [`Error::connect_cause`] says why, where that is known: a certificate,
    /// the proxy, the name, a refusal.
    Connect,
    /// A time limit ended the call, before or after the request was sent. Try again later.
    Timeout,
    /// No complete reply came: a lost connection, a body that ends early or is over the size limit. Try again later.
    Transport,
    /// A reply came that is not of the service: the page of a proxy, of a firewall or of a network's login, an empty body,
    /// a redirect. Try again later, as without a connection.
    #[doc(alias("304"))]
    NoAnswer,
    /// There were too many requests (HTTP 429, or a code to that effect). Wait [`Error::retry_after`].
    #[doc(alias("rate limit", "too many requests", "429"))]
    RateLimited,
    /// The service is offline for maintenance (HTTP 503, spec 7.1), or a gateway in front of it has no connection to it.
    /// Try again later.
    #[doc(alias("503", "maintenance"))]
    Unavailable,
    /// The service failed inside (HTTP 500, spec 7.1). Try again later, or report it to the service.
    #[doc(alias("500"))]
    Internal,
    /// The service refused the access token, and a renewed one where there is one. The audience or the client's settings are
    /// wrong, or the action is not allowed.
    #[doc(alias("401"))]
    Unauthorized,
    /// The user may not do this. Another account may have the role or the accreditation.
    #[doc(alias("403", "permission"))]
    Forbidden,
    /// The record does not exist, or belongs to another user: the service does not distinguish them.
    #[doc(alias("404"))]
    NotFound,
    /// The schema of the service differs from the document that was sent. Override the operation.
    SchemaMismatch,
    /// The service refused the request. Show [`Error::server_errors`] or [`Error::server_message`].
    #[doc(alias("400"))]
    Rejected,
    /// One record of a list does not have the expected shape; the list continues. [`Error::raw_data`] is the record.
    UnreadableRecord,
    /// The reply does not have the expected shape. [`Error::json_path`] is where.
    Decode,
    /// The server broke a rule of HTTP or of the interface. Report it to the service.
    Protocol,
    /// A list repeats itself and would not end. The records returned so far are valid.
    Stalled,
    /// No account fits a choice, or more than one. Let the user choose.
    AccountChoice,
    /// The user is logged in and not registered with the service. Send the user to its website.
    NotRegistered,
    /// There is no valid token, and only a login brings one. Log the user in.
    ReauthRequired,
    /// The identity provider refused the login, or the user cancelled it. Offer to log in again.
    LoginRefused,
    /// The identity provider does not renew the token now; the session may still be valid. Try again after [`Error::retry_after`].
    RefreshRefused,
    /// No token is available now. Try again after [`Error::retry_after`].
    TokenUnavailable,
    /// A store failed. The [`source`](std::error::Error::source) is a [`StoreError`](crate::auth::StoreError).
    Store,
}

impl Error {
    /// What kind of failure this is.
    ///
    /// See [`ErrorKind`] for an example.
    pub fn kind(&self) -> ErrorKind {
        match self.repr() {
            Repr::Said(ErrorKind::Protocol, _) => {
                let kind = self.service_status().and_then(kind_of_status);
                kind.filter(|kind| *kind != ErrorKind::Rejected)
                    .unwrap_or(ErrorKind::Protocol)
            }
            Repr::Said(kind, _) => *kind,
            // A body that cannot be read shows nothing.
            Repr::Http if self.encoding().is_some() => ErrorKind::Protocol,
            Repr::Http => {
                let status = self.http_status().unwrap_or_default();
                kind_of_reply(status, self.service_status().is_some())
            }
            Repr::ErrorsOnly => self.of_errors().unwrap_or(ErrorKind::Rejected),
            Repr::Decode { .. } if self.case() == ErrorCase::UnreadableRecord => {
                ErrorKind::UnreadableRecord
            }
            Repr::Decode { .. } => self.of_errors().unwrap_or(ErrorKind::Decode),
        }
    }

    /// What the service says by its errors and their status; `None` for an error about the input.
    fn of_errors(&self) -> Option<ErrorKind> {
        if self.server_errors().iter().any(is_rate_limit) {
            return Some(ErrorKind::RateLimited);
        }
        if self.has(Condition::InvalidToken) {
            return Some(ErrorKind::Unauthorized);
        }
        let by_status = self.http_status().and_then(kind_of_status);
        let by_status = by_status.filter(|kind| *kind != ErrorKind::Rejected);
        let by_condition = [
            (Condition::AccessDenied, ErrorKind::Forbidden),
            (Condition::SchemaMismatch, ErrorKind::SchemaMismatch),
            (Condition::NotFoundOrForbidden, ErrorKind::NotFound),
        ];
        let mut found = by_condition
            .into_iter()
            .filter(|(condition, _)| self.has(*condition));
        by_status.or_else(|| found.next().map(|(_, kind)| kind))
    }
}

impl Error {
    /// Whether the user has to log in: there is no token, and none can be obtained without the user.
    pub fn is_reauth_required(&self) -> bool {
        self.kind() == ErrorKind::ReauthRequired
    }

    /// Whether the server answered with errors and without data.
    pub(crate) fn has_errors_only(&self) -> bool {
        matches!(self.repr(), Repr::ErrorsOnly)
    }

    /// Whether a change may have been carried out although no clear answer came.
    ///
    /// It is false only if the change surely was not sent, or was refused: HTTP 401, 413 or 429, JSON or XML on 400, 403
    /// or 404, or an error body on 2xx or 4xx in which every error names a reason that is known (validation, token,
    /// permission, limit, schema). Errors on 5xx, "Internal server error" on any status, a reply without the record, a reply
    /// that is cut, a web page or an empty body leave it in doubt. [`is_retryable`](Self::is_retryable) is then false.
    ///
    /// Look at the server's records before sending it again: a declaration sent twice is a second declaration. For a new
    /// consignment [`Account::candidates`](crate::Account::candidates) does that.
    #[doc(alias("idempotency", "lost reply", "sent twice"))]
    pub fn may_have_applied(&self) -> bool {
        self.0.may_have_applied
    }

    /// Whether the same call may succeed later without any change, and repeating it does no harm.
    pub fn is_retryable(&self) -> bool {
        !self.0.may_have_applied && (self.0.passes || self.is_transient())
    }

    /// Whether sending the request again may give another reply, regardless of the harm that it may do.
    pub(crate) fn is_transient(&self) -> bool {
        match self.repr() {
            Repr::Said(ErrorKind::Connect | ErrorKind::Timeout | ErrorKind::Transport, _) => {
                self.0.passes
            }
            _ => {
                matches!(self.kind(), ErrorKind::NoAnswer | ErrorKind::RateLimited)
                    || self.http_status().is_some_and(is_transient_status)
            }
        }
    }

    /// Whether the service refuses the token, whatever else its reply says: a new one is worth a try.
    pub(crate) fn refuses_token(&self) -> bool {
        self.service_status() == Some(401) || self.has(Condition::InvalidToken)
    }

    /// Whether one of the server's errors means this (spec 7.2).
    pub(crate) fn has(&self, condition: Condition) -> bool {
        self.server_errors()
            .iter()
            .any(|error| error.condition() == condition)
    }
}

#[cfg(test)]
mod tests {
    use equipment::script::rows;
    use serde_json::json;

    use super::*;
    use crate::error::ReplyParts;
    use crate::model::ServerError;

    /// An error of the schema where the code is one of GraphQL.
    fn errors(words: &str) -> Vec<ServerError> {
        let (message, code) = words.split_once('/').unwrap();
        let (message, code) = (message.trim(), code.trim());
        let extensions = if code.contains('_') {
            json!({"code": code, "number": "5.3.1"})
        } else {
            json!({"data": {"Code": code}})
        };
        let error = json!({"message": message, "extensions": extensions});
        vec![ServerError::from_value(error)]
    }

    /// Status, message and code of a server error, and the kind of an error with it: rejected, and beside data that does not
    /// fit.
    const ERRORS: &str = "
        200 | No / pic                                    | Rejected | Decode
        400 | No / pic                                    | Rejected | Decode
        200 | The access token is invalid / Unauthorized  | Unauthorized | Unauthorized
        200 | Access denied /                             | Forbidden | Forbidden
        200 | Slow down / TOO_MANY_REQUESTS               | RateLimited | RateLimited
        200 | Internal server error /                     | NotFound | NotFound
        200 | Cannot query field 'x' / FIELDS_ON_CORRECT_TYPE | SchemaMismatch | SchemaMismatch
        200 | Variable '$input' is invalid. Unrecognized input fields 'id' for type 'T'. / INVALID_VALUE | SchemaMismatch | SchemaMismatch
        200 | Variable '$first' is invalid. / INVALID_VALUE | Rejected | Decode
        401 | No /                                        | Unauthorized | Unauthorized
        403 | No /                                        | Forbidden | Forbidden
        404 | No /                                        | NotFound | NotFound
        429 | No /                                        | RateLimited | RateLimited
        500 | No /                                        | Internal | Internal
        503 | Access denied /                             | Unavailable | Unavailable
        503 | The access token is invalid / Unauthorized  | Unauthorized | Unauthorized
    ";

    #[test]
    fn each_server_error_has_its_kind() {
        for row in rows(ERRORS) {
            let [status, words, rejected, decoded] = row[..] else {
                panic!("{row:?}");
            };
            let (status, errors) = (status.parse().unwrap(), errors(words));
            let (received, same) = (ReplyParts::status_only(status), errors.clone());
            let decode = Error::decode(received.clone(), "data".to_owned(), "", same.into());
            let error = Error::rejected(received, errors.into());
            assert_eq!(format!("{:?}", error.kind()), rejected, "{row:?}");
            assert_eq!(format!("{:?}", decode.kind()), decoded, "{row:?}");
            assert!(
                error.has_errors_only() && !decode.has_errors_only(),
                "{row:?}"
            );
            let unreadable = decode.with_case(ErrorCase::UnreadableRecord);
            assert_eq!(unreadable.kind(), ErrorKind::UnreadableRecord, "{row:?}");
        }
    }
}
