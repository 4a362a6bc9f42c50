//! Suggestions for a misspelled name.

use similar::get_close_matches;
use std::collections::BTreeSet;

/// Largest number of suggested names.
const COUNT: usize = 3;

/// Returns the names in `known` that are close to `wanted` regardless of case, the closest first; else those that
/// contain it.
pub fn find_close_names<'a>(
    wanted: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Vec<&'a str> {
    let known: BTreeSet<&str> = known.into_iter().collect();
    let known: Vec<&str> = known.into_iter().collect();
    let folded: Vec<String> = known.iter().map(|name| name.to_lowercase()).collect();
    let wanted = wanted.to_lowercase();
    let candidates: Vec<&str> = folded.iter().map(String::as_str).collect();
    let matches = get_close_matches(wanted.as_str(), &candidates, COUNT, 0.6);
    let is_same = |index: usize, name: &str| folded[index] == name;
    let indices = 0..known.len();
    let mut found: Vec<&str> = Vec::new();
    for name in matches {
        let same = indices.clone().filter(|index| is_same(*index, name));
        found.extend(same.map(|index| known[index]));
    }
    if found.is_empty() && !wanted.is_empty() {
        let containing = indices.filter(|index| folded[*index].contains(&wanted));
        found.extend(containing.map(|index| known[index]));
    }
    let mut seen = BTreeSet::new();
    found.retain(|name| seen.insert(*name));
    found.truncate(COUNT);
    found
}

/// Returns "did you mean `a` or `b`?", or `None` if no name is close.
pub fn did_you_mean<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let close = find_close_names(wanted, known);
    let quoted: Vec<String> = close.iter().map(|name| format!("`{name}`")).collect();
    let (last, others) = quoted.split_last()?;
    Some(match others {
        [] => format!("did you mean {last}?"),
        others => format!("did you mean {} or {last}?", others.join(", ")),
    })
}

/// Returns `text`, preceded by the line of [`did_you_mean`] if a name is close.
pub fn with_suggestion<'a>(
    wanted: &str,
    known: impl IntoIterator<Item = &'a str>,
    text: impl Into<String>,
) -> String {
    let text = text.into();
    match did_you_mean(wanted, known) {
        Some(question) => format!("{question}\n{text}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_close_name_regardless_of_case() {
        assert_eq!(find_close_names("kernals", ["kernels", "ops"]), ["kernels"]);
        assert_eq!(
            find_close_names("sp_devise", ["SP_Device", "SP_Stream"]),
            ["SP_Device"]
        );
        assert_eq!(
            find_close_names("executor", ["stream_executor", "ops"]),
            ["stream_executor"]
        );
        assert_eq!(find_close_names("zzz", ["kernels"]), [""; 0]);
    }

    #[test]
    fn suggests_one_or_several_names() {
        let known = ["2.7", "2.17"];
        let expected = "did you mean `2.7`?";
        assert_eq!(did_you_mean("2.7x", ["2.7"]).unwrap(), expected);
        let help = did_you_mean("2.7", known).unwrap();
        assert!(help.contains("`2.7` or `2.17`"));
        assert_eq!(did_you_mean("x", known), None);
    }
}
