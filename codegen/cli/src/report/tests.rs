use std::collections::BTreeSet;

use serde_json::Value;

use super::*;
use crate::history::Paint;
use sp_diff::Verdict;
use sp_diff::sample;
use sp_tests::assert_contains;

const PAINT: Paint = Paint::Plain;

/// Returns a report of the sample with the first finding suppressed.
fn report() -> DiffReport {
    let (diff, others) = sample::diff().partition(|finding| finding.rule != "function_retyped");
    let suppressed = others.into_iter().map(|finding| Suppressed {
        reason: "we call it | <ourselves>".into(),
        finding,
    });
    DiffReport {
        unread: Vec::new(),
        diff,
        suppressed: suppressed.collect(),
        plugin: None,
    }
}

fn headers() -> (tempfile::TempDir, SideHeaders) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tensorflow/c/se.h");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, "\n\n  void (*mem_zero)(const SP_Device* device);\n").unwrap();
    let new = QuotedHeaders::in_folder(folder.path().to_owned());
    let old = QuotedHeaders::default();
    (folder, SideHeaders { old, new })
}

fn plain(report: &DiffReport, width: usize) -> String {
    let (_folder, headers) = headers();
    text(
        report,
        &headers,
        TextStyle {
            paint: PAINT,
            width,
        },
    )
}

#[test]
fn text_has_verdict_in_first_and_last_line() {
    let text = plain(&report(), 100);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "2.6 → 2.7: breaking, x86_64-unknown-linux-gnu");
    assert_eq!(
        lines.last(),
        Some(
            &"1 breaking, 1 compatible, 1 suppressed: breaking; semantic versioning requires a new major version"
        )
    );
}

#[test]
fn text_shows_bytes_carets_directions_and_remedy() {
    let text = plain(&report(), 100);
    for part in [
        "\nSP_StreamExecutor\n  breaking field_inserted: mem_zero was inserted at offset 32",
        "    offset  bytes  2.6           2.7\n        32      8  memory_usage  mem_zero\n        40      8  ·             memory_usage\n",
        "    2.7: tensorflow/c/se.h:3\n        3 │   void (*mem_zero)(const SP_Device* device);\n          │          ^^^^^^^^\n",
        "    2.6 on 2.7: calls the wrong function: the host has mem_zero",
        "    2.7 on 2.6: corrupts memory: the plugin writes memory_usage",
        "    remedy: choose the layout",
        "\n  compatible field_appended last | <tag>: `last` was appended\n",
        "suppressed\n  function_retyped TF_Run: we call it",
    ] {
        assert!(text.contains(part), "{part}\n----\n{text}");
    }
}

#[test]
fn text_fits_width() {
    for width in [40, 60, 80, 140] {
        let text = plain(&report(), width);
        // The width of a table depends on its names.
        let too_long = |line: &&str| line.chars().count() > width && !line.contains("memory_usage");
        let long = text.lines().find(too_long);
        assert_eq!(long, None, "{width}\n{text}");
    }
}

#[test]
fn wide_text_shows_declarations_side_by_side() {
    let (diff, _) = sample::diff().partition(|finding| finding.rule == "function_retyped");
    let report = DiffReport {
        unread: Vec::new(),
        diff,
        suppressed: Vec::new(),
        plugin: None,
    };
    let wide = plain(&report, 100);
    let row = wide
        .lines()
        .find(|line| line.starts_with("    void TF_Run(int count)"));
    let columns: Vec<&str> = row.unwrap().split_whitespace().collect();
    let expected = "void TF_Run(int count) void TF_Run(int count, int more)";
    assert_eq!(columns.join(" "), expected);
    assert!(
        plain(&report, 60).contains(
            "    2.6: void TF_Run(int count)\n    2.7: void TF_Run(int count, int more)\n"
        )
    );
    assert!(plain(&report, 100).contains("(on i686-unknown-linux-gnu)"));
}

/// Two findings that are equal except for the names, and six of one rule.
#[test]
fn text_merges_equal_findings() {
    let named = |index: usize, name: &str, rule: &'static str| {
        let mut finding = sample::diff().findings.swap_remove(index);
        finding.item = name.into();
        finding.message = format!("{name} was removed");
        finding.rule = rule;
        (finding.before, finding.after) = (None, None);
        finding
    };
    let mut findings: Vec<Finding> = ["TF_A", "TF_B"]
        .map(|name| named(0, name, "function_removed"))
        .into();
    for name in ["TF_C", "TF_D", "TF_E", "TF_F", "TF_G", "TF_H"] {
        findings.push(named(1, name, "function_added"));
    }
    let diff = Diff::new("2.6", "2.7", "x86_64-unknown-linux-gnu", findings);
    let report = DiffReport {
        unread: Vec::new(),
        diff,
        suppressed: Vec::new(),
        plugin: None,
    };
    let text = plain(&report, 100);
    assert_eq!(text.matches("function_removed").count(), 1, "{text}");
    assert_contains(&text, "\nTF_A, TF_B\n  breaking function_removed");
    let names = "compatible function_added (6 findings): TF_C, TF_D, TF_E, TF_F, TF_G, TF_H\n";
    assert!(text.contains(names), "{text}");
}

