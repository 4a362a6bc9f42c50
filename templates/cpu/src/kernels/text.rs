//! Kernels of strings, which are in host memory.

use super::prelude::*;
use sp_plugin::kernel::Text;

/// The unit of a string's length.
#[derive(Clone, Copy, AttributeValue)]
enum Unit {
    #[value("BYTE")]
    Bytes,
    #[value("UTF8_CHAR")]
    Characters,
}

#[kernel(StringLength)]
fn string_length(input: HostIn<'_, Text>, output: Out<'_, i32>, unit: Unit) -> Result<()> {
    let mut data = output.uninit(input.dims())?;
    for (length, text) in data.as_uninit_slice().iter_mut().zip(input.iter()) {
        let count = match unit {
            Unit::Bytes => text.len(),
            Unit::Characters => text.iter().filter(|byte| !is_continuation(**byte)).count(),
        };
        length.write(i32::try_from(count).unwrap_or(i32::MAX));
    }
    Ok(())
}

/// Returns true if the byte continues a character of UTF-8.
fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}
