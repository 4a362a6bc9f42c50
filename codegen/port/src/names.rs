//! Names that a source gives to types and strings: `using CPUDevice = ..`, `constexpr char kName[] = ".."`, and the
//! classes that derive from `AsyncOpKernel`.

use crate::token::{Kind, Token, join};
use std::collections::{HashMap, HashSet};

/// The names of a source.
#[derive(Debug, Clone, Default)]
pub struct Names {
    types: HashMap<String, String>,
    strings: HashMap<String, String>,
    asynchronous: HashSet<String>,
}

/// The most names that are resolved in a row.
const MAX_ALIASES: usize = 8;

/// The most tokens of a type or a list of base classes.
const MAX_TOKENS: usize = 64;

impl Names {
    /// Adds the names that `tokens` define.
    pub fn add(&mut self, tokens: &[Token]) {
        for (index, token) in tokens.iter().enumerate() {
            let rest = &tokens[index + 1..tokens.len().min(index + 1 + MAX_TOKENS)];
            match token.word() {
                Some("using") => self.add_alias(rest),
                Some("typedef") => self.add_typedef(rest),
                Some("class" | "struct") => self.add_class(rest),
                Some("char" | "string_view" | "StringPiece" | "auto") => self.add_string(rest),
                _ => {}
            }
        }
    }

    fn add_alias(&mut self, rest: &[Token]) {
        let end = rest.iter().position(|it| it.is(";"));
        if let (Some([name, equals]), Some(end)) = (rest.get(..2), end)
            && let Some(name) = name.word()
            && equals.is("=")
        {
            self.types.insert(name.to_owned(), join(&rest[2..end]));
        }
    }

    fn add_typedef(&mut self, rest: &[Token]) {
        let end = rest.iter().position(|it| it.is(";")).unwrap_or(0);
        if let Some((name, ty)) = rest[..end].split_last()
            && let Some(name) = name.word()
        {
            self.types.insert(name.to_owned(), join(ty));
        }
    }

    fn add_class(&mut self, rest: &[Token]) {
        let end = rest.iter().position(|it| it.is("{") || it.is(";"));
        let head = &rest[..end.unwrap_or(0)];
        let Some(colon) = head.iter().position(|it| it.is(":")) else {
            return;
        };
        let bases = head[colon..].iter().filter_map(Token::word);
        let is_asynchronous = |it: &str| it == "AsyncOpKernel" || self.asynchronous.contains(it);
        if bases.into_iter().any(is_asynchronous)
            && let Some(name) = head[..colon].iter().find_map(Token::word)
        {
            self.asynchronous.insert(name.to_owned());
        }
    }

    /// Adds `kName[] = "text"`, `* kName = "text"` and `* const kName = "text"`.
    fn add_string(&mut self, rest: &[Token]) {
        let is_mark = |it: &&Token| it.is("*") || it.word() == Some("const");
        let rest = &rest[rest.iter().take_while(is_mark).count()..];
        let Some((name, rest)) = rest.split_first() else {
            return;
        };
        let rest = &rest[rest
            .iter()
            .take_while(|it| it.is("[") || it.is("]"))
            .count()..];
        let is_value = rest.first().is_some_and(|it| it.is("=") || it.is("{"));
        let strings = rest.iter().skip(1).take_while(|it| it.kind == Kind::String);
        let value: Vec<&str> = strings.map(|it| &*it.text).collect();
        if let Some(name) = name.word()
            && is_value
            && !value.is_empty()
        {
            self.strings.insert(name.to_owned(), value.concat());
        }
    }

    /// Returns the type that `name` stands for, or `name` if the source does not define it.
    pub fn resolve_type<'a>(&'a self, name: &'a str) -> &'a str {
        let mut found = name;
        for _ in 0..MAX_ALIASES {
            match self.types.get(found) {
                Some(ty) => found = ty,
                None => break,
            }
        }
        found
    }

    /// Returns the text of a constant.
    pub fn string(&self, name: &str) -> Option<&str> {
        self.strings.get(name).map(String::as_str)
    }

    /// Returns true if the class, of which `text` may have arguments, derives from `AsyncOpKernel`.
    pub fn is_asynchronous(&self, text: &str) -> bool {
        let name = text.split('<').next().unwrap_or_default();
        let name = name.rsplit("::").next().unwrap_or_default();
        self.asynchronous.contains(name.trim())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::tokenize;
    use sp_system::budget::Budget;

    fn names(source: &str) -> Names {
        let mut names = Names::default();
        let tokens = tokenize(source, &mut Budget::for_input(source.len()));
        names.add(&tokens.unwrap().tokens);
        names
    }

    #[test]
    fn finds_aliases_of_types() {
        let names =
            names("using A = Eigen::half; typedef A B; using namespace std; using std::string;");
        assert_eq!(names.resolve_type("B"), "Eigen::half");
        assert_eq!(names.resolve_type("float"), "float");
        let cycle = super::tests::names("using A = B; using B = A;");
        assert!(["A", "B"].contains(&cycle.resolve_type("A")));
    }

    #[test]
    fn finds_constants_that_are_strings() {
        let names = names(
            "constexpr char kA[] = \"a\"; const char* const kB = \"b\"; absl::string_view kC{\"c\"}; constexpr auto kE = \"e\" \"f\";",
        );
        let found = ["kA", "kB", "kC", "kD", "kE"].map(|it| names.string(it));
        assert_eq!(found, [Some("a"), Some("b"), Some("c"), None, Some("ef")]);
    }

    #[test]
    fn finds_classes_of_asynchronous_kernels() {
        let names = names(
            "class A : public AsyncOpKernel {}; template <typename T> class B final : public A {}; class C : public OpKernel {};",
        );
        assert!(names.is_asynchronous("A") && names.is_asynchronous("functor::B<float>"));
        assert!(!names.is_asynchronous("C"));
    }
}
