//! Replacements that succeed, fail, and are interrupted.

use super::journal::Journal;
use super::stage::{self, JOURNAL, LOCK, PARTIAL_JOURNAL};
use super::sync::log;
use super::*;
use std::fs;

fn file(path: &str, old: Option<&str>, new: Option<&str>) -> Change {
    Change {
        path: path.to_owned(),
        old: old.map(|text| Fingerprint::from_bytes(text.as_bytes())),
        new: new.map(|text| Contents::File(text.into())),
    }
}

fn folder(path: &str, old: Option<Fingerprint>, files: &[(&str, &str)]) -> Change {
    let files = files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
    Change {
        path: path.to_owned(),
        old,
        new: Some(Contents::Folder(files.collect())),
    }
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Returns the files below `root` with their texts, and the folders without entries.
fn texts(root: &Path) -> Vec<(String, String)> {
    let (mut found, mut pending) = (Vec::new(), vec![root.to_owned()]);
    while let Some(next) = pending.pop() {
        let entries: Vec<_> = fs::read_dir(&next).unwrap().flatten().collect();
        let name = |path: &Path| path.strip_prefix(root).unwrap().display().to_string();
        if entries.is_empty() {
            found.push((name(&next), "empty folder".to_owned()));
        }
        for path in entries.iter().map(fs::DirEntry::path) {
            match path.is_dir() {
                true => pending.push(path),
                false => found.push((name(&path), fs::read_to_string(path).unwrap())),
            }
        }
    }
    found.sort();
    found
}

fn owned<const N: usize>(files: [(&str, &str); N]) -> [(String, String); N] {
    files.map(|(path, text)| (path.to_owned(), text.to_owned()))
}

fn scratch(files: &[(&str, &str)]) -> tempfile::TempDir {
    let scratch = tempfile::tempdir().unwrap();
    for (path, text) in files {
        write(scratch.path(), path, text);
    }
    scratch
}

/// Writes the staging folder of a process that is killed after `count` exchanges.
fn interrupt(root: &Path, changes: &[Change], count: usize) {
    let stage = Stage::create(root, changes).unwrap();
    let journal = Journal::new(root, changes).unwrap();
    for entry in &journal.changes[..count] {
        stage.exchange(entry).unwrap();
    }
}

const FILES: [(&str, &str); 3] = [("a", "1"), ("b/c", "2"), ("own", "own")];

fn changes() -> [Change; 3] {
    [
        file("a", Some("1"), Some("new 1")),
        file("b/c", Some("2"), None),
        file("d/e/f", None, Some("new 3")),
    ]
}

fn new_files() -> Vec<(String, String)> {
    owned([("a", "new 1"), ("d/e/f", "new 3"), ("own", "own")]).into()
}

#[test]
fn replaces_creates_and_removes_files() {
    let root = scratch(&FILES);
    replace(root.path(), &changes()).unwrap();
    assert_eq!(texts(root.path()), new_files());
}

#[test]
fn replaces_folder_as_a_whole() {
    let root = scratch(&[("r/include/a.h", "1"), ("r/include/b.h", "2")]);
    let old = Fingerprint::read(&root.path().join("r")).unwrap();
    replace(root.path(), &[folder("r", old, &[("include/c.h", "3")])]).unwrap();
    assert_eq!(texts(root.path()), owned([("r/include/c.h", "3")]));
}

#[test]
fn changed_file_is_an_error_and_all_files_stay() {
    for (path, text) in [("a", "edited"), ("b/c", "edited"), ("d/e/f", "created")] {
        let root = scratch(&FILES);
        write(root.path(), path, text);
        let before = texts(root.path());
        let error = replace(root.path(), &changes()).unwrap_err();
        assert!(matches!(error, ReplacementError::Changed(..)), "{error:?}");
        assert!(error.to_string().contains(path), "{error}");
        assert_eq!(texts(root.path()), before, "{path}");
    }
}

/// A program saves the file after the check and before its exchange.
#[test]
fn file_saved_during_exchange_stays() {
    for (path, text) in [("a", "saved"), ("b/c", "saved"), ("d/e/f", "saved")] {
        let root = scratch(&FILES);
        let stage = Stage::create(root.path(), &changes()).unwrap();
        write(root.path(), path, text);
        let error = stage.exchange_all().unwrap_err();
        assert!(matches!(error, ReplacementError::Changed(..)), "{error:?}");
        stage.undo(&error.to_string()).unwrap();
        let expected = scratch(&FILES);
        write(expected.path(), path, text);
        assert_eq!(texts(root.path()), texts(expected.path()), "{path}");
    }
}

#[test]
fn dropped_replacement_is_undone() {
    let root = scratch(&FILES);
    let before = texts(root.path());
    drop(Replacement::apply(root.path(), &changes()).unwrap());
    assert_eq!(texts(root.path()), before);
    let applied = Replacement::apply(root.path(), &changes()).unwrap();
    applied.undo("a later step failed").unwrap();
    assert_eq!(texts(root.path()), before);
}

#[test]
fn undo_is_in_reverse_order_and_reports_files_that_cannot_be_restored() {
    let root = scratch(&FILES);
    let applied = Replacement::apply(root.path(), &changes()).unwrap();
    write(root.path(), "a", "saved by a program");
    let error = applied.undo("the lock cannot be written").unwrap_err();
    let ReplacementError::NotRestored { folder, files, .. } = &error else {
        panic!("{error:?}")
    };
    assert!(files.len() == 1 && files[0].contains("/a "), "{files:?}");
    assert_eq!(fs::read_to_string(folder.join("a")).unwrap(), "1");
    let remaining = texts(root.path());
    let has = |path: &str, text: &str| remaining.contains(&(path.to_owned(), text.to_owned()));
    assert!(has("a", "saved by a program") && has("b/c", "2"));
    assert!(!root.path().join("d").exists(), "{remaining:?}");
}

#[test]
fn recovery_undoes_partial_changes_and_finishes_complete_ones() {
    for count in 0..=3 {
        let root = scratch(&FILES);
        let before = texts(root.path());
        interrupt(root.path(), &changes(), count);
        assert_ne!(texts(root.path()), before);
        recover(root.path()).unwrap();
        let expected = if count == 3 { new_files() } else { before };
        assert_eq!(texts(root.path()), expected, "{count} exchanges");
    }
}

#[test]
fn recovery_keeps_file_that_was_saved_after_the_interruption() {
    let root = scratch(&FILES);
    interrupt(root.path(), &changes(), 1);
    write(root.path(), "a", "saved");
    for _ in 0..2 {
        let error = recover(root.path()).unwrap_err();
        assert!(
            matches!(error, ReplacementError::NotRestored { .. }),
            "{error:?}"
        );
        let read = |path: &str| fs::read_to_string(root.path().join(path)).unwrap();
        assert_eq!((read("a"), read("b/c")), ("saved".into(), "2".into()));
    }
}

/// Returns the staging folder in `root`.
fn staging_folder(root: &Path) -> PathBuf {
    let mut paths = fs::read_dir(root).unwrap().map(|it| it.unwrap().path());
    let is_staging =
        |path: &PathBuf| is_staging_folder(&path.file_name().unwrap().to_string_lossy());
    paths.find(is_staging).unwrap()
}

#[test]
fn recovery_removes_own_staging_folder_without_journal_and_no_other_folder() {
    let root = scratch(&[
        (".sp-gen-staged-abcdef/notes.txt", "own"),
        (".sp-gen-staged-notes/lock", ""),
        (".sp-gen-staged-copied/lock", "1 2 3"),
        (".sp-gen-staged-copied/new/a", "1"),
        (".sp-gen-staged-killed/lock", ""),
    ]);
    let before = texts(root.path());
    drop(Stage::create(root.path(), &changes()[2..]).unwrap());
    let mut folders = fs::read_dir(root.path()).unwrap();
    let journal = folders.find_map(|it| {
        let path = it.unwrap().path().join(JOURNAL);
        path.exists().then_some(path)
    });
    fs::remove_file(journal.unwrap()).unwrap();
    fs::create_dir(root.path().join(".sp-gen-staged-empty0")).unwrap();
    recover(&root.path().join("absent/folder")).unwrap();
    recover(root.path()).unwrap();
    assert_eq!(texts(root.path()), before);
}

/// A repository that was cloned, or an unpacked archive, may have a journal for the files around it.
#[test]
fn recovery_follows_no_journal_of_a_copied_staging_folder() {
    let made = scratch(&FILES);
    interrupt(made.path(), &changes(), 2);
    let staging = staging_folder(made.path());
    let root = scratch(&FILES);
    for (path, text) in texts(&staging) {
        write(root.path(), &format!(".sp-gen-staged-copied/{path}"), &text);
    }
    let before = texts(root.path());
    recover(&root.path().join("below")).unwrap();
    let error = recover(root.path()).unwrap_err();
    assert!(matches!(error, ReplacementError::Copied(..)), "{error:?}");
    assert_eq!(texts(root.path()), before);
}

#[cfg(unix)]
#[test]
fn recovery_follows_no_link_in_a_staging_folder() {
    for folder in ["new", "old"] {
        let (root, outside) = (scratch(&FILES), scratch(&[("a", "mine"), ("b/c", "mine")]));
        interrupt(root.path(), &changes(), 2);
        let staged = staging_folder(root.path()).join(folder);
        fs::remove_dir_all(&staged).unwrap();
        std::os::unix::fs::symlink(outside.path(), &staged).unwrap();
        let error = recover(root.path()).unwrap_err();
        assert!(matches!(error, ReplacementError::Outside(..)), "{error:?}");
        assert_eq!(texts(outside.path()).len(), 2);
    }
}

/// A program saves the file, and sp-gen is killed before it compares what it has moved.
#[test]
fn recovery_keeps_a_file_that_was_saved_before_the_interruption() {
    let root = scratch(&FILES);
    let change = [file("b/c", Some("2"), None)];
    drop(Stage::create(root.path(), &change).unwrap());
    let backup = staging_folder(root.path()).join("old/b/c");
    write(root.path(), "b/c", "saved");
    fs::create_dir_all(backup.parent().unwrap()).unwrap();
    fs::rename(root.path().join("b/c"), backup).unwrap();
    recover(root.path()).unwrap();
    let saved = fs::read_to_string(root.path().join("b/c")).unwrap();
    assert_eq!(saved, "saved");
}

#[test]
fn staging_folder_is_removed_journal_first_and_lock_last() {
    let files = ["a/b", "journal.json", "lock", "new/lock"];
    let root = scratch(&files.map(|file| (file, "")));
    let folder = root.path();
    let order = stage::removal_order(folder).unwrap();
    assert_eq!((order.len(), &order[0]), (4, &folder.join(JOURNAL)));
    assert_eq!(order[3], folder.join(LOCK));
}

#[test]
fn recovery_removes_rest_of_staging_folder_whose_removal_was_interrupted() {
    for removed in 0..=3 {
        let root = scratch(&FILES);
        // Undone changes leave the files and the staging folder as they are here.
        drop(Stage::create(root.path(), &changes()).unwrap());
        let order = stage::removal_order(&staging_folder(root.path())).unwrap();
        for path in order.iter().take(removed) {
            match path.is_dir() {
                true => fs::remove_dir_all(path).unwrap(),
                false => fs::remove_file(path).unwrap(),
            }
        }
        recover(root.path()).unwrap();
        assert_eq!(texts(root.path()), owned(FILES), "{removed}");
    }
}

#[test]
fn recovery_leaves_folder_of_running_process_alone() {
    let root = scratch(&FILES);
    let stage = Stage::create(root.path(), &changes()).unwrap();
    recover(&root.path().join("below")).unwrap();
    stage.exchange_all().unwrap();
    stage.finish().unwrap();
    stage.remove();
    assert_eq!(texts(root.path()), new_files());
}

#[test]
fn recovery_rejects_journal_with_path_outside_of_folder() {
    for path in ["../own", "/etc/own", "", "link/own"] {
        let root = scratch(&[("inner/x", "")]);
        let inner = root.path().join("inner");
        #[cfg(unix)]
        std::os::unix::fs::symlink(root.path(), inner.join("link")).unwrap();
        let entry = format!("{{\"path\": {path:?}, \"old\": {{\"\": \"0\"}}, \"new\": null}}");
        let journal = format!("{{\"schema\": 1, \"changes\": [{entry}], \"folders\": []}}");
        drop(Stage::create(&inner, &[file("y", None, Some("1"))]).unwrap());
        fs::write(staging_folder(&inner).join(JOURNAL), &journal).unwrap();
        let error = recover(&inner).unwrap_err();
        assert!(matches!(error, ReplacementError::Outside(..)), "{error:?}");
    }
}

#[cfg(unix)]
#[test]
fn folder_is_created_by_its_own_name_or_not_at_all() {
    use std::os::unix::ffi::OsStrExt;
    let root = scratch(&[("a/own", "1")]);
    let (existing, below) = existing_folder(&root.path().join("a\\b/c")).unwrap();
    let change = file(&format!("{below}/file"), None, Some("2"));
    replace(&existing, &[change]).unwrap();
    let expected = [("a/own", "1"), ("a\\b/c/file", "2")];
    assert_eq!(texts(root.path()), owned(expected));
    let other = root.path().join(std::ffi::OsStr::from_bytes(b"\xff/c"));
    let error = existing_folder(&other).unwrap_err();
    assert!(matches!(error, ReplacementError::NotUtf8(..)), "{error:?}");
    fs::create_dir_all(&other).unwrap();
    assert_eq!(existing_folder(&other).unwrap(), (other, String::new()));
}

#[test]
fn file_above_new_path_is_an_error_that_names_it() {
    let root = scratch(&[("a", "1")]);
    let error = replace(root.path(), &[file("a/b/c", None, Some("2"))]).unwrap_err();
    let message = format!("{}: not a directory", root.path().join("a").display());
    assert!(error.to_string().ends_with(&message), "{error}");
}

#[cfg(unix)]
#[test]
fn symbolic_links_are_not_replaced() {
    let root = scratch(&[("target", "1")]);
    let link = root.path().join("a");
    std::os::unix::fs::symlink(root.path().join("target"), &link).unwrap();
    let error = replace(root.path(), &[file("a", Some("1"), Some("2"))]).unwrap_err();
    assert!(matches!(error, ReplacementError::Outside(..)), "{error:?}");
    assert!(link.is_symlink() && fs::read_to_string(link).unwrap() == "1");
}

#[test]
fn written_files_and_their_folders_are_synchronized() {
    let root = scratch(&FILES);
    let root = root.path();
    replace(root, &changes()).unwrap();
    let synced = log::below(root);
    let has = |end: &str| synced.iter().any(|path| path.ends_with(end));
    for staged in ["new/a", "new/d/e/f", "new", "new/d/e", PARTIAL_JOURNAL] {
        assert!(has(staged), "{staged}: {synced:?}");
    }
    for folder in ["", "b", "d", "d/e"].map(|folder| root.join(folder)) {
        assert!(synced.contains(&folder), "{folder:?}: {synced:?}");
    }
}

fn read_table(root: &Path, path: &str) -> Result<TableFile> {
    TableFile::read(root, &root.join(path))
}

#[test]
fn table_is_created_and_replaced_and_its_folder_synchronized() {
    let root = scratch(&[]);
    for text in ["1", "2"] {
        let table = read_table(root.path(), "x/table").unwrap();
        table.replace(text.to_owned()).unwrap().commit().unwrap();
        assert_eq!(texts(root.path()), [("x/table".into(), text.into())]);
    }
    assert!(log::below(root.path()).contains(&root.path().join("x")));
}

#[test]
fn table_that_is_saved_after_it_was_read_stays() {
    for text in [None, Some("1")] {
        let root = scratch(&[]);
        text.into_iter()
            .for_each(|text| write(root.path(), "table", text));
        let table = read_table(root.path(), "table").unwrap();
        write(root.path(), "table", "saved");
        let error = table.replace("2".to_owned()).unwrap_err();
        assert!(matches!(error, ReplacementError::Changed(..)), "{error:?}");
        assert_eq!(texts(root.path()), [("table".into(), "saved".into())]);
    }
}

#[test]
fn table_with_other_text_than_sp_gen_prints_is_an_error() {
    let root = scratch(&[("table", "1")]);
    let table = read_table(root.path(), "table").unwrap();
    assert!(table.check(|text| text == "1").is_ok());
    let error = table.check(|text| text == "2").unwrap_err();
    assert!(matches!(error, ReplacementError::Edited(..)), "{error:?}");
    let absent = read_table(root.path(), "absent").unwrap();
    assert!(absent.text().is_none() && absent.check(|_| false).is_ok());
    fs::write(root.path().join("table"), b"\xff").unwrap();
    let error = read_table(root.path(), "table").unwrap_err();
    assert!(matches!(error, ReplacementError::Edited(..)), "{error:?}");
}

#[cfg(unix)]
#[test]
fn table_that_is_a_link_or_below_one_is_an_error() {
    let (root, outside) = (scratch(&[("target", "1")]), scratch(&[("table", "1")]));
    for name in ["link", "dangling"] {
        let target = root.path().join(name.replace("link", "target"));
        std::os::unix::fs::symlink(target, root.path().join(name)).unwrap();
        let error = read_table(root.path(), name).unwrap_err();
        assert!(matches!(error, ReplacementError::Outside(..)), "{error:?}");
    }
    std::os::unix::fs::symlink(outside.path(), root.path().join("folder")).unwrap();
    let table = read_table(root.path(), "folder/table").unwrap();
    let error = table.replace("2".to_owned()).unwrap_err();
    assert!(matches!(error, ReplacementError::Outside(..)), "{error:?}");
    assert_eq!(texts(outside.path()), [("table".into(), "1".into())]);
}

#[cfg(unix)]
#[test]
fn links_and_pipes_that_were_read_are_not_replaced() {
    let root = scratch(&[("target", "1"), ("folder/a", "1")]);
    let path = |name: &str| root.path().join(name);
    let target = path("target");
    for link in ["link", "folder/link"] {
        std::os::unix::fs::symlink(&target, path(link)).unwrap();
    }
    let made = std::process::Command::new("mkfifo")
        .arg(path("pipe"))
        .status();
    assert!(made.unwrap().success());
    for (name, irregular) in [
        ("link", "link"),
        ("pipe", "pipe"),
        ("folder", "folder/link"),
    ] {
        let old = Fingerprint::read(&path(name)).unwrap();
        for new in [None, Some("2")] {
            let change = Change {
                old: old.clone(),
                ..file(name, None, new)
            };
            let error = replace(root.path(), &[change]).unwrap_err();
            let is_expected = matches!(
                &error,
                ReplacementError::Outside(found) | ReplacementError::Irregular(found)
                    if *found == path(irregular)
            );
            assert!(is_expected, "{error:?}");
        }
    }
    assert!(path("link").is_symlink() && path("pipe").exists());
}

#[test]
fn further_names_of_a_path_are_an_error() {
    let files = [("a", "1"), ("b/c", "2")];
    for name in ["./a", "b//c", "b/./c", "b/c/", "/a"] {
        let root = scratch(&files);
        let text = if name.contains('a') { "1" } else { "2" };
        let error = replace(root.path(), &[file(name, Some(text), None)]).unwrap_err();
        let is_outside = matches!(error, ReplacementError::Outside(..));
        assert!(is_outside, "{name}: {error:?}");
        assert_eq!(texts(root.path()), owned(files));
    }
}

#[test]
fn changes_of_the_same_or_nested_paths_are_an_error() {
    for second in ["b", "b/c", "b/c/d"] {
        let root = scratch(&[("b/c", "2"), ("b-", "3")]);
        let changes = [
            file("b/c", Some("2"), None),
            file("b-", Some("3"), None),
            file(second, None, Some("4")),
        ];
        let error = replace(root.path(), &changes).unwrap_err();
        let is_expected = matches!(error, ReplacementError::Overlapping { .. });
        assert!(is_expected, "{second}: {error:?}");
        assert_eq!(texts(root.path()).len(), 2);
    }
}

#[cfg(unix)]
#[test]
fn files_with_two_hard_links_are_replaced_each() {
    let root = scratch(&[("a", "1")]);
    fs::hard_link(root.path().join("a"), root.path().join("b")).unwrap();
    let changes = [
        file("a", Some("1"), Some("2")),
        file("b", Some("1"), Some("3")),
    ];
    replace(root.path(), &changes).unwrap();
    assert_eq!(texts(root.path()), owned([("a", "2"), ("b", "3")]));
}
