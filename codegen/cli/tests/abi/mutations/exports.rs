//! Edits of what libraries export.

use std::collections::{BTreeMap, BTreeSet};

use sp_diff::surface::Exports;
use sp_diff::{Surface, Verdict, diff};
use sp_ir::{Item, Side};

use super::scene::{Random, choose};
use crate::releases;

/// Every function that core defines, in one library.
fn exports(side: &Surface) -> Exports {
    let functions = choose(side, |_, item| match item {
        Item::Function(item) if !item.inline => {
            let plugins = item
                .exported_by
                .as_ref()
                .is_some_and(|said| said.value == Side::Plugin);
            (!plugins).then(|| item.symbol.clone())
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
fn what_libraries_export_is_seen() {
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
            |all| {
                all.clear();
                all.insert("libtensorflow_cc.so.2".into());
            },
        ),
        (
            "symbol_shared",
            "symbol_shared",
            Verdict::Compatible,
            Verdict::Compatible,
            |all| {
                all.insert("libtensorflow_cc.so.2".into());
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
    for (forth, back, verdict, turned, make) in edits {
        let mut old = releases[random.below(releases.len())].clone();
        old.exports = Some(exports(&old));
        assert_eq!(
            diff(&old, &old, releases::TARGET).verdict,
            Verdict::Identical
        );
        let mut new = old.clone();
        let all = new.exports.as_mut().unwrap();
        let name = random.pick(all.keys().cloned().collect()).unwrap();
        assert_eq!(all[&name], library("libtensorflow_framework.so.2"));
        make(all.get_mut(&name).unwrap());
        for (old, new, rule, verdict) in [(&old, &new, forth, verdict), (&new, &old, back, turned)]
        {
            let found = diff(old, new, releases::TARGET);
            let rules = found.findings.iter().map(|one| one.rule);
            let rules: Vec<&str> = rules.filter(|rule| *rule != "version_unbumped").collect();
            assert_eq!(rules, [rule], "{name}");
            assert_eq!(found.verdict, verdict, "{name}");
        }
    }
}
