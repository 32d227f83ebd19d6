//! Boxes, and clipping of lines and areas. Clipping here instead of with `clip-path` keeps files free of IDs, which
//! could clash with those of a drawing inside the figure.

/// A position on the page in points, or on a drawing in its units, from the upper left corner.
pub type Spot = (f64, f64);

/// A box on the page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rect {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Rect {
    pub fn new(left: f64, top: f64, width: f64, height: f64) -> Self {
        Rect { left, top, right: left + width, bottom: top + height }
    }

    /// The bounding box of two spots.
    pub fn around(a: Spot, b: Spot) -> Self {
        Rect { left: a.0.min(b.0), top: a.1.min(b.1), right: a.0.max(b.0), bottom: a.1.max(b.1) }
    }

    pub fn width(&self) -> f64 {
        self.right - self.left
    }

    pub fn height(&self) -> f64 {
        self.bottom - self.top
    }

    pub fn middle(&self) -> Spot {
        ((self.left + self.right) / 2.0, (self.top + self.bottom) / 2.0)
    }

    /// The box grown by a border of this width, or shrunk if negative.
    pub fn grown(&self, by: f64) -> Self {
        Rect { left: self.left - by, top: self.top - by, right: self.right + by, bottom: self.bottom + by }
    }

    /// The intersection of two boxes.
    pub fn common(&self, other: &Rect) -> Option<Rect> {
        let (left, top) = (self.left.max(other.left), self.top.max(other.top));
        let (right, bottom) = (self.right.min(other.right), self.bottom.min(other.bottom));
        (left <= right && top <= bottom).then_some(Rect { left, top, right, bottom })
    }

    /// Whether the spot is inside, with some tolerance for rounding.
    pub fn holds(&self, (x, y): Spot) -> bool {
        let slack = 1e-6;
        (self.left - slack..=self.right + slack).contains(&x) && (self.top - slack..=self.bottom + slack).contains(&y)
    }

    /// Whether the other box is entirely inside.
    pub fn encloses(&self, other: &Rect) -> bool {
        self.holds((other.left, other.top)) && self.holds((other.right, other.bottom))
    }

    /// The part of a line inside the box (Liang-Barsky), if any.
    pub fn clip_line(&self, a: Spot, b: Spot) -> Option<(Spot, Spot)> {
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let (mut from, mut to) = (0.0_f64, 1.0_f64);
        let sides = [(-dx, a.0 - self.left), (dx, self.right - a.0), (-dy, a.1 - self.top), (dy, self.bottom - a.1)];
        for (towards, room) in sides {
            if towards == 0.0 {
                if room < 0.0 {
                    return None;
                }
            } else if towards < 0.0 {
                from = from.max(room / towards);
            } else {
                to = to.min(room / towards);
            }
        }
        let at = |t: f64| if t == 1.0 { b } else { (a.0 + t * dx, a.1 + t * dy) };
        (from <= to).then(|| (at(from), at(to)))
    }

    /// The parts of a polyline inside the box.
    pub fn clip_chain(&self, chain: &[Spot]) -> Vec<Vec<Spot>> {
        let mut pieces: Vec<Vec<Spot>> = Vec::new();
        for pair in chain.windows(2) {
            let Some((from, to)) = self.clip_line(pair[0], pair[1]) else { continue };
            match pieces.last_mut() {
                Some(piece) if piece.last() == Some(&from) => piece.push(to),
                _ => pieces.push(vec![from, to]),
            }
        }
        pieces
    }

    /// The part of an area inside the box (Sutherland-Hodgman).
    pub fn clip_area(&self, corners: &[Spot]) -> Vec<Spot> {
        /// Cuts away the negative side, where `depth` is the signed distance of a corner.
        fn cut(corners: &[Spot], depth: impl Fn(Spot) -> f64) -> Vec<Spot> {
            let mut kept = Vec::with_capacity(corners.len() + 4);
            for (k, &corner) in corners.iter().enumerate() {
                let before = corners[(k + corners.len() - 1) % corners.len()];
                let (inside, was) = (depth(corner), depth(before));
                if (inside >= 0.0) != (was >= 0.0) {
                    let t = was / (was - inside);
                    kept.push((before.0 + t * (corner.0 - before.0), before.1 + t * (corner.1 - before.1)));
                }
                if inside >= 0.0 {
                    kept.push(corner);
                }
            }
            kept
        }
        let corners = cut(corners, |spot| spot.0 - self.left);
        let corners = cut(&corners, |spot| self.right - spot.0);
        let corners = cut(&corners, |spot| spot.1 - self.top);
        cut(&corners, |spot| self.bottom - spot.1)
    }
}

