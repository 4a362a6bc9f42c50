//! Sets of releases in words.

use sp_ops::{ReleaseRun, ReleaseSet};

/// Formats the releases of an item of an op: `since 2.13`, `until 2.12`, `2.6 to 2.9`, `2.5`. `op` are the releases of
/// the op; an empty set stands for none.
pub fn format_releases(releases: &ReleaseSet, op: &ReleaseSet) -> String {
    let runs = releases.runs().iter().map(|run| format_run(*run, op));
    let runs: Vec<String> = runs.collect();
    runs.join(", ")
}

fn format_run(run: ReleaseRun, op: &ReleaseSet) -> String {
    let ReleaseRun { first, last } = run;
    match last {
        None => format!("since {first}"),
        Some(last) if op.first() == Some(first) => format!("until {last}"),
        Some(last) if first == last => first.to_string(),
        Some(last) => format!("{first} to {last}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_stated_relative_to_those_of_the_op() {
        let set = |text: &str| text.parse::<ReleaseSet>().unwrap();
        for (releases, op, text) in [
            ("2.13..", "2.5..", "since 2.13"),
            ("2.5..2.12", "2.5..", "until 2.12"),
            ("2.5..2.5", "2.5..", "until 2.5"),
            ("2.6..2.9 2.11..2.11", "2.5..", "2.6 to 2.9, 2.11"),
            ("2.5..2.7 2.9..", "2.5..", "until 2.7, since 2.9"),
        ] {
            assert_eq!(format_releases(&set(releases), &set(op)), text);
        }
        assert_eq!(
            format_releases(&set("2.5..2.5"), &ReleaseSet::default()),
            "2.5"
        );
    }
}
