//! Tables of cases in tests. The tests of sp-host include this file: a scaffold has sp-host and not sp-tests.

/// Returns the rows of a table of cases. A bar or a line break ends a cell.
///
/// # Panics
/// Panics if the last row does not have `N` cells.
pub fn rows<const N: usize>(table: &str) -> Vec<[&str; N]> {
    let cells = table.trim().split(['|', '\n']).map(str::trim);
    let cells: Vec<&str> = cells.collect();
    let (rows, rest) = cells.as_chunks();
    assert!(rest.is_empty(), "not {N} cells: {rest:?}");
    rows.to_vec()
}
