//! Pairs of real snapshots, and an artificial one with every kind of item. The fuzzer selects some items of a
//! pair, with the items that they use.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use arbitrary::{Result, Unstructured};
use serde_json::{Map, Value};
use sp_ir::Api;

/// A snapshot of one API in two releases, and the APIs that it imports from.
pub struct Scene {
    /// The two snapshots that are edited.
    pub sides: [Value; 2],
    /// The imported APIs, for each side.
    pub others: [Vec<Api>; 2],
}

macro_rules! snapshot {
    ($api:literal, $release:literal) => {
        include_str!(concat!(
            "../../../generated/ir/",
            $api,
            "/",
            $release,
            ".json"
        ))
    };
}

const DEMO: &str = include_str!("demo.json");

/// Returns all scenes.
pub fn all() -> &'static [Scene] {
    static SCENES: OnceLock<Vec<Scene>> = OnceLock::new();
    SCENES.get_or_init(|| {
        let status = [snapshot!("tf_status", "2.6"), snapshot!("tf_status", "2.7")];
        let buffer = [snapshot!("tf_buffer", "2.6"), snapshot!("tf_buffer", "2.7")];
        let executor = [
            snapshot!("stream_executor", "2.6"),
            snapshot!("stream_executor", "2.7"),
        ];
        let grappler = [snapshot!("grappler", "2.6"), snapshot!("grappler", "2.7")];
        vec![
            scene([DEMO, &DEMO.replace("\"2.6\"", "\"2.7\"")], &[]),
            scene(executor, &[status]),
            scene(grappler, &[status, buffer]),
        ]
    })
}

fn scene(sides: [&str; 2], others: &[[&str; 2]]) -> Scene {
    let read = |text| Api::from_json(text).expect("a snapshot of ours");
    Scene {
        sides: sides.map(|text| serde_json::from_str(text).expect("JSON of ours")),
        others: [0, 1].map(|side| others.iter().map(|both| read(both[side])).collect()),
    }
}

/// Restricts both sides to some items and those that they use.
///
/// # Errors
/// Returns an error if `u` has no bytes left.
pub fn restrict(sides: &mut [Value; 2], u: &mut Unstructured<'_>) -> Result<()> {
    let names: Vec<String> = items(&mut sides[0]).keys().cloned().collect();
    let mut kept = BTreeSet::new();
    for _ in 0..u.int_in_range(1..=3)? {
        kept.insert(u.choose(&names)?.clone());
    }
    for side in sides {
        let mut kept = kept.clone();
        let items = items(side);
        let mut open: Vec<String> = kept.iter().cloned().collect();
        while let Some(name) = open.pop() {
            let text = items.get(&name).map(Value::to_string).unwrap_or_default();
            let words = text.split(|it: char| !it.is_ascii_alphanumeric() && it != '_');
            for word in words.filter(|it| items.contains_key(*it)) {
                if kept.insert(word.to_owned()) {
                    open.push(word.to_owned());
                }
            }
        }
        items.retain(|name, _| kept.contains(name));
        if let Some(targets) = side["targets"].as_object_mut() {
            targets
                .values_mut()
                .filter_map(Value::as_object_mut)
                .for_each(|it| it.retain(|name, _| kept.contains(name)));
        }
    }
    Ok(())
}

fn items(side: &mut Value) -> &mut Map<String, Value> {
    side["items"].as_object_mut().expect("a snapshot has items")
}
