//! The data that does not change while the fake runs: users, accounts, questions and the schema.

use std::sync::{Arc, OnceLock};

use apollo_compiler::executable::OperationType;
use apollo_compiler::validation::Valid;
use apollo_compiler::{Name, Schema};
use serde_json::Value;

use super::problem::Problem;
use super::rules;
use super::world::{User, World};

pub(super) struct ReferenceData {
    pub(super) world: Arc<World>,
    /// The questions without a parent, with their effective forms.
    pub(super) questions: Vec<Value>,
    /// The schema that documents are validated against.
    pub(super) schema: SharedSchema,
}

impl ReferenceData {
    pub(super) fn new(world: Arc<World>, schema: SharedSchema) -> Self {
        let questions = world.questions["items"].as_array();
        Self {
            questions: questions.map_or(Vec::new(), |list| rules::with_forms(list, &[])),
            world,
            schema,
        }
    }

    /// An account of the user. assumed: another user's account is refused like a missing permission.
    pub(super) fn account(&self, user: User, id: &str) -> Result<Account<'_>, Problem> {
        let holder = self.world.user_record(user);
        let mut accounts = holder["accounts"].as_array().into_iter().flatten();
        let account = accounts
            .find(|account| account["envdAccountId"] == id)
            .ok_or_else(|| Problem::denied("The account does not belong to the user."))?;
        Ok(Account {
            pic: self.world.pics.get(id).and_then(Value::as_str),
            program: account["accountType"].as_str().unwrap_or_default(),
            holder,
        })
    }
}

/// An account, and the user whose request names it.
pub(super) struct Account<'a> {
    pic: Option<&'a str>,
    program: &'a str,
    pub(super) holder: &'a Value,
}

impl<'a> Account<'a> {
    /// Only producers create consignments, and only in accounts of the LPA program (spec 5.10).
    pub(super) fn may_create(&self) -> Result<(), Problem> {
        let mut roles = self.holder["roles"].as_array().into_iter().flatten();
        if roles.any(|role| role == "Producer") && self.program == "LPA" {
            return Ok(());
        }
        Err(Problem::denied(
            "Only a producer may create consignments, in an account of the type LPA.",
        ))
    }

    /// The PIC that the origin of the account's consignments must have.
    pub(super) fn origin_pic(&self) -> Option<&'a str> {
        self.pic.filter(|_| self.program == "LPA")
    }
}

/// A schema, shared by all fakes that serve it.
pub(super) type SharedSchema = Arc<Valid<Schema>>;

/// The schema that a fake serves unless another is set.
pub(super) fn bundled_schema() -> SharedSchema {
    static SCHEMA: OnceLock<SharedSchema> = OnceLock::new();
    let schema = SCHEMA.get_or_init(|| {
        let parsed = read_schema(include_str!("../../graphql/schema.graphql"));
        // OK because a test reads the bundled schema.
        parsed.unwrap_or_else(|_| Arc::new(Valid::assume_valid(Schema::new())))
    });
    Arc::clone(schema)
}

/// Reads a schema. The error lists its problems.
pub(super) fn read_schema(text: &str) -> Result<SharedSchema, String> {
    let parsed = Schema::parse_and_validate(text, "schema.graphql");
    parsed
        .map(Arc::new)
        .map_err(|failed| failed.errors.to_string())
}

/// The names of the root fields of queries and mutations.
pub(super) fn root_fields(schema: &Schema) -> impl Iterator<Item = &str> {
    let roots = [OperationType::Query, OperationType::Mutation].into_iter();
    let names = roots.filter_map(|root| schema.root_operation(root));
    let objects = names.filter_map(|name| schema.get_object(name));
    objects.flat_map(|object| object.fields.keys().map(Name::as_str))
}
