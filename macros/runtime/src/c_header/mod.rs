//! A strict scanner for the C API headers of a host that is newer than this crate.
//!
//! It reads what those headers consist of: `typedef struct NAME { .. } NAME;` with pointers, function
//! pointers, scalars and enumerations as members, `typedef enum`, other typedefs, object-like macros
//! and function declarations. Anything else is an error where it is asked for, so that a caller
//! declines the host instead of guessing.

mod ctype;
mod index;
mod lexer;
mod macros;

use std::collections::BTreeMap;

pub use ctype::{CType, Declaration};
use index::{Form, Index};
use lexer::Token;

/// Largest header that is read, in bytes.
pub const MAX_SIZE: usize = 1 << 20;
/// Most tokens that are read of a header.
const MAX_TOKENS: usize = 200_000;

/// Why a declaration of a header cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// The header does not declare the name.
    Absent,
    /// The header declares it, in a form that the scanner does not read.
    Unread(&'static str),
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Absent => f.write_str("it is not declared"),
            Self::Unread(why) => f.write_str(why),
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
    pub fn scan(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, Problem> {
        let mut index = Index::default();
        for text in texts {
            if text.len() > MAX_SIZE {
                return Err(Problem::Unread("it is larger than 1 MiB"));
            }
            let tokens = lexer::tokens(text).map_err(|error| Problem::Unread(error.0))?;
            if tokens.len() > MAX_TOKENS {
                return Err(Problem::Unread("it has more than 200,000 tokens"));
            }
            index.add(&tokens)?;
        }
        Ok(Self { index })
    }

    /// Returns the members of the struct `name` in their order.
    ///
    /// # Errors
    /// Returns an error if there is no such struct, or a member is of a form that is not read.
    pub fn members(&self, name: &str) -> Result<Vec<Declaration>, Problem> {
        let tokens = self.index.get(name, Form::Struct)?;
        let statements = tokens.split(|it| *it == Token::Mark(b';'));
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
    pub fn enumerators(&self, name: &str) -> Result<Vec<Enumerator>, Problem> {
        let tokens = without_macros(self.index.get(name, Form::Enum)?)?;
        let mut next = 0;
        let mut found = Vec::new();
        for tokens in tokens.split(|it| *it == Token::Mark(b',')) {
            let Some(name) = enumerator(tokens, &mut next)? else {
                continue;
            };
            if self.index.is_macro(&name) {
                return Err(Problem::Unread("an enumerator is also a macro"));
            }
            found.push((name, next));
            next += 1;
        }
        Ok(found)
    }

    /// Returns the type for which the typedef `name` stands.
    ///
    /// # Errors
    /// Returns an error if there is no such typedef, or its form is not read.
    pub fn typedef(&self, name: &str) -> Result<CType, Problem> {
        if scalar(name).is_some() {
            return Err(Problem::Unread("a typedef has the name of a standard type"));
        }
        let tokens = self.index.get(name, Form::Typedef)?;
        self.declaration(tokens).map(|found| found.ty)
    }

    /// Returns the type of the function `name`.
    ///
    /// # Errors
    /// Returns an error if the function is not declared, or its form is not read.
    pub fn function(&self, name: &str) -> Result<CType, Problem> {
        let tokens = self.index.get(name, Form::Function)?;
        let is_prefix = |it: &&Token<'_>| match it {
            Token::Word(word) => matches!(*word, "extern") || word.ends_with("_EXPORT"),
            token => **token == Token::Literal,
        };
        let prefix = tokens.iter().take_while(is_prefix).count();
        self.declaration(&tokens[prefix..]).map(|found| found.ty)
    }

    /// Returns false if `ty` is surely no function pointer: a data pointer, a scalar or an enumeration.
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
        self.index.get(name, Form::Enum).is_ok()
    }

    fn declaration(&self, tokens: &[Token<'a>]) -> Result<Declaration, Problem> {
        let expand = |name| self.index.expansion(name);
        let found = ctype::declaration(tokens, &expand);
        let found = found.ok_or(Problem::Unread("a declaration is of an unknown form"))?;
        if self.index.is_macro(&found.name) {
            return Err(Problem::Unread("a declared name is also a macro"));
        }
        Ok(found)
    }
}

/// Drops the `#define` directives among `tokens`, where TensorFlow's headers define a struct's size.
fn without_macros<'a>(tokens: &[Token<'a>]) -> Result<Vec<Token<'a>>, Problem> {
    let mut found = Vec::with_capacity(tokens.len());
    for token in tokens {
        match token {
            Token::Directive(text) if text.starts_with("define") => {}
            Token::Directive(_) => return Err(Problem::Unread("a definition is conditional")),
            _ => found.push(*token),
        }
    }
    Ok(found)
}

