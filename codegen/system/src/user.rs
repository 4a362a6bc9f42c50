//! The user that runs sp-gen.

use std::fs::Metadata;

/// Returns true if the file belongs to the user that runs sp-gen, or to the user that has called sudo.
#[cfg(unix)]
pub fn owns(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    let user = rustix::process::geteuid();
    let sudo_user = std::env::var("SUDO_UID").ok();
    let caller = sudo_user.filter(|_| user.is_root());
    let caller = caller.and_then(|uid| uid.parse::<u32>().ok());
    metadata.uid() == user.as_raw() || Some(metadata.uid()) == caller
}

/// Returns true: files have no owner here.
#[cfg(not(unix))]
pub fn owns(_: &Metadata) -> bool {
    true
}
