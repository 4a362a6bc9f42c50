//! The `#include` lines of a header.

/// An `#include` line.
pub struct Include<'a> {
    /// The header's name as it is written.
    pub name: &'a str,
    /// True for `"name"`, false for `<name>`.
    pub quoted: bool,
}

impl Include<'_> {
    /// Returns true for a header of the C++ standard library: `<string>`, but not `<string.h>` or `<cstring>`.
    pub fn is_cpp(&self) -> bool {
        const C_HEADERS: &str = "
            cassert cerrno cfloat cinttypes climits cstdarg cstdbool cstddef cstdint
            cstdio cstdlib cstring";
        let is_c =
            self.name.ends_with(".h") || C_HEADERS.split_whitespace().any(|it| it == self.name);
        !self.quoted && !is_c
    }
}

/// Returns the includes of a header in order, each with its line.
pub fn includes(text: &str) -> impl Iterator<Item = (usize, Include<'_>)> {
    let lines = text.lines().enumerate();
    lines.filter_map(|(index, line)| Some((index + 1, include(line)?)))
}

/// The directives that include a file.
const DIRECTIVES: [&str; 4] = ["include_next", "include", "import", "__include_macros"];

fn include(line: &str) -> Option<Include<'_>> {
    let rest = line.trim_start();
    let rest = rest.strip_prefix('#').or_else(|| rest.strip_prefix("%:"))?;
    let rest = rest.trim_start();
    let name = DIRECTIVES.iter().find_map(|it| rest.strip_prefix(it))?;
    let rest = name.trim_start();
    let quoted = rest.starts_with('"');
    let rest = rest.strip_prefix(['"', '<'])?;
    let (name, _) = rest.split_once(if quoted { '"' } else { '>' })?;
    Some(Include { name, quoted })
}

/// Returns `text` with a space for each comment and without the line breaks after a backslash, as the preprocessor reads it
/// (C11, 5.1.1.2). The line breaks of both are at the end of their line, so that the next lines have the same numbers.
pub fn without_comments_and_splices(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut removed_breaks) = (text, 0);
    while let Some(next) = rest.chars().next() {
        let taken = match next {
            '\\' => splice(rest),
            '/' => comment(rest),
            '"' | '\'' => Some((Taken::Text, literal_length(rest, next))),
            _ => None,
        };
        let (kind, length) = taken.unwrap_or((Taken::Text, next.len_utf8()));
        let (part, after) = rest.split_at(length);
        match kind {
            Taken::Text => out.push_str(part),
            Taken::Comment => out.push(' '),
            Taken::Splice => {}
        }
        match (kind, next) {
            (Taken::Text, '\n') => out.extend(std::iter::repeat_n(
                '\n',
                std::mem::take(&mut removed_breaks),
            )),
            (Taken::Text, _) => {}
            _ => removed_breaks += part.matches('\n').count(),
        }
        rest = after;
    }
    out
}

#[derive(Clone, Copy)]
enum Taken {
    Text,
    Comment,
    Splice,
}

fn splice(text: &str) -> Option<(Taken, usize)> {
    let length = ["\\\n", "\\\r\n"]
        .iter()
        .find(|it| text.starts_with(**it))?
        .len();
    Some((Taken::Splice, length))
}

fn comment(text: &str) -> Option<(Taken, usize)> {
    let length = match text.get(..2)? {
        "/*" => text[2..].find("*/").map_or(text.len(), |end| end + 4),
        "//" => text.find('\n').unwrap_or(text.len()),
        _ => return None,
    };
    Some((Taken::Comment, length))
}

/// Returns the length of a string or character literal. One without an end, as in `#error can't`, ends with its line.
fn literal_length(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (index, c) in text.char_indices().skip(1) {
        match c {
            '\n' => return index,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if c == quote => return index + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<(usize, String)> {
        let text = without_comments_and_splices(text);
        let found = includes(&text).map(|(line, include)| (line, include.name.to_owned()));
        found.collect()
    }

    #[test]
    fn finds_each_spelling_of_an_include() {
        for text in [
            "#include \"a.h\"",
            "%:include \"a.h\"",
            " # include_next <a.h>",
            "#import \"a.h\"",
            "#__include_macros \"a.h\"",
            "#inc\\\nlude \\\r\n\"a.h\"",
            "#/*x*/include/**/\"a.h\"",
            "/*\n*/#include \"a.h\"",
            "# /* \n\n */ include \"a.h\"",
        ] {
            let found = names(text);
            assert!(
                matches!(&found[..], [(1, name)] if name == "a.h"),
                "{text}: {found:?}"
            );
        }
    }

    #[test]
    fn states_line_after_comments_and_splices() {
        let text = "/* 1\n2 */ int x; \\\nint y;\n#include \"a.h\" // \\\"\n#include <b.h>\n";
        assert_eq!(names(text), [(4, "a.h".to_owned()), (5, "b.h".to_owned())]);
    }

    #[test]
    fn finds_no_include_in_comments() {
        let text = "// #include \"a.h\"\n/*\n#include \"b.h\"\n*/\nchar s[] = \"/*\";\n#error can't\n#include \"c.h\"\n";
        assert_eq!(names(text), [(7, "c.h".to_owned())]);
        assert_eq!(names("/* \n#include \"a.h\""), []);
        assert_eq!(names("#include MACRO"), []);
    }
}
