//! A strict scanner for the C API headers of a host that is newer than this crate.
//!
//! It reads the forms of declaration that those headers have: `typedef struct NAME { .. } NAME;` with pointers, function
//! pointers, scalars and enumerations as members, `typedef enum`, other typedefs, object-like macros
//! and function declarations. Any other declaration is an error when a caller requests it, so that the caller
//! declines the host instead of guessing.

mod ctype;
mod index;
mod lexer;
mod macros;

use std::collections::BTreeMap;

pub use ctype::{CType, Declaration};
use index::{DeclarationForm, Index};
use lexer::Token;

/// Largest header that is read, in bytes.
pub const MAX_SIZE: usize = 1 << 20;
/// Most tokens that are read of a header.
const MAX_TOKENS: usize = 200_000;
/// Most tokens of one declaration: each use of its name may parse it again. TensorFlow's have below 300.
const MAX_DECLARATION_TOKENS: usize = 4096;

/// The reason for which a declaration of a header cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeaderError {
    /// The header does not declare the name.
    Absent,
    /// The header declares the name in a form that the scanner does not support.
    Unsupported(&'static str),
}

impl std::fmt::Display for HeaderError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Absent => f.write_str("it is not declared"),
            Self::Unsupported(reason) => f.write_str(reason),
        }
    }
}

/// The declarations of one header and of those that it includes.
pub struct Header<'a> {
    index: Index<'a>,
}

/// An enumerator and its value.
pub type Enumerator = (String, i64);

impl<'a> Header<'a> {
    /// Scans `texts`: a header and the headers that it includes.
    ///
    /// # Errors
    /// Returns an error if a text is too large, is not C, or changes how the compiler packs structs.
    pub fn scan(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, HeaderError> {
        let mut index = Index::default();
        for text in texts {
            if text.len() > MAX_SIZE {
                return Err(HeaderError::Unsupported("it is larger than 1 MiB"));
            }
            let tokens = lexer::tokens(text).map_err(|error| HeaderError::Unsupported(error.0))?;
            if tokens.len() > MAX_TOKENS {
                return Err(HeaderError::Unsupported("it has more than 200,000 tokens"));
            }
            index.add_header(&tokens)?;
        }
        Ok(Self { index })
    }

    /// Returns the members of the struct `name` in their order.
    ///
    /// # Errors
    /// Returns an error if there is no such struct, or a member is of a form that is not read.
    pub fn members(&self, name: &str) -> Result<Vec<Declaration>, HeaderError> {
        let tokens = self.index.get(name, DeclarationForm::Struct)?;
        let statements = tokens.split(|it| *it == Token::Punctuation(b';'));
        let mut members = Vec::new();
        for tokens in statements.map(without_macros) {
            let tokens = tokens?;
            if !tokens.is_empty() {
                members.push(self.declaration(&tokens)?);
            }
        }
        Ok(members)
    }

    /// Returns the enumerators of the enumeration `name` in their order.
    ///
    /// # Errors
    /// Returns an error if there is no such enumeration, or a value is not a number.
    pub fn enumerators(&self, name: &str) -> Result<Vec<Enumerator>, HeaderError> {
        let tokens = self.index.get(name, DeclarationForm::Enum)?;
        reject_long(tokens)?;
        let tokens = without_macros(tokens)?;
        let mut next = 0;
        let mut found = Vec::new();
        for tokens in tokens.split(|it| *it == Token::Punctuation(b',')) {
            let Some(name) = enumerator(tokens, &mut next)? else {
                continue;
            };
            if self.index.is_macro(&name) {
                return Err(HeaderError::Unsupported("an enumerator is also a macro"));
            }
            found.push((name, next));
            next += 1;
        }
        Ok(found)
    }

    /// Returns the underlying type of the typedef `name`.
    ///
    /// # Errors
    /// Returns an error if there is no such typedef, or its form is not read.
    pub fn typedef(&self, name: &str) -> Result<CType, HeaderError> {
        if scalar(name).is_some() {
            return Err(HeaderError::Unsupported(
                "a typedef has the name of a standard type",
            ));
        }
        let tokens = self.index.get(name, DeclarationForm::Typedef)?;
        self.declaration(tokens).map(|found| found.ty)
    }

    /// Returns the type of the function `name`.
    ///
    /// # Errors
    /// Returns an error if the function is not declared, or its form is not read.
    pub fn function(&self, name: &str) -> Result<CType, HeaderError> {
        let tokens = self.index.get(name, DeclarationForm::Function)?;
        let is_prefix = |it: &&Token<'_>| match it {
            Token::Word(word) => matches!(*word, "extern") || word.ends_with("_EXPORT"),
            token => **token == Token::Literal,
        };
        let prefix = tokens.iter().take_while(is_prefix).count();
        self.declaration(&tokens[prefix..]).map(|found| found.ty)
    }

    /// Returns false if `ty` is certainly not a function pointer: a data pointer, a scalar or an enumeration.
    pub fn may_be_function(&self, ty: &CType) -> bool {
        match ty {
            CType::Function { .. } => true,
            CType::Pointer { .. } => false,
            CType::Named(name) if scalar(name).is_some() || self.is_enum(name) => false,
            CType::Named(name) => match self.typedef(name) {
                Ok(CType::Pointer { .. }) => false,
                Ok(CType::Named(other)) => scalar(&other).is_none() && !self.is_enum(&other),
                _ => true,
            },
        }
    }

    /// Returns true if `name` is an enumeration of this header.
    pub fn is_enum(&self, name: &str) -> bool {
        self.index.get(name, DeclarationForm::Enum).is_ok()
    }

