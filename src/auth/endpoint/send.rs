//! Sends what `request` builds and hands the reply to `judge`.

use super::judge::{self, Grant, Refusal};
use super::{Issued, request};
use crate::auth::{CheckedCallback, Provider};
use crate::error::{Error, Result};
use crate::secret::Secret;
use crate::transport::Request;

pub(in crate::auth) async fn exchange(callback: &CheckedCallback) -> Result<Issued, Refusal> {
    send(&callback.provider, Grant::Code, request::exchange(callback)).await
}

pub(in crate::auth) async fn refresh(
    provider: &Provider,
    token: &Secret,
) -> Result<Issued, Refusal> {
    send(
        provider,
        Grant::RefreshToken,
        request::refresh(provider, token),
    )
    .await
}

async fn send(provider: &Provider, grant: Grant, request: Request) -> Result<Issued, Refusal> {
    match provider.0.http.send_and_keep(request).await {
        Ok((reply, cut)) => match cut {
            None => judge::judge(&reply, grant, provider.clock().now()),
            Some(error) => Err(judge::judge_cut(&reply, error)),
        },
        Err(error) => Err(judge::judge_failure(error)),
    }
}

/// Revokes a refresh token. Does nothing when no address for it is set.
///
/// RFC 7009 section 2.2: an unknown token is answered with 200 as well.
pub(in crate::auth) async fn revoke(provider: &Provider, token: &Secret) -> Result<()> {
    let Some(request) = request::revoke(provider, token) else {
        return Ok(());
    };
    let reply = provider.0.http.send(request).await?;
    match reply.status {
        200..=299 => Ok(()),
        _ => Err(reply.into_error()),
    }
    .map_err(|error: Error| error.with_operation("revoke"))
}
