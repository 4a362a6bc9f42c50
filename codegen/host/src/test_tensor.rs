//! A tensor in tests: element type, shape and bytes in host memory.

use std::fmt;

use crate::core::{StringElement, texts};
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
        Self::from_bytes(DType::STRING, dims, &elements.collect::<Vec<_>>().concat())
    }

    /// Returns a tensor of any element type from its bytes.
    ///
    /// # Panics
    /// Panics if a tensor of this type and shape has another number of bytes.
    pub fn from_bytes(dtype: DType, dims: impl AsRef<[i64]>, bytes: &[u8]) -> Self {
        let dims = dims.as_ref().to_vec();
        let elements: i64 = dims.iter().product();
        assert_eq!(
            elements.max(0) as usize * dtype.stride(),
            bytes.len(),
            "{dims:?} of {dtype} and the bytes given differ in length"
        );
        Self::raw(dtype, dims, bytes)
    }

    /// Returns a tensor whose bytes are not checked.
    pub(crate) fn raw(dtype: DType, dims: Vec<i64>, bytes: &[u8]) -> Self {
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
        texts(self.bytes())
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
    #[should_panic(expected = "not valid BOOL")]
    fn rejects_byte_that_is_not_bool() {
        Tensor::from_bytes(DType::BOOL, [1], &[2]).as_slice::<bool>();
    }
}
