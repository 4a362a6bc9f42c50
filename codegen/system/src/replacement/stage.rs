//! A staging folder: the new contents of the changed paths, their old contents, and the journal.

use super::fingerprint::{self, Fingerprint};
use super::journal::{Journal, JournalEntry, PREFIX};
use super::{Change, ReplacementError, Result, identity, sync};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::{TempDir, TempPath};

/// Locked while the process that made the folder runs.
pub(super) const LOCK: &str = "lock";
pub(super) const JOURNAL: &str = "journal.json";
/// The journal until it is complete.
pub(super) const PARTIAL_JOURNAL: &str = "journal.json.new";

#[derive(Debug)]
pub(super) struct Stage {
    root: PathBuf,
    folder: PathBuf,
    journal: Journal,
    /// Closing it releases the file lock, also if the process is killed.
    _lock: File,
}

impl Stage {
    /// Writes the new contents and the journal. Nothing outside of the staging folder is changed.
    pub fn create(root: &Path, changes: &[Change]) -> Result<Self> {
        let journal = Journal::new(root, changes)?;
        let created = create_locked_folder(root);
        let (folder, lock) = created.map_err(|error| ReplacementError::io(root, error))?;
        let stage = Self::open(root, &folder.keep(), journal, lock);
        let written = stage.write_contents(changes);
        let written = written.and_then(|()| stage.check_unchanged());
        match written.and_then(|()| stage.write_journal()) {
            Ok(()) => Ok(stage),
            Err(error) => {
                stage.remove();
                Err(error)
            }
        }
    }

    pub fn open(root: &Path, folder: &Path, journal: Journal, lock: File) -> Self {
        Self {
            root: root.to_owned(),
            folder: folder.to_owned(),
            journal,
            _lock: lock,
        }
    }

    fn write_contents(&self, changes: &[Change]) -> Result<()> {
        let mut files: Vec<(PathBuf, &[u8])> = Vec::new();
        for Change { path, new, .. } in changes {
            let staged = self.staged(path);
            files.extend(new.iter().flat_map(|new| new.files(&staged)));
        }
        sync::write_all(&files, self.replaces_any())?;
        let paths: Vec<PathBuf> = files.into_iter().map(|(path, _)| path).collect();
        self.sync_parents(&self.folder, &paths)
    }

    fn sync_parents(&self, root: &Path, paths: &[PathBuf]) -> Result<()> {
        match self.replaces_any() {
            true => sync::sync_parents(root, paths),
            false => Ok(()),
        }
    }

    /// Returns true if a path has old contents. Otherwise nothing that existed can be lost with the power, and a thousand
    /// files are not synchronized one by one, which takes seconds.
    fn replaces_any(&self) -> bool {
        self.journal.changes.iter().any(|it| it.old.is_some())
    }

    /// Checks that every path has the expected contents.
    fn check_unchanged(&self) -> Result<()> {
        let check = |entry: &JournalEntry| {
            let path = self.target(&entry.path);
            let found = read(&path)?;
            // An irregular file has no hash, so it could be another one than the caller has seen.
            match found.as_ref().and_then(Fingerprint::irregular_file) {
                Some("") => Err(ReplacementError::irregular(&path)),
                Some(inner) => Err(ReplacementError::irregular(&path.join(inner))),
                None if found == entry.old => Ok(()),
                None => Err(ReplacementError::changed(&path)),
            }
        };
        self.journal.changes.iter().try_for_each(check)
    }

    fn write_journal(&self) -> Result<()> {
        let path = self.folder.join(JOURNAL);
        // The journal of a process that is killed meanwhile is absent, and not a part of one.
        let partial = self.folder.join(PARTIAL_JOURNAL);
        sync::write_all(&[(partial.clone(), &self.journal.to_json())], true)?;
        let renamed = fs::rename(&partial, &path);
        let synced = renamed.and_then(|()| sync::sync_folder(&self.folder));
        let synced = synced.and_then(|()| sync::sync_folder(&self.root));
        synced.map_err(|error| ReplacementError::io(&path, error))
    }

