//! The types of a kernel's parameters.

use super::imports::Imports;
use crate::plan::{Definition, camel_case};
use crate::rust_types::{ElementClass, class_of, is_element_name, is_primitive, rust_name};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use sp_ops::{Argument, ArgumentType, AttributeKind, AttributeType, DataType, ElementType};

/// The names that a type parameter cannot have, since the file imports them.
const IMPORTED: [&str; 12] = [
    "In", "Out", "Text", "Bool", "Error", "Result", "Element", "Kernel", "Context", "Resource",
    "Variant", "Vec",
];

/// The form in which a parameter takes the elements of an argument.
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

/// The types of a type attribute.
pub struct TypeUse {
    /// The attribute.
    pub attribute: String,
    /// The types.
    pub types: Vec<DataType>,
    /// The type parameter of the function, if the list has several types and a parameter has one of them.
    pub generic: Option<Ident>,
    /// True if the arguments are strings, resources or variants.
    pub is_any: bool,
}

impl TypeUse {
    /// Returns the types of an attribute, without a type parameter.
    pub fn new((attribute, types): &(String, Vec<DataType>)) -> Self {
        let mut classes = types.iter().map(|it| class_of(*it));
        Self {
            attribute: attribute.clone(),
            types: types.clone(),
            generic: None,
            is_any: classes.next().is_some_and(|it| it != ElementClass::Element),
        }
    }
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
            Element::Rust(ty) if self.device.is_none() => Some(self.with_element("InList", ty)),
            Element::Text | Element::Resource => None,
            _ => Some(self.plain("AnyInList")),
        }
    }

    fn single_input(&mut self, element: &Element, is_host: bool) -> TokenStream {
        match element {
            Element::Rust(ty) if is_host => self.with_element("HostIn", ty),
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
            Element::Rust(ty) if is_list && is_host => self.with_element("HostOutList", &ty),
            Element::Rust(ty) if is_list && self.device.is_none() => {
                self.with_element("OutList", &ty)
            }
            _ if is_list => self.plain("AnyOutList"),
            Element::Rust(ty) if is_host => self.with_element("HostOut", &ty),
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
    fn with_element(&mut self, name: &'static str, element: &TokenStream) -> TokenStream {
        let name = self.name(name);
        quote!(#name<'_, #element>)
    }

    /// Prints `In<'_, T>`, or `In<'_, T, Device>`.
    fn on_device(&mut self, name: &'static str, element: &TokenStream) -> TokenStream {
        match self.device {
            Some(device) => self.with_element(name, &quote!(#element, #device)),
            None => self.with_element(name, element),
        }
    }

    /// Prints `BytesIn<'_>`, or `BytesIn<'_, Device>`.
    fn bytes(&mut self, name: &'static str) -> TokenStream {
        match self.device {
            Some(device) => self.with_element(name, &quote!(#device)),
            None => self.plain(name),
        }
    }

    fn text(&mut self, name: &'static str) -> TokenStream {
        let text = self.name("Text");
        self.with_element(name, &quote!(#text))
    }

    fn integers(&mut self) -> TokenStream {
        let integer = self.name("Integer");
        self.with_element("HostIn", &quote!(#integer))
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

/// Prints a type in a list, and imports it.
pub fn print_type(ty: DataType, imports: &mut Imports) -> TokenStream {
    let name = match class_of(ty) {
        ElementClass::Text => {
            imports.kernel("Text");
            "Text"
        }
        ElementClass::Resource => {
            imports.marker("Resource");
            "Resource"
        }
        ElementClass::Variant => {
            imports.marker("Variant");
            "Variant"
        }
        ElementClass::Element => {
            let name = rust_name(ty).unwrap_or("u8");
            if !is_primitive(name) {
                imports.root(name);
            }
            name
        }
    };
    let name = format_ident!("{name}");
    quote!(#name)
}
