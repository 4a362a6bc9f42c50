//! The types of a kernel's parameters.

use super::elements::{is_element_name, rust_name};
use super::imports::Imports;
use super::kernel::print_type;
use super::parameters::TypeUse;
use crate::plan::{Definition, ElementClass, camel_case, class_of};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use sp_ops::{Argument, ArgumentType, AttributeKind, AttributeType, DataType, ElementType};

/// The names that a type parameter cannot have, since the file imports them.
const IMPORTED: [&str; 12] = [
    "In", "Out", "Text", "Bool", "Error", "Result", "Element", "Kernel", "Context", "Resource",
    "Variant", "Vec",
];

/// How a parameter takes the elements of an argument.
enum Element {
    /// As elements of this type.
    Rust(TokenStream),
    /// As signed integers of any width.
    Integers,
    /// As bytes of any type.
    Any,
    Text,
    Resource,
    Variant,
    /// Of a type that has none in Rust.
    Other,
}

/// Prints the types of parameters, and imports them.
pub struct TypePrinter<'a> {
    /// The lists of types, which get their type parameters.
    pub types: &'a mut [TypeUse],
    /// The op.
    pub definition: &'a Definition,
    /// The device, if the tensors are in its memory.
    pub device: Option<&'a Ident>,
    /// The imports.
    pub imports: &'a mut Imports,
}

