//! Compatibility quirks: behaviour of TensorFlow that no header states and that differs between releases.
//!
//! 2.12 and 2.21 were observed (`codegen/docs/host.md`). The releases between them are unknown and get the
//! stricter behaviour.

use std::ops::RangeInclusive;

/// The minor release of 2.5, the first release that loads plugins.
pub(crate) const FIRST_MINOR: u32 = sp_ir::Release::FIRST_SUPPORTED.minor;

/// The end of the range of a quirk that the newest release has.
const NEWEST: u32 = u32::MAX;

/// A behaviour that some releases have and others do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quirk {
    /// The process ends if a device cannot be created.
    DeviceErrorIsFatal,
    /// The process ends if a copy to or from the device cannot be enqueued.
    CopyErrorIsFatal,
    /// The timer functions are requested and checked while the plugin is loaded.
    RequestsTimers,
    /// Host memory may be aligned to 64 bytes; the other releases require 256.
    HostAlignment64,
    /// `TF_InitGraph` is called before `TF_InitKernel`.
    GraphBeforeKernels,
    /// The C functions that are not the framework's are in Python's extension module, not in
    /// `libtensorflow_cc`.
    NoCcLibrary,
    /// The extension module has a SONAME, so that the loader finds it by name.
    ExtensionModuleHasSoname,
    /// Symbols outside of the framework library have the version `tensorflow`.
    VersionedSymbols,
    /// The framework library's symbols have the version `tensorflow` too.
    VersionedFramework,
    /// A shape function has the shape of the first input only, and sets that of the first output only.
    FirstShapeOnly,
    /// TensorFlow's libraries are visible only to plugins that name them.
    LocalLibraries,
    /// The function that locks variables locks the op's first inputs, whatever inputs it is asked for.
    LocksFirstInputs,
    /// The callback of an asynchronous kernel is an argument that ends when compute returns.
    DoneEndsWithCompute,
    /// Tensors of variants are borrowed by the plugin's functions; in the other releases the plugin deletes them.
    BorrowsVariantTensors,
    /// This field is required, but a null is detected only when it is called.
    UncheckedField(&'static str, &'static str),
}

/// Every quirk with the minor releases that have it.
const QUIRKS: [(Quirk, RangeInclusive<u32>); 17] = [
    (Quirk::DeviceErrorIsFatal, FIRST_MINOR..=20),
    (Quirk::CopyErrorIsFatal, FIRST_MINOR..=20),
    (Quirk::RequestsTimers, FIRST_MINOR..=13),
    (Quirk::HostAlignment64, FIRST_MINOR..=21),
    (Quirk::GraphBeforeKernels, FIRST_MINOR..=11),
    (Quirk::NoCcLibrary, FIRST_MINOR..=11),
    (Quirk::ExtensionModuleHasSoname, FIRST_MINOR..=18),
    (Quirk::VersionedSymbols, FIRST_MINOR..=18),
    (Quirk::VersionedFramework, 22..=NEWEST),
    (Quirk::FirstShapeOnly, FIRST_MINOR..=9),
    (Quirk::LocalLibraries, FIRST_MINOR..=20),
    (Quirk::LocksFirstInputs, FIRST_MINOR..=10),
    (Quirk::DoneEndsWithCompute, FIRST_MINOR..=21),
    (Quirk::BorrowsVariantTensors, 22..=NEWEST),
    (
        Quirk::UncheckedField("SP_PlatformFns", "get_device_count"),
        FIRST_MINOR..=NEWEST,
    ),
    (
        Quirk::UncheckedField("SP_StreamExecutor", "memcpy_dtod"),
        FIRST_MINOR..=NEWEST,
    ),
    (
        Quirk::UncheckedField("SP_PlatformFns", "destroy_timer_fns"),
        14..=NEWEST,
    ),
];

/// The quirks of one release.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quirks {
    minor: u32,
}

impl Quirks {
    /// Returns the quirks of TensorFlow 2.`minor`.
    pub fn new(minor: u32) -> Self {
        Self { minor }
    }

    /// Returns true if the release has `quirk`.
    pub fn has(self, quirk: Quirk) -> bool {
        self.matches(|known| *known == quirk)
    }

    /// Returns true if loading fails when this required field is null.
    pub fn checks_field(self, struct_name: &str, field: &str) -> bool {
        !self.matches(|known| match known {
            Quirk::UncheckedField(name, unchecked) => (*name, *unchecked) == (struct_name, field),
            _ => false,
        })
    }

    /// Returns the alignment in bytes that host memory must have.
    pub fn host_alignment(self) -> usize {
        match self.has(Quirk::HostAlignment64) {
            true => 64,
            false => 256,
        }
    }

    fn matches(self, is_wanted: impl Fn(&Quirk) -> bool) -> bool {
        let mut quirks = QUIRKS.iter();
        quirks.any(|(quirk, releases)| is_wanted(quirk) && releases.contains(&self.minor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quirks_end_with_their_release_range() {
        let has = |minor, quirk| Quirks::new(minor).has(quirk);
        assert!(has(20, Quirk::CopyErrorIsFatal) && !has(21, Quirk::CopyErrorIsFatal));
        assert!(has(5, Quirk::RequestsTimers) && !has(14, Quirk::RequestsTimers));
        assert_eq!(Quirks::new(21).host_alignment(), 64);
        assert_eq!(Quirks::new(22).host_alignment(), 256);
    }

    #[test]
    fn checks_null_fields_unless_release_has_quirk() {
        let checks = |minor, field| Quirks::new(minor).checks_field("SP_PlatformFns", field);
        assert!(checks(21, "create_device"));
        assert!(!checks(5, "get_device_count"));
        assert!(checks(13, "destroy_timer_fns") && !checks(14, "destroy_timer_fns"));
    }
}
