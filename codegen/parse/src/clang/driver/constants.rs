//! The constants of the own headers, the macros that name functions, and the macros without a value.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use clang_sys::*;
use sp_ir::{Alias, Item, Loc, Type};

use super::super::Declarations;
use super::super::cursor::Token;
use super::super::error::ParseError;
use super::super::input::ParseInput;
use super::super::node::{Node, Selection};
use super::super::ty::Types;
use super::body;
use super::evaluate::{self, Values};
use super::value::{self, DriverValue, Evaluated};

/// A constant.
#[derive(Debug, Clone, PartialEq)]
pub struct DriverConstant {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: DriverValue,
    /// The position.
    pub loc: Loc,
}

/// A macro that names a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionAlias {
    /// The macro.
    pub name: String,
    /// The function.
    pub function: String,
    /// The position of the macro.
    pub loc: Loc,
}

/// A macro or variable without a value that clang can compute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithoutValue {
    /// Its name.
    pub name: String,
    /// The reason.
    pub reason: String,
    /// The position.
    pub loc: Loc,
}

/// The macros and constants of the own headers.
#[derive(Debug, Default)]
pub struct Constants {
    /// Those with a value.
    pub constants: Vec<DriverConstant>,
    /// Macros that name a function.
    pub aliases: Vec<FunctionAlias>,
    /// Those without a value.
    pub without_value: Vec<WithoutValue>,
}

/// Reads the macros and constants of the own headers. A macro that names a type is added to the items.
///
/// # Errors
/// Returns an error if libclang is missing.
pub fn read(
    input: &ParseInput,
    nodes: &[Node],
    declared: &mut Declarations,
    types: &Types,
    is_own: &dyn Fn(&str) -> bool,
) -> Result<Constants, ParseError> {
    let mut found = Constants::default();
    found.add_declared(nodes, declared, types);
    let macros = Macros::new(nodes);
    let with_parameters: Vec<String> = macros.with_parameters.keys().cloned().collect();
    let defined = evaluate::find_defined(input, &with_parameters)?;
    let names: Vec<String> = macros.own.keys().cloned().collect();
    let values = evaluate::evaluate(input, &names, is_own)?;
    found.add_macros(&macros, declared, &values);
    let with_parameters = macros.with_parameters.into_iter();
    let with_parameters = with_parameters.filter(|(name, _)| defined.contains(name));
    found
        .without_value
        .extend(with_parameters.map(|(name, loc)| {
            let reason = "is a macro with parameters".to_owned();
            WithoutValue { name, reason, loc }
        }));
    Ok(found)
}

impl Constants {
    /// Adds variables with a constant value, and the enumerators of unnamed enumerations.
    fn add_declared(&mut self, nodes: &[Node], declared: &Declarations, types: &Types) {
        let variants = variants(declared);
        for node in nodes.iter().filter(|node| is_own(node)) {
            match node.cursor.kind() {
                CXCursor_VarDecl => self.add_variable(node, types),
                CXCursor_EnumDecl => {
                    let values = enumerators(node);
                    let unnamed = values.filter(|(name, _)| !variants.contains_key(name));
                    let constants = unnamed.map(|(name, value)| DriverConstant {
                        name,
                        value: DriverValue::Int { value, ty: None },
                        loc: node.loc(),
                    });
                    self.constants.extend(constants);
                }
                _ => {}
            }
        }
    }

    fn add_variable(&mut self, node: &Node, types: &Types) {
        let (name, loc) = (node.cursor.name(), node.loc());
        let is_const = node.cursor.ty().is_const_value();
        match value::read(node.cursor, None, types) {
            Ok(value) if is_const => self.constants.push(DriverConstant { name, value, loc }),
            _ => self.without_value.push(WithoutValue {
                name,
                reason: "is a variable".to_owned(),
                loc,
            }),
        }
    }

    fn add_macros(&mut self, macros: &Macros, declared: &mut Declarations, values: &Values) {
        let variants = variants(declared);
        let functions = function_names(declared);
        let mut types = Vec::new();
        for (macro_name, loc) in &macros.own {
            let (name, loc) = (macro_name.clone(), loc.clone());
            // A macro that the headers undefine has neither a value nor a reason.
            let Some(Evaluated { value, named }) = values.get(&name).cloned() else {
                continue;
            };
            match (named, value) {
                (Some(function), Err(_)) if functions.contains(&function) => {
                    self.aliases.push(FunctionAlias {
                        name,
                        function,
                        loc,
                    });
                }
                (Some(other), Ok(_)) if variants.contains_key(&other) => {
                    let value = DriverValue::Enumerator {
                        value: variants[&other],
                        name: other,
                    };
                    self.constants.push(DriverConstant { name, value, loc });
                }
                (_, Ok(value)) => self.constants.push(DriverConstant { name, value, loc }),
                (_, Err(reason)) => match macros.final_name(macro_name) {
                    Some(other) if declared.items.contains_key(other) => {
                        let ty = Type::Named(other.to_owned());
                        types.push((name, Item::Alias(Alias::new(ty, loc))));
                    }
                    _ => {
                        let reason = macros.reason(macro_name, reason);
                        self.without_value.push(WithoutValue { name, reason, loc });
                    }
                },
            }
        }
        for (name, alias) in types {
            declared.items.entry(name).or_insert(alias);
        }
    }
}

