//! Definitions of TensorFlow's own ops, from the table of sp-ops.

use sp_ops::{OpDef, Release, Table};

use super::running_release;

/// Returns the definition of core's op `name` in the running release, or in the newest one if no plugin is loaded.
///
/// # Errors
/// Returns the reason if that release has no such op.
pub(crate) fn find(name: &str) -> Result<OpDef, String> {
    let Some(op) = sp_ops::find(name) else {
        return Err("no release of TensorFlow has this op, and no loaded plugin defines it".into());
    };
    let release = release();
    let absent = || {
        let (key, releases) = (release.key(), &op.releases);
        format!("TensorFlow {key} does not have this op, which is one of {releases}")
    };
    op.in_release(release).ok_or_else(absent)
}

/// Returns the definitions of all of core's ops in the running release.
pub(super) fn all() -> impl Iterator<Item = OpDef> {
    let release = release();
    let ops = Table::embedded().ops();
    ops.filter_map(move |op| op.in_release(release))
}

fn release() -> Release {
    let newest = || Table::embedded().releases().last();
    let release = running_release().or_else(newest);
    release.unwrap_or(Release::FIRST_SUPPORTED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_every_op_of_the_release() {
        assert!(find("Softsign").is_ok());
        assert!(find("Conv2D").unwrap().attribute("strides").is_some());
        assert!(all().count() > 1000);
    }

    #[test]
    fn gives_reason_for_unknown_op() {
        assert!(find("Softsgn").unwrap_err().contains("no release"));
        // An op of old releases only.
        let gone = Table::embedded()
            .ops()
            .find(|op| op.in_release(release()).is_none());
        let reason = find(&gone.unwrap().name).unwrap_err();
        assert!(reason.contains("which is one of 2."), "{reason}");
    }
}
