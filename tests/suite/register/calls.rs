//! Pauses after `Retry-After`, and the results of look-ups.

use test_support::script::play;
use test_support::table;

use crate::calls::Calls;

const PAUSES: &str = r#"
Calls fail during a long pause
  reply 429 retry-after=600; reply pics; lookup QAZZ7777 -> RateLimited again, status 429, after 600s, operation PICRegister;
  advance 100s; many QBZZ2222 QCZZ8888 -> value . ["RateLimited unsent again","RateLimited unsent again"], sent 0;
  lookup QAZZ7777 -> RateLimited unsent again, status 429, after 500s; advance 500s; lookup QBZZ2222 -> ok

All calls wait for a short pause
  reply 429 retry-after=20; reply pics; start many QAZZ7777 QBZZ2222; until asleep 1; start lookup QCZZ8888 -> waits, sent 1, paused 20s;
  advance 20s; done -> value . ["Empty","Empty"]; done -> ok
Calls go on when the pause is ended
  reply 429 retry-after=20; reply pics; start many QAZZ7777 QBZZ2222; until asleep 1; start lookup QCZZ8888 -> waits, sent 1;
  drop; end_pause -> paused 0s; done -> ok

A client without retries fails at once during a pause
  with retry none; reply 429 retry-after=20; lookup QAZZ7777 -> RateLimited again; lookup QAZZ7777 -> RateLimited unsent again, sent 0

A pause lasts an hour at most
  reply 429 retry-after={Fri,_31_Dec_9999_23:59:59_GMT|18446744073709551615}; reply pics; lookup QAZZ7777 -> RateLimited again, paused 3600s;
  advance 3000s; lookup QAZZ7777 -> RateLimited unsent again, after 600s, sent 0; advance 600s -> paused 0s; lookup QAZZ7777 -> ok

Maintenance defers all users
  with token one; reply 503 retry-after=600 {"message": "not user 1, please"}; questions -> Unavailable again, status 503;
  advance 100s; as two -> paused 500s; delete c-1 -> Unavailable unsent again, status 503, after 500s, operation deleteConsignment, message none, sent 0;
  end_pause; as one -> paused 0s; questions -> Unavailable again, sent 1

A limit defers one of them
  with token one; reply 429 retry-after=600 {"message": "not user 1, please"}; questions -> RateLimited again, status 429;
  advance 100s; as two -> paused 0s; questions -> RateLimited again, sent 1, tokens two;
  as one -> paused 500s; delete c-1 -> RateLimited unsent again, status 429, after 500s, operation deleteConsignment, message none, sent 0

A limit defers all clients of its user, also those that are made for one request
  with token one; reply 429 retry-after=600; request two; questions -> RateLimited again, sent 1, tokens two, paused 600s;
  advance 100s; request two; delete c-1 -> RateLimited unsent again, status 429, after 500s, sent 0, paused 500s;
  request three; questions -> RateLimited again, sent 1, tokens three; as one -> paused 0s;
  request two; questions -> RateLimited unsent again; end_pause; request two; questions -> RateLimited again, sent 1, tokens two

A client for one request waits out a short pause of its user
  with token one; reply 429 retry-after=20; reply {"data": {"questions": {"items": []}}}; request two; questions once -> RateLimited again;
  request two; start questions -> waits, sent 0; advance 20s; done -> ok, sent 1
"#;

#[tokio::test]
async fn pauses_are_kept_by_those_whom_they_concern() {
    play::<Calls>(table!(const PAUSES)).await;
}

const LOOK_UPS: &str = r#"
Found, not found, empty and several are distinguished
  reply pics qazz7777; lookup QAZZ7777 -> ok, value . "qazz7777", target /api/v2/PICRegister/(PIC=QAZZ7777);
  reply pics; {lookup|property} QBZZ2222 -> value . {"Empty"|null};
  reply 404 content-type=application/xml <Error/>; {lookup|property} QCZZ8888 -> value . {"NotFound"|null};
  reply 204; {lookup|property} QEZZ4444 -> value . {"Empty"|null};
  reply 201 {"Value": {}}; {lookup|property} QFZZ5555 -> value . {"Empty"|null};
  reply pics QAZZ7777 QAZZ7777; lookup QAZZ7777 -> value . "2 records"; property QAZZ7777 -> kind Protocol

A PIC without a record may be an empty 404, once the register has answered
  with retry none; reply 404; reply pics QAZZ7777; reply 404; {lookup|property} QAZZ7777 -> NoAnswer again;
  lookup QAZZ7777 -> ok; {lookup|property} QBZZ2222 -> value . {"NotFound"|null}

A page with an unreadable record is no answer to a look-up
  reply {"Value": {"Total": 1, "SubSet": [{"PIC": "QAZZ7777", "Town": ["hidden"]}]}}; lookup QAZZ7777 -> kind UnreadableRecord, sent 1, path Value.SubSet[0].Town, hides hidden

Any path is read with the settings of all calls
  with token old/new; with header x-api-key=s3cr3t; reply 503 retry-after=0; reply 401; reply {"a": [1]}; reply 204;
  get api/v2/PICRegister/900001 Town=A -> ok, value . {"a":[1]}, tokens old old new, target /api/v2/PICRegister/900001?Town=A, header x-api-key s3cr3t;
  get other -> value . null, target /other;
  reply {"a"; get x -> Decode, operation PICRegister;
  with retry none; reply content-type=text/html <html>; get x -> NoAnswer again; reply 404 {}; get x -> NotFound; get ../x -> Config unsent, sent 0

Results are cached for the set time, and failures are not
  with cache 1h; reply pics QAZZ7777; reply 500 {"Message": "no"}; many QAZZ7777 QBZZ2222 -> value . ["QAZZ7777","Internal"], sent 2;
  advance 3599s; many QAZZ7777 QBZZ2222 -> value . ["QAZZ7777","Internal"], sent 1; forget; reply pics QAZZ7777; lookup QAZZ7777 -> ok, sent 1;
  advance 3600s; lookup QAZZ7777 -> ok, sent 1

A short outage is retried
  reply 503 retry-after=0; reply 503 retry-after=0; reply pics QAZZ7777; property QAZZ7777 -> ok, sent 3

A condition is sent as a date of HTTP, and what is cached does not answer it
  with cache 1h; reply pics QAZZ7777; lookup QAZZ7777 -> ok, header if-modified-since none; lookup QAZZ7777 -> ok, sent 0;
  reply 304; since QAZZ7777 -> value . "unchanged", sent 1;
  forget; lookup QAZZ7777 -> Protocol, status 304

Users of the register share its limits but not its replies
  with cache 60s; with header x-api-key=s3cr3t; reply pics QAZZ7777; lookup QAZZ7777 -> ok, header authorization none; lookup QAZZ7777 -> ok, sent 0;
  as two; lookup QAZZ7777 -> ok, tokens two, header x-api-key s3cr3t; as one; lookup QAZZ7777 -> ok, sent 0

Settings that cannot work are named, and nothing is sent
  search -> Config unsent, operation PICRegister, sent 0;
  with header authorization=Basic; reply pics; lookup QAZZ7777 -> ok; with token one; lookup QAZZ7777 -> Config unsent
"#;

#[tokio::test]
async fn look_ups_are_answered() {
    play::<Calls>(table!(const LOOK_UPS)).await;
}
