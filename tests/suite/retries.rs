//! Retries: the failures that are retried, and those after which a mutation may have been applied.

use test_support::script::play;
use test_support::table;

use crate::calls::Calls;

const RETRIES: &str = r#"
An unsent request is retried for any operation, and its error names the server without path and query
  with address http://refused/path?secret; {query|mutation} -> Connect x4 again, reports caused by: at http://127.0.0.1:, lacks path, lacks secret

An earlier attempt that may have applied is reported
  reply 503 <html>; reply {"errors": [{"message": "no"}]}; mutation idempotent -> Rejected x2 ?

Retries are turned off for a call, and limited for a client
  with retry 100; reply 503; query once -> Unavailable again, status 503; query -> Unavailable x21 again; query -> Unavailable again

A wait that is asked for is kept, unless it goes beyond the deadline
  reply 429 retry-after=20; reply {"data": {"a": 1}}; start mutation; until asleep 1; advance 19s -> waits; advance 1s; done -> ok x2;
  reply 429 retry-after=91; query -> RateLimited again, after 91s

The deadline of a call ends a running request
  reply never; start {query|mutation} deadline=5s; until sent 1; advance 5s; done -> {Timeout again|Timeout ?}

A token that the status or the body refuses is renewed once
  with token old/new; reply 401 www-authenticate=Bearer; reply {"data": {"a": 1}}; {query|mutation} -> ok, tokens old new
A token that a reply refuses is renewed once
  with token old/new; reply 401 {"Message": "x"}; reply {"data": {"a": 1}}; {query|mutation} -> ok, tokens old new
A token that the body refuses is renewed once
  with token old/new; reply {"data": null, "errors": [{"message": "The access token is invalid.", "path": ["a"], "extensions": {"data": {"Code": "Unauthorized"}}}]};
  reply {"data": {"a": 1}}; {query|mutation} -> ok, tokens old new
A token that is refused again ends the call, also after another failure
  with token old/new; reply 401 {"Message": "x"}; {query|mutation} -> Unauthorized, tokens old new;
  with token old/new; reply 401 www-authenticate=Bearer; reply 503; reply 401 www-authenticate=Bearer; query -> Unauthorized x2, tokens old new old

No attempt is sent once the condition of a call no longer holds
  copy c-1 idempotent holds=0 -> Transport unsent, says condition, sent 0;
  reply close; copy c-1 idempotent holds=1 -> Transport ?, says condition, sent 1;
  reply close; reply {"data": {"copyConsignment": {"data": {"id": "c-2"}}}}; copy c-1 idempotent holds=2 -> ok x2, sent 2

Headers of a call are sent with each request of it, and cannot replace those of the client
  with header x-key=s3cr3t; reply x-request-id=r-17 {"data": {"a": 1}}; query x-office=Roma -> ok, id r-17, header x-office Roma, header x-key s3cr3t;
  query -> ok, header x-office none; with header x-office=Dalby; query -> ok, header x-office Dalby; query x-office=Roma -> ok, header x-office Roma;
  query {authorization=Bearer|accept=text/xml} -> Config unsent, sent 0, hides Bearer

The record of a list that lacks fields is read with the settings of the call, and within its deadline
  reply {"data": {"consignments": {"pageInfo": {"hasNextPage": false}, "totalCount": 1, "edges": [{"cursor": "x", "node": {"id": "c-1"}}]}}};
  reply x-request-id=r-2 {"data": {"consignment": {"id": "c-1"}}}; reply never;
  candidates 2027-02-02 x-office=Roma -> ok, header x-office Roma, sent 2
The deadline of a call covers all its requests
  reply {"data": {"consignments": {"pageInfo": {"hasNextPage": false}, "totalCount": 1, "edges": [{"cursor": "x", "node": {"id": "c-1"}}]}}}; reply never;
  start candidates 2027-02-02 deadline=5s; until sent 2; advance 5s; done -> Timeout again, operation consignment
"#;

#[tokio::test]
async fn calls_are_retried_where_that_does_no_harm() {
    play::<Calls>(table!(const RETRIES)).await;
}

/// With a limit of one concurrent request.
const TURNS: &str = r#"
A change whose time runs out before its turn was not sent
  with at_most 1; reply never; start list; until sent 1; start save deadline=10s; until asleep 1; advance 11s; drop; done -> Timeout unsent again, sent 1

A call that waits for its retry leaves its turn to others
  with at_most 1; with retry later; reply 502; reply {"data": {"consignments": {"totalCount": 0, "edges": []}}}; start list; until asleep 1; list -> ok, waits

A limit of zero is refused, and the largest is not
  with at_most 0; query -> Config unsent, says max_concurrent_requests;
  with at_most 18446744073709551615; reply {"data": {"a": 1}}; query -> ok
"#;

#[tokio::test]
async fn a_turn_is_given_back() {
    play::<Calls>(table!(const TURNS)).await;
}
