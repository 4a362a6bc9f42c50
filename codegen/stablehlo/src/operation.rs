//! Operations, and the regions and blocks inside of them.

use crate::cursor::{Cursor, MAX_DEPTH};
use crate::elements::Elements;
use crate::entry::{Context, Entry, Value};
use crate::error::ReadError;
use crate::properties::AttributeNames;
use crate::section::{self, Dialect, Names, Sections};
use crate::table::Tables;

/// A program.
#[derive(Debug)]
pub struct Module<'a> {
    /// Version of the bytecode format.
    pub version: u64,
    /// Name of the program that wrote it, such as `StableHLO_v1.13.0`.
    pub producer: &'a [u8],
    /// Dialects that are used.
    pub dialects: Vec<Dialect<'a>>,
    /// Attributes, which refer to each other by index.
    pub attributes: Vec<Entry<'a>>,
    /// Types, which refer to each other by index.
    pub types: Vec<Entry<'a>>,
    /// Type of each value of the program.
    pub values: Vec<usize>,
    /// The operations at the top: one `builtin.module`.
    pub body: Block<'a>,
}

/// An operation.
#[derive(Debug)]
pub struct Operation<'a> {
    /// Dialect that defines it.
    pub dialect: &'a str,
    /// Name without that of the dialect.
    pub name: &'a str,
    /// Attribute that states its location in a source.
    pub location: usize,
    /// Dictionary of its attributes that are no properties.
    pub attributes: Option<usize>,
    /// Attributes that its definition states.
    pub properties: Properties<'a>,
    /// Values that it takes, as indices into [`Module::values`].
    pub operands: Vec<usize>,
    /// Values that it defines.
    pub results: Vec<usize>,
    /// Blocks of its region that may be executed after it.
    pub successors: Vec<usize>,
    /// Its regions.
    pub regions: Vec<Region<'a>>,
}

/// The attributes that the definition of an operation states.
#[derive(Debug)]
pub enum Properties<'a> {
    /// Names and attributes.
    Known(Vec<(&'static str, usize)>),
    /// The encoding of an operation that the reader does not know.
    Opaque(&'a [u8]),
}

/// A region: blocks of operations.
#[derive(Debug)]
pub struct Region<'a>(pub Vec<Block<'a>>);

/// A block of operations.
#[derive(Debug, Default)]
pub struct Block<'a> {
    /// Values that it defines.
    pub arguments: Vec<usize>,
    /// Its operations.
    pub operations: Vec<Operation<'a>>,
}

impl<'a> Module<'a> {
    /// Reads a program.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes are no MLIR bytecode of a known version, if they contradict themselves, or if they
    /// have an attribute or a type of VHLO that is newer than the reader.
    pub fn read(program: &'a [u8]) -> Result<Self, ReadError> {
        let sections = Sections::read(program)?;
        let strings = section::read_strings(sections.get(section::STRINGS)?)?;
        let names = Names::read(sections.get(section::DIALECTS)?, &strings, sections.version)?;
        let tables = Tables::read(&sections, &strings, &names.dialects)?;
        let mut reader = Reader {
            version: sections.version,
            properties: read_properties(&sections)?,
            context: Context {
                strings: &strings,
                attribute_count: tables.attributes.len(),
                type_count: tables.types.len(),
                types: &tables.types,
            },
            names: &names,
            attribute_names: AttributeNames::new(),
            values: Vec::new(),
            undefined: 0,
            end: program.len(),
            scope: Vec::new(),
        };
        let mut cursor = sections.get(section::OPERATIONS)?;
        let mut defined = 0..0;
        let body = reader.block(&mut cursor, &mut defined, 0)?;
        cursor.expect_end("the last operation")?;
        let values = reader.values;
        Ok(Self {
            version: sections.version,
            producer: sections.producer,
            dialects: names.dialects,
            attributes: tables.attributes,
            types: tables.types,
            values,
            body,
        })
    }

    /// Returns the elements of an attribute, or `None` if it is no tensor.
    pub fn elements(&self, attribute: usize) -> Option<Elements<'_>> {
        Elements::new(self.attributes.get(attribute)?, &self.types)
    }

    /// Returns the text of an attribute that is a string.
    pub fn string(&self, attribute: usize) -> Option<&'a [u8]> {
        match (
            self.attributes.get(attribute)?.layout.name,
            &self.attributes[attribute].values[..],
        ) {
            ("string" | "string_v1", [Value::Bytes(text)]) => Some(text),
            _ => None,
        }
    }
}

/// Reads the properties of operations. Each begins with its size.
fn read_properties<'a>(sections: &Sections<'a>) -> Result<Vec<Cursor<'a>>, ReadError> {
    let Some(mut cursor) = sections.find(section::PROPERTIES) else {
        return Ok(Vec::new());
    };
    let properties = cursor.list(|cursor| {
        let size = cursor.count()?;
        cursor.range(size)
    })?;
    cursor.expect_end("the last properties")?;
    Ok(properties)
}

