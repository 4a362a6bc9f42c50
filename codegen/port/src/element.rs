//! Element types by their names in C++.

use sp_ops::DataType;

/// The namespaces before the names of element types.
const NAMESPACES: [&str; 8] = [
    "tensorflow",
    "Eigen",
    "itex",
    "std",
    "tsl",
    "tstring",
    "ml_dtypes",
    "absl",
];

/// The names that are not those of an element type in TensorFlow.
const NAMES: &str = "
int int32
int32_t int32
int64_t int64
long long int64
long int64
int16_t int16
short int16
int8_t int8
signed char int8
uint8_t uint8
unsigned char uint8
uint16_t uint16
uint32_t uint32
unsigned int uint32
unsigned uint32
uint64_t uint64
unsigned long long uint64
complex<float> complex64
complex<double> complex128
tstring string
Variant variant
ResourceHandle resource";

/// Returns the element type of a type in C++, such as `Eigen::half` or `::int64_t`.
pub fn from_type(text: &str) -> Option<DataType> {
    let text = text.trim().trim_start_matches("const ");
    let mut name = text.trim_start_matches("::");
    while let Some((namespace, rest)) = name.split_once("::")
        && NAMESPACES.contains(&namespace)
    {
        name = rest;
    }
    let known = NAMES.lines().filter_map(|line| line.rsplit_once(' '));
    let mut known = known.filter(|(cpp, _)| *cpp == name);
    let name = known.next().map_or(name, |(_, found)| found);
    named(name)
}

/// Returns the element type of an enumerator, such as `DT_HALF` or `tensorflow::DT_INT32`.
pub fn from_enumerator(text: &str) -> Option<DataType> {
    let name = text.rsplit("::").next().unwrap_or_default();
    let name = name.trim().strip_prefix("DT_")?.to_ascii_lowercase();
    named(&name)
}

/// Returns the element type with this name; no name of a number, `type40`, is one in C++.
fn named(name: &str) -> Option<DataType> {
    DataType::from_name(name).filter(|it| it.name().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_cpp_are_element_types() {
        for (text, expected) in [
            ("float", DataType::FLOAT),
            ("::tensorflow::bfloat16", DataType::BFLOAT16),
            ("Eigen::half", DataType::HALF),
            ("::int64_t", DataType::INT64),
            ("int", DataType::INT32),
            ("long long", DataType::INT64),
            ("unsigned char", DataType::UINT8),
            ("std::complex<float>", DataType::COMPLEX64),
            ("complex128", DataType::COMPLEX128),
            ("tstring", DataType::STRING),
            ("::tensorflow::ResourceHandle", DataType::RESOURCE),
            ("float8_e5m2", DataType::FLOAT8_E5M2),
        ] {
            assert_eq!(from_type(text), Some(expected), "{text}");
        }
        for text in ["T", "", "type40", "functor::half", "vector<int>"] {
            assert_eq!(from_type(text), None, "{text}");
        }
    }

    #[test]
    fn enumerators_are_element_types() {
        assert_eq!(from_enumerator("DT_HALF"), Some(DataType::HALF));
        assert_eq!(from_enumerator("tensorflow::DT_INT4"), Some(DataType::INT4));
        assert_eq!(from_enumerator("DT_INVALID"), None);
        assert_eq!(from_enumerator("float"), None);
    }
}
