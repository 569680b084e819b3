//! Waits for the first of two futures.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;

pub(crate) enum First<A, B> {
    Left(A),
    Right(B),
}

/// The left one is borrowed: when the right one is first, it can be awaited further.
pub(crate) async fn first<A, B>(
    mut left: Pin<&mut impl Future<Output = A>>,
    right: impl Future<Output = B>,
) -> First<A, B> {
    let mut right = pin!(right);
    poll_fn(|context| {
        if let Poll::Ready(done) = left.as_mut().poll(context) {
            return Poll::Ready(First::Left(done));
        }
        right.as_mut().poll(context).map(First::Right)
    })
    .await
}
