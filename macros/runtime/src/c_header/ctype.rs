//! C types: parsed from a header, and printed in the canonical spelling of the IR. That spelling has
//! qualifiers to the right, and no parameter names or top-level `const`.

use std::fmt;

use super::lexer::Token;

/// A C type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CType {
    /// A named type, such as `SP_Device`. Integers of the language have the name of their width: `int32_t`.
    Named(String),
    /// A data pointer.
    Pointer {
        /// The type it points to.
        pointee: Box<CType>,
        /// True if the pointee is `const`.
        is_const: bool,
    },
    /// A function, or a pointer to one.
    Function {
        /// The type of its result.
        ret: Box<CType>,
        /// The types of its parameters.
        params: Vec<CType>,
    },
}

impl CType {
    /// Returns true for a function or a pointer to one.
    pub fn is_function(&self) -> bool {
        matches!(self, Self::Function { .. })
    }

    /// Returns true for a data pointer.
    pub fn is_pointer(&self) -> bool {
        matches!(self, Self::Pointer { .. })
    }
}

impl fmt::Display for CType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::Pointer { pointee, is_const } => {
                write!(f, "{pointee}{}*", if *is_const { " const" } else { "" })
            }
            Self::Function { ret, params } => {
                write!(f, "{ret}(")?;
                for (index, param) in params.iter().enumerate() {
                    write!(f, "{}{param}", if index == 0 { "" } else { "," })?;
                }
                f.write_str(")")
            }
        }
    }
}

/// A name and its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    /// The declared name; empty for a parameter without one.
    pub name: String,
    /// Its type.
    pub ty: CType,
}

/// Limit for the depth of function types within function types.
const MAX_DEPTH: usize = 8;
/// Limit for the stars of one pointer: printing and dropping a type recurses.
const MAX_STARS: usize = 64;

/// Parses one declaration without its `;`: `TYPE NAME`, `RET (*NAME)(PARAMS)` or `RET NAME(PARAMS)`.
/// Returns `None` for any other form. `expand` replaces a name that is a macro.
pub fn declaration<'a>(
    tokens: &[Token<'a>],
    expand: &dyn Fn(&'a str) -> Option<Vec<&'a str>>,
) -> Option<Declaration> {
    let mut parser = Parser { tokens, expand };
    let found = parser.declaration(MAX_DEPTH)?;
    parser.tokens.is_empty().then_some(found)
}

struct Parser<'t, 'a> {
    tokens: &'t [Token<'a>],
    expand: &'t dyn Fn(&'a str) -> Option<Vec<&'a str>>,
}

impl<'a> Parser<'_, 'a> {
    fn next(&mut self) -> Option<Token<'a>> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(*first)
    }

    fn take_punctuation(&mut self, mark: u8) -> bool {
        let is_next = self.tokens.first() == Some(&Token::Punctuation(mark));
        if is_next {
            self.tokens = &self.tokens[1..];
        }
        is_next
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is_next = self.tokens.first() == Some(&Token::Word(word));
        if is_next {
            self.tokens = &self.tokens[1..];
        }
        is_next
    }

    fn name(&mut self) -> Option<&'a str> {
        match self.next()? {
            Token::Word(name) => Some(name),
            _ => None,
        }
    }

    fn declaration(&mut self, depth: usize) -> Option<Declaration> {
        let depth = depth.checked_sub(1)?;
        let (ret, is_const) = self.pointers()?;
        if self.take_punctuation(b'(') {
            let name = self.function_pointer_name()?;
            let ty = self.function(ret, depth)?;
            return Some(Declaration { name, ty });
        }
        let name = match self.tokens.first() {
            Some(Token::Word(_)) => self.name()?.to_owned(),
            _ => String::new(),
        };
        let ty = match self.tokens.first() {
            Some(Token::Punctuation(b'(')) if !name.is_empty() => {
                self.tokens = &self.tokens[1..];
                self.parameters(ret, depth)?
            }
            Some(Token::Punctuation(b'[')) => self.array_parameter(ret, is_const)?,
            _ => ret,
        };
        Some(Declaration { name, ty })
    }

    /// Parses `*NAME)` after the parenthesis.
    fn function_pointer_name(&mut self) -> Option<String> {
        if !self.take_punctuation(b'*') {
            return None;
        }
        self.take_word("const");
        let name = match self.tokens.first() {
            Some(Token::Word(_)) => self.name()?.to_owned(),
            _ => String::new(),
        };
        self.take_punctuation(b')').then_some(name)
    }

    fn function(&mut self, ret: CType, depth: usize) -> Option<CType> {
        self.take_punctuation(b'(').then_some(())?;
        self.parameters(ret, depth)
    }

    /// Parses the parameters after the parenthesis.
    fn parameters(&mut self, ret: CType, depth: usize) -> Option<CType> {
        let mut params = Vec::new();
        while !self.take_punctuation(b')') {
            if !params.is_empty() && !self.take_punctuation(b',') {
                return None;
            }
            params.push(self.declaration(depth)?.ty);
        }
        let void = CType::Named("void".into());
        if params == [void] {
            params.clear();
        }
        let ret = Box::new(ret);
        Some(CType::Function { ret, params })
    }

    /// Parses the `[]` of an array parameter `T x[]`, which is a pointer. Other arrays are not supported.
    fn array_parameter(&mut self, elem: CType, is_const: bool) -> Option<CType> {
        self.take_punctuation(b'[').then_some(())?;
        self.take_punctuation(b']').then_some(())?;
        let pointee = Box::new(elem);
        Some(CType::Pointer { pointee, is_const })
    }

    /// Parses a base type and the stars after it. Also returns true if the whole type is `const`.
    fn pointers(&mut self) -> Option<(CType, bool)> {
        let mut is_const = self.take_word("const");
        let mut ty = CType::Named(self.base()?);
        is_const |= self.take_word("const");
        let mut stars = 0;
        while self.take_punctuation(b'*') {
            stars += 1;
            if stars > MAX_STARS {
                return None;
            }
            let pointee = Box::new(ty);
            ty = CType::Pointer { pointee, is_const };
            is_const = self.take_word("const");
        }
        Some((ty, is_const))
    }

    fn base(&mut self) -> Option<String> {
        let first = self.name()?;
        if matches!(first, "struct" | "enum" | "union") {
            return self.name().map(str::to_owned);
        }
        let expanded = (self.expand)(first);
        let mut words = expanded.unwrap_or_else(|| vec![first]);
        if words.is_empty() {
            return None;
        }
        if !words.iter().all(|it| is_integer_word(it)) {
            let [word] = words[..] else { return None };
            return Some(word.to_owned());
        }
        while let Some(Token::Word(word)) = self.tokens.first() {
            if !is_integer_word(word) {
                break;
            }
            words.push(word);
            self.tokens = &self.tokens[1..];
        }
        integer(&words).map(str::to_owned)
    }
}

