//! Tables of cases in tests. The tests of sp-host include this file: a scaffold has sp-host and not sp-tests.

/// Returns the rows of a table of cases. A bar or a line break ends a cell; indented lines continue the row above them.
///
/// # Panics
/// Panics if there is no row, or if one does not have `N` cells.
pub fn rows<const N: usize>(table: &str) -> Vec<[&str; N]> {
    let mut rows: Vec<Vec<&str>> = Vec::new();
    for line in table.lines().filter(|line| !line.trim().is_empty()) {
        if !line.starts_with(' ') {
            rows.push(Vec::new());
        }
        let row = rows.last_mut().expect("the first line begins a row");
        row.extend(line.split('|').map(str::trim));
    }
    assert!(!rows.is_empty(), "a table without rows");
    let to_cells = |row: Vec<_>| row.try_into();
    let cells = rows.into_iter().map(to_cells).collect::<Result<_, _>>();
    cells.unwrap_or_else(|row| panic!("not {N} cells: {row:?}"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn indented_line_continues_the_row() {
        let table = "\na | b |\n    c d\ne\n    f | g\n    h\n";
        assert_eq!(
            super::rows(table),
            [["a", "b", "", "c d"], ["e", "f", "g", "h"]]
        );
    }

    #[test]
    #[should_panic(expected = "not 2 cells: [\"c\"]")]
    fn row_with_another_number_of_cells_panics() {
        super::rows::<2>("a | b\nc\nd | e | f");
    }

    #[test]
    #[should_panic(expected = "a table without rows")]
    fn table_without_rows_panics() {
        super::rows::<2>("\n");
    }
}
