//! The kinds of errors, for callers to match on, and the predicates that cover several kinds.

use super::reply_meaning::{is_rate_limit, is_transient_status, kind_of_reply, kind_of_status};
use super::{Error, ErrorCase, Repr};
use crate::model::Condition;

/// The kind of an [`Error`]: one kind for each reaction. See the table in [`guide::errors`](crate::guide::errors#kinds).
///
/// The kind does not say whether a change was carried out. Check [`Error::may_have_applied`] first.
///
/// ```
/// # test_support::example(async {
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
    /// No connection could be made, so nothing was sent. [`Error::connect_cause`] tells why if that is known: a certificate,
    /// the proxy, the host name, or a refused connection.
    Connect,
    /// A time limit ended the call, before or after the request was sent. Try again later.
    Timeout,
    /// No complete reply arrived: the connection was lost, or the body ended early or exceeded the size limit. Try again later.
    Transport,
    /// The reply did not come from the service: it is a page of a proxy, a firewall or a network login, an empty body, or a
    /// redirect. Try again later, as if offline.
    #[doc(alias("304"))]
    NoAnswer,
    /// The rate limit was exceeded (HTTP 429, or an equivalent error code). Wait for [`Error::retry_after`].
    #[doc(alias("rate limit", "too many requests", "429"))]
    RateLimited,
    /// The service is down for maintenance (HTTP 503, spec 7.1), or a gateway cannot reach it. Try again later.
    #[doc(alias("503", "maintenance"))]
    Unavailable,
    /// The service failed internally (HTTP 500, spec 7.1). Try again later, or report it to the service.
    #[doc(alias("500"))]
    Internal,
    /// The service refused the access token, and also the renewed one if there was one. The audience or the client's settings
    /// are wrong, or the action is not allowed.
    #[doc(alias("401"))]
    Unauthorized,
    /// The user lacks permission. Another account may have the required role or accreditation.
    #[doc(alias("403", "permission"))]
    Forbidden,
    /// The record does not exist or belongs to another user. The service does not distinguish the two.
    #[doc(alias("404"))]
    NotFound,
    /// The schema of the service does not match the document of the operation. Override the operation.
    SchemaMismatch,
    /// The service refused the request. Show [`Error::server_errors`] or [`Error::server_message`].
    #[doc(alias("400"))]
    Rejected,
    /// One record of a list does not have the expected shape; the list continues. [`Error::raw_data`] is the record.
    UnreadableRecord,
    /// The reply does not have the expected shape. [`Error::json_path`] says where.
    Decode,
    /// The server broke a rule of HTTP or of the interface. Report it to the service.
    Protocol,
    /// A list repeats itself and would never end. The records returned so far are valid.
    Stalled,
    /// No account matches the choice, or several do. Let the user choose.
    AccountChoice,
    /// The user is logged in but not registered with the service. Send the user to the website of the service.
    NotRegistered,
    /// No valid token is available, and only a login can obtain one. Log the user in.
    ReauthRequired,
    /// The identity provider refused the login, or the user cancelled it. Offer to log in again.
    LoginRefused,
    /// The identity provider currently refuses to renew the token, but the session may still be valid. Try again after
    /// [`Error::retry_after`].
    RefreshRefused,
    /// No token is available now. Try again after [`Error::retry_after`].
    TokenUnavailable,
    /// A store failed. The [`source`](std::error::Error::source) is a [`StoreError`](crate::auth::StoreError).
    Store,
}

impl Error {
    /// The kind of this failure.
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
            // An encoded body could not be read, so it proves nothing.
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

    /// The kind that the server's errors and the status imply; `None` if the errors are about the input.
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
    /// Whether the user has to log in: no valid token is available, and none can be obtained without the user.
    pub fn is_reauth_required(&self) -> bool {
        self.kind() == ErrorKind::ReauthRequired
    }

    /// Whether the server replied with errors and without data.
    pub(crate) fn has_errors_only(&self) -> bool {
        matches!(self.repr(), Repr::ErrorsOnly)
    }

    /// Whether a change may have been carried out although no clear reply arrived.
    ///
    /// It is false only if the change certainly was not sent, or was refused: HTTP 401, 413 or 429, JSON or XML on 400, 403 or
    /// 404, or an error body on 2xx or 4xx in which every error has a known reason (validation, token, permission, limit,
    /// schema). The outcome is unknown after errors on 5xx, "Internal server error" on any status, a reply without the record,
    /// a truncated reply, a web page or an empty body. [`is_retryable`](Self::is_retryable) is then false.
    ///
    /// Check the server's records before you send the change again: a declaration sent twice becomes two declarations. For a
    /// new consignment, use [`AccountClient::candidates`](crate::AccountClient::candidates).
    #[doc(alias("idempotency", "lost reply", "sent twice"))]
    pub fn may_have_applied(&self) -> bool {
        self.0.may_have_applied
    }

    /// Whether repeating the same call unchanged is harmless and may succeed later.
    pub fn is_retryable(&self) -> bool {
        !self.0.may_have_applied && (self.0.passes || self.is_transient())
    }

    /// Whether sending the request again may get a different reply, even if that could do harm.
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

    /// Whether the service refuses the token, regardless of the rest of the reply. If so, a new token is worth a try.
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
    use serde_json::json;
    use test_support::script::rows;

    use super::*;
    use crate::error::ReplyParts;
    use crate::model::ServerError;

    /// A schema error if the code is a known GraphQL code.
    fn errors(words: &str) -> Vec<ServerError> {
        let (message, code) = words.split_once('/').unwrap();
        let message = message.trim();
        let code = code.trim();
        let extensions = if code.contains('_') {
            json!({"code": code, "number": "5.3.1"})
        } else {
            json!({"data": {"Code": code}})
        };
        let error = json!({"message": message, "extensions": extensions});
        vec![ServerError::from_value(error)]
    }

    /// Status, message and code of a server error; the kind of an error that has it without data, and next to data that could
    /// not be decoded.
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
            let status = status.parse().unwrap();
            let errors = errors(words);
            let received = ReplyParts::status_only(status);
            let same = errors.clone();
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
