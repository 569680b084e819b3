//! Documents of the caller that replace ours, for a live schema that differs from the assumptions.

use test_support::script::play;
use test_support::table;

use crate::calls::Calls;

const OVERRIDES: &str = r#"
An alias gives a field of the server to one of ours
  fake; with document consignment query($envdAccountId: String!, $id: String!) { consignment(envdAccountId: $envdAccountId, id: $id) { number: id } };
  consignment 00000000-0000-4000-8000-000000000101 -> ok, value /number "00000000-0000-4000-8000-000000000101"

A result without the data wrapper is found by its pointer
  with moved copyConsignment /copy/result/0 mutation Copy($envdAccountId: ID!, $id: ID!) { copy(a: $envdAccountId, b: $id) { result { id } } };
  reply {"data": {"copy": {"result": [{"id": "c-9"}]}}}; copy c-1 -> ok, value /id "c-9", sends /operationName "Copy", sends /variables {"envdAccountId":"envd-1","id":"c-1"}

A filter that the document lacks is an error and nothing is sent
  with document consignments query($envdAccountId: String!) { consignments(envdAccountId: $envdAccountId) { pageInfo { hasNextPage } edges { node { id } } } };
  reply {"data": {"consignments": {"pageInfo": {"hasNextPage": false}, "edges": []}}}; list -> ok; list first:3 -> Config unsent, says $first, sent 0

Server errors and unexpected records are reported as without an override
  with moved copyConsignment /copy mutation($envdAccountId: ID!, $id: ID!) { copy(a: $envdAccountId, b: $id) { id } };
  reply {"data": null, "errors": [{"message": "no"}]}; copy c-1 -> Rejected ?, operation copyConsignment;
  reply {"data": {"copy": {"id": []}}, "errors": [{"message": "partial"}]}; copy c-1 -> Decode ?, reports partial;
  reply {"data": {"elsewhere": {"id": "c-9"}}}; copy c-1 -> Protocol ?, sends /operationName none

The fields of an input may be variables of their own
  with document createComment mutation({$envdAccountId: ID!, $consignmentNumber: String!, $commentText: String!|$envdAccountId: ID!, $consignmentNumber: Int, $commentText: T, $mood: M}) { createComment(a: $a) { commentId } };
  reply {"data": {"createComment": {"commentId": "k-9"}}}; comment Gate -> ok, value /commentId "k-9", sends /variables {"commentText":"Gate","consignmentNumber":"C-900000101","envdAccountId":"envd-1"}

They may be there twice
  with document createComment mutation($envdAccountId: ID!, $input: T!, $consignmentNumber: String!) { createComment(a: $a) { commentId } };
  reply {"data": {"createComment": {"commentId": "k-9"}}}; comment Gate -> ok, sends /variables {"consignmentNumber":"C-900000101","envdAccountId":"envd-1","input":{"commentText":"Gate","consignmentNumber":"C-900000101"}}

A variable that is missing or has no value is named, and nothing is sent
  with document createComment mutation({$envdAccountId: ID!, $consignmentNumber: String!|$consignmentNumber: String!, $commentText: String!|$envdAccountId: ID!, $input: T!, $mood: M!}) { createComment(a: $a) { commentId } };
  comment Gate -> Config unsent, says {does not declare $commentText|does not declare $envdAccountId|requires $mood}, sent 0

A delete is done where the server only says true
  with document deleteConsignment mutation($envdAccountId: ID!, $id: ID!) { deleteConsignment(a: $a) };
  with document deleteTemplate mutation($envdAccountId: ID!, $id: ID!) { deleteTemplate(a: $a) };
  reply {"data": {"deleteConsignment": true, "deleteTemplate": true}}; {delete|delete_template} c-1 -> ok;
  reply {"data": {"deleteConsignment": {"data": true}, "deleteTemplate": {"data": true}}}; {delete|delete_template} c-1 -> ok;
  reply {"data": {"deleteConsignment": {"data": false}, "deleteTemplate": {"data": false}}}; {delete|delete_template} c-1 -> Protocol ?;
  reply {"data": {"deleteConsignment": {}, "deleteTemplate": {}}}; {delete|delete_template} c-1 -> Protocol ?
It is not done where the server says anything else
  with {document deleteConsignment|moved deleteConsignment /deleteConsignment} mutation($envdAccountId: ID!, $id: ID!) { deleteConsignment(a: $a) };
  reply {"data": {"deleteConsignment": {false|null}}}; delete c-1 -> Protocol ?;
  reply {"data": {"deleteConsignment": {"true"|1}}}; delete c-1 -> {Protocol|Decode} ?
A copy has an id, which its caller needs
  with document copyConsignment mutation($envdAccountId: ID!, $id: ID!) { copyConsignment(a: $a) }; reply {"data": {"copyConsignment": {true|false|null|1}}};
  copy c-1 -> Protocol ?

