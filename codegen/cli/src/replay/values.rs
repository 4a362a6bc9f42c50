//! Captured tensors as those of the test host.

use sp_host::{DType, Tensor};
use sp_layer::runtime::capture::format;
use sp_layer::runtime::capture::format::Content;

/// Returns the tensor, which is no resource handle.
///
/// # Errors
/// Returns the reason if the elements were not captured, or are not those of the type and shape.
pub fn tensor(captured: &format::Tensor) -> Result<Tensor, String> {
    let (dtype, dims) = (DType(captured.dtype), &captured.dims);
    let invalid = || format!("a captured {dtype} tensor of the shape {dims:?} has another size");
    let count = dims.iter().try_fold(1_usize, |count, dim| {
        count.checked_mul(usize::try_from(*dim).ok()?)
    });
    let count = count.ok_or_else(invalid)?;
    match &captured.content {
        Content::Strings(texts) if dtype == DType::STRING && texts.len() == count => {
            Ok(Tensor::from_strings(dims, texts))
        }
        // A tensor of strings without elements has no bytes.
        Content::Bytes(bytes) if dtype == DType::STRING && bytes.is_empty() && count == 0 => {
            Ok(Tensor::from_strings::<&str>(dims, &[]))
        }
        Content::Bytes(bytes)
            if dtype.size() > 0 && count.checked_mul(dtype.size()) == Some(bytes.len()) =>
        {
            Ok(Tensor::from_bytes(dtype, dims, bytes))
        }
        Content::Bytes(_) | Content::Strings(_) => Err(invalid()),
        Content::Unread | Content::Resource(_) => Err(format!("a {dtype} input was not captured")),
    }
}

/// Returns types and shapes as text.
pub fn types<'t>(tensors: impl IntoIterator<Item = &'t format::Tensor>) -> String {
    let shown = |it: &format::Tensor| format!("{}{:?}", DType(it.dtype), it.dims);
    let shown: Vec<String> = tensors.into_iter().map(shown).collect();
    shown.join(", ")
}