/// Reads `NAME` or `NAME = VALUE`; a value becomes `next`. Returns `None` behind the last comma.
fn enumerator(tokens: &[Token<'_>], next: &mut i64) -> Result<Option<String>, Problem> {
    let (name, value) = match tokens {
        [] => return Ok(None),
        [Token::Word(name)] => (name, None),
        [Token::Word(name), Token::Mark(b'='), Token::Number(value)] => (name, number(value)),
        [
            Token::Word(name),
            Token::Mark(b'='),
            Token::Mark(b'-'),
            Token::Number(value),
        ] => (name, number(value).map(|it| -it)),
        _ => return Err(Problem::Unread("an enumerator is of an unknown form")),
    };
    if tokens.len() > 1 {
        *next = value.ok_or(Problem::Unread("an enumerator's value is not a number"))?;
    }
    Ok(Some((*name).to_owned()))
}

/// Returns the value of a number that fits an `int`, the type of an enumerator.
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
pub struct Extent {
    /// Bytes.
    pub size: usize,
    /// Bytes.
    pub align: usize,
}

impl Extent {
    const fn of<T>() -> Self {
        Self {
            size: size_of::<T>(),
            align: align_of::<T>(),
        }
    }
}

/// The offsets of a struct's members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
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
    pub fn layout(&self, members: &[Declaration]) -> Result<Layout, Problem> {
        let mut layout = Layout {
            offsets: BTreeMap::new(),
            size: 0,
        };
        let mut extents = BTreeMap::new();
        for member in members {
            let spelling = member.ty.to_string();
            let extent = match extents.get(&spelling) {
                Some(extent) => *extent,
                None => *extents.entry(spelling).or_insert(self.extent(&member.ty)?),
            };
            let offset = layout.size.next_multiple_of(extent.align);
            layout.size = offset + extent.size;
            if layout.offsets.insert(member.name.clone(), offset).is_some() {
                return Err(Problem::Unread("two members have one name"));
            }
        }
        Ok(layout)
    }

    /// Returns the size of a member's type. Typedefs are looked through, up to eight deep.
    fn extent(&self, ty: &CType) -> Result<Extent, Problem> {
        let mut ty = ty.clone();
        for _ in 0..8 {
            let name = match ty {
                CType::Pointer { .. } | CType::Function { .. } => return Ok(Extent::of::<usize>()),
                CType::Named(name) => name,
            };
            if let Some(extent) = scalar(&name) {
                return Ok(extent);
            }
            if self.is_enum(&name) {
                self.enumerators(&name)?;
                return Ok(Extent::of::<i32>());
            }
            ty = self
                .typedef(&name)
                .map_err(|_| Problem::Unread("a member's size is not known"))?;
        }
        Err(Problem::Unread("a typedef has no end"))
    }
}

fn scalar(name: &str) -> Option<Extent> {
    Some(match name {
        "char" | "int8_t" | "uint8_t" => Extent::of::<u8>(),
        "bool" | "_Bool" => Extent::of::<bool>(),
        "int16_t" | "uint16_t" => Extent::of::<u16>(),
        "int32_t" | "uint32_t" => Extent::of::<u32>(),
        "int64_t" | "uint64_t" => Extent::of::<u64>(),
        "size_t" | "intptr_t" | "uintptr_t" => Extent::of::<usize>(),
        "float" => Extent::of::<f32>(),
        "double" => Extent::of::<f64>(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
