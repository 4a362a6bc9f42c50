//! Edits of the exports of libraries.

use std::collections::{BTreeMap, BTreeSet};

use sp_diff::surface::SideExports;
use sp_diff::{Surface, Verdict, diff};
use sp_ir::{Item, Side};

use super::scene::{Random, select_items};
use crate::releases;

/// Returns exports with every function that core defines in one library.
fn exports(side: &Surface) -> SideExports {
    let functions = select_items(side, |_, item| match item {
        Item::Function(item) if !item.inline => {
            let exporter = item.exported_by.as_ref().map(|stated| stated.value);
            (exporter != Some(Side::Plugin)).then(|| item.symbol.clone())
        }
        _ => None,
    });
    let library = || BTreeSet::from(["libtensorflow_framework.so.2".to_string()]);
    functions
        .into_iter()
        .map(|(_, _, symbol)| (symbol, library()))
        .collect::<BTreeMap<_, _>>()
}

#[test]
fn export_edits_have_findings_of_their_rule() {
    let releases = releases::all();
    let mut random = Random(0xe1f);
    let library = |name: &str| BTreeSet::from([name.to_string()]);
    type Make = fn(&mut BTreeSet<String>);
    let edits: [(&str, &str, Verdict, Verdict, Make); 3] = [
        (
            "symbol_moved",
            "symbol_moved",
            Verdict::Breaking,
            Verdict::Breaking,
            |libraries| {
                libraries.clear();
                libraries.insert("libtensorflow_cc.so.2".into());
            },
        ),
        (
            "symbol_shared",
            "symbol_shared",
            Verdict::Compatible,
            Verdict::Compatible,
            |libraries| {
                libraries.insert("libtensorflow_cc.so.2".into());
            },
        ),
        (
            "symbol_dropped",
            "symbol_exported",
            Verdict::Breaking,
            Verdict::Compatible,
            BTreeSet::clear,
        ),
    ];
    for (forward_rule, reverse_rule, verdict, reverse_verdict, make) in edits {
        let mut old = releases[random.below(releases.len())].clone();
        old.exports = Some(exports(&old));
        let expected = Verdict::Identical;
        assert_eq!(diff(&old, &old, releases::TARGET).verdict, expected);
        let mut new = old.clone();
        let exports = new.exports.as_mut().unwrap();
        let name = random.pick(exports.keys().cloned().collect()).unwrap();
        assert_eq!(exports[&name], library("libtensorflow_framework.so.2"));
        make(exports.get_mut(&name).unwrap());
        for (old, new, rule, verdict) in [
            (&old, &new, forward_rule, verdict),
            (&new, &old, reverse_rule, reverse_verdict),
        ] {
            let found = diff(old, new, releases::TARGET);
            let rules = found.findings.iter().map(|finding| finding.rule);
            let rules: Vec<&str> = rules.filter(|rule| *rule != "version_unbumped").collect();
            assert_eq!(rules, [rule], "{name}");
            assert_eq!(found.verdict, verdict, "{name}");
        }
    }
}
