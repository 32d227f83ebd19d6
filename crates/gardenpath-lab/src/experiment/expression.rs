//! Arithmetic expressions: numbers, names, `+ - * / ^`, parentheses, and the functions `round`, `sqrt`, `ln`, `min`,
//! `max`.

use anyhow::{Result, bail};

/// Maximum nesting of parentheses, calls, signs and powers. It bounds the recursion, and so the stack.
const MAX_NESTING: usize = 100;

/// The functions.
pub const FUNCTIONS: [&str; 5] = ["round", "sqrt", "ln", "min", "max"];

/// The mean of a column over the cells of a group. It is looked up as the name `mean(column)`, which grids do not
/// provide.
pub const MEAN: &str = "mean";

/// The value of an expression; it need not be finite. `name` looks up names.
pub fn value(text: &str, name: &dyn Fn(&str) -> Option<f64>) -> Result<f64> {
    let mut reader = Reader { rest: text.trim_start(), name, nesting: 0 };
    let value = reader.sum()?;
    if !reader.rest.is_empty() {
        bail!("unexpected {:?} in {text:?}", reader.rest);
    }
    Ok(value)
}

/// The value of an expression, which must be finite.
pub fn evaluate(text: &str, name: &dyn Fn(&str) -> Option<f64>) -> Result<f64> {
    let value = value(text, name)?;
    if !value.is_finite() {
        bail!("{text:?} is not a finite number");
    }
    Ok(value)
}

/// The names in an expression: letters, digits and underscores, beginning with a letter.
pub fn names(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !is_in_name(c));
    words.filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()))
}

fn is_in_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

struct Reader<'a> {
    rest: &'a str,
    name: &'a dyn Fn(&str) -> Option<f64>,
    nesting: usize,
}

impl<'a> Reader<'a> {
    fn sum(&mut self) -> Result<f64> {
        let mut value = self.product()?;
        loop {
            if self.take("+") {
                value += self.product()?;
            } else if self.take("-") {
                value -= self.product()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Result<f64> {
        let mut value = self.signed()?;
        loop {
            if self.take("*") {
                value *= self.signed()?;
            } else if self.take("/") {
                value /= self.signed()?;
            } else {
                return Ok(value);
            }
        }
    }

    /// A sign binds weaker than a power: `-2^2` is -4. All nesting passes through here.
    fn signed(&mut self) -> Result<f64> {
        if self.nesting == MAX_NESTING {
            bail!("the expression is nested more than {MAX_NESTING} levels deep");
        }
        self.nesting += 1;
        let value = if self.take("-") { -self.signed()? } else { self.power()? };
        self.nesting -= 1;
        Ok(value)
    }

    fn power(&mut self) -> Result<f64> {
        let base = self.atom()?;
        if !self.take("^") {
            return Ok(base);
        }
        let exponent = self.signed()?;
        // Integer powers by multiplication, which gives the same bits on every machine.
        let whole = exponent.fract() == 0.0 && exponent.abs() < 64.0;
        Ok(if whole { base.powi(exponent as i32) } else { base.powf(exponent) })
    }

    fn atom(&mut self) -> Result<f64> {
        if self.take("(") {
            let value = self.sum()?;
            self.expect(")")?;
            return Ok(value);
        }
        let word = self.word();
        if word.is_empty() {
            bail!("expected a number or a name before {:?}", self.rest);
        }
        if word.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return word.parse().map_err(|_| anyhow::anyhow!("{word:?} is not a number"));
        }
        if self.take("(") {
            if word == MEAN {
                let column = self.word();
                self.expect(")")?;
                return self.look_up(&format!("{MEAN}({column})"));
            }
            return self.call(word);
        }
        self.look_up(word)
    }

    fn look_up(&self, name: &str) -> Result<f64> {
        match (self.name)(name) {
            Some(value) => Ok(value),
            None => bail!("unknown name {name}"),
        }
    }

    fn call(&mut self, function: &str) -> Result<f64> {
        let mut arguments = vec![self.sum()?];
        while self.take(",") {
            arguments.push(self.sum()?);
        }
        self.expect(")")?;
        match (function, arguments.as_slice()) {
            ("round", [x]) => Ok(x.round()),
            ("sqrt", [x]) => Ok(x.sqrt()),
            ("ln", [x]) => Ok(x.ln()),
            ("min", [x, y]) => Ok(x.min(*y)),
            ("max", [x, y]) => Ok(x.max(*y)),
            _ => bail!("no function {function} with {} arguments", arguments.len()),
        }
    }

    /// A name, or a number such as `2.5` or `1e-3`.
    fn word(&mut self) -> &'a str {
        let mut end = 0;
        let mut last = ' ';
        let number = self.rest.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        for c in self.rest.chars() {
            let exponent_sign = number && (c == '-' || c == '+') && (last == 'e' || last == 'E');
            if !(is_in_name(c) || (number && c == '.') || exponent_sign) {
                break;
            }
            end += c.len_utf8();
            last = c;
        }
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        word
    }

    fn take(&mut self, symbol: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(symbol) else { return false };
        self.rest = rest.trim_start();
        true
    }

    fn expect(&mut self, symbol: &str) -> Result<()> {
        if self.take(symbol) { Ok(()) } else { bail!("expected {symbol:?} before {:?}", self.rest) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<f64> {
        evaluate(text, &|name| match name {
            "v" => Some(8.0),
            "mean(v)" => Some(2.0),
            _ => None,
        })
    }

    #[test]
    fn arithmetic() {
        for (text, expected) in [
            ("1 + 2 * 3", 7.0),
            ("(1 + 2) * 3", 9.0),
            ("2 ^ 3 ^ 2", 512.0),
            ("-2^2", -4.0),
            ("8 / 4 / 2", 1.0),
            ("1 - 2 - 3", -4.0),
            ("1 / v", 0.125),
            ("1.5e-1 * v ^ 2", 9.6),
            ("round(v / 3) + max(1, min(v, 2))", 5.0),
            ("sqrt(v * 2) - ln(1)", 4.0),
            ("v^-1", 0.125),
            ("v / mean( v ) + 1", 5.0),
            ("2^0.5 * 2^0.5", 2.0),
        ] {
            let found = value(text).unwrap();
            assert!((found - expected).abs() < 1e-12, "{text}: {found}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "",
            "1 +",
            "(1",
            "1)",
            "2 v",
            "w",
            "f(1)",
            "round(1, 2)",
            "1..2",
            "1/0",
            "é",
            "ln(-1)",
            "1e",
            "* 2",
            "mean(v + 1)",
            "mean(w)",
            "mean",
        ] {
            assert!(value(text).is_err(), "{text}");
        }
    }

    #[test]
    fn nesting_is_limited() {
        let nested = |open: &str, close: &str, count: usize| open.repeat(count) + "1" + &close.repeat(count);
        for (open, close) in [("(", ")"), ("-", ""), ("1^", ""), ("round(", ")"), ("-(", ")"), ("2 * (1 + ", ")")] {
            assert!(value(&nested(open, close, 45)).is_ok(), "{open}");
            let error = value(&nested(open, close, 200_000)).unwrap_err().to_string();
            assert!(error.contains("nested more than 100 levels"), "{error}");
        }
        // A long expression is not a deeply nested one.
        assert_eq!(value(&("1 + (2 - 1) * -1 + ".repeat(10_000) + "3")).unwrap(), 3.0);
    }

    #[test]
    fn names_are_found() {
        assert_eq!(names("ratio*v_2^2 + 1e5 - round(x)").collect::<Vec<_>>(), ["ratio", "v_2", "round", "x"]);
    }
}
