//! The text of a program in the generic form of MLIR.

use std::fmt::{self, Write};

use crate::elements::{Element, Elements};
use crate::entry::{Entry, Value};
use crate::layout::Kind;
use crate::operation::{Block, Module, Operation, Properties, Region};

mod number;

/// Tensors with more elements are printed as hexadecimal bytes.
const MAX_ELEMENTS: usize = 100;
const MAX_TEXT: usize = 1 << 26;

/// The text of a program is too long: a small program can have a text of any length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextTooLong;

impl fmt::Display for TextTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the text of the program is longer than {MAX_TEXT} bytes")
    }
}

impl std::error::Error for TextTooLong {}

impl Module<'_> {
    /// Returns the text of the program, which ends with a line feed.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is longer than 64 MiB.
    pub fn to_text(&self) -> Result<String, TextTooLong> {
        let mut printer = Printer {
            module: self,
            names: vec![String::new(); self.values.len()],
            text: String::new(),
        };
        printer.name_values();
        match printer.operations(&self.body, 0) {
            Ok(()) => Ok(printer.text),
            Err(fmt::Error) => Err(TextTooLong),
        }
    }
}

struct Printer<'a, 'b> {
    module: &'b Module<'a>,
    /// Name of each value, without the percent sign.
    names: Vec<String>,
    text: String,
}

impl Write for Printer<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.text.len() + text.len() > MAX_TEXT {
            return Err(fmt::Error);
        }
        self.text.push_str(text);
        Ok(())
    }
}

impl Printer<'_, '_> {
    /// Names the values as MLIR does: those of a region first, then those of the regions inside of it, the last one first.
    fn name_values(&mut self) {
        let (mut arguments, mut results) = (0, 0);
        let mut regions: Vec<&Region<'_>> = self
            .module
            .body
            .operations
            .iter()
            .flat_map(|op| &op.regions)
            .collect();
        while let Some(Region(blocks)) = regions.pop() {
            for (index, block) in blocks.iter().enumerate() {
                for &argument in &block.arguments {
                    let (prefix, number) = if index == 0 {
                        ("arg", &mut arguments)
                    } else {
                        ("", &mut results)
                    };
                    self.names[argument] = format!("{prefix}{number}");
                    *number += 1;
                }
                for operation in &block.operations {
                    for (index, &result) in operation.results.iter().enumerate() {
                        let suffix = if operation.results.len() > 1 {
                            format!("#{index}")
                        } else {
                            String::new()
                        };
                        self.names[result] = format!("{results}{suffix}");
                    }
                    results += usize::from(!operation.results.is_empty());
                    regions.extend(&operation.regions);
                }
            }
        }
    }