#[test]
fn colored_text_differs_in_escape_codes_only() {
    let (_folder, headers) = headers();
    let width = 90;
    let colored = text(
        &report(),
        &headers,
        TextStyle {
            paint: Paint::Ansi,
            width,
        },
    );
    let mut without_codes = String::new();
    for part in colored.split('\x1b') {
        let part = match part.strip_prefix('[') {
            Some(code) => code.split_once('m').unwrap().1,
            None => part,
        };
        without_codes += part;
    }
    assert_ne!(colored, without_codes);
    assert_eq!(without_codes, plain(&report(), width));
}

#[test]
fn report_without_findings_has_two_lines() {
    let (diff, _) = sample::diff().partition(|_| false);
    assert_eq!(diff.verdict, Verdict::Identical);
    let report = DiffReport {
        unread: Vec::new(),
        diff,
        suppressed: Vec::new(),
        plugin: None,
    };
    assert_eq!(
        plain(&report, 100),
        "2.6 → 2.7: identical, x86_64-unknown-linux-gnu\n\nno findings: identical; no new version required\n"
    );
    assert!(html(&report).unwrap().contains(">identical</span>"));
    assert!(
        markdown(&report)
            .unwrap()
            .starts_with("## 2.6 → 2.7: identical\n")
    );
}

#[test]
fn json_has_the_documented_keys() {
    let json: Value = serde_json::from_str(&json(&report())).unwrap();
    assert_eq!(json["schema"], 1);
    assert_eq!((&json["old"], &json["new"]), (&"2.6".into(), &"2.7".into()));
    assert_eq!(json["verdict"], "breaking");
    assert_eq!(json["findings"][1]["bytes"][1]["new"], "memory_usage");
    assert_eq!(json["suppressed"][0]["rule"], "function_retyped");
    assert_eq!(json["suppressed"][0]["reason"], "we call it | <ourselves>");
    assert!(json.get("plugin").is_none());
}

#[test]
fn markdown_rows_have_equal_cell_counts() {
    let text = markdown(&report()).unwrap();
    let cells = |line: &str| line.replace("\\|", "").matches('|').count();
    let mut tables: Vec<Vec<&str>> = vec![Vec::new()];
    for line in text.lines() {
        match line.starts_with('|') {
            true => tables.last_mut().unwrap().push(line),
            false => tables.push(Vec::new()),
        }
    }
    tables.retain(|table| !table.is_empty());
    assert_eq!(tables.len(), 4, "{text}");
    for table in tables {
        let counts: BTreeSet<usize> = table.iter().map(|line| cells(line)).collect();
        assert_eq!(counts.len(), 1, "{table:?}");
    }
    let expected = text.matches("</details>").count();
    assert_eq!(text.matches("<details>").count(), expected);
    assert_contains(&text, "`SP_StreamExecutor.last \\| <tag>`");
    assert!(text.contains("we call it &#124; &lt;ourselves>"));
}

/// Returns the sample with `text` in every field that comes from a snapshot or the command line.
fn hostile(text: &str) -> DiffReport {
    let mut report = report();
    report.diff.old = text.into();
    for finding in &mut report.diff.findings {
        finding.message = text.into();
        finding.target = Some(text.into());
        finding.directions.old_on_new.why = text.into();
        finding.after.as_mut().unwrap().loc.file = text.into();
    }
    report
}

#[test]
fn markdown_escapes_links_tags_and_cells() {
    let cases = [
        ("![a](http://b)", "!\\[a\\](http://b)"),
        ("a \\| b", "a \\\\&#124; b"),
        ("`a|b` | c", "`a\\|b` &#124; c"),
        ("`a \\| b`", "`a \\¦ b`"),
        ("`` <x>", "'' &lt;x>"),
    ];
    for (text, cell) in cases {
        let page = markdown(&hostile(text)).unwrap();
        let row = format!("| {cell} (on {cell}) |");
        assert!(page.contains(&row), "{row} is not in {page}");
        let head = format!("## {cell} →");
        assert!(page.contains(&head), "{head} is not in {page}");
    }
    let page = markdown(&hostile("a`<b>")).unwrap();
    assert!(page.contains("- after: `a'<b>:3`"), "{page}");
}

