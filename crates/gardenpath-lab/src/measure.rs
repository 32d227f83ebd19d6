//! Measures: what a cell of a sweep computes, as a pure function of its parameters.
//!
//! Each measure is a file with a struct of parameters, declared with [`parameters!`](parameter), a struct of results,
//! declared with [`results!`](result), and an implementation of `Kind`. Names, documentation, tables and the parsers of
//! experiments follow from these types. To register a measure, add its two lines at the top of this file.
//!
//! A cell is identified by its parameters and the version of its measure. When you change what a measure computes,
//! raise its version: stored cells are then measured again. When you add a parameter, declare it as late or optional:
//! cells that do not use it keep their identity.

mod description;
mod ensemble;
mod foreign;
mod keeper;
pub mod kind;
pub mod parameter;
pub mod result;
mod sentences;

mod candidates;
mod entropy;
mod floor;
mod inference;
mod learn;
mod lengths;
mod prediction;
mod probe;
mod purity;
mod snr;
mod topologies;
mod train;
mod trees;
mod vectors;

/// The built-in measures.
static BUILT_IN: LazyLock<Vec<Arc<Description>>> = LazyLock::new(|| {
    let all = [
        Description::of::<entropy::Entropy>(),
        Description::of::<learn::Learn>(),
        Description::of::<purity::Purity>(),
        Description::of::<snr::Snr>(),
        Description::of::<train::Train>(),
        Description::of::<probe::Probe>(),
        Description::of::<vectors::Vectors>(),
        Description::of::<lengths::Lengths>(),
        Description::of::<trees::Trees>(),
        Description::of::<topologies::Topologies>(),
        Description::of::<inference::Inference>(),
        Description::of::<candidates::Candidates>(),
        Description::of::<prediction::Prediction>(),
        Description::of::<floor::Floor>(),
    ];
    all.map(Arc::new).into()
});

pub use description::{Description, Measures};
pub use foreign::Foreign;
pub use keeper::Keeper;
pub use sentences::Sentences;

use anyhow::Result;
use parameter::Parameters;
use result::Results;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::fmt::{self, Debug, Formatter};
use std::sync::{Arc, LazyLock};

/// The names of the built-in measures.
pub static NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| BUILT_IN.iter().map(|measure| &*measure.name).collect());

/// The parameters of these measures that are strings.
pub static TEXTS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let all = BUILT_IN.iter().flat_map(|measure| &measure.parameters);
    all.filter(|parameter| parameter.kind.is_text()).map(|parameter| &*parameter.name).collect()
});

/// The built-in measures.
pub fn descriptions() -> impl Iterator<Item = &'static Description> {
    BUILT_IN.iter().map(|measure| &**measure)
}

/// A measure, implemented by its parameter struct.
trait Kind: Parameters + Debug + Send + Sync + 'static {
    /// Its results.
    type Output: Results;

    /// Its name in experiments.
    const NAME: &'static str;

    /// What it measures, in one line.
    const MEANING: &'static str;

    /// The version of the code that the result depends on.
    const VERSION: u32 = 1;

    /// Fails if parameters contradict each other, and drops redundant ones, so that equal cells have equal identities.
    fn settle(&mut self) -> Result<()>;

    /// Measures the cell. The result depends only on the parameters, however often it was interrupted.
    fn run(&self, keeper: &dyn Keeper) -> Result<Self::Output>;

    /// The approximate time in seconds on one core of the reference machine; other machines differ by a constant
    /// factor.
    fn work(&self) -> f64;

    /// Identifies the cells that share this factor, besides the measure itself.
    fn variety(&self) -> String {
        String::new()
    }

    /// A cell of the same variety that takes a few hundredths of a second.
    fn tiny(&self) -> Self;

    /// Whether it runs on a GPU.
    fn is_on_gpu(&self) -> bool {
        false
    }
}