/// Returns true for a declaration in a header of the driver, or in a folder of the user.
fn is_own(node: &Node) -> bool {
    matches!(
        node.selection,
        Selection::Describable | Selection::WithoutFunctions
    )
}

fn enumerators(node: &Node) -> impl Iterator<Item = (String, i128)> {
    let enumerators = node.children.iter();
    let enumerators = enumerators.filter(|child| child.kind() == CXCursor_EnumConstantDecl);
    enumerators.map(|child| {
        let is_unsigned = child.enumerator_type().is_unsigned();
        (child.name(), widen(child.enum_value(), is_unsigned))
    })
}

/// Returns the value of an enumerator, which is stored with the bits of an `i64`.
fn widen(value: i64, is_unsigned: bool) -> i128 {
    match is_unsigned {
        true => (value as u64).into(),
        false => value.into(),
    }
}

/// Returns the enumerators of named enumerations.
fn variants(declared: &Declarations) -> BTreeMap<String, i128> {
    let enums = declared.items.values().filter_map(Item::as_enum);
    let variants = enums.flat_map(|item| {
        let is_unsigned = matches!(item.repr, Type::Int { signed: false, .. });
        let variants = item.variants.iter();
        variants.map(move |it| (it.name.clone(), widen(it.value, is_unsigned)))
    });
    variants.collect()
}

/// Returns the names of all functions, also of those that the IR cannot describe.
fn function_names(declared: &Declarations) -> BTreeSet<String> {
    let undescribed = declared.undescribed.iter().filter(|it| it.is_function);
    let undescribed = undescribed.map(|it| it.name.clone());
    let declared = declared.functions.keys().cloned().chain(undescribed);
    declared.collect()
}

/// The macros of all headers.
#[derive(Default)]
struct Macros {
    /// The macros of the own headers without parameters.
    own: BTreeMap<String, Loc>,
    /// The macros of the own headers with parameters.
    with_parameters: BTreeMap<String, Loc>,
    /// The names that macros stand for.
    names: HashMap<String, String>,
    /// The kinds of bodies that are no expressions, by the name of the macro.
    kinds: HashMap<String, &'static str>,
}

impl Macros {
    fn new(nodes: &[Node]) -> Self {
        let mut macros = Self::default();
        let is_macro = |node: &&Node| node.cursor.kind() == CXCursor_MacroDefinition;
        for node in nodes.iter().filter(is_macro) {
            macros.add(node);
        }
        macros
    }

    fn add(&mut self, node: &Node) {
        let name = node.cursor.name();
        let Some(body) = node.cursor.macro_body() else {
            if is_own(node) {
                self.with_parameters.insert(name, node.loc());
            }
            return;
        };
        if let Some(other) = single_name(&body) {
            self.names.insert(name.clone(), other.clone());
        }
        if let Some(kind) = body::kind(&body) {
            self.kinds.insert(name.clone(), kind);
        }
        if is_own(node) && !body.is_empty() {
            self.own.insert(name, node.loc());
        }
    }

    /// Returns the reason why a macro has no value: what its body is, or clang's reason.
    fn reason(&self, name: &str, reason: String) -> String {
        let last = self.final_name(name).unwrap_or(name);
        match self.kinds.get(last) {
            Some(kind) => format!("is a macro without a value: {kind}"),
            None => reason,
        }
    }

    /// Returns the name that a macro stands for, or `None` if its body is no name. Within its own expansion a macro is not
    /// expanded again (C11, 6.10.3.4).
    fn final_name<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        let mut expanded = BTreeSet::from([name]);
        let mut found = self.names.get(name)?.as_str();
        while let Some(next) = self.names.get(found)
            && expanded.insert(found)
        {
            found = next;
        }
        Some(found)
    }
}

/// Returns the identifier that a macro's body is, without parentheses around it.
fn single_name(mut body: &[Token]) -> Option<&String> {
    while let [first, inside @ .., last] = body
        && first.text == "("
        && last.text == ")"
    {
        body = inside;
    }
    match body {
        [token] if token.kind == CXToken_Identifier => Some(&token.text),
        _ => None,
    }
}