    /// Prints items with commas between them.
    fn list<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut print: impl FnMut(&mut Self, T) -> fmt::Result,
    ) -> fmt::Result {
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                self.write_str(", ")?;
            }
            print(self, item)?;
        }
        Ok(())
    }

    fn operations(&mut self, block: &Block<'_>, depth: usize) -> fmt::Result {
        for operation in &block.operations {
            write!(self, "{:1$}", "", depth * 2)?;
            self.operation(operation, depth)?;
            self.write_str("\n")?;
        }
        Ok(())
    }

    fn operation(&mut self, operation: &Operation<'_>, depth: usize) -> fmt::Result {
        if let [first, rest @ ..] = &operation.results[..] {
            let name = self.names[*first]
                .split('#')
                .next()
                .unwrap_or_default()
                .to_owned();
            match rest.len() {
                0 => write!(self, "%{name} = ")?,
                count => write!(self, "%{name}:{} = ", count + 1)?,
            }
        }
        write!(self, "\"{}.{}\"(", operation.dialect, operation.name)?;
        self.list(&operation.operands, |printer, &value| {
            let name = printer.names[value].clone();
            write!(printer, "%{name}")
        })?;
        self.write_str(")")?;
        if !operation.successors.is_empty() {
            self.write_str("[")?;
            self.list(&operation.successors, |printer, block| {
                write!(printer, "^bb{block}")
            })?;
            self.write_str("]")?;
        }
        self.properties(&operation.properties)?;
        if !operation.regions.is_empty() {
            self.write_str(" (")?;
            self.list(&operation.regions, |printer, region| {
                printer.region(region, depth)
            })?;
            self.write_str(")")?;
        }
        if let Some(attributes) = operation.attributes {
            self.write_str(" ")?;
            self.attribute(attributes)?;
        }
        self.write_str(" : ")?;
        self.signature(&operation.operands, &operation.results)
    }

    fn signature(&mut self, operands: &[usize], results: &[usize]) -> fmt::Result {
        let values = &self.module.values;
        self.write_str("(")?;
        self.list(operands, |printer, &value| printer.type_(values[value]))?;
        self.write_str(") -> ")?;
        if let [result] = results {
            return self.type_(values[*result]);
        }
        self.write_str("(")?;
        self.list(results, |printer, &value| printer.type_(values[value]))?;
        self.write_str(")")
    }

    fn properties(&mut self, properties: &Properties<'_>) -> fmt::Result {
        match properties {
            Properties::Known(known) if known.is_empty() => Ok(()),
            Properties::Known(known) => {
                self.write_str(" <{")?;
                self.list(known, |printer, &(name, attribute)| {
                    write!(printer, "{name} = ")?;
                    printer.attribute(attribute)
                })?;
                self.write_str("}>")
            }
            Properties::Opaque(bytes) => {
                self.write_str(" <{?")?;
                self.hexadecimal(bytes)?;
                self.write_str("}>")
            }
        }
    }

    fn region(&mut self, Region(blocks): &Region<'_>, depth: usize) -> fmt::Result {
        self.write_str("{\n")?;
        for (index, block) in blocks.iter().enumerate() {
            if index > 0 || !block.arguments.is_empty() {
                write!(self, "{:1$}^bb{index}", "", depth * 2)?;
                self.block_arguments(&block.arguments)?;
                self.write_str(":\n")?;
            }
            self.operations(block, depth + 1)?;
        }
        write!(self, "{:1$}}}", "", depth * 2)
    }

    fn block_arguments(&mut self, arguments: &[usize]) -> fmt::Result {
        if arguments.is_empty() {
            return Ok(());
        }
        self.write_str("(")?;
        self.list(arguments, |printer, &value| {
            let name = printer.names[value].clone();
            write!(printer, "%{name}: ")?;
            printer.type_(printer.module.values[value])
        })?;
        self.write_str(")")
    }

    fn type_(&mut self, index: usize) -> fmt::Result {
        let type_ = &self.module.types[index];
        if type_.layout.name == "text" || type_.dialect != "vhlo" {
            return self.builtin_type(index);
        }
        write!(self, "!vhlo.{}", type_.layout.name)?;
        if type_.values.is_empty() {
            return Ok(());
        }
        self.write_str("<")?;
        match (type_.layout.name, &type_.values[..]) {
            ("func_v1", [Value::Types(inputs), Value::Types(results)]) => {
                self.write_str("(")?;
                self.types_or_parentheses(inputs)?;
                self.write_str(") -> ")?;
                self.types_or_parentheses(results)?;
            }
            (
                _,
                [
                    Value::Attribute(encoding),
                    Value::Integers(shape),
                    Value::Type(element),
                ],
            ) => {
                self.shape(shape)?;
                self.type_(*element)?;
                self.write_str(", ")?;
                self.attribute(*encoding)?;
            }
            (_, [Value::Integers(shape), Value::Type(element)]) => {
                self.shape(shape)?;
                self.type_(*element)?;
            }
            (_, values) => self.list(values, Self::value)?,
        }
        self.write_str(">")
    }

    fn types_or_parentheses(&mut self, types: &[usize]) -> fmt::Result {
        match types {
            [] => self.write_str("()"),
            _ => self.list(types, |printer, &type_| printer.type_(type_)),
        }
    }

    fn shape(&mut self, shape: &[i64]) -> fmt::Result {
        for &length in shape {
            match length {
                i64::MIN => self.write_str("?x")?,
                length => write!(self, "{length}x")?,
            }
        }
        Ok(())
    }

    fn attribute(&mut self, index: usize) -> fmt::Result {
        let attribute = &self.module.attributes[index];
        if attribute.layout.name == "text" || attribute.dialect != "vhlo" {
            return self.foreign(attribute);
        }
        let name = attribute.layout.name;
        if let ([(_, Kind::Enumerator(names))], [Value::Natural(value)]) =
            (attribute.layout.fields, &attribute.values[..])
        {
            return write!(self, "#vhlo<{name} {}>", names[*value as usize]);
        }
        write!(self, "#vhlo.{name}<")?;
        match (name, &attribute.values[..]) {
            ("bool_v1", [Value::Natural(value)]) => write!(self, "{}", *value != 0)?,
            ("string_v1", [Value::Bytes(text)]) => self.string(text)?,
            ("float_v1" | "integer_v1", [Value::Type(type_), Value::Bits(bits)]) => {
                self.number(*type_, *bits, name)?
            }
            ("tensor_v1", [Value::Type(type_), _]) => {
                if let Some(elements) = Elements::new(attribute, &self.module.types) {
                    self.elements(&elements)?;
                }
                self.write_str(" : ")?;
                self.builtin_type(*type_)?;
            }
            ("array_v1" | "dict_v1" | "type_v1", [value]) => self.value(value)?,
            (_, values) => {
                let fields = attribute.layout.fields.iter().zip(values);
                let present =
                    fields.filter(|(_, value)| !matches!(value, Value::OptionalAttribute(None)));
                self.list(present, |printer, ((field, _), value)| {
                    write!(printer, "{field} = ")?;
                    match value {
                        Value::Integers(numbers) => write!(printer, "{numbers:?}"),
                        value => printer.value(value),
                    }
                })?;
            }
        }
        self.write_str(">")
    }

    fn value(&mut self, value: &Value<'_>) -> fmt::Result {
        match value {
            Value::Attribute(index) | Value::OptionalAttribute(Some(index)) => {
                self.attribute(*index)
            }
            Value::OptionalAttribute(None) => Ok(()),
            Value::Attributes(indices) => {
                self.write_str("[")?;
                self.list(indices, |printer, &index| printer.attribute(index))?;
                self.write_str("]")
            }
            Value::Pairs(pairs) => {
                self.write_str("{")?;
                self.list(pairs, |printer, &(key, value)| {
                    printer.attribute(key)?;
                    printer.write_str(" = ")?;
                    printer.attribute(value)
                })?;
                self.write_str("}")
            }
            Value::Type(index) => self.type_(*index),
            Value::Types(indices) => self.list(indices, |printer, &index| printer.type_(index)),
            Value::Natural(number) | Value::Bits(number) => write!(self, "{number}"),
            Value::Integer(number) => write!(self, "{number}"),
            Value::Integers(numbers) => {
                self.list(numbers, |printer, number| write!(printer, "{number}"))
            }
            Value::Doubles(numbers) => self.list(numbers, |printer, number| {
                printer.write_str(&number::float(Element::Float(64), number.to_bits()))
            }),
            Value::Bytes(bytes) => self.hexadecimal(bytes),
        }
    }

    /// Prints an attribute of another dialect than VHLO, or a type that is not known.
    fn foreign(&mut self, entry: &Entry<'_>) -> fmt::Result {
        match (entry.layout.name, &entry.values[..]) {
            ("text", [Value::Bytes(text)]) => {
                let text = text.strip_suffix(b"\0").unwrap_or(text);
                write!(self, "{}", text.escape_ascii())
            }
            ("string", [Value::Bytes(text)]) => self.string(text),
            ("dictionary", [Value::Pairs(pairs)]) => self.dictionary(pairs),
            ("integer", [Value::Type(type_), Value::Bits(bits)]) => {
                self.number(*type_, *bits, "integer")
            }
            ("float", [Value::Type(type_), Value::Bits(bits)]) => {
                self.number(*type_, *bits, "float")
            }
            ("array" | "type", [value]) => self.value(value),
            (name, []) => self.write_str(name),
            (name, values) => {
                write!(self, "{}.{name}<", entry.dialect)?;
                self.list(values, Self::value)?;
                self.write_str(">")
            }
        }
    }

    /// Prints a dictionary of the builtin dialect, whose keys are names.
    fn dictionary(&mut self, pairs: &[(usize, usize)]) -> fmt::Result {
        self.write_str("{")?;
        self.list(pairs, |printer, &(key, value)| {
            let name = printer.module.string(key).unwrap_or_default();
            write!(printer, "{}", name.escape_ascii())?;
            if printer.module.attributes[value].layout.name == "unit" {
                return Ok(());
            }
            printer.write_str(" = ")?;
            printer.attribute(value)
        })?;
        self.write_str("}")
    }

    fn string(&mut self, text: &[u8]) -> fmt::Result {
        self.write_str("\"")?;
        for &byte in text {
            match byte {
                b'\\' => self.write_str("\\\\")?,
                b' '..=b'~' if byte != b'"' => self.write_char(char::from(byte))?,
                _ => write!(self, "\\{byte:02X}")?,
            }
        }
        self.write_str("\"")
    }

    fn hexadecimal(&mut self, bytes: &[u8]) -> fmt::Result {
        self.write_str("\"0x")?;
        for byte in bytes {
            write!(self, "{byte:02X}")?;
        }
        self.write_str("\"")
    }

    /// Prints a number and its type.
    fn number(&mut self, type_: usize, bits: u64, name: &str) -> fmt::Result {
        let entry = &self.module.types[type_];
        let text = number::scalar(entry, bits);
        write!(self, "{text} : ")?;
        if name == "float_v1" {
            self.type_(type_)
        } else {
            self.builtin_type(type_)
        }
    }

    /// Prints a type of another dialect than VHLO, and a type of VHLO as one of the builtin dialect.
    fn builtin_type(&mut self, index: usize) -> fmt::Result {
        let type_ = &self.module.types[index];
        match (type_.layout.name, &type_.values[..]) {
            ("bool_v1", _) => self.write_str("i1"),
            ("tensor_v1" | "tensor", [.., Value::Integers(shape), Value::Type(element)]) => {
                self.write_str("tensor<")?;
                self.shape(shape)?;
                self.builtin_type(*element)?;
                self.write_str(">")
            }
            ("complex_v1" | "complex", [Value::Type(element)]) => {
                self.write_str("complex<")?;
                self.builtin_type(*element)?;
                self.write_str(">")
            }
            ("integer", [Value::Natural(number)]) => {
                let prefix = ["i", "si", "ui", "?"][(*number & 3) as usize];
                write!(self, "{prefix}{}", number >> 2)
            }
            (name, []) => self.write_str(name.trim_end_matches("_v1")),
            _ => self.foreign(type_),
        }
    }

    fn elements(&mut self, elements: &Elements<'_>) -> fmt::Result {
        self.write_str("dense<")?;
        let items: Vec<&[u8]> = elements
            .bytes
            .chunks_exact(elements.element.size())
            .collect();
        if elements.is_splat {
            self.write_str(&number::element(elements.element, items[0]))?;
        } else if items.len() > MAX_ELEMENTS {
            self.hexadecimal(&elements.bytes)?;
        } else if !items.is_empty() {
            self.nested(elements, &items)?;
        }
        self.write_str(">")
    }

    /// Prints elements with brackets around each row, and around each row of rows.
    fn nested(&mut self, elements: &Elements<'_>, items: &[&[u8]]) -> fmt::Result {
        for (index, item) in items.iter().enumerate() {
            let edges = |index: usize| {
                let mut length = 1;
                let rows = elements.shape.iter().rev().take_while(move |&&dimension| {
                    length *= dimension as usize;
                    index.is_multiple_of(length)
                });
                rows.count()
            };
            let separator = if index > 0 { ", " } else { "" };
            write!(self, "{separator}{}", "[".repeat(edges(index)))?;
            self.write_str(&number::element(elements.element, item))?;
            self.write_str(&"]".repeat(edges(index + 1)))?;
        }
        Ok(())
    }
}