/// The state of reading operations.
struct Reader<'a, 'b> {
    version: u64,
    properties: Vec<Cursor<'a>>,
    context: Context<'a, 'b>,
    names: &'b Names<'a>,
    attribute_names: AttributeNames,
    /// Type of each value of the program. Those of a region are added when it begins, and get their type when defined.
    values: Vec<usize>,
    /// Number of values of all open regions that are not defined yet.
    undefined: usize,
    /// Size of the program.
    end: usize,
    /// Values that operations may refer to: those of the regions around them, up to an isolated one.
    scope: Vec<usize>,
}

/// The parts that an operation has, as bits of its mask.
mod part {
    pub const ATTRIBUTES: u8 = 1;
    pub const RESULTS: u8 = 2;
    pub const OPERANDS: u8 = 4;
    pub const SUCCESSORS: u8 = 8;
    pub const REGIONS: u8 = 16;
    pub const USE_ORDERS: u8 = 32;
    pub const PROPERTIES: u8 = 64;
    pub const ALL: u8 = 127;
}

/// The values of a region that are not defined yet.
type Undefined = std::ops::Range<usize>;

impl<'a> Reader<'a, '_> {
    fn attribute(&self, cursor: &mut Cursor<'a>) -> Result<usize, ReadError> {
        cursor.index(self.context.attribute_count, "attribute")
    }

    /// Defines the next value of a region.
    fn define(
        &mut self,
        cursor: &Cursor<'a>,
        undefined: &mut Undefined,
        type_: u64,
    ) -> Result<usize, ReadError> {
        let type_ = cursor.checked_index(type_, self.context.type_count, "type")?;
        let Some(value) = undefined.next() else {
            return cursor.error("a region defines more values than it states");
        };
        self.values[value] = type_;
        self.undefined -= 1;
        Ok(value)
    }

    fn operation(
        &mut self,
        cursor: &mut Cursor<'a>,
        undefined: &mut Undefined,
        depth: usize,
    ) -> Result<Operation<'a>, ReadError> {
        let (dialect, name) =
            self.names.operations[cursor.index(self.names.operations.len(), "operation")?];
        let dialect = self.names.dialects[dialect].name;
        let mask = cursor.byte()?;
        if mask & !part::ALL != 0 {
            return cursor.error(format!("operation {name} has unknown parts"));
        }
        let has = |part| mask & part != 0;
        let location = self.attribute(cursor)?;
        let attributes = has(part::ATTRIBUTES)
            .then(|| self.attribute(cursor))
            .transpose()?;
        let properties = if has(part::PROPERTIES) {
            self.read_properties(cursor, dialect, name)?
        } else {
            Properties::Known(Vec::new())
        };
        let results = self.results(cursor, undefined, has(part::RESULTS))?;
        let operands = self.indices(cursor, has(part::OPERANDS), |reader, cursor| {
            Ok(reader.scope[cursor.index(reader.scope.len(), "value")?])
        })?;
        let successors = self.indices(cursor, has(part::SUCCESSORS), |_, cursor| {
            cursor.index(1 << 20, "block")
        })?;
        if has(part::USE_ORDERS) {
            skip_use_orders(cursor, results.len())?;
        }
        let regions = if has(part::REGIONS) {
            self.regions(cursor, depth)?
        } else {
            Vec::new()
        };
        Ok(Operation {
            dialect,
            name,
            location,
            attributes,
            properties,
            operands,
            results,
            successors,
            regions,
        })
    }

    fn results(
        &mut self,
        cursor: &mut Cursor<'a>,
        undefined: &mut Undefined,
        has_results: bool,
    ) -> Result<Vec<usize>, ReadError> {
        if !has_results {
            return Ok(Vec::new());
        }
        cursor.list(|cursor| {
            let type_ = cursor.varint()?;
            self.define(cursor, undefined, type_)
        })
    }

    fn indices(
        &self,
        cursor: &mut Cursor<'a>,
        exist: bool,
        read: impl Fn(&Self, &mut Cursor<'a>) -> Result<usize, ReadError>,
    ) -> Result<Vec<usize>, ReadError> {
        if exist {
            cursor.list(|cursor| read(self, cursor))
        } else {
            Ok(Vec::new())
        }
    }

    fn read_properties(
        &self,
        cursor: &mut Cursor<'a>,
        dialect: &str,
        name: &str,
    ) -> Result<Properties<'a>, ReadError> {
        let mut bytes = self.properties[cursor.index(self.properties.len(), "property")?];
        if (dialect, name) == ("builtin", "module") {
            return self.module_properties(&mut bytes);
        }
        let names = if dialect == "vhlo" {
            self.attribute_names.find(name)
        } else {
            None
        };
        let Some(names) = names else {
            return Ok(Properties::Opaque(bytes.bytes(bytes.len())?));
        };
        let known = names
            .map(|name| Ok((name, self.attribute(&mut bytes)?)))
            .collect::<Result<_, _>>()?;
        bytes.expect_end(name)?;
        Ok(Properties::Known(known))
    }

    fn module_properties(&self, bytes: &mut Cursor<'a>) -> Result<Properties<'a>, ReadError> {
        let mut known = Vec::new();
        for name in ["sym_name", "sym_visibility"] {
            known.extend(
                self.context
                    .optional(bytes)?
                    .map(|attribute| (name, attribute)),
            );
        }
        bytes.expect_end("the properties of a module")?;
        Ok(Properties::Known(known))
    }

    fn regions(
        &mut self,
        cursor: &mut Cursor<'a>,
        depth: usize,
    ) -> Result<Vec<Region<'a>>, ReadError> {
        let (count, is_isolated) = cursor.flagged()?;
        if depth >= MAX_DEPTH {
            return cursor.error(format!(
                "more than {MAX_DEPTH} regions are inside of each other"
            ));
        }
        if !is_isolated {
            let count = cursor.checked_count(count)?;
            return (0..count).map(|_| self.region(cursor, depth + 1)).collect();
        }
        let outer = std::mem::take(&mut self.scope);
        let regions = self.isolated_regions(cursor, count, depth + 1)?;
        self.scope = outer;
        Ok(regions)
    }

    /// Reads regions whose operations use no value from outside. From version 2 on they are in a section.
    fn isolated_regions(
        &mut self,
        cursor: &mut Cursor<'a>,
        count: u64,
        depth: usize,
    ) -> Result<Vec<Region<'a>>, ReadError> {
        let count = cursor.checked_count(count)?;
        if self.version < 2 {
            return (0..count).map(|_| self.region(cursor, depth)).collect();
        }
        let (id, mut section) = section::read_section(cursor)?;
        if id != section::OPERATIONS {
            return cursor.error(format!("section {id} has no regions"));
        }
        let regions = (0..count)
            .map(|_| self.region(&mut section, depth))
            .collect::<Result<_, _>>()?;
        section.expect_end("the last region")?;
        Ok(regions)
    }

    fn region(&mut self, cursor: &mut Cursor<'a>, depth: usize) -> Result<Region<'a>, ReadError> {
        let block_count = cursor.count()?;
        if block_count == 0 {
            return Ok(Region(Vec::new()));
        }
        let outer = self.scope.len();
        let value_count = cursor.count()?;
        self.undefined += value_count;
        // Each value is defined by at least one byte, which follows: the regions together cannot state more values.
        if self.undefined > self.end - cursor.offset {
            let (values, bytes) = (self.undefined, self.end - cursor.offset);
            return cursor.error(format!(
                "{values} values are expected, {bytes} bytes remain"
            ));
        }
        let mut undefined = self.values.len()..self.values.len() + value_count;
        self.values.resize(undefined.end, 0);
        self.scope.extend(undefined.clone());
        let blocks = (0..block_count)
            .map(|_| self.block(cursor, &mut undefined, depth))
            .collect::<Result<_, _>>()?;
        if !undefined.is_empty() {
            return cursor.error(format!(
                "a region defines {} values less than it states",
                undefined.len()
            ));
        }
        self.scope.truncate(outer);
        Ok(Region(blocks))
    }

    fn block(
        &mut self,
        cursor: &mut Cursor<'a>,
        undefined: &mut Undefined,
        depth: usize,
    ) -> Result<Block<'a>, ReadError> {
        let (count, has_arguments) = cursor.flagged()?;
        let mut block = Block::default();
        if has_arguments {
            block.arguments = cursor.list(|cursor| self.argument(cursor, undefined))?;
            if self.version >= 3 && cursor.byte()? != 0 {
                skip_use_orders(cursor, block.arguments.len())?;
            }
        }
        for _ in 0..cursor.checked_count(count)? {
            block
                .operations
                .push(self.operation(cursor, undefined, depth)?);
        }
        Ok(block)
    }

    fn argument(
        &mut self,
        cursor: &mut Cursor<'a>,
        undefined: &mut Undefined,
    ) -> Result<usize, ReadError> {
        let (type_, has_location) = if self.version >= 4 {
            cursor.flagged()?
        } else {
            (cursor.varint()?, true)
        };
        let value = self.define(cursor, undefined, type_)?;
        if has_location {
            self.attribute(cursor)?;
        }
        Ok(value)
    }
}

/// Skips the orders of the uses of values, which compilers keep for reproducible results.
fn skip_use_orders(cursor: &mut Cursor<'_>, values: usize) -> Result<(), ReadError> {
    let count = if values > 1 { cursor.count()? } else { 1 };
    for _ in 0..count {
        if values > 1 {
            cursor.varint()?;
        }
        let (count, _) = cursor.flagged()?;
        for _ in 0..cursor.checked_count(count)? {
            cursor.varint()?;
        }
    }
    Ok(())
}
