//! The releases in the committed snapshots, oldest first.

use sp_diff::Surface;
use sp_ir::Api;
use sp_tests::root;

/// The target of the layouts in snapshots.
pub const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Returns all releases.
pub fn all() -> Vec<Surface> {
    let apis = sp_data::snapshots::read_folder(&root().join("generated/ir"), None).unwrap();
    let number = |release: &str| -> u32 { release[2..].parse().unwrap() };
    let mut releases: Vec<String> = apis.iter().map(|api| api.release.clone()).collect();
    releases.sort_by_key(|release| number(release));
    releases.dedup();
    let releases = releases.into_iter().map(|release| surface(&release, &apis));
    releases.collect()
}

fn surface(release: &str, apis: &[Api]) -> Surface {
    Surface {
        label: release.into(),
        apis: apis
            .iter()
            .filter(|api| api.release == release)
            .cloned()
            .collect(),
        exports: None,
        visibility: None,
        target: None,
    }
}
