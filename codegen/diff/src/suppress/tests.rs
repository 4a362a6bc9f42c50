use super::*;
use crate::sample;
use std::fs;

fn parse(text: &str) -> Result<Suppressions, SuppressError> {
    Suppressions::parse("sp-gen.toml".into(), text.into())
}

fn entry(rest: &str) -> String {
    format!("[[suppress]]\nrule = \"field_inserted\"\nreason = \"seen\"\n{rest}\n")
}

fn step(text: &str) -> Option<(Release, Release)> {
    let (old, new) = text.split_once("..")?;
    Some((old.parse().unwrap(), new.parse().unwrap()))
}

#[test]
fn returns_reason_of_matching_entry() {
    let findings = sample::diff().findings;
    let list = parse(&entry("item = \"SP_StreamExecutor.mem_zero\"")).unwrap();
    let reasons = list.reasons(&findings, step("2.6..2.7")).unwrap();
    let texts: Vec<&str> = reasons.iter().flatten().map(String::as_str).collect();
    assert_eq!((texts, reasons.len()), (vec!["seen"], findings.len()));
}

#[test]
fn ignores_entry_for_other_releases() {
    let findings = sample::diff().findings;
    let list = parse(&entry("item = \"SP_Gone\"\nreleases = \"2.6..2.7\"")).unwrap();
    for other in ["2.7..2.8", "2.5..2.6", "2.7..2.6"] {
        assert!(list.reasons(&findings, step(other)).is_ok(), "{other}");
    }
    for covered in ["2.6.0..2.7.4", "2.4..2.21"] {
        assert!(list.reasons(&findings, step(covered)).is_err(), "{covered}");
    }
}

#[test]
fn rejects_entry_without_finding_and_shows_its_location() {
    let text = entry("item = \"SP_StreamExecutor.mem_zero\"\napi = \"kernels\"")
        + &entry("item = \"SP_Gone\"");
    let findings = sample::diff().findings;
    let error = parse(&text).unwrap().reasons(&findings, None).unwrap_err();
    let SuppressError::Unmatched { places, .. } = &error else {
        panic!("{error}");
    };
    assert!(
        error.to_string() == "sp-gen.toml: 2 entries match no finding",
        "{error}"
    );
    let second = text.rfind("[[suppress]]").unwrap();
    assert!(places[0].offset() < second && places[1].offset() >= second);
}

#[test]
fn many_entries_and_findings_are_matched_in_linear_time() {
    let finding = sample::diff().findings.swap_remove(0);
    let count = 10_000;
    let item = |index: usize| format!("TF_Function{index}");
    let findings = (0..count).map(|index| Finding {
        item: item(index),
        ..finding.clone()
    });
    let findings: Vec<Finding> = findings.collect();
    let entries = |first: usize| {
        let entry = |index| format!("item={:?}\nrule={:?}\n", item(index), finding.rule);
        let entries = (first..first + count).map(entry);
        let entries = entries.map(|entry| format!("[[suppress]]\n{entry}reason=\"seen\"\n"));
        parse(&entries.collect::<String>()).unwrap()
    };
    let start = std::time::Instant::now();
    let reasons = entries(0).reasons(&findings, None).unwrap();
    assert_eq!(reasons.iter().flatten().count(), count);
    let error = entries(count).reasons(&findings, None).unwrap_err();
    let words = "10000 entries match no finding";
    assert!(error.to_string().contains(words), "{error}");
    assert_eq!(error.labels().unwrap().count(), MAX_PLACES);
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[test]
fn rejects_file_above_the_limit_of_a_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sp-gen.toml");
    let read = |padding: u64| {
        let padding = " ".repeat(padding as usize);
        fs::write(&path, entry("item = \"SP_Gone\"") + &padding).unwrap();
        Suppressions::find(Some(&path), folder.path())
    };
    assert!(read(1).is_ok());
    let error = read(MAX_CONFIG_BYTES).unwrap_err().to_string();
    assert!(error.contains("more than 1 MiB"), "{error}");
}

#[test]
fn rejects_malformed_file_and_shows_location() {
    for (text, expected) in [
        ("[[suppress]]\nrule = \"a\"\nitem = \"b\"", "reason"),
        (
            "[[suppress]]\nrule = \"a\"\nitem = \"b\"\nreason = \" \"",
            "empty",
        ),
        (
            &entry("item = \"a\"\nreleases = \"2.7..2.6\"")[..],
            "invalid releases",
        ),
        (&entry("item = \"a\"\nwhy = \"b\"")[..], "why"),
        ("[[suppres]]", "suppres"),
        ("[[", ""),
    ] {
        let error = parse(text).unwrap_err();
        let SuppressError::Malformed {
            message, places, ..
        } = &error
        else {
            panic!("{error}");
        };
        assert!(message.contains(expected) && places.len() == 1, "{message}");
    }
}

#[test]
fn finds_nearest_file_above_folder() {
    let scratch = tempfile::tempdir().unwrap();
    let below = scratch.path().join("a/b");
    fs::create_dir_all(&below).unwrap();
    fs::write(scratch.path().join(FILE), "").unwrap();
    let found = Suppressions::find(None, &below).unwrap();
    assert_eq!(found.path, scratch.path().join(FILE));
    let named = Suppressions::find(Some(&below.join("no.toml")), &below);
    assert!(matches!(named, Err(SuppressError::Unreadable { .. })));
}