    fn declaration(&self, tokens: &[Token<'a>]) -> Result<Declaration, HeaderError> {
        reject_long(tokens)?;
        let expand = |name| self.index.expansion(name);
        let found = ctype::declaration(tokens, &expand);
        let found = found.ok_or(HeaderError::Unsupported(
            "a declaration is of an unknown form",
        ))?;
        if self.index.is_macro(&found.name) {
            return Err(HeaderError::Unsupported("a declared name is also a macro"));
        }
        Ok(found)
    }
}

fn reject_long(tokens: &[Token<'_>]) -> Result<(), HeaderError> {
    match tokens.len() > MAX_DECLARATION_TOKENS {
        true => Err(HeaderError::Unsupported(
            "a declaration has more than 4,096 tokens",
        )),
        false => Ok(()),
    }
}

/// Removes the `#define` directives among `tokens`: TensorFlow's headers define a struct's size there.
fn without_macros<'a>(tokens: &[Token<'a>]) -> Result<Vec<Token<'a>>, HeaderError> {
    let mut found = Vec::with_capacity(tokens.len());
    for token in tokens {
        match token {
            Token::Directive(text) if text.starts_with("define") => {}
            Token::Directive(_) => {
                return Err(HeaderError::Unsupported("a definition is conditional"));
            }
            _ => found.push(*token),
        }
    }
    Ok(found)
}

/// Parses `NAME` or `NAME = VALUE`; stores a value in `next`. Returns `None` after the last comma.
fn enumerator(tokens: &[Token<'_>], next: &mut i64) -> Result<Option<String>, HeaderError> {
    let (name, value) = match tokens {
        [] => return Ok(None),
        [Token::Word(name)] => (name, None),
        [
            Token::Word(name),
            Token::Punctuation(b'='),
            Token::Number(value),
        ] => (name, number(value)),
        [
            Token::Word(name),
            Token::Punctuation(b'='),
            Token::Punctuation(b'-'),
            Token::Number(value),
        ] => (name, number(value).map(|it| -it)),
        _ => {
            return Err(HeaderError::Unsupported(
                "an enumerator is of an unknown form",
            ));
        }
    };
    if tokens.len() > 1 {
        *next = value.ok_or(HeaderError::Unsupported(
            "an enumerator's value is not a number",
        ))?;
    }
    Ok(Some((*name).to_owned()))
}

/// Returns the value of a number, or `None` if it does not fit an `int`, the type of an enumerator.
fn number(text: &str) -> Option<i64> {
    let value = match text.strip_prefix("0x") {
        Some(digits) => i32::from_str_radix(digits, 16),
        None if text.len() > 1 && text.starts_with('0') => return None,
        None => text.parse(),
    };
    value.ok().map(i64::from)
}

/// The size and alignment of a value, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeAlign {
    /// Size in bytes.
    pub size: usize,
    /// Alignment in bytes.
    pub align: usize,
}

impl SizeAlign {
    const fn of_type<T>() -> Self {
        Self {
            size: size_of::<T>(),
            align: align_of::<T>(),
        }
    }
}

/// The offsets of a struct's members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberLayout {
    /// Offset of each member, in bytes.
    pub offsets: BTreeMap<String, usize>,
    /// End of the last member, in bytes: the `struct_size` without tail padding.
    pub size: usize,
}

impl Header<'_> {
    /// Computes the layout of `members` for this process's target.
    ///
    /// # Errors
    /// Returns an error if a member's size is not known, or two have one name.
    pub fn layout(&self, members: &[Declaration]) -> Result<MemberLayout, HeaderError> {
        let mut layout = MemberLayout {
            offsets: BTreeMap::new(),
            size: 0,
        };
        let mut size_aligns = BTreeMap::new();
        for member in members {
            let spelling = member.ty.to_string();
            let size_align = match size_aligns.get(&spelling) {
                Some(size_align) => *size_align,
                None => *size_aligns
                    .entry(spelling)
                    .or_insert(self.size_align(&member.ty)?),
            };
            let offset = layout.size.next_multiple_of(size_align.align);
            layout.size = offset + size_align.size;
            if layout.offsets.insert(member.name.clone(), offset).is_some() {
                return Err(HeaderError::Unsupported("two members have one name"));
            }
        }
        Ok(layout)
    }

    /// Returns the size and alignment of a member's type. Follows up to eight typedefs.
    fn size_align(&self, ty: &CType) -> Result<SizeAlign, HeaderError> {
        let mut ty = ty.clone();
        for _ in 0..8 {
            let name = match ty {
                CType::Pointer { .. } | CType::Function { .. } => {
                    return Ok(SizeAlign::of_type::<usize>());
                }
                CType::Named(name) => name,
            };
            if let Some(size_align) = scalar(&name) {
                return Ok(size_align);
            }
            if self.is_enum(&name) {
                self.enumerators(&name)?;
                return Ok(SizeAlign::of_type::<i32>());
            }
            ty = self
                .typedef(&name)
                .map_err(|_| HeaderError::Unsupported("a member's size is not known"))?;
        }
        Err(HeaderError::Unsupported("a typedef has no end"))
    }
}

fn scalar(name: &str) -> Option<SizeAlign> {
    Some(match name {
        "char" | "int8_t" | "uint8_t" => SizeAlign::of_type::<u8>(),
        "bool" | "_Bool" => SizeAlign::of_type::<bool>(),
        "int16_t" | "uint16_t" => SizeAlign::of_type::<u16>(),
        "int32_t" | "uint32_t" => SizeAlign::of_type::<u32>(),
        "int64_t" | "uint64_t" => SizeAlign::of_type::<u64>(),
        "size_t" | "intptr_t" | "uintptr_t" => SizeAlign::of_type::<usize>(),
        "float" => SizeAlign::of_type::<f32>(),
        "double" => SizeAlign::of_type::<f64>(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
