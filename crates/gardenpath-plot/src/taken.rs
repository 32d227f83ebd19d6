//! Tracks which parts of a frame are taken by data, so that legends and labels can avoid them. The frame is divided
//! into small squares, so queries are fast for any number of points.

use super::geometry::{Rect, Spot};

/// The taken squares of a frame, each one point wide and high.
#[derive(Clone, Debug)]
pub(super) struct Taken {
    frame: Rect,
    columns: usize,
    squares: Vec<bool>,
}

impl Taken {
    /// An empty frame.
    pub fn new(frame: Rect) -> Self {
        let [columns, rows] = [frame.width(), frame.height()].map(|side| side.ceil().clamp(1.0, 5000.0) as usize);
        Taken { frame, columns, squares: vec![false; columns * rows] }
    }

    /// The squares that a box overlaps, as ranges in rows.
    fn squares(&self, area: &Rect) -> impl Iterator<Item = std::ops::Range<usize>> {
        let (columns, rows) = (self.columns, self.squares.len() / self.columns);
        let range = |from: f64, to: f64, start: f64, count: usize| {
            // Negative numbers saturate to zero.
            ((from - start).floor() as usize, ((to - start).floor() + 1.0).clamp(0.0, count as f64) as usize)
        };
        let (left, right) = range(area.left, area.right, self.frame.left, columns);
        let (top, bottom) = range(area.top, area.bottom, self.frame.top, rows);
        (top..bottom).map(move |row| row * columns + left.min(right)..row * columns + right)
    }

    /// The number of taken squares in the box.
    pub fn count(&self, area: &Rect) -> usize {
        self.squares(area).map(|row| self.squares[row].iter().filter(|&&taken| taken).count()).sum()
    }

    /// Marks a box as taken.
    pub fn add(&mut self, area: &Rect) {
        for row in self.squares(area).collect::<Vec<_>>() {
            self.squares[row].fill(true);
        }
    }

    /// Marks the squares that a line crosses.
    pub fn add_line(&mut self, from: Spot, to: Spot) {
        let Some((a, b)) = self.frame.clip_line(from, to) else { return };
        let steps = (2.0 * (b.0 - a.0).hypot(b.1 - a.1)).ceil().max(1.0) as u32;
        for step in 0..=steps {
            let t = f64::from(step) / f64::from(steps);
            let spot = (a.0 + (b.0 - a.0) * t, a.1 + (b.1 - a.1) * t);
            self.add(&Rect::around(spot, spot));
        }
    }

    /// Marks the area between two lines over a range of x, each given by its heights at both ends.
    pub fn add_band(&mut self, places: (f64, f64), low: (f64, f64), high: (f64, f64)) {
        let width = places.1 - places.0;
        let ends = [places.0, places.1].map(|place| place.clamp(self.frame.left, self.frame.right));
        let steps = (ends[1] - ends[0]).abs().ceil() as u32;
        for step in 0..=steps {
            let place = ends[0] + (ends[1] - ends[0]) * f64::from(step) / f64::from(steps.max(1));
            let t = if width == 0.0 { 0.0 } else { (place - places.0) / width };
            let at = |heights: (f64, f64)| heights.0 + (heights.1 - heights.0) * t;
            self.add(&Rect::around((place, at(low)), (place, at(high))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn free() -> Taken {
        Taken::new(Rect::new(10.0, 20.0, 100.0, 50.0))
    }

    /// Whether the square around a spot is taken.
    fn at(taken: &Taken, x: f64, y: f64) -> bool {
        taken.count(&Rect::around((x, y), (x, y))) > 0
    }

    #[test]
    fn boxes_are_counted_in_squares() {
        let mut taken = free();
        taken.add(&Rect::new(15.2, 30.2, 2.0, 3.0));
        assert_eq!(taken.count(&Rect::new(10.0, 20.0, 100.0, 50.0)), 12);
        assert!(at(&taken, 17.1, 33.1) && !at(&taken, 18.1, 33.1) && !at(&taken, 17.1, 34.1));
        taken.add(&Rect::new(-50.0, -50.0, 1000.0, 1000.0));
        assert_eq!(taken.count(&Rect::new(0.0, 0.0, 1000.0, 1000.0)), 5000);
    }

    #[test]
    fn boxes_outside_take_nothing() {
        let mut taken = free();
        taken.add(&Rect::new(0.0, 0.0, 9.0, 9.0));
        taken.add(&Rect::new(200.0, 30.0, 9.0, 9.0));
        assert_eq!(taken.count(&Rect::new(10.0, 20.0, 100.0, 50.0)), 0);
    }

    #[test]
    fn a_diagonal_leaves_its_corners_free() {
        let mut taken = free();
        taken.add_line((-90.0, -30.0), (210.0, 120.0));
        assert!(at(&taken, 60.0, 45.0) && at(&taken, 108.1, 69.1));
        assert_eq!(taken.count(&Rect::new(66.0, 20.0, 44.0, 25.0)), 0);
    }

    #[test]
    fn a_band_is_filled() {
        let mut taken = free();
        taken.add_band((10.0, 210.0), (60.0, 60.0), (30.0, 50.0));
        assert!(at(&taken, 20.0, 31.5) && at(&taken, 100.0, 45.0) && at(&taken, 100.0, 59.0));
        assert!(!at(&taken, 20.0, 25.0) && !at(&taken, 100.0, 35.0) && !at(&taken, 50.0, 65.0));
    }
}
