//! The include guards of TensorFlow's own headers. The generated headers declare the same names, so they
//! define these guards: a header of TensorFlow is empty if it is included later, and an error if earlier.

use std::collections::{BTreeMap, BTreeSet};

use sp_ir::Api;

/// Returns the guards of each API's headers, over all releases.
pub fn collect(apis: &[Api]) -> BTreeMap<&str, BTreeSet<String>> {
    let mut guards: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for api in apis {
        let files = api.items.values().map(|item| item.loc().file.as_str());
        let files: BTreeSet<&str> = files.collect();
        let of_api = guards.entry(&api.name).or_default();
        of_api.extend(files.into_iter().flat_map(spellings));
    }
    guards
}

/// Returns the possible guards of a header: TensorFlow's convention is the path in upper case. In some releases
/// the guards of its libraries below another root begin with `TENSORFLOW_` as well.
fn spellings(path: &str) -> Vec<String> {
    let upper_case = |letter: char| match letter.is_ascii_alphanumeric() {
        true => letter.to_ascii_uppercase(),
        false => '_',
    };
    let guard: String = path.chars().map(upper_case).chain(['_']).collect();
    match guard.starts_with("TENSORFLOW_") {
        true => vec![guard],
        false => vec![format!("TENSORFLOW_{guard}"), guard],
    }
}

/// Prints the check and the definition of the guards. TensorFlow defines a guard as empty. The generated
/// headers define it as 1, because two of them may replace the same header.
pub fn print(guards: &BTreeSet<String>, header: &str) -> String {
    let is_foreign = |guard: &String| format!("(defined({guard}) && {guard} + 0 != 1)");
    let conditions: Vec<String> = guards.iter().map(is_foreign).collect();
    let definitions = guards.iter().map(|guard| format!("#define {guard} 1\n"));
    format!(
        "/* Replaces TensorFlow's headers of this API, which declare the same names. */\n\
         #if {}\n#error \"include {header} before TensorFlow's own headers, or without them\"\n#endif\n{}",
        conditions.join(" || \\\n    "),
        definitions.collect::<String>()
    )
}