    fn target(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    fn staged(&self, path: &str) -> PathBuf {
        self.folder.join("new").join(path)
    }

    fn backup(&self, path: &str) -> PathBuf {
        self.folder.join("old").join(path)
    }

    pub fn exchange_all(&self) -> Result<()> {
        let mut changes = self.journal.changes.iter();
        changes.try_for_each(|entry| self.exchange(entry))
    }

    /// Moves the old contents of a path to the staging folder, and the new ones to the path.
    pub fn exchange(&self, entry: &JournalEntry) -> Result<()> {
        let (path, backup) = (self.target(&entry.path), self.backup(&entry.path));
        if entry.old.is_some() {
            rename_new(&path, &backup)?;
            if read(&backup)? != entry.old {
                return Err(ReplacementError::changed(&path));
            }
        }
        match entry.new {
            Some(_) => rename_new(&self.staged(&entry.path), &path),
            None => Ok(()),
        }
    }

    /// Returns true if every change was made, and no path had other contents than expected.
    pub fn is_exchanged(&self) -> bool {
        let is_exchanged = |entry: &JournalEntry| match &entry.new {
            Some(_) => !exists(&self.staged(&entry.path)),
            None => exists(&self.backup(&entry.path)),
        };
        let has_old = |entry: &JournalEntry| {
            let found = read(&self.backup(&entry.path));
            found.is_ok_and(|found| found == entry.old)
        };
        let mut changes = self.journal.changes.iter();
        changes.all(|entry| is_exchanged(entry) && has_old(entry))
    }

    /// Synchronizes the changed folders. Then removes the journal: the changes can no longer be undone.
    pub fn finish(&self) -> Result<()> {
        let changes = self.journal.changes.iter();
        let paths: Vec<PathBuf> = changes.map(|entry| self.target(&entry.path)).collect();
        self.sync_parents(&self.root, &paths)?;
        let journal = self.folder.join(JOURNAL);
        let removed = fs::remove_file(&journal);
        removed.map_err(|error| ReplacementError::io(&journal, error))?;
        for entry in self.journal.changes.iter().filter(|it| it.new.is_none()) {
            self.remove_empty_parents(&entry.path);
        }
        Ok(())
    }

    /// Removes the folders above a removed path that are empty.
    fn remove_empty_parents(&self, path: &str) {
        let folders = Path::new(path).ancestors().skip(1);
        for folder in folders.filter(|folder| !folder.as_os_str().is_empty()) {
            // Fails for a folder that has entries, and for those above it.
            let _ = fs::remove_dir(self.root.join(folder));
        }
    }

    /// Removes the staging folder. What remains of it after a failure, the next run removes.
    pub fn remove(self) {
        let _ = remove_folder(&self.folder);
    }

    /// Undoes the changes in reverse order. The staging folder remains if a path cannot be restored.
    pub fn undo(self, cause: &str) -> Result<()> {
        let changes = self.journal.changes.iter().rev();
        let undone = changes.filter_map(|entry| self.undo_change(entry).err());
        let files: Vec<String> = undone.map(|error| error.to_string()).collect();
        for folder in self.journal.folders.iter().rev() {
            // Fails for a folder in which another program has created a file.
            let _ = fs::remove_dir(self.target(folder));
        }
        if files.is_empty() {
            self.remove();
            return Ok(());
        }
        Err(ReplacementError::NotRestored {
            cause: cause.to_owned(),
            files,
            folder: self.folder.join("old"),
        })
    }

    fn undo_change(&self, entry: &JournalEntry) -> Result<()> {
        let (path, backup) = (self.target(&entry.path), self.backup(&entry.path));
        let is_placed = entry.new.is_some() && !exists(&self.staged(&entry.path));
        if is_placed && exists(&path) {
            self.take_back(entry)?;
        }
        match exists(&backup) {
            true => rename_new(&backup, &path),
            false => Ok(()),
        }
    }

    /// Moves the new contents of a path back to the staging folder, unless another program has changed them.
    fn take_back(&self, entry: &JournalEntry) -> Result<()> {
        let (path, staged) = (self.target(&entry.path), self.staged(&entry.path));
        if read(&path)? == entry.new {
            rename_new(&path, &staged)?;
            if read(&staged)? == entry.new {
                return Ok(());
            }
            rename_new(&staged, &path)?;
        }
        match entry.old {
            // Nothing is to be restored: the path belongs to who changed it.
            None => Ok(()),
            Some(_) => Err(ReplacementError::changed(&path)),
        }
    }
}

/// Creates a staging folder with a locked file. Creates another one if [`super::recover`] of a process that runs at the
/// same time has removed it before it was locked.
fn create_locked_folder(root: &Path) -> io::Result<(TempDir, File)> {
    loop {
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(root)?;
        let path = folder.path().join(LOCK);
        match File::create_new(&path) {
            Ok(lock) => {
                lock.lock()?;
                if path.exists() {
                    identity::write(&lock)?;
                    return Ok((folder, lock));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
}

/// Removes a staging folder, its journal first and its lock last. If the process is killed meanwhile, [`super::recover`]
/// finds nothing to undo, and recognizes the rest by the lock.
pub(super) fn remove_folder(folder: &Path) -> io::Result<()> {
    for path in removal_order(folder)? {
        match fs::symlink_metadata(&path)?.is_dir() {
            true => fs::remove_dir_all(path)?,
            false => fs::remove_file(path)?,
        }
    }
    fs::remove_dir(folder)
}

/// Returns the entries of a staging folder in the order in which they are removed.
pub(super) fn removal_order(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut entries = entries.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(|path| (path.ends_with(LOCK), !path.ends_with(JOURNAL)));
    Ok(entries)
}

fn read(path: &Path) -> Result<Option<Fingerprint>> {
    Fingerprint::read(path).map_err(|error| ReplacementError::io(path, error))
}

fn exists(path: &Path) -> bool {
    !matches!(fingerprint::find(path), Ok(None))
}

/// Renames a file or folder to a path at which nothing is, and creates the folders above that path.
fn rename_new(from: &Path, to: &Path) -> Result<()> {
    use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, NotADirectory, NotFound};
    let rename = || {
        sync::create_parent(to)?;
        match fs::symlink_metadata(from)?.is_dir() {
            // Fails for a file and for a folder that is not empty.
            true => fs::rename(from, to),
            false => rename_file(from, to),
        }
    };
    rename().map_err(|error| match error.kind() {
        AlreadyExists | DirectoryNotEmpty | NotADirectory => ReplacementError::changed(to),
        NotFound => ReplacementError::changed(from),
        _ => ReplacementError::io(to, error),
    })
}

fn rename_file(from: &Path, to: &Path) -> io::Result<()> {
    let mut path = TempPath::try_from_path(from)?;
    path.disable_cleanup(true);
    path.persist_noclobber(to).map_err(|error| error.error)
}
