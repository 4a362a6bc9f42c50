//! The table of a plugin as facts, read in a child process.

use std::path::Path;

use sp_data::demand::PluginTable;
use sp_host::child_checks::CheckResult;
use sp_host::{CheckStatus, escape_control};

use crate::session::Session;
use crate::{HOSTS, memory, run_check};

/// The task of a child that reads the table.
pub(crate) const TASK: &str = "pjrt_plugin_table";

/// The offset of the first slot.
const SLOTS: u64 = 40;

/// The most slots that are read.
const SLOT_LIMIT: usize = 1000;

/// Reads the table of the plugin at `path` in a child process, which loads the library and calls GetPjrtApi.
///
/// # Errors
/// Returns the reason if the library has no table that can be read.
pub fn read_table(path: &Path) -> Result<PluginTable, String> {
    let newest = HOSTS.last().expect("there are hosts");
    let outcome = run_check(TASK, &newest.to_string(), path);
    let table = (outcome.status == CheckStatus::Pass).then(|| parse(&outcome.detail));
    table
        .flatten()
        .ok_or_else(|| escape_control(&outcome.detail))
}

/// In the child: the version, the size and a digit for each slot.
pub(crate) fn describe(session: &Session<'_>) -> CheckResult {
    let plugin = session.uninitialized()?;
    let count = plugin.size.saturating_sub(SLOTS as usize) / 8;
    let slots = memory::words(plugin.table + SLOTS, count.min(SLOT_LIMIT), "the table")?;
    let digits: String = slots
        .iter()
        .map(|slot| if *slot == 0 { '0' } else { '1' })
        .collect();
    let major = plugin.field("pjrt_api_version.major_version")?;
    Ok(format!(
        "{major} {} {} {digits}",
        plugin.minor()?,
        plugin.size
    ))
}

fn parse(text: &str) -> Option<PluginTable> {
    let mut words = text.split(' ');
    Some(PluginTable {
        major: words.next()?.parse().ok()?,
        minor: words.next()?.parse().ok()?,
        size: words.next()?.parse().ok()?,
        slots: words.next()?.chars().map(|digit| digit == '1').collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_the_text_of_a_child() {
        let table = parse("0 90 64 101").unwrap();
        assert_eq!((table.major, table.minor, table.size), (0, 90, 64));
        assert_eq!(table.slots, [true, false, true]);
        assert_eq!(parse("the library does not export GetPjrtApi"), None);
    }
}
