//! What a cell of a sweep measures: a pure function of its parameters.
//!
//! Each measure is a file with a struct of its parameters, declared once by [`parameters!`](parameter), a struct of its results, declared
//! by [`results!`](result), and what leads from one to the other (`Kind`). Names, documents, tables and the readers of experiments
//! follow from these types; a measure is known once it has its two lines at the top of this file.
//!
//! The parameters and the version of the code that matters are the identity of a cell. Whoever changes what a measure
//! computes raises its version: cells that were stored before are then measured anew. Whoever adds a parameter declares it as
//! late or optional: cells that do not use it keep their identity.

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

/// The measures that this program has.
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

/// The names of the measures that this program has.
pub static NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| BUILT_IN.iter().map(|measure| &*measure.name).collect());

/// The parameters of these measures that are texts, not numbers.
pub static TEXTS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let all = BUILT_IN.iter().flat_map(|measure| &measure.parameters);
    all.filter(|parameter| parameter.kind.is_text()).map(|parameter| &*parameter.name).collect()
});

/// The measures that this program has.
pub fn descriptions() -> impl Iterator<Item = &'static Description> {
    BUILT_IN.iter().map(|measure| &**measure)
}

/// A measure: the struct of its parameters, and what follows from them.
trait Kind: Parameters + Debug + Send + Sync + 'static {
    /// What it measures.
    type Output: Results;

    /// Its name in experiments.
    const NAME: &'static str;

    /// What it measures, in one line.
    const MEANING: &'static str;

    /// The version of the code that the result depends on.
    const VERSION: u32 = 1;

    /// Refuses parameters that do not go together, and forgets those that say what is so anyway: equal cells have equal identities.
    fn settle(&mut self) -> Result<()>;

    /// Measures. The result depends on the parameters alone, however often it was interrupted.
    fn run(&self, keeper: &dyn Keeper) -> Result<Self::Output>;

    /// About how many seconds it takes on one core of the machine on which this was tuned; other machines are some factor faster or slower.
    fn work(&self) -> f64;

    /// Which cells that factor is the same for, besides those of the same measure.
    fn variety(&self) -> String {
        String::new()
    }

    /// A cell of the same variety that takes a few hundredths of a second.
    fn tiny(&self) -> Self;

    /// Whether it computes on a graphics processor.
    fn is_on_gpu(&self) -> bool {
        false
    }
}

/// A measure of any kind, with its parameters.
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

/// What is measured, with all parameters.
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
    /// A cell of a built-in measure from the values of its parameters; [`Description::cell`] makes one of any measure.
    pub fn new(name: &str, values: Map<String, Value>) -> Result<Self> {
        Measures::default().find(name)?.cell(values)
    }

    /// The measure.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// All parameters, `measure` among them. Those that are younger than stored results are left out while they have their default values.
    pub fn parameters(&self) -> Map<String, Value> {
        let mut values = self.cell.parameters();
        values.insert("measure".into(), (*self.description.name).into());
        values
    }

    /// The name of the cell: a hash of parameters and version.
    pub fn identity(&self) -> String {
        let text =
            serde_json::json!({"parameters": self.parameters(), "version": self.description.version}).to_string();
        let digest = Sha256::digest(text.as_bytes());
        digest[..16].iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Why this program cannot measure it, if only Python can.
    pub fn needs_python(&self) -> Option<String> {
        let name = &self.description.name;
        let on_cuda = || self.parameters().get("device").is_some_and(|device| device == "cuda");
        match self.description.is_built_in() {
            false => Some(format!("measure {name} is not built in: run it from Python")),
            true => on_cuda().then(|| train::NEEDS_PYTHON.to_owned()),
        }
    }

    /// Measures. The result depends on the parameters alone. `keeper` keeps how far a long measurement has come; `&()` keeps nothing.
    pub fn run(&self, keeper: &dyn Keeper) -> Result<Map<String, Value>> {
        self.cell.run(keeper)
    }

    /// About how many seconds it takes on one core of the machine on which this was tuned. On another machine it is some factor more or
    /// less, which is about the same for all cells of a [variety](Self::variety).
    pub fn work(&self) -> f64 {
        self.cell.work()
    }

    /// The measure, and the kind of network or learner if it has one.
    pub fn variety(&self) -> String {
        self.cell.variety()
    }

    /// A cell of the same variety that takes a few hundredths of a second, on the processor.
    pub fn tiny(&self) -> Measure {
        Measure { description: self.description.clone(), cell: self.cell.tiny() }
    }

    /// Whether it computes on a graphics processor.
    pub fn is_on_gpu(&self) -> bool {
        self.cell.is_on_gpu()
    }
}

/// Sentences on which learners and networks are tested, as in the paper.
const TEST_SENTENCES: u64 = 20_000;

#[cfg(test)]
mod tests;
