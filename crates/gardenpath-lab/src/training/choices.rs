//! The options of training, shared by the program and sweeps, and the recipe they define.

use super::Recipe;
use crate::choice::{Choice, choices};
use anyhow::{Result, bail};
use gardenpath_nn::train::Settings;
use gardenpath_nn::{Architecture, Normalization, Optimizer, Task};

choices! {
    /// The network architectures.
    pub enum Model {
        Cnn = "cnn" => "Convolutions of size 4 and stride 2",
        Inn = "inn" => "Shared filters on the cells of the inside chart",
        Transformer = "transformer" => "Encoder with a class token",
    }
}

choices! {
    /// The scaling of hidden layers.
    pub enum Scale {
        FanIn = "fan-in" => "Fan-in to the power -1/2",
        Width = "width" => "Width to the power -1/2",
        Splits = "splits" => "Fan-in over all splits of a cell, to the power -1/2 (inn)",
    }
}

choices! {
    /// The optimizers.
    pub enum Rule {
        Sgd = "sgd" => "Gradient descent",
        Adam = "adam" => "Adam",
    }
}

impl Choice for Task {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Task::Root, "root", "The root given the whole sentence"),
        (Task::Next, "next", "Each token given those before it, and the end of the sentence (transformer)"),
        (Task::Masked, "masked", "Masked tokens given all others (transformer)"),
    ];
}

/// All options of a run. Those without a value are as in the paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Choices {
    /// The network architecture.
    pub model: Model,
    /// What it predicts. The fraction of masked tokens is one of the settings.
    pub task: Task,
    /// Channels per layer.
    pub width: usize,
    /// Number of training sentences.
    pub samples: u64,
    /// Number of test sentences.
    pub test: u64,
    /// The seed of sentences, weights and batches.
    pub seed: u64,
    /// When to stop.
    pub settings: Settings,
    /// The optimizer.
    pub optimizer: Option<Rule>,
    /// The learning rate.
    pub learning_rate: Option<f64>,
    /// The scaling of hidden layers (cnn, inn).
    pub normalization: Option<Scale>,
    /// Layers of a transformer.
    pub layers: Option<usize>,
    /// Heads of a transformer.
    pub heads: Option<usize>,
    /// Hidden size of a transformer's MLPs.
    pub mlp: Option<usize>,
}

impl Choices {
    /// The default number of heads of a transformer.
    pub const HEADS: usize = 16;

    /// The default number of layers of a transformer, for grammars of this depth.
    pub fn usual_layers(depth: usize) -> usize {
        depth
    }

    /// The default hidden size of a transformer's MLPs.
    pub fn usual_mlp(width: usize) -> usize {
        width.saturating_mul(4)
    }

    /// The default optimizer.
    pub fn usual_rule(model: Model) -> Rule {
        if model == Model::Transformer { Rule::Adam } else { Rule::Sgd }
    }

    /// Its default learning rate.
    pub fn usual_rate(model: Model, width: usize) -> f64 {
        if model == Model::Transformer { 5e-4 } else { width as f64 }
    }

    /// Fails if options have no effect on this architecture, or another one is missing. `named` maps an option to its
    /// name in messages.
    pub fn check(&self, named: &dyn Fn(&str) -> String) -> Result<()> {
        let of_transformer = self.model == Model::Transformer;
        if !self.task.is_root() && !of_transformer {
            let (task, model) = (Choice::name(self.task), self.model.name());
            bail!("{} {task} needs {} transformer: {model} only predicts roots", named("task"), named("model"));
        }
        if let Some(mask) = self.settings.mask {
            if self.task != Task::Masked {
                bail!("{} has no effect here: it needs {} masked", named("mask"), named("task"));
            }
            if !(mask > 0.0 && mask <= 1.0) {
                bail!("{} is {mask}, expected more than 0 and at most 1", named("mask"));
            }
        }
        for (choice, is_made, has_effect, of) in [
            ("layers", self.layers.is_some(), of_transformer, "transformer"),
            ("heads", self.heads.is_some(), of_transformer, "transformer"),
            ("mlp", self.mlp.is_some(), of_transformer, "transformer"),
            ("normalization", self.normalization.is_some(), !of_transformer, "cnn or inn"),
        ] {
            if is_made && !has_effect {
                bail!("{} has no effect here: it needs {} {of}", named(choice), named("model"));
            }
        }
        if self.normalization == Some(Scale::Splits) && self.model == Model::Cnn {
            bail!("{} splits needs {} inn: cnn has no splits", named("normalization"), named("model"));
        }
        if self.optimizer.is_some_and(|rule| rule != Self::usual_rule(self.model)) && self.learning_rate.is_none() {
            bail!(
                "{} is missing: there is no default for this network and {}",
                named("learning_rate"),
                named("optimizer")
            );
        }
        Ok(())
    }

