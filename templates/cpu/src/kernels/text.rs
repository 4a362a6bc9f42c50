//! Kernels of strings, which are in host memory, and of the hashes of their numbers.

use super::prelude::*;
use crate::compute::fingerprint::fingerprint_of_decimal; // since 2.6
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

// since 2.6
/// The bucket of the decimal text of a number. TensorFlow's optimizer writes the op for `AsString` and `StringToHashBucketFast`.
#[kernel(_TensorToHashBucketFast, T = [i8, i16, i32, i64, u8, u16, u32, u64], releases = "2.6..")]
fn hash_bucket<T: Element + Into<i128>>(
    input: In<'_, T>,
    output: Out<'_, i64>,
    num_buckets: i64,
) -> Result<()> {
    let Ok(buckets @ 1..) = u64::try_from(num_buckets) else {
        return invalid!("num_buckets must be above 0, not {num_buckets}");
    };
    let mut data = output.uninit(input.dims())?;
    for (bucket, number) in data.as_uninit_slice().iter_mut().zip(input.data()) {
        let hash = fingerprint_of_decimal((*number).into()) % buckets;
        bucket.write(hash.cast_signed());
    }
    Ok(())
}
