//! A tensor in tests: element type, shape and bytes in host memory.

use std::fmt;

use crate::core::{StringElement, elements, texts};
use crate::dtype::{DType, Element};
use crate::memory::HostMemory;

/// A tensor in host memory, elements in row-major order.
#[derive(Clone)]
pub struct Tensor {
    dtype: DType,
    dims: Vec<i64>,
    memory: HostMemory,
}

impl Tensor {
    /// Returns a tensor of shape `dims` with the given elements.
    ///
    /// # Panics
    /// Panics if `dims` is not the shape of as many elements as `values` has.
    pub fn from<T: Element>(dims: impl AsRef<[i64]>, values: &[T]) -> Self {
        // SAFETY: the slice is alive, and an `Element` has no padding, so all its bytes are initialised.
        let bytes = unsafe {
            std::slice::from_raw_parts(values.as_ptr().cast(), std::mem::size_of_val(values))
        };
        Self::from_bytes(T::DTYPE, dims, bytes)
    }

    /// Returns a tensor without dimensions.
    pub fn scalar<T: Element>(value: T) -> Self {
        Self::from([], &[value])
    }

    /// Returns a tensor of strings.
    ///
    /// # Panics
    /// Panics if `dims` is not the shape of as many strings as `texts` has.
    pub fn from_strings<S: AsRef<[u8]>>(dims: impl AsRef<[i64]>, texts: &[S]) -> Self {
        let elements = texts
            .iter()
            .map(|it| StringElement::new(it.as_ref()).to_bytes());
        Self::with_length(DType::STRING, dims, &elements.collect::<Vec<_>>().concat())
    }

    /// Returns a tensor of numbers or truth values from its bytes.
    ///
    /// # Panics
    /// - Panics if a tensor of this type and shape has another number of bytes, or the shape has no valid size.
    /// - Panics if the type is `STRING`, `RESOURCE` or `VARIANT`, whose bytes are addresses or objects of the host:
    ///   [`from_strings`](Self::from_strings), [`Variable::handle`](crate::Variable::handle) and
    ///   [`Host::tensor_list`](crate::Host::tensor_list) return such tensors.
    pub fn from_bytes(dtype: DType, dims: impl AsRef<[i64]>, bytes: &[u8]) -> Self {
        let has_objects = matches!(dtype, DType::STRING | DType::RESOURCE | DType::VARIANT);
        assert!(
            !has_objects,
            "the elements of a {dtype} tensor cannot be created from bytes"
        );
        Self::with_length(dtype, dims, bytes)
    }

    /// Returns the number of elements of a shape, or `None` if a dimension is negative or the number exceeds `i64`.
    pub fn element_count(dims: &[i64]) -> Option<usize> {
        elements(dims).and_then(|it| usize::try_from(it).ok())
    }

    /// Returns a tensor, and checks the number of its bytes.
    fn with_length(dtype: DType, dims: impl AsRef<[i64]>, bytes: &[u8]) -> Self {
        let dims = dims.as_ref().to_vec();
        let count = Self::element_count(&dims);
        let len = count.and_then(|it| it.checked_mul(dtype.stride()));
        let len = len.unwrap_or_else(|| panic!("{dims:?} of {dtype} has no valid size"));
        assert_eq!(
            len,
            bytes.len(),
            "{dims:?} of {dtype} and the bytes given differ in length"
        );
        Self::new(dtype, dims, bytes)
    }

    /// Returns a tensor whose bytes are not checked.
    ///
    /// # Panics
    /// Panics if the type is `STRING`.
    pub(crate) fn raw(dtype: DType, dims: Vec<i64>, bytes: &[u8]) -> Self {
        assert_ne!(dtype, DType::STRING, "strings have addresses");
        Self::new(dtype, dims, bytes)
    }

    /// Returns a tensor that a plugin has written, with its own copies of strings.
    ///
    /// `memory` begins with the elements. It may be larger, since it may also have texts of the strings.
    ///
    /// # Errors
    /// Returns an error if the memory is smaller than the elements, or if a string is invalid.
    ///
    /// # Safety
    /// - In a tensor of strings, the text of each large string and of each view is readable.
    pub(crate) unsafe fn from_plugin(
        dtype: DType,
        dims: &[i64],
        memory: &[u8],
    ) -> Result<Self, String> {
        let no_size = || format!("the shape {dims:?} has no valid size");
        let count = Self::element_count(dims).ok_or_else(no_size)?;
        if dtype == DType::STRING {
            // SAFETY: the caller guarantees that the texts are readable.
            return Ok(Self::from_strings(dims, &unsafe { texts(memory, count) }?));
        }
        let len = count.checked_mul(dtype.stride()).ok_or_else(no_size)?;
        let bytes = memory
            .get(..len)
            .ok_or_else(|| format!("the shape {dims:?} exceeds its {} bytes", memory.len()))?;
        Ok(Self::new(dtype, dims.to_vec(), bytes))
    }

    /// Invariant: the strings of a tensor are views of texts that the host keeps for the life of the process.
    fn new(dtype: DType, dims: Vec<i64>, bytes: &[u8]) -> Self {
        let memory = HostMemory::from_bytes(bytes);
        Self {
            dtype,
            dims,
            memory,
        }
    }

    /// Returns the element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Returns the shape.
    pub fn dims(&self) -> &[i64] {
        &self.dims
    }

    /// Returns the elements as bytes.
    pub fn bytes(&self) -> &[u8] {
        self.memory.bytes()
    }