    /// The recipe for grammars of this depth. `named` maps an option to its name in messages.
    pub fn recipe(&self, depth: usize, named: &dyn Fn(&str) -> String) -> Result<Recipe> {
        self.check(named)?;
        let &Choices { model, task, width, samples, test, seed, mut settings, .. } = self;
        if task == Task::Masked {
            settings.mask.get_or_insert(gardenpath::Task::MASK);
        }
        if settings.batch == 0 {
            bail!("{} is 0, expected at least 1", named("batch"));
        }
        if settings.patience.is_nan() || settings.patience <= 1.0 {
            bail!("{} is {}, expected more than 1", named("patience"), settings.patience);
        }
        let normalization = match self.normalization.unwrap_or(Scale::FanIn) {
            Scale::FanIn => Normalization::FanIn,
            Scale::Width => Normalization::Width,
            Scale::Splits => Normalization::Splits,
        };
        let architecture = match model {
            Model::Cnn => Architecture::Cnn { normalization },
            Model::Inn => Architecture::Inn { normalization },
            Model::Transformer => Architecture::Transformer {
                layers: self.layers.unwrap_or(Self::usual_layers(depth)),
                heads: self.heads.unwrap_or(Self::HEADS),
                mlp: self.mlp.unwrap_or(Self::usual_mlp(width)),
            },
        };
        let learning_rate = self.learning_rate.unwrap_or(Self::usual_rate(model, width));
        if self.learning_rate.is_some_and(|rate| !(rate > 0.0 && rate.is_finite())) {
            bail!("{} is {learning_rate}, expected more than 0", named("learning_rate"));
        }
        let optimizer = match self.optimizer.unwrap_or(Self::usual_rule(model)) {
            Rule::Sgd => Optimizer::Sgd { learning_rate },
            Rule::Adam => Optimizer::Adam { learning_rate },
        };
        Ok(Recipe { architecture, width, optimizer, settings, task, samples, test, seed, corpora: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usual(model: Model) -> Choices {
        Choices {
            model,
            task: Task::Root,
            width: 64,
            samples: 10,
            test: 10,
            seed: 1,
            settings: Settings::default(),
            optimizer: None,
            learning_rate: None,
            normalization: None,
            layers: None,
            heads: None,
            mlp: None,
        }
    }

    #[test]
    fn what_is_not_chosen_is_as_in_the_paper() {
        for (model, architecture) in [
            (Model::Cnn, Architecture::cnn()),
            (Model::Inn, Architecture::inn()),
            (Model::Transformer, Architecture::transformer(3, 64)),
        ] {
            let recipe = usual(model).recipe(3, &str::to_owned).unwrap();
            assert_eq!(recipe.architecture, architecture);
            assert_eq!(recipe.optimizer, Optimizer::of_architecture(architecture, 64));
        }
    }

    #[test]
    fn only_transformers_tell_tokens() {
        let refused = |choices: Choices| choices.recipe(2, &str::to_owned).unwrap_err().to_string();
        let next = |model| Choices { task: Task::Next, ..usual(model) };
        assert_eq!(refused(next(Model::Cnn)), "task next needs model transformer: cnn only predicts roots");
        let masked = |choices: Choices, mask: f64| Choices {
            settings: Settings { mask: Some(mask), ..Settings::default() },
            ..choices
        };
        let refusal = refused(masked(next(Model::Transformer), 0.2));
        assert_eq!(refusal, "mask has no effect here: it needs task masked");
        let of_masks = Choices { task: Task::Masked, ..usual(Model::Transformer) };
        assert!(refused(masked(of_masks.clone(), 0.0)).starts_with("mask is 0, expected"));
        let share = |choices: Choices| choices.recipe(2, &str::to_owned).unwrap().settings.mask;
        assert_eq!([share(masked(of_masks.clone(), 1.0)), share(of_masks)], [Some(1.0), Some(0.15)]);
        assert_eq!(share(next(Model::Transformer)), None);
    }

    #[test]
    fn choices_without_effect_are_refused() {
        let refused = |choices: Choices| choices.recipe(2, &str::to_owned).unwrap_err().to_string();
        let error = refused(Choices { heads: Some(16), ..usual(Model::Cnn) });
        assert_eq!(error, "heads has no effect here: it needs model transformer");
        assert!(refused(Choices { mlp: Some(1), ..usual(Model::Inn) }).starts_with("mlp"));
        assert!(refused(Choices { layers: Some(1), ..usual(Model::Inn) }).starts_with("layers"));
        let scaled = Choices { normalization: Some(Scale::FanIn), ..usual(Model::Transformer) };
        assert!(refused(scaled).starts_with("normalization"));
        let scaled = Choices { normalization: Some(Scale::Splits), ..usual(Model::Cnn) };
        assert_eq!(refused(scaled), "normalization splits needs model inn: cnn has no splits");
        let adam = Choices { optimizer: Some(Rule::Adam), ..usual(Model::Cnn) };
        assert!(refused(adam.clone()).starts_with("learning_rate is missing"));
        let recipe = Choices { learning_rate: Some(0.01), ..adam }.recipe(2, &str::to_owned).unwrap();
        assert_eq!(recipe.optimizer, Optimizer::Adam { learning_rate: 0.01 });
    }
}
