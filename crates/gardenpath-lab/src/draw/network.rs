//! Draws the units of a network over the tokens of a sentence, and their connections.

use gardenpath_nn::connections::Layer;
use gardenpath_plot::{Anchor, Drawing, Spot, Stroke};

/// Sizes in user units, which are pixels at the natural size.
const TOKEN: f64 = 42.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 200.0;
const RAISED: f64 = 42.0;
const RADIUS: f64 = 6.0;

/// Draws the layers over this many tokens; `colour` gives the color of a connection by its role.
pub fn draw(layers: &[Layer], tokens: usize, colour: impl Fn(u32) -> &'static str) -> Drawing {
    let step = (BOTTOM - TOP) / layers.len() as f64;
    let middle = |start: usize, len: usize| TOKEN * (start as f64 + len as f64 / 2.0);
    // Units are above the middle of their tokens; within a layer, shorter spans are above longer ones.
    let spot = |layer: usize, row: usize| -> Spot {
        let places = &layers[layer].places;
        let longest = places.iter().map(|place| place.len).max().unwrap_or(0);
        let (start, len) = (places[row].start, places[row].len);
        let height = step * (layer + 1) as f64 + RAISED * (longest - len) as f64;
        // A unit that includes padding ends with the sentence.
        (middle(start, len.min(tokens.saturating_sub(start).max(1))), BOTTOM - height)
    };
    let mut drawing = Drawing::new(TOKEN * (tokens + 1) as f64, BOTTOM + 24.0);
    for (number, layer) in layers.iter().enumerate() {
        for (row, input) in &layer.inputs {
            let below = match number {
                0 => (middle(input.child as usize, 1), BOTTOM),
                _ => spot(number - 1, input.child as usize),
            };
            drawing.line(below, spot(number, *row as usize), Stroke::solid(colour(input.role), 1.5));
        }
    }
    let units = (0..layers.len()).flat_map(|number| (0..layers[number].places.len()).map(move |row| (number, row)));
    units.for_each(|(number, row)| drawing.disc(spot(number, row), RADIUS, "#222222"));
    for token in 0..tokens {
        drawing.disc((middle(token, 1), BOTTOM), RADIUS, "#d9d9d9");
        let name = (token + 1).to_string();
        drawing.text((middle(token, 1), BOTTOM + 20.0), 11.5, Anchor::Middle, "#8a8a8a", &name);
    }
    drawing
}

#[cfg(test)]
mod tests {
    use super::*;
    use gardenpath::Shape;
    use gardenpath_nn::connections::layers;
    use gardenpath_nn::{Architecture, Network};

    #[test]
    fn every_connection_is_a_line_and_every_unit_a_disc() {
        for architecture in [Architecture::inn(), Architecture::cnn()] {
            let layers = layers(&Network::new(2, 2, Shape::mixed(2), 1, architecture).unwrap(), 6).unwrap();
            let svg = draw(&layers, 6, |_| "#0072b2").svg();
            assert_eq!(svg.matches("<path").count(), layers.iter().map(|layer| layer.inputs.len()).sum::<usize>());
            let units: usize = layers.iter().map(|layer| layer.places.len()).sum();
            assert_eq!(svg.matches("<circle").count(), 6 + units);
        }
    }
}
