//! The formats, on real releases.

use serde_json::Value;

use super::scene::Scene;
use super::schema::violations;
use sp_tests::{root, rows};

const PAIRS: [(&str, &str); 3] = [("2.6", "2.7"), ("2.12", "2.13"), ("2.20", "2.21")];

#[test]
fn json_matches_its_schema() {
    let path = root().join("codegen/docs/diff.schema.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let scene = Scene::new();
    for (old, new) in PAIRS {
        let json = scene.json(&[old, new]);
        assert_eq!(violations(&schema, &json), [""; 0], "{old} {new}");
    }
}

#[test]
fn formats_contain_rule_and_item_of_findings() {
    let scene = Scene::new();
    for (old, new) in PAIRS {
        let findings = scene.json(&[old, new]);
        let findings = findings["findings"].as_array().unwrap();
        for format in ["text", "markdown", "html", "sarif"] {
            let run = scene.diff(&[old, new, "--format", format, "--fail-on", "never"]);
            assert_eq!((run.status, &*run.stderr), (0, ""), "{format}");
            assert!(
                run.stdout.ends_with('\n') && !run.stdout.ends_with("\n\n"),
                "{format}"
            );
            assert!(
                !run.stdout.contains('\x1b'),
                "{format} is coloured in a pipe"
            );
            for finding in findings {
                let rule = finding["rule"].as_str().unwrap();
                let item = finding["item"].as_str().unwrap();
                let owner = item.split(['.', '(']).next().unwrap();
                for part in [rule, owner] {
                    assert!(run.stdout.contains(part), "{format} {old} {new}: {part}");
                }
            }
        }
    }
}

/// The objects that we write: the keys that SARIF 2.1.0 permits, and those that it requires.
const OBJECTS: &str = "
log | $schema version runs | version runs
run | tool originalUriBaseIds columnKind results properties | tool
driver | name semanticVersion rules | name
rule | id shortDescription fullDescription help defaultConfiguration properties | id
result | ruleId ruleIndex level message locations relatedLocations partialFingerprints suppressions properties
    message
location | id physicalLocation logicalLocations message |
physical | artifactLocation region | artifactLocation
";

fn check_keys(kind: &str, object: &Value) {
    let mut objects = rows(OBJECTS).into_iter();
    let [_, permitted, required] = objects.find(|[name, _, _]| *name == kind).unwrap();
    for key in object.as_object().unwrap().keys() {
        let is_permitted = permitted.split_whitespace().any(|it| it == key);
        assert!(is_permitted, "{kind} has `{key}`");
    }
    for key in required.split_whitespace() {
        assert!(object.get(key).is_some(), "{kind} does not have `{key}`");
    }
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

#[test]
fn sarif_has_only_standard_keys() {
    let scene = Scene::new();
    for (old, new) in PAIRS {
        let run = scene.diff(&[old, new, "--format", "sarif"]);
        let log: Value = serde_json::from_str(&run.stdout).unwrap();
        check_keys("log", &log);
        let run = &log["runs"][0];
        check_keys("run", run);
        check_keys("driver", &run["tool"]["driver"]);
        let rules = list(&run["tool"]["driver"], "rules");
        rules.iter().for_each(|rule| check_keys("rule", rule));
        for result in list(run, "results") {
            check_keys("result", result);
            assert_eq!(
                rules[result["ruleIndex"].as_u64().unwrap() as usize]["id"],
                result["ruleId"]
            );
            for location in list(result, "locations")
                .iter()
                .chain(list(result, "relatedLocations"))
            {
                check_keys("location", location);
                check_keys("physical", &location["physicalLocation"]);
            }
        }
    }
}

#[test]
fn explain_has_a_page_for_every_finding() {
    let scene = Scene::new();
    let list = scene.run(&["explain", "--list"]);
    let json = scene.json(&["2.6", "2.7"]);
    for finding in json["findings"].as_array().unwrap() {
        let rule = finding["rule"].as_str().unwrap();
        assert!(list.stdout.contains(rule), "{rule}");
        let page = scene.run(&["explain", rule]);
        assert!(
            page.status == 0 && page.stdout.starts_with(rule),
            "{}",
            page.stderr
        );
    }
    scene
        .run(&["explain", "struct_size_unamed"])
        .assert_rejected(&["did you mean `struct_size_unnamed`"]);
}
