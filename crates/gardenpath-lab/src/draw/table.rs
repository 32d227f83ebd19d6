//! Plain-text tables and number formats.

use std::fmt;

/// A table with headings and right-aligned columns.
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings.
    pub fn new(headings: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Table { rows: vec![headings.into_iter().map(Into::into).collect()] }
    }

    /// Adds a row. It must have one cell per heading.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.rows[0].len()).map(width).collect();
        for (number, row) in self.rows.iter().enumerate() {
            let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:>width$}")).collect();
            writeln!(f, "{}", cells.join("  "))?;
            if number == 0 {
                let rules: Vec<String> = widths.iter().map(|&width| "─".repeat(width)).collect();
                writeln!(f, "{}", rules.join("  "))?;
            }
        }
        Ok(())
    }
}

/// A number with up to four significant digits.
pub fn short(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    if !(1e-3..1e6).contains(&size) {
        return format!("{value:.3e}");
    }
    let decimals = (3 - size.log10().floor() as i32).max(0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A whole number with thousands separators.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun: `1 sentence`, `1,000 sentences`.
pub fn counted(number: usize, thing: &str) -> String {
    format!("{} {thing}{}", grouped(number as u64), if number == 1 { "" } else { "s" })
}

/// A human-readable duration.
pub fn duration(seconds: f64) -> String {
    if seconds < 9.95 {
        return format!("{:.1} s", seconds.max(0.0));
    }
    // Float-to-integer conversion saturates, so any number is safe.
    let whole = seconds.round() as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

/// The work of one core for this many hours, with two digits: estimates have no more.
pub fn core_time(hours: f64) -> String {
    work_time(hours, "core")
}

/// The work of one GPU for this many hours, with two digits.
pub fn gpu_time(hours: f64) -> String {
    work_time(hours, "GPU")
}

fn work_time(hours: f64, worker: &str) -> String {
    let (amount, unit) = match hours {
        1.0.. => (hours, "hours"),
        _ if hours * 60.0 >= 1.0 => (hours * 60.0, "minutes"),
        _ => (hours * 3600.0, "seconds"),
    };
    format!("{amount:.*} {worker}-{unit}", usize::from(amount < 9.95))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let texts = [0.0, 0.12345, 15.625, 8.0, 0.25, 1234.5, 100.0, 1e-7, 1.5e9, f64::NAN].map(short);
        assert_eq!(texts, ["0", "0.1235", "15.62", "8", "0.25", "1234", "100", "1.000e-7", "1.500e9", "NaN"]);
        assert_eq!([0, 999, 1000, 1234567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn times_are_rounded_to_what_matters() {
        let times = [-1.0, 0.04, 9.94, 9.96, 59.4, 59.6, 200.0, 3599.6, 45296.0].map(duration);
        let expected =
            ["0.0 s", "0.0 s", "9.9 s", "10 s", "59 s", "1 min 0 s", "3 min 20 s", "1 h 0 min", "12 h 34 min"];
        assert_eq!(times, expected);
        let work = [0.0, 7.2e-4, 0.5, 1.0, 4.16, 9.96, 123.4].map(core_time);
        let expected = [
            "0.0 core-seconds",
            "2.6 core-seconds",
            "30 core-minutes",
            "1.0 core-hours",
            "4.2 core-hours",
            "10 core-hours",
            "123 core-hours",
        ];
        assert_eq!(work, expected);
        assert_eq!([1e-4, 2.0].map(gpu_time), ["0.4 GPU-seconds", "2.0 GPU-hours"]);
    }

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(["a", "long"]);
        table.row(["100".into(), "1".into()]);
        assert_eq!(table.to_string(), "  a  long\n───  ────\n100     1\n");
    }
}
