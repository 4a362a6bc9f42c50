//! The demands of the emulated release on a plugin, as `tests/pjrt-demand` has measured it.

use sp_data::demand::{self, Demand, RunOutcome, SlotDemand};

use crate::hosts::PjrtHost;

/// The programs that list devices and copy arrays. A plugin that fails them has no use.
const BASIC_PROGRAMS: [&str; 5] = ["register", "devices", "constant", "put_and_get", "copies"];

/// The demand of a host's measured release.
pub(crate) struct HostDemand(Demand);

impl HostDemand {
    /// Reads the demand of `host`.
    pub fn new(host: &PjrtHost) -> Self {
        let demand = demand::find(host.framework, host.measured);
        Self(demand.expect("a test finds the demand of every host"))
    }

    /// Returns the reason why the host declines a plugin of this version, or `None` if it accepts it.
    pub fn reason_to_decline(&self, major: u64, minor: u32) -> Option<String> {
        self.0.reason_to_decline(major as i64, minor.into())
    }

    /// Returns true if a plugin that was built with the header of `minor` runs, so that the host needs no function of a later one.
    pub fn runs_header(&self, minor: u32) -> bool {
        self.0.runs_header(minor.into())
    }

    /// Returns true if the host calls functions of a table in the memories of a plugin of this version.
    pub fn reads_memory_tables(&self, minor: u32) -> bool {
        let functions = self.0.called_tables(minor.into());
        functions
            .iter()
            .any(|name| name.starts_with("PJRT_Memory."))
    }

    /// Returns the names of the functions, without `PJRT_`, that the host calls without a check for null.
    pub fn required(&self) -> impl Iterator<Item = &str> {
        let slots = self.0.slots.iter();
        let required = slots.filter(|(_, slot)| slot.demand == SlotDemand::Required);
        required.map(|(name, _)| name.trim_start_matches("PJRT_"))
    }

    /// Returns what was measured for a null slot, or `None` if the host does not call it then.
    pub fn null(&self, function: &str) -> Option<String> {
        let slot = self.0.slots.get(&format!("PJRT_{function}"))?;
        let null = slot.null.as_ref();
        let null = null.filter(|_| slot.demand == SlotDemand::Required)?;
        Some(self.describe("null", null))
    }

    /// Returns what was measured for an error of a function, or `None` if the host lists devices and copies arrays nevertheless.
    pub fn error(&self, function: &str) -> Option<String> {
        let slot = self.0.slots.get(&format!("PJRT_{function}"))?;
        let error = slot.error.as_ref().filter(|it| is_fatal(it))?;
        Some(self.describe("an error", error))
    }

    fn describe(&self, value: &str, outcome: &RunOutcome) -> String {
        let Demand { host, release, .. } = &self.0;
        let outcome = outcome.describe();
        format!("{host} {release} with {value}: {outcome}")
    }
}

/// Returns true if the process ends, or a basic program fails.
fn is_fatal(outcome: &RunOutcome) -> bool {
    match outcome.outcome.as_str() {
        "ok" | "ignored" => false,
        "error" => BASIC_PROGRAMS.contains(&outcome.program.as_str()),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HOSTS;

    fn demand(name: &str) -> HostDemand {
        HostDemand::new(PjrtHost::find(name).unwrap())
    }

    #[test]
    fn every_host_has_a_measured_demand() {
        for host in HOSTS {
            let demand = HostDemand::new(host);
            assert!(demand.required().count() > 0, "{host}");
            assert_eq!(demand.0.host, host.framework);
            let is_same = demand.0.release.starts_with(host.release);
            assert!(is_same || host.measured != host.release, "{host}");
            let minor = demand.0.framework_minor.filter(|_| is_same);
            assert!(minor.is_none_or(|it| it == host.minor), "{host}");
        }
    }

    #[test]
    fn demand_differs_by_release() {
        let function = "Error_ForEachPayload";
        assert_eq!(demand("jaxlib:0.4").null(function), None);
        let text = demand("jaxlib:0.12").null(function).unwrap();
        assert_eq!(
            text,
            "jaxlib 0.12.0.1 with null: crash in the program `failing_execution`: SIGSEGV"
        );
        assert_eq!(demand("tensorflow:2.22").null(function), None);
    }

    #[test]
    fn error_of_compilation_leaves_devices_and_copies() {
        let demand = demand("jaxlib:0.12");
        assert_eq!(demand.error("Client_Compile"), None);
        assert!(demand.null("Client_Compile").is_some());
        assert!(demand.error("Client_BufferFromHostBuffer").is_some());
        assert!(demand.error("Plugin_Attributes").is_some());
    }

    #[test]
    fn accepted_headers_are_those_of_the_release() {
        let old = demand("tensorflow:2.16");
        assert!(old.runs_header(40) && !old.runs_header(54));
        let new = demand("jaxlib:0.12");
        assert!(new.runs_header(60) && !new.runs_header(39));
    }
}
