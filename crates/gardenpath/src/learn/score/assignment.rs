//! The assignment problem: one column for each row, so that the sum of the chosen entries is largest.

/// The best one-to-one assignment of rows to columns by total profit, in cubic time.
///
/// A row is left without a column only if there are more rows than columns. The method is that of shortest augmenting
/// paths with potentials: rows enter one by one, and each finds the cheapest way to move the others aside.
///
/// ```
/// use gardenpath::learn::score::best_assignment;
/// let profit = vec![vec![5.0, 4.0, 0.0], vec![4.0, 1.0, 0.0], vec![0.0, 0.0, 0.0]];
/// assert_eq!(best_assignment(&profit), [Some(1), Some(0), Some(2)]);
/// ```
///
/// # Panics
/// If the rows differ in length.
pub fn best_assignment(profit: &[Vec<f64>]) -> Vec<Option<usize>> {
    let rows = profit.len();
    let columns = profit.first().map_or(0, Vec::len);
    assert!(profit.iter().all(|row| row.len() == columns), "a matrix has rows of equal length");
    if rows > columns {
        let transposed: Vec<Vec<f64>> = (0..columns).map(|c| profit.iter().map(|row| row[c]).collect()).collect();
        let mut assignment = vec![None; rows];
        for (column, row) in best_assignment(&transposed).into_iter().enumerate() {
            assignment[row.expect("every column of a tall matrix has a row")] = Some(column);
        }
        return assignment;
    }
    let mut search = Search::new(profit, rows, columns);
    (0..rows).for_each(|row| search.insert(row));
    let mut assignment = vec![None; rows];
    for (column, row) in search.row_of.iter().enumerate() {
        if let Some(row) = row {
            assignment[*row] = Some(column);
        }
    }
    assignment
}

struct Search<'p> {
    profit: &'p [Vec<f64>],
    /// Reduced costs `-profit - row_potential - column_potential` are never negative, and zero on the assignment.
    row_potential: Vec<f64>,
    column_potential: Vec<f64>,
    row_of: Vec<Option<usize>>,
}

impl<'p> Search<'p> {
    fn new(profit: &'p [Vec<f64>], rows: usize, columns: usize) -> Self {
        let (row_potential, column_potential) = (vec![0.0; rows], vec![0.0; columns]);
        Search { profit, row_potential, column_potential, row_of: vec![None; columns] }
    }

    fn reduced_cost(&self, row: usize, column: usize) -> f64 {
        -self.profit[row][column] - self.row_potential[row] - self.column_potential[column]
    }

    /// Dijkstra's search from a new row to the nearest free column, then the change of hands along the path.
    fn insert(&mut self, new_row: usize) {
        let columns = self.row_of.len();
        let mut distance = vec![f64::INFINITY; columns];
        let mut came_from: Vec<Option<usize>> = vec![None; columns];
        let mut done = vec![false; columns];
        let (mut row, mut reached, mut via) = (new_row, 0.0, None);
        let free = loop {
            for column in (0..columns).filter(|&column| !done[column]) {
                let through = reached + self.reduced_cost(row, column);
                if through < distance[column] {
                    (distance[column], came_from[column]) = (through, via);
                }
            }
            let open = (0..columns).filter(|&column| !done[column]);
            let nearest = open.reduce(|a, b| if distance[b] < distance[a] { b } else { a });
            let nearest = nearest.expect("there are at least as many columns as rows");
            done[nearest] = true;
            reached = distance[nearest];
            match self.row_of[nearest] {
                None => break nearest,
                Some(owner) => (row, via) = (owner, Some(nearest)),
            }
        };
        self.row_potential[new_row] += reached;
        for column in (0..columns).filter(|&column| done[column]) {
            self.column_potential[column] -= reached - distance[column];
            if let Some(owner) = self.row_of[column] {
                self.row_potential[owner] += reached - distance[column];
            }
        }
        let mut column = free;
        while let Some(previous) = came_from[column] {
            self.row_of[column] = self.row_of[previous];
            column = previous;
        }
        self.row_of[column] = Some(new_row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    /// The largest total over all assignments of rows to distinct columns (or to none, if there are too few).
    fn brute_force(profit: &[Vec<f64>], used: &mut Vec<bool>, row: usize, skips: usize) -> f64 {
        let Some(values) = profit.get(row) else { return 0.0 };
        let mut best = f64::NEG_INFINITY;
        for (column, value) in values.iter().enumerate() {
            if !used[column] {
                used[column] = true;
                best = best.max(value + brute_force(profit, used, row + 1, skips));
                used[column] = false;
            }
        }
        if skips > 0 { best.max(brute_force(profit, used, row + 1, skips - 1)) } else { best }
    }

    #[test]
    fn as_good_as_brute_force() {
        let mut stream = Seed::new(3).stream(0);
        for trial in 0..400 {
            let (rows, columns) = (1 + stream.below(6) as usize, 1 + stream.below(6) as usize);
            // Small integers have many ties, some matrices are negative.
            let mut value = || stream.below(7) as f64 - if trial % 2 == 0 { 0.0 } else { 3.5 };
            let profit: Vec<Vec<f64>> = (0..rows).map(|_| (0..columns).map(|_| value()).collect()).collect();
            let assignment = best_assignment(&profit);
            let total: f64 = assignment.iter().zip(&profit).filter_map(|(column, row)| Some(row[(*column)?])).sum();
            let mut chosen: Vec<usize> = assignment.iter().flatten().copied().collect();
            chosen.sort_unstable();
            chosen.dedup();
            assert_eq!(chosen.len(), rows.min(columns), "one to one and as many as possible");
            let best = brute_force(&profit, &mut vec![false; columns], 0, rows.saturating_sub(columns));
            assert!((total - best).abs() < 1e-9, "{profit:?}: {total} against {best}");
        }
    }
}