fn is_integer_word(word: &str) -> bool {
    matches!(
        word,
        "char" | "short" | "int" | "long" | "signed" | "unsigned"
    )
}

/// Returns the IR's name of an integer type; `None` for `long`, whose width depends on the target.
fn integer(words: &[&str]) -> Option<&'static str> {
    let is_unsigned = words.contains(&"unsigned");
    let count = |word: &str| words.iter().filter(|it| **it == word).count();
    Some(match (count("char"), count("short"), count("long")) {
        (1, 0, 0) if words.len() == 1 => "char",
        (1, 0, 0) if is_unsigned => "uint8_t",
        (1, 0, 0) => "int8_t",
        (0, 1, 0) if is_unsigned => "uint16_t",
        (0, 1, 0) => "int16_t",
        (0, 0, 0) if is_unsigned => "uint32_t",
        (0, 0, 0) => "int32_t",
        (0, 0, 2) if is_unsigned => "uint64_t",
        (0, 0, 2) => "int64_t",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::lexer::tokens;
    use super::*;

    fn parse(text: &str) -> Option<(String, String)> {
        let tokens = tokens(text).unwrap();
        let expand = |name| (name == "TF_Bool").then(|| vec!["unsigned", "char"]);
        let found = declaration(&tokens, &expand)?;
        Some((found.name, found.ty.to_string()))
    }

    #[test]
    fn spells_types_as_the_ir_does() {
        let cases = [
            ("const char* const name", "name", "char const*"),
            ("char const *const *names", "names", "char const* const*"),
            ("TF_Bool flag", "flag", "uint8_t"),
            ("unsigned n", "n", "uint32_t"),
            ("unsigned long long int n", "n", "uint64_t"),
            ("struct SP_Device* device", "device", "SP_Device*"),
            ("const int64_t n", "n", "int64_t"),
        ];
        for (text, name, ty) in cases {
            let expected = (name.to_owned(), ty.to_owned());
            assert_eq!(parse(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn drops_the_names_of_parameters() {
        let slot = "void (*run)(const SP_Device* d, int, TF_Bool (*f)(void), const int dims[])";
        let (name, ty) = parse(slot).unwrap();
        assert_eq!(name, "run");
        assert_eq!(
            ty,
            "void(SP_Device const*,int32_t,uint8_t(),int32_t const*)"
        );
        let (name, ty) = parse("TF_Status* TF_New(void)").unwrap();
        assert_eq!((name.as_str(), ty.as_str()), ("TF_New", "TF_Status*()"));
    }

    #[test]
    fn rejects_other_forms() {
        let deep = "void (*f)(".repeat(40) + &")".repeat(40);
        let stars = format!("int {} x", "*".repeat(199_000));
        for text in [
            "",
            "long x",
            "int x : 3",
            "int x[4]",
            "int x, y",
            "a b c",
            "void (f)(int)",
            "void (*f)(int",
            "void (*f)(int,, int)",
            "std::string x",
            "int x = 3",
            &deep,
            &stars,
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
