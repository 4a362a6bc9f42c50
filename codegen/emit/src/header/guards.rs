//! The include guards of TensorFlow's own headers. The shim declares the same names, so it takes their
//! place: included after it they are empty, included before it they are an error.

use std::collections::{BTreeMap, BTreeSet};

use sp_ir::Api;

/// Each API's guards, over all releases.
pub fn all(apis: &[Api]) -> BTreeMap<&str, BTreeSet<String>> {
    let mut guards: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for api in apis {
        let files = api.items.values().map(|item| item.loc().file.as_str());
        let files: BTreeSet<&str> = files.collect();
        let all = guards.entry(&api.name).or_default();
        all.extend(files.into_iter().flat_map(spellings));
    }
    guards
}

/// The path in capitals, as TensorFlow's convention is; its libraries below another root put its name
/// before that in some releases.
fn spellings(path: &str) -> Vec<String> {
    let capital = |letter: char| match letter.is_ascii_alphanumeric() {
        true => letter.to_ascii_uppercase(),
        false => '_',
    };
    let guard: String = path.chars().map(capital).chain(['_']).collect();
    match guard.starts_with("TENSORFLOW_") {
        true => vec![guard],
        false => vec![format!("TENSORFLOW_{guard}"), guard],
    }
}

/// What an API's header says of them. TensorFlow defines them as nothing; 1 is the shim's own word, since
/// two of its APIs can have come from one header.
pub fn print(guards: &BTreeSet<String>, header: &str) -> String {
    let foreign = |guard: &String| format!("(defined({guard}) && {guard} + 0 != 1)");
    let asked: Vec<String> = guards.iter().map(foreign).collect();
    let defined = guards.iter().map(|guard| format!("#define {guard} 1\n"));
    format!(
        "/* It stands in for TensorFlow's headers of this API, which declare the same names. */\n\
         #if {}\n#error \"include {header} before TensorFlow's own headers, or without them\"\n#endif\n{}",
        asked.join(" || \\\n    "),
        defined.collect::<String>()
    )
}
