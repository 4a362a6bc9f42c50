//! Bodies of macros that are no expressions.

use super::super::cursor::Token;

/// Returns the name of what a macro's body is, or `None` if it may be an expression.
pub fn kind(body: &[Token]) -> Option<&'static str> {
    let texts: Vec<&str> = body.iter().map(|it| it.text.as_str()).collect();
    if is_initializer(&texts) {
        return Some("an initializer");
    }
    are_attributes(&texts).then_some("attributes")
}

/// Returns true for `{0}`, and false for a block, which has statements.
fn is_initializer(body: &[&str]) -> bool {
    let is_in_braces = matches!(body, ["{", .., "}"]);
    is_in_braces && !body.contains(&";")
}

/// Returns true for one or more attributes of GNU's C, Microsoft's or C23: `__attribute__((..))`, `__declspec(..)`, `[[..]]`.
fn are_attributes(mut body: &[&str]) -> bool {
    let is_empty = body.is_empty();
    while let [first, rest @ ..] = body {
        let (open, close, group) = match *first {
            "__attribute__" | "__attribute" | "__declspec" => ("(", ")", rest),
            "[" if rest.first() == Some(&"[") => ("[", "]", body),
            _ => return false,
        };
        let Some(length) = group_length(group, open, close) else {
            return false;
        };
        body = &group[length..];
    }
    !is_empty
}

/// Returns the number of tokens of the group in brackets with which a body begins.
fn group_length(body: &[&str], open: &str, close: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, token) in body.iter().enumerate() {
        match *token {
            it if it == open => depth += 1,
            it if it == close => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return (index > 0).then_some(index + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_initializers_and_attributes_from_expressions() {
        let is = |text: &str| {
            let body: Vec<&str> = text.split(' ').collect();
            (is_initializer(&body), are_attributes(&body))
        };
        assert_eq!(is("{ 0 }"), (true, false));
        assert_eq!(is("{ { 1 , 2 } , { 3 } }"), (true, false));
        assert_eq!(is("{ f ( ) ; }"), (false, false));
        assert_eq!(is("{"), (false, false));
        let visible = "__attribute__ ( ( visibility ( \"default\" ) ) )";
        assert_eq!(is(visible), (false, true));
        assert_eq!(
            is(&format!("{visible} __declspec ( dllexport )")),
            (false, true)
        );
        assert_eq!(is("[ [ nodiscard ] ]"), (false, true));
        for other in [
            "( 1 )",
            "__attribute__",
            "__attribute__ ( (",
            "__attribute__ x ( )",
            "[ 1 ]",
        ] {
            assert_eq!(is(other), (false, false), "{other}");
        }
        assert_eq!(is(&format!("extern {visible}")), (false, false));
    }
}
