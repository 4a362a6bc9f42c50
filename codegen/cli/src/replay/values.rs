//! Captured tensors as those of the test host.

use sp_host::{DType, Tensor};
use sp_layer::runtime::capture::format;
use sp_layer::runtime::capture::format::Content;

/// Checks the elements of a tensor that is no resource handle.
///
/// # Errors
/// Returns the reason if the elements were not captured, or are not those of the type and shape.
pub fn check(captured: &format::Tensor) -> Result<(), String> {
    let (dtype, dims) = (DType(captured.dtype), &captured.dims);
    let count = Tensor::element_count(dims);
    let is_valid = match &captured.content {
        Content::Strings(texts) => dtype == DType::STRING && count == Some(texts.len()),
        // A tensor of strings without elements has no bytes.
        Content::Bytes(bytes) if dtype == DType::STRING => bytes.is_empty() && count == Some(0),
        Content::Bytes(bytes) => {
            let size = count.and_then(|it| it.checked_mul(dtype.size()));
            dtype.size() > 0 && size == Some(bytes.len())
        }
        Content::Unread | Content::Resource(_) => {
            return Err(format!("a {dtype} input was not captured"));
        }
    };
    match is_valid {
        true => Ok(()),
        false => Err(format!(
            "a captured {dtype} tensor of the shape {dims:?} has another size"
        )),
    }
}

/// Returns the tensor, which is no resource handle.
///
/// # Errors
/// As of [`check`].
pub fn tensor(captured: &format::Tensor) -> Result<Tensor, String> {
    check(captured)?;
    let (dtype, dims) = (DType(captured.dtype), &captured.dims);
    Ok(match &captured.content {
        Content::Bytes(bytes) if dtype != DType::STRING => Tensor::from_bytes(dtype, dims, bytes),
        Content::Strings(texts) => Tensor::from_strings(dims, texts),
        _ => Tensor::from_strings::<&str>(dims, &[]),
    })
}

/// Returns types and shapes as text.
pub fn types<'t>(tensors: impl IntoIterator<Item = &'t format::Tensor>) -> String {
    let shown = |it: &format::Tensor| format!("{}{:?}", DType(it.dtype), it.dims);
    let shown: Vec<String> = tensors.into_iter().map(shown).collect();
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_those_of_type_and_shape() {
        let is_valid = |dtype: DType, dims: &[i64], content: Content| {
            let (dtype, dims) = (dtype.0, dims.to_vec());
            tensor(&format::Tensor {
                dtype,
                dims,
                is_on_device: false,
                content,
            })
            .is_ok()
        };
        let strings = || Content::Strings(vec![b"a".to_vec()]);
        let bytes = |count| Content::Bytes(vec![0; count]);
        assert!(is_valid(DType::FLOAT, &[2], bytes(8)));
        assert!(is_valid(DType::STRING, &[1], strings()));
        assert!(is_valid(DType::STRING, &[0], bytes(0)));
        assert!(!is_valid(DType::FLOAT, &[1], strings()));
        assert!(!is_valid(DType::STRING, &[2], strings()));
        assert!(!is_valid(DType::FLOAT, &[i64::MAX, 2, 0], bytes(0)));
        assert!(!is_valid(DType::RESOURCE, &[0], bytes(0)));
    }
}
