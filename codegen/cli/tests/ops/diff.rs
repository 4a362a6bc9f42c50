//! `sp-gen diff <OLD> <NEW> --ops`.

use crate::temporary_folder::{Run, TemporaryFolder};
use sp_tests::{assert_contains, assert_golden};

fn diff(folder: &TemporaryFolder, arguments: &[&str]) -> Run {
    folder.run("", &[&["diff", "--ops"], arguments].concat())
}

#[test]
fn prints_changes_of_ops_and_exits_with_1_for_a_breaking_one() {
    let run = diff(&TemporaryFolder::new(), &["2.12", "2.13"]);
    assert_eq!((run.status, &*run.stderr), (1, ""));
    assert_golden("codegen/cli/tests/ops/golden/2.12-2.13.txt", &run.stdout);
    let compatible = diff(&TemporaryFolder::new(), &["2.18", "2.19.1"]);
    assert_eq!(compatible.status, 0, "{}", compatible.stdout);
    assert!(
        compatible
            .stdout
            .contains("compatible op_removed TfLiteSubgraphExecute")
    );
    let identical = diff(
        &TemporaryFolder::new(),
        &["2.13", "2.13", "--fail-on", "any"],
    );
    assert_eq!(identical.status, 0, "{}", identical.stdout);
}

#[test]
fn every_format_has_the_findings() {
    for format in ["json", "markdown", "html", "sarif"] {
        let run = diff(
            &TemporaryFolder::new(),
            &["2.12", "2.13", "--format", format],
        );
        assert_eq!((run.status, &*run.stderr), (1, ""), "{format}");
        for part in ["op_argument_retyped", "TopKV2.indices"] {
            assert!(run.stdout.contains(part), "{format}");
        }
    }
}

#[test]
fn suppressions_apply_to_rules_of_ops_only() {
    let folder = TemporaryFolder::new();
    let entry = |rule: &str, item: &str| {
        format!("[[suppress]]\nrule = \"{rule}\"\nitem = \"{item}\"\nreason = \"known\"\n")
    };
    let of_ops =
        ["k", "indices"].map(|part| entry("op_argument_retyped", &format!("TopKV2.{part}")));
    let of_headers = entry("field_inserted", "SP_StreamExecutor.mem_zero");
    folder.write("sp-gen.toml", of_ops.concat() + &of_headers);
    let run = diff(&folder, &["2.12", "2.13"]);
    assert_eq!((run.status, &*run.stderr), (0, ""), "{}", run.stdout);
    assert_contains(&run.stdout, "op_argument_retyped TopKV2.k: known");
    let headers = folder.run("", &["diff", "2.6", "2.7"]);
    assert!(headers.status < 2, "{}", headers.stderr);
    let unmatched = diff(&folder, &["2.13", "2.14"]);
    assert_eq!(unmatched.status, 2);
    assert_contains(&unmatched.stderr, "2 entries match no finding");
}

#[test]
fn rejects_sides_that_are_no_releases() {
    let folder = TemporaryFolder::new();
    folder.write("include/tensorflow/c/c_api.h", "");
    for (arguments, code) in [
        (&["2.12", "include"][..], "sp_gen::ops::not_a_release"),
        (&["2.12", "2.99"], "sp_gen::ops::unknown_release"),
        (&["2.4", "2.5"], "sp_gen::ops::unknown_release"),
        (
            &["2.12", "2.13", "--api", "ops"],
            "sp_gen::usage::argument_conflict",
        ),
    ] {
        let run = diff(&folder, arguments);
        assert_eq!((run.status, &*run.stdout), (2, ""), "{arguments:?}");
        assert!(run.stderr.contains(&format!("[{code}]")), "{}", run.stderr);
    }
}

#[test]
fn every_rule_is_explained() {
    for rule in sp_diff::ops::RULES {
        let run = TemporaryFolder::new().run("", &["explain", rule.id]);
        assert_eq!(run.status, 0, "{}", run.stderr);
        assert_contains(&run.stdout, rule.summary().split(' ').next().unwrap());
    }
}
