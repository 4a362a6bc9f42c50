//! Elements of tensors as numbers and as text.

use sp_host::DType;

/// Returns the parts of a floating-point element, or `None` for another type. A complex number has two.
pub fn floats(dtype: DType, bytes: &[u8]) -> Option<Vec<f64>> {
    let single = |bytes: &[u8]| Some(f64::from(f32::from_le_bytes(bytes.try_into().ok()?)));
    let double = |bytes: &[u8]| Some(f64::from_le_bytes(bytes.try_into().ok()?));
    Some(match dtype {
        DType::FLOAT => vec![single(bytes)?],
        DType::DOUBLE => vec![double(bytes)?],
        DType::HALF => vec![half(u16::from_le_bytes(bytes.try_into().ok()?))],
        DType::BFLOAT16 => {
            let bits = u16::from_le_bytes(bytes.try_into().ok()?);
            vec![f64::from(f32::from_bits(u32::from(bits) << 16))]
        }
        DType::COMPLEX64 => bytes.chunks(4).map(single).collect::<Option<_>>()?,
        DType::COMPLEX128 => bytes.chunks(8).map(double).collect::<Option<_>>()?,
        _ => return None,
    })
}

/// Returns the value of an IEEE half-precision number.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from(bits >> 10 & 0x1f);
    let fraction = f64::from(bits & 0x3ff) / 1024.0;
    sign * match exponent {
        0 => fraction * 2f64.powi(-14),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction) * 2f64.powi(exponent - 15),
    }
}

/// Returns an element as text.
pub fn text(dtype: DType, bytes: &[u8]) -> String {
    if dtype == DType::FLOAT && bytes.len() == 4 {
        // The shortest text that is this number, not that of the wider one.
        return f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]).to_string();
    }
    if let Some(parts) = floats(dtype, bytes) {
        let parts: Vec<String> = parts.iter().map(f64::to_string).collect();
        return parts.join("+i*");
    }
    let mut wide = [0; 8];
    if bytes.len() > wide.len() {
        return format!("{bytes:02x?}");
    }
    wide[..bytes.len()].copy_from_slice(bytes);
    let unused = 64 - 8 * bytes.len() as u32;
    match dtype {
        DType::BOOL => (wide[0] != 0).to_string(),
        DType::INT8 | DType::INT16 | DType::INT32 | DType::INT64 => {
            let value = i64::from_le_bytes(wide);
            (value << unused >> unused).to_string()
        }
        _ => u64::from_le_bytes(wide).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_have_their_value() {
        assert_eq!(half(0x3c00), 1.0);
        assert_eq!(half(0xc100), -2.5);
        assert_eq!(half(0x0001), 2f64.powi(-24));
        assert!(half(0x7e00).is_nan() && half(0xfc00) == f64::NEG_INFINITY);
        assert_eq!(text(DType::FLOAT, &0.1_f32.to_le_bytes()), "0.1");
        assert_eq!(text(DType::INT32, &(-7_i32).to_le_bytes()), "-7");
        assert_eq!(text(DType::BFLOAT16, &0x3fc0_u16.to_le_bytes()), "1.5");
        assert_eq!(text(DType::BOOL, &[1]), "true");
    }
}