    /// Returns the strings.
    ///
    /// # Panics
    /// Panics if the element type is not `STRING`.
    pub fn to_strings(&self) -> Vec<Vec<u8>> {
        assert_eq!(
            self.dtype,
            DType::STRING,
            "the tensor's elements are {}",
            self.dtype
        );
        let count = self.bytes().len() / self.dtype.stride();
        // SAFETY: the strings are views of texts that the host keeps for the life of the process.
        let texts = unsafe { texts(self.bytes(), count) };
        texts.expect("the host created the strings")
    }

    /// Returns the elements.
    ///
    /// # Panics
    /// Panics if the element type is not `T`, or if the bytes are not valid values of `T`.
    pub fn as_slice<T: Element>(&self) -> &[T] {
        assert_eq!(
            self.dtype,
            T::DTYPE,
            "the tensor's elements are {}",
            self.dtype
        );
        let bytes = self.bytes();
        assert!(T::valid(bytes), "the bytes are not valid {}", T::DTYPE);
        let len = bytes.len() / size_of::<T>();
        // SAFETY: host memory is aligned to 64 bytes, has `len` elements, and `valid` agreed.
        unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), len) }
    }
}

impl PartialEq for Tensor {
    fn eq(&self, other: &Self) -> bool {
        let is_equal = || match self.dtype {
            DType::STRING => self.to_strings() == other.to_strings(),
            _ => self.bytes() == other.bytes(),
        };
        self.dtype == other.dtype && self.dims == other.dims && is_equal()
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:?} ", self.dtype, self.dims)?;
        match self.dtype {
            DType::STRING => {
                let texts = self.to_strings();
                let texts = texts.iter().map(|it| String::from_utf8_lossy(it));
                f.debug_list().entries(texts).finish()
            }
            DType::FLOAT => f.debug_list().entries(self.as_slice::<f32>()).finish(),
            DType::DOUBLE => f.debug_list().entries(self.as_slice::<f64>()).finish(),
            DType::INT32 => f.debug_list().entries(self.as_slice::<i32>()).finish(),
            DType::INT64 => f.debug_list().entries(self.as_slice::<i64>()).finish(),
            _ => f.debug_list().entries(self.bytes()).finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_elements_and_shape() {
        let tensor = Tensor::from([2, 3], &[1f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(tensor.as_slice::<f32>()[4], 5.0);
        assert_eq!(tensor.dims(), [2, 3]);
        assert_eq!(Tensor::scalar(7i64).as_slice::<i64>(), [7]);
        assert!(
            Tensor::from::<f32>([0, 3], &[])
                .as_slice::<f32>()
                .is_empty()
        );
    }

    #[test]
    #[should_panic(expected = "differ in length")]
    fn rejects_shape_of_other_length() {
        Tensor::from([2, 2], &[1f32]);
    }

    #[test]
    fn rejects_shape_whose_size_exceeds_the_range_or_is_negative() {
        for dims in [
            vec![1 << 32, 1 << 32],
            vec![1 << 62, 2],
            vec![-2, -3],
            vec![i64::MIN, 2],
        ] {
            let create = || Tensor::from_bytes(DType::FLOAT, &dims, &[]);
            let panic = std::panic::catch_unwind(create).expect_err("the shape is invalid");
            let message = panic.downcast_ref::<String>().unwrap();
            assert!(message.contains("no valid size"), "{message}");
        }
    }

    #[test]
    fn rejects_bytes_of_types_whose_elements_are_addresses_or_objects() {
        for dtype in [DType::STRING, DType::RESOURCE, DType::VARIANT] {
            let bytes = vec![0xff; dtype.stride()];
            let create = || Tensor::from_bytes(dtype, [1], &bytes);
            let panic = std::panic::catch_unwind(create).expect_err("the type is invalid");
            let message = panic.downcast_ref::<String>().unwrap();
            assert!(
                message.contains("cannot be created from bytes"),
                "{message}"
            );
        }
    }

    #[test]
    fn tensor_of_a_plugin_has_copies_of_its_strings() {
        let mut text = b"a text of the plugin".to_vec();
        let view = [
            3 | (text.len() as u64) << 2,
            text.as_ptr().expose_provenance() as u64,
            0,
        ];
        let memory: Vec<u8> = view.iter().flat_map(|word| word.to_ne_bytes()).collect();
        // SAFETY: the view is that of the text above.
        let tensor = unsafe { Tensor::from_plugin(DType::STRING, &[1], &memory) }.unwrap();
        text.fill(b'x');
        assert_eq!(tensor, Tensor::from_strings([1], &["a text of the plugin"]));
        assert!(format!("{tensor:?}").contains("a text of the plugin"));
    }

    #[test]
    fn rejects_tensor_of_a_plugin_that_exceeds_its_memory_or_has_an_invalid_string() {
        // SAFETY: no memory here has a large string or a view.
        let error = |dtype, dims: &[i64], memory: &[u8]| unsafe {
            Tensor::from_plugin(dtype, dims, memory).unwrap_err()
        };
        assert!(error(DType::FLOAT, &[2], &[0; 7]).contains("exceeds its 7 bytes"));
        assert!(error(DType::FLOAT, &[1 << 62, 4], &[]).contains("no valid size"));
        let mut small = [0; 24];
        small[0] = 63 << 2;
        assert!(error(DType::STRING, &[1], &small).contains("is a small one of 63 bytes"));
        assert!(error(DType::STRING, &[2], &[0; 24]).contains("string 1 is not in"));
    }

    #[test]
    #[should_panic(expected = "not valid BOOL")]
    fn rejects_byte_that_is_not_bool() {
        Tensor::from_bytes(DType::BOOL, [1], &[2]).as_slice::<bool>();
    }
}
