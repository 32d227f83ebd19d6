//! Upper bounds for probes: exact inference from what the network sees.

use super::questions::{Question, Questions};
use crate::error::Result;
use gardenpath::interrupt::checkpoint;
use gardenpath::{Magnitude, Parser, Predictor};
use rayon::prelude::*;
use std::ops::Range;

/// What exact inference knows about the symbols of a level.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bound {
    /// The expected accuracy of the most probable symbol.
    pub accuracy: f64,
    /// The entropy that is left, in nats.
    pub entropy: f64,
}

/// `[level]`: the bounds of the answers to some questions.
///
/// A causal network knows the tokens up to the one that is asked about. Any other knows the sentence, and the probe tells it which span is a
/// node.
pub fn bounds(questions: &Questions<'_>, numbers: Range<u64>) -> Result<Vec<Bound>> {
    let (predictor, parser) = (Predictor::new(questions.grammar()), Parser::new(questions.grammar()));
    let of_question = |number| {
        checkpoint();
        let question = questions.get(number);
        let laws = if questions.is_causal() { prefix(&predictor, &question) } else { whole(&parser, &question) };
        Ok(laws?.iter().map(|law| of_law(law)).collect())
    };
    let all: Vec<Vec<Bound>> = numbers.into_par_iter().map(of_question).collect::<Result<_>>()?;
    let mean = |level: usize| {
        let mean = |of: fn(&Bound) -> f64| all.iter().map(|bounds| of(&bounds[level])).sum::<f64>() / all.len() as f64;
        Bound { accuracy: mean(|bound| bound.accuracy), entropy: mean(|bound| bound.entropy) }
    };
    Ok((0..questions.grammar().depth()).map(mean).collect())
}

/// The laws of the symbols above the token that is asked about, given the tokens up to it.
fn prefix(predictor: &Predictor<'_>, Question { tree, nodes }: &Question) -> Result<Vec<Vec<f64>>> {
    let mut reader = predictor.reader();
    let read = nodes.first().map_or(0, |node| node.span.end());
    tree.sentence()[..read].iter().try_for_each(|&token| reader.push(token))?;
    Ok((0..nodes.len()).map(|level| reader.hidden(level)).collect())
}

/// The laws of the symbols on the spans that are asked about, given the sentence.
fn whole(parser: &Parser<Magnitude>, Question { tree, nodes }: &Question) -> Result<Vec<Vec<f64>>> {
    let marginals = parser.marginals(&parser.parse(tree.sentence())?)?.expect("the sentence has a derivation");
    let law = |(asked, found): (&gardenpath::Node, &Vec<(gardenpath::Node, f64)>)| {
        found.iter().filter(|(node, _)| node.span == asked.span).map(|(_, p)| *p).collect()
    };
    Ok(nodes.iter().zip(&marginals.nodes).map(law).collect())
}

/// Of a law, up to a factor.
fn of_law(law: &[f64]) -> Bound {
    let total: f64 = law.iter().sum();
    let shares = || law.iter().map(|p| p / total).filter(|&p| p > 0.0);
    Bound { accuracy: shares().fold(0.0, f64::max), entropy: shares().map(|p| -p * libm::log(p)).sum() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{Architecture, Network};
    use crate::task::Task;
    use gardenpath::{Ensemble, Seed};

    /// Exact inference from prefixes is right as often as it expects: questions tell it nothing that it has not read.
    #[test]
    fn prefixes_are_all_that_is_known() {
        let grammar = Ensemble::new(4, 3).fraction(0.5).sample(Seed::new(3)).unwrap();
        let architecture = Architecture::Transformer { layers: 1, heads: 1, mlp: 1 };
        let network = Network::for_task(Task::Next, 4, 4, grammar.shape(), 4, architecture).unwrap();
        let (questions, count) = (Questions::new(&network, &grammar, Seed::new(5)), 6000);
        let bounds = bounds(&questions, 0..count).unwrap();
        let predictor = Predictor::new(&grammar);
        let mut right = [0.0; 3];
        for number in 0..count {
            let question = questions.get(number);
            for ((right, law), node) in right.iter_mut().zip(prefix(&predictor, &question).unwrap()).zip(question.nodes)
            {
                let best = (0..4).max_by(|&a, &b| law[a].total_cmp(&law[b])).unwrap();
                *right += if best == usize::from(node.symbol) { 1.0 / count as f64 } else { 0.0 };
            }
        }
        for (right, bound) in right.iter().zip(&bounds) {
            let noise = 4.0 * (bound.accuracy * (1.0 - bound.accuracy) / count as f64).sqrt();
            assert!((right - bound.accuracy).abs() < noise, "{right} is not {bound:?}");
            assert!(bound.accuracy < 0.95 && bound.entropy > 0.1, "{bound:?}");
        }
    }
}
