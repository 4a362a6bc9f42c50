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