An override returns the record with and without its wrapper
  with document copyConsignment mutation Copy($envdAccountId: ID!, $id: ID!) { copyConsignment: copy(a: $envdAccountId, b: $id) { id } };
  reply {"data": {"copyConsignment": {"id": "c-9"}}}; copy c-1 -> value /id "c-9";
  reply {"data": {"copyConsignment": {"data": {"id": "c-9"}}}}; copy c-1 -> value /id "c-9";
  reply {"data": {"copyConsignment": {"data": null, "id": "c-9"}}}; copy c-1 -> value /id "c-9";
  reply {"data": {"copyConsignment": {"number": "C9"}}}; copy c-1 -> Protocol ?, data {"copyConsignment":{"number":"C9"}};
  reply {"data": {"copyConsignment": {"id": ""}}}; copy c-1 -> Protocol ?;
  reply {"data": {"copyConsignment": {"id": null}}}; copy c-1 -> Protocol ?;
  reply {"data": {"copyConsignment": [{"id": "c-9"}]}}; copy c-1 -> Protocol ?, data {"copyConsignment":[{"id":"c-9"}]}
A place of the record is the only one
  with moved copyConsignment /copyConsignment mutation Copy($envdAccountId: ID!, $id: ID!) { copyConsignment: copy(a: $envdAccountId, b: $id) { id } };
  reply {"data": {"copyConsignment": {"id": "c-9"}}}; copy c-1 -> value /id "c-9";
  reply {"data": {"copyConsignment": {"data": {"id": "c-9"}}}}; copy c-1 -> value /id "c-9";
  reply {"data": {"copyConsignment": {"number": "C9"}}}; copy c-1 -> value /number "C9";
  reply {"data": {"copyConsignment": {}}}; copy c-1 -> Protocol ?;
  with moved copyConsignment /elsewhere mutation Copy($envdAccountId: ID!, $id: ID!) { copyConsignment: copy(a: $envdAccountId, b: $id) { id } };
  reply {"data": {"copyConsignment": {"id": "c-9"}}}; copy c-1 -> Protocol ?
A record of a query elsewhere is given alone
  with moved consignment /found/one query Mine($envdAccountId: String!, $id: String!) { found { one } };
  reply {"data": {"found": {"one": {"id": "c-1"}}}}; consignment c-1 -> ok, value /id "c-1"

A document of the caller with the same name is not replaced
  with document questions { questions { id } }; reply {"data": {"a": 1}}; own query Questions { a } -> ok, value /a 1, sends /query "query Questions { a }"
A document of another kind is refused
  with document questions mutation { a }; questions -> Config unsent
"#;

#[tokio::test]
async fn a_document_of_the_caller_replaces_ours() {
    play::<Calls>(table!(const OVERRIDES)).await;
}

const QUERIES: &str = r#"
Not found requires an id in the request
  reply {"data": null, "errors": [{"message": "Internal server error", "path": ["a"], "extensions": {"data": {"Code": "", "OutcomeStatus": "ERROR"}}}]};
  save -> Rejected ?, lacks NotFound; save c-1 -> NotFound ?, says NotFoundOrForbidden; delete c-1 -> NotFound ?; consignment c-1 -> NotFound; comments C-1 -> NotFound;
  templates -> Rejected, lacks NotFound; questions -> Rejected; query {"first": 1} -> Rejected; query {"consignmentId": "c-1"} -> NotFound

A query without its record keeps the reply
  reply {"data": {"mine": {"id": "c-9"}}}; consignment c-1 -> Protocol, data {"mine":{"id":"c-9"}}, status 200, hides c-9;
  reply {"data": {"mine": {"id": "c-9"}}, "errors": [{"message": "s3cr3t"}]}; consignment c-1 -> Rejected, data {"mine":{"id":"c-9"}}, hides c-9, hides s3cr3t;
  reply {"data": {"mine": 1e999}}; consignment c-1 -> Protocol, data "{\"mine\": 1e999}"

A record with an unreadable part is an error
  reply {"data": {"consignment": {"number": "C-1", "forms": [{"serialNumber": 5}]}}}; consignment C-1 -> Decode

Another consignment than the one requested is refused
  reply {"data": {"consignment": {"id": "c-1", "number": "C-1"}}}; consignment {c-1|C-1} -> ok; consignment c-1 optional -> ok;
  reply {"data": {"consignment": {"id": "ABC-D"}}}; consignment abc-d -> ok;
  reply {"data": {"consignment": {"status": "DRAFT"}}}; consignment c-1 -> ok;
  reply {"data": {"consignment": {"id": "c-2", "number": "C-2"}}}; consignment c-1 -> says another consignment; consignment c-1 optional -> says another consignment;
  reply {"data": {"consignment": {"number": "C-2"}}}; consignment c-1 -> says another consignment

Only null without an error is no record
  reply {"data": {"consignment": null}}; consignment c-1 optional -> ok, value . null;
  reply {"data": {"consignment": null}, "errors": []}; consignment c-1 optional -> ok, value . null;
  reply {"data": {"consignment": null}, "errors": [{"message": "no", "path": ["consignment"], "extensions": {"data": {"Code": "id", "Message": "no"}}}]}; consignment c-1 optional -> Rejected;
  reply {"data": {"consignment": []}}; consignment c-1 optional -> Decode; reply {}; consignment c-1 optional -> Protocol;
  reply 404 "no"; consignment c-1 optional -> NoAnswer x4 again;
  reply {"data": {"copyConsignment": {"data": null}}}; copy c-1 optional -> Protocol ?
"#;

#[tokio::test]
async fn odd_replies_to_queries_have_their_errors() {
    play::<Calls>(table!(const QUERIES)).await;
}