impl TypePrinter<'_> {
    /// Returns the type of an input's parameter, or `None` if no parameter can have the input.
    pub fn input(&mut self, argument: &Argument, is_host: bool) -> Option<TokenStream> {
        let (element, is_list) = match &argument.ty {
            ArgumentType::List(_) => return Some(self.plain("AnyInList")),
            ArgumentType::Single(element) => (element, false),
            ArgumentType::Repeated { element, .. } => (element, true),
        };
        if is_host && !is_list && !argument.is_ref && self.has_listed_integers(element) {
            return Some(self.integers());
        }
        match self.element(element) {
            Element::Rust(ty) if argument.is_ref && !is_list => {
                Some(self.on_device("Variable", &ty))
            }
            _ if argument.is_ref => None,
            element if is_list => self.input_list(&element, is_host),
            element => Some(self.single_input(&element, is_host)),
        }
    }

    fn input_list(&mut self, element: &Element, is_host: bool) -> Option<TokenStream> {
        match element {
            Element::Rust(ty) if is_host && ty.to_string() == "i32" => {
                let (list, host) = (self.name("BytesInList"), self.name("HostInt32"));
                Some(quote!(#list<'_, #host>))
            }
            Element::Rust(ty) if self.device.is_none() => Some(self.of("InList", ty)),
            Element::Text | Element::Resource => None,
            _ => Some(self.plain("AnyInList")),
        }
    }

    fn single_input(&mut self, element: &Element, is_host: bool) -> TokenStream {
        match element {
            Element::Rust(ty) if is_host => self.of("HostIn", ty),
            Element::Rust(ty) => self.on_device("In", ty),
            Element::Integers if is_host || self.device.is_none() => self.integers(),
            Element::Integers | Element::Any => self.bytes("BytesIn"),
            Element::Text => self.text("HostIn"),
            Element::Resource => self.plain("ResourceHandle"),
            Element::Variant | Element::Other => self.plain("AnyIn"),
        }
    }

    /// Returns the type of an output's parameter.
    pub fn output(&mut self, argument: &Argument, is_host: bool) -> TokenStream {
        let (element, is_list) = match &argument.ty {
            ArgumentType::List(_) => return self.plain("AnyOutList"),
            ArgumentType::Single(element) => (element, false),
            ArgumentType::Repeated { element, .. } => (element, true),
        };
        match self.element(element) {
            Element::Rust(ty) if argument.is_ref && !is_list => self.on_device("RefOut", &ty),
            Element::Rust(ty) if is_list && is_host => self.of("HostOutList", &ty),
            Element::Rust(ty) if is_list && self.device.is_none() => self.of("OutList", &ty),
            _ if is_list => self.plain("AnyOutList"),
            Element::Rust(ty) if is_host => self.of("HostOut", &ty),
            Element::Rust(ty) => self.on_device("Out", &ty),
            Element::Text => self.text("HostOut"),
            Element::Integers | Element::Any => self.bytes("BytesOut"),
            Element::Resource | Element::Variant | Element::Other => self.plain("AnyOut"),
        }
    }

    fn element(&mut self, element: &ElementType) -> Element {
        let name = match element {
            ElementType::Fixed(ty) => return self.fixed(*ty),
            ElementType::Attribute(name) => name,
        };
        let Some(index) = self.types.iter().position(|it| it.attribute == *name) else {
            return match self.has_integers_only(name) {
                true => Element::Integers,
                false => Element::Any,
            };
        };
        match self.types[index].types[..] {
            [ty] => self.fixed(ty),
            [ty, ..] if class_of(ty) != ElementClass::Element => self.fixed(ty),
            _ => {
                let generic = self.generic_name(name);
                let generic = self.types[index].generic.get_or_insert(generic);
                Element::Rust(quote!(#generic))
            }
        }
    }

    fn fixed(&mut self, ty: DataType) -> Element {
        match class_of(ty) {
            ElementClass::Text => Element::Text,
            ElementClass::Resource => Element::Resource,
            ElementClass::Variant => Element::Variant,
            ElementClass::Element => match rust_name(ty) {
                Some(_) => Element::Rust(print_type(ty, self.imports)),
                None => Element::Other,
            },
        }
    }

    /// Returns the name of the type parameter for an attribute.
    fn generic_name(&self, attribute: &str) -> Ident {
        let name = camel_case(attribute);
        let is_attribute = name != attribute && self.types.iter().any(|it| it.attribute == name);
        match is_attribute || IMPORTED.contains(&&*name) || is_element_name(&name) {
            true => format_ident!("{name}Type"),
            false => format_ident!("{name}"),
        }
    }

    fn has_integers_only(&self, attribute: &str) -> bool {
        let attribute = self.definition.attribute(attribute);
        attribute.is_some_and(|it| it.has_integers_only)
    }

    /// Returns true if an argument has one of several listed types, and the op allows signed integers only.
    fn has_listed_integers(&self, element: &ElementType) -> bool {
        let ElementType::Attribute(name) = element else {
            return false;
        };
        let list = self.types.iter().find(|it| it.attribute == *name);
        list.is_some_and(|it| it.types.len() > 1) && self.has_integers_only(name)
    }

    fn name(&mut self, name: &'static str) -> Ident {
        self.imports.kernel(name);
        format_ident!("{name}")
    }

    /// Prints `AnyIn<'_>`.
    fn plain(&mut self, name: &'static str) -> TokenStream {
        let name = self.name(name);
        quote!(#name<'_>)
    }

    /// Prints `HostIn<'_, T>`.
    fn of(&mut self, name: &'static str, element: &TokenStream) -> TokenStream {
        let name = self.name(name);
        quote!(#name<'_, #element>)
    }

    /// Prints `In<'_, T>`, or `In<'_, T, Device>`.
    fn on_device(&mut self, name: &'static str, element: &TokenStream) -> TokenStream {
        match self.device {
            Some(device) => self.of(name, &quote!(#element, #device)),
            None => self.of(name, element),
        }
    }

    /// Prints `BytesIn<'_>`, or `BytesIn<'_, Device>`.
    fn bytes(&mut self, name: &'static str) -> TokenStream {
        match self.device {
            Some(device) => self.of(name, &quote!(#device)),
            None => self.plain(name),
        }
    }

    fn text(&mut self, name: &'static str) -> TokenStream {
        let text = self.name("Text");
        self.of(name, &quote!(#text))
    }

    fn integers(&mut self) -> TokenStream {
        let integer = self.name("Integer");
        self.of("HostIn", &quote!(#integer))
    }
}

/// Returns the type of an attribute's parameter.
pub fn attribute_type(ty: AttributeType, imports: &mut Imports) -> TokenStream {
    let (name, is_borrowed) = match ty.kind {
        AttributeKind::Int => ("i64", false),
        AttributeKind::Float => ("f32", false),
        AttributeKind::Bool => ("bool", false),
        AttributeKind::String if ty.is_list => ("String", false),
        AttributeKind::String => ("str", true),
        AttributeKind::Type => ("DataType", false),
        AttributeKind::Shape => ("PartialShape", true),
        AttributeKind::Tensor => ("TensorValue", true),
        AttributeKind::Function => ("FunctionName", true),
    };
    if name.starts_with(|it: char| it.is_ascii_uppercase()) && name != "String" {
        imports.kernel(name);
    }
    let item = format_ident!("{name}");
    match (ty.is_list, is_borrowed) {
        (true, _) => quote!(&[#item]),
        (false, true) => quote!(&#item),
        (false, false) => quote!(#item),
    }
}
