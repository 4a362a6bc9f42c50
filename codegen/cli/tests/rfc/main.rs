//! The proposals of TensorFlow's plugin APIs, retyped under `tests/rfc`: they are parsed, linted and compared with the
//! releases. `SP_BLESS=1` rewrites the tables and the page.

mod fate;
mod page;
mod proposal;

use proposal::Proposal;
use sp_diff::finding::Impact;
use sp_diff::{Diff, Finding, diff};
use sp_gen::lint;
use sp_parse::clang::Library;
use sp_parse::extract::TARGETS;
use sp_tests::{assert_golden, root};

/// Returns all proposals. Without libclang, prints the reason and returns `None`.
fn proposals() -> Option<Vec<Proposal>> {
    if Library::load().is_err() {
        eprintln!("skipped: no libclang");
        return None;
    }
    Some(proposal::ALL.iter().map(Proposal::read).collect())
}

fn row(finding: &Finding) -> String {
    let impact = match finding.impact {
        Impact::Breaking => "BREAKING",
        Impact::Reduced => "reduced",
        Impact::Compatible => "compatible",
        Impact::SourceOnly => "source",
    };
    format!(
        "  {impact} {} {}: {}\n",
        finding.rule, finding.item, finding.message
    )
}

fn table(found: &Diff) -> String {
    let rows: String = found.findings.iter().map(row).collect();
    format!(
        "{} -> {}: {:?}\n{rows}",
        found.old, found.new, found.verdict
    )
}

#[test]
fn lint_finds_size_macro_error_of_rfc_257() {
    let Some(all) = proposals() else { return };
    let found = lint::find_in_structs(all[0].api());
    let found: Vec<(&str, &str)> = found.iter().map(|one| (one.id, &*one.item)).collect();
    assert_eq!(found, [("last_field_outdated", "SP_PlatformFns")]);
    assert!(lint::find_in_structs(all[2].api()).is_empty());
}

#[test]
fn diffs_of_proposals_match_golden_files() {
    let Some(all) = proposals() else { return };
    let mut text = String::new();
    for (proposal, release) in [(0, "2.4"), (0, "2.5"), (2, "2.7")] {
        let (old, new) = (all[proposal].surface(), all[proposal].release(release));
        text += &table(&diff(&old, &new, TARGETS[0]));
    }
    assert_golden("tests/rfc/diffs.txt", &text);
}

#[test]
fn page_of_fates_is_up_to_date() {
    let Some(all) = proposals() else { return };
    assert_golden("generated/docs/proposals.md", &page::draw(&all));
}
