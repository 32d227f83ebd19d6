//! Interpolation of colors, and their perceived lightness.

/// The red, green and blue components of `#rrggbb`.
fn parts(colour: &str) -> [f64; 3] {
    [1, 3, 5].map(|k| {
        let part = colour.get(k..k + 2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        f64::from(part.expect("the colours of the palettes are #rrggbb"))
    })
}

/// Interpolates along the stops, from the first at 0 to the last at 1.
pub(super) fn along(stops: &[&str], t: f64) -> String {
    let place = t.clamp(0.0, 1.0) * (stops.len() - 1) as f64;
    let below = (place.floor() as usize).min(stops.len().saturating_sub(2));
    let (from, to) = (parts(stops[below]), parts(stops[(below + 1).min(stops.len() - 1)]));
    let mixed = [0, 1, 2].map(|k| (from[k] + (to[k] - from[k]) * (place - below as f64)).round() as u8);
    format!("#{:02x}{:02x}{:02x}", mixed[0], mixed[1], mixed[2])
}

/// The relative luminance, which is 0 for black and 1 for white.
pub(super) fn luminance(colour: &str) -> f64 {
    let linear = parts(colour).map(|part| {
        let part = part / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
}

/// Black or white, whichever is more readable on this color.
pub(super) fn readable_on(colour: &str) -> &'static str {
    // The contrasts with white and with the ink are equal at about this luminance.
    if luminance(colour) < 0.2 { "#ffffff" } else { super::svg::INK }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_mix_between_stops() {
        let stops = ["#000000", "#804020", "#ffffff"];
        assert_eq!(along(&stops, 0.0), "#000000");
        assert_eq!(along(&stops, 0.25), "#402010");
        assert_eq!(along(&stops, 1.0), "#ffffff");
        assert_eq!(along(&["#123456"], 0.7), "#123456");
    }

    #[test]
    fn text_contrasts_with_its_background() {
        assert_eq!(readable_on("#094688"), "#ffffff");
        assert_eq!(readable_on("#fbd9bd"), "#222222");
        assert!((luminance("#ffffff") - 1.0).abs() < 1e-9);
    }
}
