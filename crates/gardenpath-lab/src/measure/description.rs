//! Descriptions of measures, and the set of known measures.

use super::foreign::{self, Foreign};
use super::kind::Kind;
use super::parameter::{Default, Parameter, Values};
use super::result::{Output, Results};
use super::{BUILT_IN, Cell, Measure, NAMES, TEXTS, ensemble, entropy};
use crate::nearest::suggestion;
use anyhow::{Result, bail};
use serde::Serialize;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::sync::Arc;

/// A measure with its parameters and results.
#[derive(Clone, Debug, Serialize)]
pub struct Description {
    /// Its name.
    pub name: Cow<'static, str>,
    /// What it measures, in one line.
    pub meaning: Cow<'static, str>,
    /// The version of the code that results depend on.
    pub version: u32,
    /// Its parameters.
    #[serde(rename = "inputs")]
    pub parameters: Vec<Parameter>,
    /// Its results.
    pub results: Vec<Output>,
    #[serde(skip)]
    pub(super) origin: Origin,
}

/// Builds a cell from its parameters.
type Reader = fn(Map<String, Value>) -> Result<Arc<dyn Cell>>;

/// Who measures the cells.
#[derive(Clone, Debug)]
pub(super) enum Origin {
    /// This program.
    BuiltIn(Reader),
    /// Another program.
    Foreign {
        /// Whether the Bayes floor is added to the results.
        floor: bool,
        /// Whether undeclared results are accepted.
        is_open: bool,
    },
}

impl PartialEq for Description {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, self.version) == (&other.name, other.version)
            && (&self.parameters, &self.results) == (&other.parameters, &other.results)
    }
}

impl Description {
    pub(super) fn of<K: super::Kind>() -> Self {
        let read = |values| {
            let table = K::table();
            let mut values = Values::new(K::NAME, &table, values);
            let mut parameters = K::read(&mut values)?;
            values.finish()?;
            parameters.settle()?;
            Ok(Arc::new(parameters) as Arc<dyn Cell>)
        };
        Description {
            name: K::NAME.into(),
            meaning: K::MEANING.into(),
            version: K::VERSION,
            parameters: K::table(),
            results: K::Output::table(),
            origin: Origin::BuiltIn(read),
        }
    }

    /// A cell with these parameters. Fails if they are unknown, missing, of another type or contradictory.
    pub fn cell(self: &Arc<Self>, values: Map<String, Value>) -> Result<Measure> {
        let cell = match self.origin {
            Origin::BuiltIn(read) => read(values)?,
            Origin::Foreign { .. } => Arc::new(foreign::read(self, values)?),
        };
        Ok(Measure { description: self.clone(), cell })
    }

    /// Whether this program can measure it.
    pub fn is_built_in(&self) -> bool {
        matches!(self.origin, Origin::BuiltIn(_))
    }

    /// The names of its parameters.
    pub fn parameter_names(&self) -> Vec<&str> {
        self.parameters.iter().map(|parameter| &*parameter.name).collect()
    }

    /// The columns that fits and figures can use: parameters, then results. A result may share the name of a parameter
    /// if it is its effective value.
    pub fn columns(&self) -> Vec<&str> {
        let mut names = self.parameter_names();
        let results = self.results.iter().map(|result| &*result.name);
        names.extend(results.filter(|name| self.parameters.iter().all(|parameter| parameter.name != *name)));
        names.extend(self.derived().iter().map(|(name, _)| *name));
        names.push("measure");
        names
    }

    /// Columns derived from the parameters: the learner, to compare networks with other learners, and the limit of the
    /// class entropy for many symbols.
    pub(crate) fn derived(&self) -> &'static [(&'static str, Kind)] {
        match &*self.name {
            "train" | "probe" | "learn" => &[("learner", Kind::Text)],
            "entropy" => &[("limit_entropy", Kind::Number), ("paper_entropy", Kind::Number)],
            _ if !self.is_built_in() => &[("learner", Kind::Text)],
            _ => &[],
        }
    }

    /// The kind of a column.
    pub(crate) fn kind(&self, name: &str) -> Option<&Kind> {
        let result = self.results.iter().find(|result| result.name == name).map(|result| &result.kind);
        result.or_else(|| self.parameters.iter().find(|own| own.name == name).map(|own| &own.kind))
    }

    /// Whether a name in an experiment stands for a string, not a number.
    pub(crate) fn is_text(&self, name: &str) -> bool {
        let own = self.parameters.iter().any(|parameter| parameter.name == name && parameter.kind.is_text());
        own || TEXTS.contains(&name)
    }

    /// Values of columns that a stored cell omits because they follow from its parameters: defaults, and the numbers of
    /// binary and ternary rules for a given fraction.
    pub fn implied(&self, parameters: &Map<String, Value>) -> Map<String, Value> {
        let default = |parameter: &Parameter| match &parameter.default {
            Default::Fixed(value) | Default::Late(value) => Some((parameter.name.to_string(), value.clone())),
            _ => None,
        };
        let mut values: Map<String, Value> = self.parameters.iter().filter_map(default).collect();
        if let Some((binary, ternary)) = ensemble::rules_of_a_symbol(parameters) {
            values.insert("binary_rules".into(), binary.into());
            values.insert("ternary_rules".into(), ternary.into());
        }
        if self.derived().iter().any(|(name, _)| *name == "learner") {
            let learner = parameters.get("model").or_else(|| parameters.get("mode")).cloned();
            values.insert("learner".into(), learner.unwrap_or_else(|| (*self.name).into()));
        }
        if self.name == "entropy" {
            values.extend(entropy::limits(parameters));
        }
        values.retain(|name, _| !parameters.contains_key(name));
        values
    }
}

/// The measures available to an experiment: the built-in ones, and those of other programs.
#[derive(Clone, Debug, Default)]
pub struct Measures {
    foreign: Vec<Arc<Description>>,
}

impl Measures {
    /// Adds a measure of another program. Fails if the name is taken.
    pub fn with(mut self, foreign: Foreign) -> Result<Self> {
        if self.names().contains(&foreign.name.as_str()) {
            bail!("measure {} already exists", foreign.name);
        }
        self.foreign.push(Arc::new(foreign.describe()?));
        Ok(self)
    }

    /// All names.
    pub fn names(&self) -> Vec<&str> {
        NAMES.iter().copied().chain(self.foreign.iter().map(|measure| &*measure.name)).collect()
    }

    /// The measure with this name.
    pub fn find(&self, name: &str) -> Result<&Arc<Description>> {
        let mut all = BUILT_IN.iter().chain(&self.foreign);
        if let Some(found) = all.find(|measure| measure.name == name) {
            return Ok(found);
        }
        let names = self.names();
        let hint = match suggestion(name, names.iter().copied()) {
            hint if hint.is_empty() => "; other measures run from Python".into(),
            hint => hint,
        };
        bail!("unknown measure {name}, expected one of {}{hint}", names.join(", "))
    }
}
