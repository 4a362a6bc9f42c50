//! The part of JSON Schema that our schemas use. An unknown keyword is an error, so that no part of a schema is unchecked.

use serde_json::Value;

/// Returns the violations of the schema in `value`, each with its path.
pub fn violations(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    Check { root: schema }.value(schema, value, "$", &mut found);
    found
}

struct Check<'a> {
    root: &'a Value,
}

impl Check<'_> {
    fn value(&self, schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
        for (word, rule) in schema.as_object().expect("a schema is an object") {
            let mut wrong = |is_right: bool, about: &str| {
                if !is_right {
                    found.push(format!("{path}: {about}: {value}"));
                }
            };
            match word.as_str() {
                "$schema" | "$defs" | "title" | "description" => {}
                // Read with the properties, which a map does not have.
                "additionalProperties" if schema.get("properties").is_some() => {}
                "const" => wrong(value == rule, "another constant"),
                "enum" => wrong(rule.as_array().unwrap().contains(value), "no such word"),
                "type" => wrong(is_of(rule, value), "another type"),
                "minimum" => wrong(value.as_i64() >= rule.as_i64(), "too small"),
                "required" => {
                    let names = rule.as_array().unwrap().iter();
                    let names = names.map(|one| one.as_str().unwrap());
                    for name in names.filter(|_| value.is_object()) {
                        wrong(value.get(name).is_some(), &format!("without `{name}`"));
                    }
                }
                "$ref" => {
                    let pointer = rule.as_str().unwrap().trim_start_matches('#');
                    let there = self.root.pointer(pointer);
                    let there = there.expect("a reference leads somewhere");
                    self.value(there, value, path, found);
                }
                "items" => {
                    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.value(rule, item, &format!("{path}[{index}]"), found);
                    }
                }
                "properties" | "additionalProperties" => {
                    self.properties(schema, value, path, found)
                }
                other => panic!("`{other}` is not checked"),
            }
        }
    }

    fn properties(&self, schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
        let others = schema.get("additionalProperties");
        let is_closed = others == Some(&Value::Bool(false));
        for (name, inner) in value.as_object().into_iter().flatten() {
            let path = format!("{path}.{name}");
            let rule = schema.get("properties").and_then(|rules| rules.get(name));
            match rule.or(others.filter(|rule| rule.is_object())) {
                Some(rule) => self.value(rule, inner, &path, found),
                None if is_closed => found.push(format!("{path}: not in the schema")),
                None => {}
            }
        }
    }
}

fn is_of(rule: &Value, value: &Value) -> bool {
    let one = |name: &Value| match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "null" => value.is_null(),
        other => panic!("`{other}` is not checked"),
    };
    rule.as_array()
        .map_or_else(|| one(rule), |names| names.iter().any(one))
}

#[test]
fn finds_violations_of_the_schema() {
    let text = std::fs::read_to_string(sp_tests::root().join("codegen/docs/diff.schema.json"));
    let schema: Value = serde_json::from_str(&text.unwrap()).unwrap();
    let right = serde_json::json!({
        "schema": 1, "old": "a", "new": "b", "target": "t", "verdict": "identical", "bump": "none",
        "findings": [], "suppressed": [],
    });
    assert_eq!(violations(&schema, &right), [""; 0]);
    for (key, value) in [
        ("verdict", "fine".into()),
        ("schema", 2.into()),
        ("findings", serde_json::json!([{"rule": 1}])),
        ("more", Value::Null),
    ] {
        let mut wrong = right.clone();
        wrong[key] = value;
        assert!(!violations(&schema, &wrong).is_empty(), "{key}");
    }
}
