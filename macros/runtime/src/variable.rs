//! Environment variables that switch something on or off.

use std::ffi::OsStr;

use crate::report;

/// Returns true if the variable is `1`, false if it is `0`, and `default` if it is unset. Any other value is one warning, and
/// `default`.
pub fn is_on(name: &str, default: bool) -> bool {
    let Some(value) = std::env::var_os(name) else {
        return default;
    };
    parse(&value).unwrap_or_else(|| {
        let (value, used) = (value.display(), u8::from(default));
        report!(
            Warn,
            "{name}={value} is invalid: expected 1 or 0; {used} is used"
        );
        default
    })
}

fn parse(value: &OsStr) -> Option<bool> {
    match value.to_str()? {
        "1" => Some(true),
        "0" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_digits_only() {
        let parse = |it: &str| parse(OsStr::new(it));
        assert_eq!([parse("1"), parse("0")], [Some(true), Some(false)]);
        for invalid in ["true", "", "01", "1 "] {
            assert_eq!(parse(invalid), None, "{invalid}");
        }
    }

    #[test]
    fn unset_variable_has_its_default() {
        assert!(is_on("sp_runtime.no_such_variable", true));
        assert!(!is_on("sp_runtime.no_such_variable", false));
    }
}
