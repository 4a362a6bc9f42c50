//! What TensorFlow does that no header says and that changed from release to release, as seen in 2.12
//! and in 2.21 (`codegen/docs/host.md`). Of the releases between nothing is known, so they are held to
//! the stricter.

/// The first release seen to be milder.
const MILDER: u32 = 21;

/// One release's habits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Habits {
    minor: u32,
}

/// Members that a plugin must set although TensorFlow does not look, and the first release that does
/// not: an empty one is met when it is called.
const UNLOOKED: [(&str, &str, u32); 3] = [
    ("SP_PlatformFns", "get_device_count", 5),
    ("SP_PlatformFns", "destroy_timer_fns", 14),
    ("SP_StreamExecutor", "memcpy_dtod", 5),
];

impl Habits {
    pub fn of(minor: u32) -> Self {
        Self { minor }
    }

    /// Whether an empty member is refused as the plugin is loaded.
    pub fn looks_at(self, structure: &str, field: &str) -> bool {
        let found = UNLOOKED
            .iter()
            .find(|it| (it.0, it.1) == (structure, field));
        found.is_none_or(|(_, _, from)| self.minor < *from)
    }

    /// Whether the process ends where a device cannot be created.
    pub fn dies_of_devices(self) -> bool {
        self.minor < MILDER
    }

    /// Whether the process ends where a copy to or from the device cannot be enqueued.
    pub fn dies_of_copies(self) -> bool {
        self.minor < MILDER
    }

    /// Returns the alignment of host memory in bytes below which the process ends.
    pub fn host_alignment(self) -> usize {
        if self.minor < 22 { 64 } else { 256 }
    }

    /// Whether timers are asked for as the plugin is loaded.
    pub fn has_timers(self) -> bool {
        self.minor < 14
    }
}