/// A type-erased measure with its parameters.
trait Cell: Debug + Send + Sync {
    fn parameters(&self) -> Map<String, Value>;
    fn run(&self, keeper: &dyn Keeper) -> Result<Map<String, Value>>;
    fn work(&self) -> f64;
    fn variety(&self) -> String;
    fn tiny(&self) -> Arc<dyn Cell>;
    fn is_on_gpu(&self) -> bool;
}

impl<K: Kind> Cell for K {
    fn parameters(&self) -> Map<String, Value> {
        let mut values = Map::new();
        self.write(&mut values);
        values
    }

    fn run(&self, keeper: &dyn Keeper) -> Result<Map<String, Value>> {
        Ok(Kind::run(self, keeper)?.write())
    }

    fn work(&self) -> f64 {
        Kind::work(self)
    }

    fn variety(&self) -> String {
        format!("{} {}", K::NAME, Kind::variety(self)).trim_end().to_owned()
    }

    fn tiny(&self) -> Arc<dyn Cell> {
        Arc::new(Kind::tiny(self))
    }

    fn is_on_gpu(&self) -> bool {
        Kind::is_on_gpu(self)
    }
}

/// A cell: a measure with all its parameters.
#[derive(Clone)]
pub struct Measure {
    description: Arc<Description>,
    cell: Arc<dyn Cell>,
}

impl Debug for Measure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.cell.fmt(f)
    }
}

impl PartialEq for Measure {
    fn eq(&self, other: &Self) -> bool {
        self.parameters() == other.parameters()
    }
}

impl Measure {
    /// A cell of a built-in measure with these parameters; [`Description::cell`] does the same for any measure. Fails
    /// if parameters are unknown, missing, of another type or contradictory.
    pub fn new(name: &str, values: Map<String, Value>) -> Result<Self> {
        Measures::default().find(name)?.cell(values)
    }

    /// The measure.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// All parameters, including `measure`. Parameters added after results were stored are left out at their default
    /// values.
    pub fn parameters(&self) -> Map<String, Value> {
        let mut values = self.cell.parameters();
        values.insert("measure".into(), (*self.description.name).into());
        values
    }

    /// The identity of the cell: a hash of parameters and version.
    pub fn identity(&self) -> String {
        let text =
            serde_json::json!({"parameters": self.parameters(), "version": self.description.version}).to_string();
        let digest = Sha256::digest(text.as_bytes());
        digest[..16].iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Why only Python can measure this cell, if that is so.
    pub fn needs_python(&self) -> Option<String> {
        let name = &self.description.name;
        let on_cuda = || self.parameters().get("device").is_some_and(|device| device == "cuda");
        match self.description.is_built_in() {
            false => Some(format!("measure {name} is not built in: run it from Python")),
            true => on_cuda().then(|| train::NEEDS_PYTHON.to_owned()),
        }
    }

    /// Measures the cell. The result depends only on the parameters. `keeper` stores checkpoints of long measurements;
    /// `&()` stores none.
    pub fn run(&self, keeper: &dyn Keeper) -> Result<Map<String, Value>> {
        self.cell.run(keeper)
    }

    /// The approximate time in seconds on one core of the reference machine. Other machines differ by a factor that is
    /// about the same for all cells of a [variety](Self::variety).
    pub fn work(&self) -> f64 {
        self.cell.work()
    }

    /// The measure, and the architecture or learner if it has one.
    pub fn variety(&self) -> String {
        self.cell.variety()
    }

    /// A cell of the same variety that takes a few hundredths of a second on the CPU.
    pub fn tiny(&self) -> Measure {
        Measure { description: self.description.clone(), cell: self.cell.tiny() }
    }

    /// Whether it runs on a GPU.
    pub fn is_on_gpu(&self) -> bool {
        self.cell.is_on_gpu()
    }
}

/// Test sentences for learners and networks, as in the paper.
const TEST_SENTENCES: u64 = 20_000;

#[cfg(test)]
mod tests;