#[test]
fn sarif_has_relative_uris_and_no_links() {
    let log: Value = serde_json::from_str(&sarif(&hostile("[a](https://b c)"))).unwrap();
    let result = &log["runs"][0]["results"][0];
    let uri = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(uri, "%5Ba%5D%28https%3A//b%20c%29");
    let message = result["message"]["text"].as_str().unwrap();
    assert!(message.contains("[a\\](https://b c)"), "{message}");
}

#[test]
fn page_is_self_contained_and_escaped() {
    let page = html(&report()).unwrap();
    for part in ["http://", "https://", "<link", "src="] {
        assert!(!page.contains(part), "{part}");
    }
    assert!(page.contains("SP_StreamExecutor.last | &#60;tag&#62;"));
    assert_eq!(page.matches("<article").count(), 2);
    assert!(page.contains("data-api=\"stream_executor\" data-impact=\"breaking\""));
}

/// Returns the page of the sample's findings after `edit`.
fn edited_page(edit: impl FnOnce(&mut Vec<sp_diff::finding::Finding>)) -> String {
    let mut report = report();
    edit(&mut report.diff.findings);
    html(&report).unwrap()
}

#[test]
fn page_has_breaking_findings_first() {
    let page = edited_page(|findings| {
        let first = findings.iter().find(|finding| !finding.is_breaking());
        let mut first = first.unwrap().clone();
        first.api = "aaa".into();
        findings.insert(0, first);
    });
    let breaking = page.find("data-impact=\"breaking\"").unwrap();
    let of_first_api = page.find("data-api=\"aaa\"").unwrap();
    assert!(breaking < of_first_api, "{page}");
}

#[test]
fn page_merges_findings_equal_except_names() {
    let page = edited_page(|findings| {
        let mut compatible = findings.iter_mut().filter(|finding| !finding.is_breaking());
        let finding = compatible.next().unwrap();
        finding.message = format!("{} was added", finding.owner());
        let mut other = finding.clone();
        other.item = other.item.replace(other.owner(), "SP_Other");
        other.message = "SP_Other was added".into();
        findings.push(other);
    });
    assert_eq!(page.matches("<article").count(), 2, "{page}");
    assert!(page.contains("2 equal findings"));
    assert!(page.contains("SP_Other was added") && page.contains("SP_StreamExecutor was added"));
}

#[test]
fn page_marks_changed_tokens() {
    let page = edited_page(|findings| {
        let finding = &mut findings[0];
        finding
            .after
            .get_or_insert_with(|| sample::diff().findings[1].after.clone().unwrap());
        let mut before = finding.after.clone().unwrap();
        before.text = "int f(int64_t* dims)".into();
        finding.before = Some(before);
        finding.after.as_mut().unwrap().text = "int f(const int64_t* dims)".into();
    });
    assert!(page.contains("int f(int64_t* dims)</pre>"), "{page}");
    assert_contains(&page, "int f(<mark>const </mark>int64_t* dims)</pre>");
}

#[test]
fn sarif_has_unique_fingerprints_and_valid_references() {
    let log: Value = serde_json::from_str(&sarif(&report())).unwrap();
    let run = &log["runs"][0];
    let results = run["results"].as_array().unwrap();
    assert_eq!((&log["version"], results.len()), (&"2.1.0".into(), 3));
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let mut fingerprints = BTreeSet::new();
    for result in results {
        assert!(result["message"]["text"].is_string());
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        fingerprints.insert(
            result["partialFingerprints"]["spGenFinding/v1"]
                .as_str()
                .unwrap(),
        );
        let location = &result["locations"][0]["physicalLocation"];
        let base = location["artifactLocation"]["uriBaseId"].as_str().unwrap();
        assert!(run["originalUriBaseIds"][base].is_object());
        assert!(location["region"]["startLine"].as_u64().unwrap() >= 1);
        if let Some(index) = result["ruleIndex"].as_u64() {
            assert_eq!(rules[index as usize]["id"], result["ruleId"]);
        }
    }
    assert_eq!(fingerprints.len(), results.len());
    let accepted = &results[2]["suppressions"][0];
    let expected = (&"external".into(), &"accepted".into());
    assert_eq!((&accepted["kind"], &accepted["status"]), expected);
    assert_eq!(accepted["justification"], "we call it | <ourselves>");
    assert_eq!(results[0]["suppressions"], Value::Array(Vec::new()));
    assert_eq!(
        results[2]["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uriBaseId"],
        "OLD"
    );
}

#[test]
fn short_label_is_last_significant_component() {
    assert_eq!(short_label("2.7"), "2.7");
    assert_eq!(short_label("/a/2.6.5/include/"), "2.6.5");
    assert_eq!(
        short_label("venv/lib/python3.11/site-packages/tensorflow/include"),
        "python3.11"
    );
    assert_eq!(short_label("include"), "include");
}
