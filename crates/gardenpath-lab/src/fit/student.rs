//! Student's t distribution, for 95% intervals.

/// Above this many degrees of freedom, Student's distribution equals the normal one to six digits.
const NORMAL: f64 = 1e7;

/// The cumulative distribution function of Student's distribution at `t`.
///
/// The degrees of freedom need not be an integer. NaN if they are not positive.
///
/// ```
/// use gardenpath_lab::fit::student_probability;
///
/// assert!((student_probability(2.776, 4.0) - 0.975).abs() < 1e-4);
/// ```
pub fn student_probability(t: f64, freedom: f64) -> f64 {
    if freedom.is_nan() || freedom <= 0.0 || t.is_nan() {
        return f64::NAN;
    }
    let freedom = freedom.min(NORMAL);
    let tail = 0.5 * incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t));
    if t > 0.0 { 1.0 - tail } else { tail }
}

/// The quantile of Student's distribution.
///
/// Infinite degrees of freedom give the normal quantile. NaN if the degrees of freedom are not positive, or the
/// probability is not between 0 and 1.
///
/// ```
/// use gardenpath_lab::fit::student_quantile;
///
/// // Half of a 95% interval with five and with very many replicates.
/// assert!((student_quantile(0.975, 4.0) - 2.776).abs() < 1e-3);
/// assert!((student_quantile(0.975, f64::INFINITY) - 1.960).abs() < 1e-3);
/// ```
pub fn student_quantile(probability: f64, freedom: f64) -> f64 {
    if !(0.0..=1.0).contains(&probability) || freedom.is_nan() || freedom <= 0.0 {
        return f64::NAN;
    }
    if probability < 0.5 {
        return -student_quantile(1.0 - probability, freedom);
    }
    if probability == 1.0 {
        return f64::INFINITY;
    }
    let below = |t: f64| student_probability(-t, freedom) > 1.0 - probability;
    let (mut low, mut high) = (0.0, 1.0);
    while below(high) {
        (low, high) = (high, 2.0 * high);
    }
    while high - low > 1e-12 * high.max(1.0) {
        let middle = 0.5 * (low + high);
        if below(middle) { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// The regularized incomplete beta function, by Lentz's continued fraction.
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp();
    if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(a, b, x) / a
    } else {
        1.0 - front * beta_fraction(b, a, 1.0 - x) / b
    }
}

fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let safe = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / safe(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for step in 1..500 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        for term in [even, odd] {
            d = 1.0 / safe(1.0 + term * d);
            c = safe(1.0 + term / c);
            fraction *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    fraction
}

/// The log-gamma function of a positive number: Stirling's series after shifting the argument to where it converges.
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut product) = (x, 1.0);
    while x < 15.0 {
        product *= x;
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let series = (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse * (1.0 / 1260.0 - inverse / 1680.0))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - f64::ln(product)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published tables: degrees of freedom, and the quantiles at 0.9, 0.95, 0.975, 0.995.
    const TABLE: [(f64, [f64; 4]); 12] = [
        (1.0, [3.078, 6.314, 12.706, 63.657]),
        (2.0, [1.886, 2.920, 4.303, 9.925]),
        (3.0, [1.638, 2.353, 3.182, 5.841]),
        (4.0, [1.533, 2.132, 2.776, 4.604]),
        (5.0, [1.476, 2.015, 2.571, 4.032]),
        (8.0, [1.397, 1.860, 2.306, 3.355]),
        (9.0, [1.383, 1.833, 2.262, 3.250]),
        (12.0, [1.356, 1.782, 2.179, 3.055]),
        (20.0, [1.325, 1.725, 2.086, 2.845]),
        (30.0, [1.310, 1.697, 2.042, 2.750]),
        (120.0, [1.289, 1.658, 1.980, 2.617]),
        (f64::INFINITY, [1.282, 1.645, 1.960, 2.576]),
    ];

    #[test]
    fn quantiles_are_those_of_published_tables() {
        for (freedom, row) in TABLE {
            for (probability, expected) in [0.9, 0.95, 0.975, 0.995].into_iter().zip(row) {
                let found = student_quantile(probability, freedom);
                assert!((found - expected).abs() <= 5.1e-4, "{probability} {freedom}: {found}, not {expected}");
                assert_eq!(student_quantile(1.0 - probability, freedom), -student_quantile(probability, freedom));
            }
        }
    }

    /// The probability by Simpson's rule over the density, normalized by the same rule.
    fn by_density(t: f64, freedom: f64) -> f64 {
        // The substitution x = tan(angle) makes the line finite.
        let density = |angle: f64| {
            let x = angle.tan();
            (1.0 + x * x / freedom).powf(-(freedom + 1.0) / 2.0) * (1.0 + x * x)
        };
        let integral = |to: f64| {
            let (steps, quarter) = (20_000, std::f64::consts::FRAC_PI_2);
            let to = to.min(quarter - 1e-7);
            let width = to / f64::from(steps);
            let weight = |k: i32| if k == 0 || k == steps { 1.0 } else { f64::from(2 + 2 * (k % 2)) };
            (0..=steps).map(|k| weight(k) * density(f64::from(k) * width)).sum::<f64>() * width / 3.0
        };
        0.5 + 0.5 * integral(t.atan()) / integral(f64::INFINITY)
    }

    #[test]
    fn probabilities_are_integrals_of_the_density() {
        for freedom in [1.0, 1.7, 4.0, 7.3, 12.5, 40.0] {
            for t in [0.1, 0.7, 1.3, 2.776, 5.0, 12.0] {
                let (found, expected) = (student_probability(t, freedom), by_density(t, freedom));
                assert!((found - expected).abs() < 1e-7, "{t} {freedom}: {found}, not {expected}");
                assert!((student_probability(-t, freedom) + found - 1.0).abs() < 1e-14);
                let tail = student_probability(-t, freedom);
                assert!((student_quantile(tail, freedom) + t).abs() < 1e-6 * t || tail < 1e-9, "{t} {freedom}");
            }
        }
    }

    #[test]
    fn gamma_is_the_factorial() {
        let mut factorial = 1.0;
        for n in 1..30 {
            assert!((ln_gamma(f64::from(n)) - f64::ln(factorial)).abs() < 1e-12, "{n}");
            factorial *= f64::from(n);
        }
        assert!((ln_gamma(0.5) - 0.5 * std::f64::consts::PI.ln()).abs() < 1e-13);
    }

    #[test]
    fn what_is_no_distribution_has_no_quantile() {
        for (probability, freedom) in [(0.5, 0.0), (0.5, -1.0), (0.5, f64::NAN), (1.1, 3.0), (f64::NAN, 3.0)] {
            assert!(student_quantile(probability, freedom).is_nan());
        }
        assert!(student_probability(1.0, 0.0).is_nan() && student_probability(f64::NAN, 1.0).is_nan());
        assert_eq!(student_quantile(1.0, 3.0), f64::INFINITY);
        assert!(student_quantile(0.5, 3.0).abs() < 1e-11);
    }
}
