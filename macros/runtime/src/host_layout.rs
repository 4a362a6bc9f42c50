//! Layouts of structs in the running host, as its own headers declare them.

use std::sync::OnceLock;

/// A struct's layout in the running host, as its header declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostLayout {
    /// End of the last member, in bytes: the `struct_size` that the host must announce.
    pub(crate) size: usize,
    /// Offset of each field of the Rust struct; `None` if the host lacks it or retyped it.
    pub(crate) offsets: Vec<Option<usize>>,
    /// False if the plugin declines the host, so that only default values are stored.
    pub(crate) is_accepted: bool,
}

impl HostLayout {
    /// Returns true if a struct that announces `size` bytes has this layout. A struct that the header
    /// lacks has none, and null announces 0.
    pub(crate) fn has_size(&self, size: usize) -> bool {
        self.size == size && size >= size_of::<usize>()
    }
}

/// The layout of one struct type in the running host; empty if the host's release is known, or its
/// header was not read.
#[derive(Debug)]
pub struct HostLayoutCell(OnceLock<HostLayout>);

impl HostLayoutCell {
    /// Creates an empty cell.
    #[allow(clippy::new_without_default, reason = "a static is its only use")]
    pub const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// Returns the layout, if the host's header was read.
    #[inline]
    pub(crate) fn get(&self) -> Option<&HostLayout> {
        self.0.get()
    }

    /// Stores the layout. Has no effect if another entry point of this plugin has read the same header, with equal
    /// result.
    pub(crate) fn set(&self, layout: HostLayout) {
        let _ = self.0.set(layout);
    }
}
