//! Text that a plugin writes by `sp_plugin_settings`, which `plugin!` of sp-plugin exports: lines `KEY=VALUE`.

use std::ffi::c_char;

use crate::registration::LackingOp;

/// The function's name.
pub(crate) const SETTINGS_FUNCTION: &str = "sp_plugin_settings";

/// The function: writes a C string of at most the given size, and returns the size of all of it.
pub(crate) type SettingsFunction = unsafe extern "C" fn(*mut c_char, usize) -> usize;

/// Largest text that is read, in bytes.
const TEXT_LIMIT: usize = 1 << 20;

/// Returns the text of the plugin.
///
/// # Safety
/// `function` has the signature and the effect of the type.
pub(crate) unsafe fn read(function: SettingsFunction) -> String {
    // SAFETY: the function writes nothing to a buffer of size 0.
    let needed = unsafe { function(std::ptr::null_mut(), 0) };
    let mut buffer = vec![0_u8; needed.min(TEXT_LIMIT)];
    // SAFETY: the function writes at most the size of the buffer.
    unsafe { function(buffer.as_mut_ptr().cast(), buffer.len()) };
    let text = buffer.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

/// Returns the ops without a kernel: lines `lacking=OP: REASON`.
pub(crate) fn lacking_ops(text: &str) -> Vec<LackingOp> {
    let values = text
        .lines()
        .filter_map(|line| line.strip_prefix("lacking="));
    let ops = values.filter_map(|value| value.split_once(": "));
    ops.map(|(op, reason)| LackingOp {
        op: op.to_owned(),
        reason: reason.to_owned(),
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" fn write(buffer: *mut c_char, size: usize) -> usize {
        let text = c"compare=off\nlacking=Relu: F is absent: use G\nlacking=x\nother=Sum: y\n";
        let bytes = text.to_bytes_with_nul();
        let written = bytes.len().min(size);
        // SAFETY: the caller guarantees `size` bytes.
        unsafe {
            buffer
                .cast::<u8>()
                .copy_from_nonoverlapping(bytes.as_ptr(), written)
        };
        bytes.len()
    }

    #[test]
    fn reads_ops_without_kernel_and_their_reasons() {
        // SAFETY: `write` has this signature and effect.
        let text = unsafe { read(write) };
        assert!(text.ends_with("other=Sum: y\n"), "{text}");
        let expected = LackingOp {
            op: "Relu".to_owned(),
            reason: "F is absent: use G".to_owned(),
        };
        assert_eq!(lacking_ops(&text), [expected]);
    }
}