/// Thins out a polyline without visible change: in each column narrower than a pixel, only the first, last, highest and
/// lowest spots are kept.
pub(super) fn thinned(spots: &[Spot]) -> Vec<Spot> {
    const COLUMN: f64 = 0.2;
    let column = |spot: &Spot| (spot.0 / COLUMN).floor();
    let mut kept = Vec::new();
    for group in spots.chunk_by(|a, b| column(a) == column(b)) {
        let by_height = |a: &usize, b: &usize| group[*a].1.total_cmp(&group[*b].1);
        let mut seen = vec![0, group.len() - 1];
        seen.extend((0..group.len()).min_by(by_height));
        seen.extend((0..group.len()).max_by(by_height));
        seen.sort_unstable();
        seen.dedup();
        kept.extend(seen.into_iter().map(|place| group[place]));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: Rect = Rect { left: 0.0, top: 0.0, right: 10.0, bottom: 10.0 };

    #[test]
    fn lines_are_cut_at_the_sides() {
        assert_eq!(UNIT.clip_line((-5.0, 5.0), (15.0, 5.0)), Some(((0.0, 5.0), (10.0, 5.0))));
        assert_eq!(UNIT.clip_line((2.0, 2.0), (4.0, 4.0)), Some(((2.0, 2.0), (4.0, 4.0))));
        assert_eq!(UNIT.clip_line((-5.0, 1.0), (5.0, 21.0)), None);
        assert_eq!(UNIT.clip_line((3.0, -4.0), (3.0, 25.0)), Some(((3.0, 0.0), (3.0, 10.0))));
    }

    #[test]
    fn a_chain_that_leaves_and_returns_is_two_pieces() {
        let pieces = UNIT.clip_chain(&[(1.0, 5.0), (5.0, 5.0), (5.0, 15.0), (8.0, 15.0), (8.0, 5.0)]);
        assert_eq!(pieces, vec![vec![(1.0, 5.0), (5.0, 5.0), (5.0, 10.0)], vec![(8.0, 10.0), (8.0, 5.0)]]);
    }

    #[test]
    fn areas_are_cut_to_the_box() {
        let area = UNIT.clip_area(&[(-10.0, 2.0), (20.0, 2.0), (20.0, 8.0), (-10.0, 8.0)]);
        let whole = |corner: f64, side: fn(&Spot) -> f64, pick: fn(f64, f64) -> f64| {
            assert_eq!(area.iter().map(side).fold(corner, pick), corner);
        };
        assert_eq!(area.len(), 4);
        whole(0.0, |spot| spot.0, f64::min);
        whole(10.0, |spot| spot.0, f64::max);
        assert!(UNIT.clip_area(&[(20.0, 0.0), (30.0, 0.0), (25.0, 9.0)]).is_empty());
    }

    #[test]
    fn thinning_keeps_what_can_be_seen() {
        let sparse: Vec<Spot> = (0..50).map(|k| (f64::from(k), f64::from(k % 7))).collect();
        assert_eq!(thinned(&sparse), sparse);
        let dense: Vec<Spot> = (0..10000).map(|k| (f64::from(k) / 1000.0, f64::from(k * 7919 % 1000))).collect();
        let kept = thinned(&dense);
        assert!(kept.len() <= 51 * 4, "{}", kept.len());
        assert_eq!((kept[0], kept[kept.len() - 1]), (dense[0], dense[9999]));
        assert!(kept.iter().any(|spot| spot.1 == 0.0) && kept.iter().any(|spot| spot.1 == 999.0));
    }
}
