//! The sample world conforms to the schema.

use apollo_compiler::Node;
use apollo_compiler::ast::Type;
use apollo_compiler::schema::ExtendedType;
use serde_json::{Value, json};

use crate::fake::reference_data::ServedSchema;
use crate::fake::world::{Kind, World};

/// Lists where a value differs from a type of the schema.
fn differences(schema: &ServedSchema, of: &Type, value: &Value, path: &str) -> Vec<String> {
    let wrong = |what: &str| vec![format!("{path}: {what}")];
    let members = |fields: Vec<(&str, &Type)>| {
        let Some(members) = value.as_object() else {
            return wrong("not an object");
        };
        let member = |(name, value): (&String, &Value)| {
            let path = format!("{path}.{name}");
            match fields.iter().find(|(field, _)| field == name) {
                Some((_, of)) => differences(schema, of, value, &path),
                None => vec![format!("{path}: no such field")],
            }
        };
        members.iter().flat_map(member).collect()
    };
    match (of, value) {
        (_, Value::Null) if of.is_non_null() => wrong("null"),
        (_, Value::Null) => Vec::new(),
        (Type::List(item) | Type::NonNullList(item), Value::Array(values)) => {
            let values = values.iter().enumerate();
            let place = |at| format!("{path}.{at}");
            let found = values.map(|(at, value)| differences(schema, item, value, &place(at)));
            found.flatten().collect()
        }
        (Type::List(_) | Type::NonNullList(_), _) => wrong("not a list"),
        (Type::Named(name) | Type::NonNullNamed(name), _) => match &schema.types[name] {
            ExtendedType::Object(it) => {
                let fields = it.fields.iter();
                members(fields.map(|(name, it)| (name.as_str(), &it.ty)).collect())
            }
            ExtendedType::InputObject(it) => {
                let fields = it.fields.iter();
                members(
                    fields
                        .map(|(name, it)| (name.as_str(), Node::as_ref(&it.ty)))
                        .collect(),
                )
            }
            ExtendedType::Enum(it) => match value.as_str() {
                Some(text) if it.values.contains_key(text) => Vec::new(),
                _ => wrong("no such value"),
            },
            _ if value.is_object() || value.is_array() => wrong("not a scalar"),
            _ => Vec::new(),
        },
    }
}

fn named(schema: &ServedSchema, name: &str, value: &Value) -> Vec<String> {
    let of = Type::Named(name.try_into().unwrap());
    differences(schema, &of, value, name)
}

#[test]
fn the_sample_has_the_shapes_of_the_schema() {
    let schema = ServedSchema::bundled();
    let world = World::sample();
    let mut found = named(&schema, "QuestionList", &world.questions);
    for user in &world.users {
        found.extend(named(&schema, "UserDetails", user));
    }
    let consignments = world.consignments.iter();
    for (_, input) in consignments {
        found.extend(named(&schema, "CreateOrSaveConsignmentInput", input));
    }
    for (_, input) in &world.templates {
        found.extend(named(&schema, "CreateOrSaveTemplateInput", input));
    }
    for (kind, _, record) in &world.other_records {
        let mut record = record.clone();
        if matches!(kind, Kind::UserMapping) {
            // The fake finds the record by this field, but does not return it.
            record.as_object_mut().unwrap().remove("consignmentNumber");
        }
        let name = match kind {
            Kind::Consignment => "Consignment",
            Kind::Template => "Template",
            Kind::Comment => "Comment",
            Kind::UserMapping => "ConsignmentUserMapping",
            Kind::Edec => "Edec",
        };
        found.extend(named(&schema, name, &record));
    }
    assert_eq!(found, [""; 0]);
    let wrong = json!({"forms": ["NONE"], "origin": {"pik": "QAZZ7777"}, "answers": {}});
    let input = "CreateOrSaveConsignmentInput";
    let faults = [
        "answers: not a list",
        "forms.0: no such value",
        "origin.pik: no such field",
    ];
    let expected = faults.map(|fault| format!("{input}.{fault}"));
    assert_eq!(named(&schema, input, &wrong), expected);
}
