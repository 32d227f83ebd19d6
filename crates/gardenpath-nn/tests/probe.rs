//! Probes against what is known: solved regressions, grammars without synonyms, networks before and after training.

use gardenpath::{Arities, Corpus, Ensemble, Grammar, RuleCount, Seed, Shape};
use gardenpath_nn::engine::{Cpu, initial_state, weights};
use gardenpath_nn::model::Model;
use gardenpath_nn::optimizer::Optimizer;
use gardenpath_nn::probe::ridge::Ridge;
use gardenpath_nn::probe::{Probe, ProbeReport};
use gardenpath_nn::train::{Event, Progress, Settings, Trainer};
use gardenpath_nn::{Architecture, Error, Network, Tensors};

const SMALL: Probe = Probe { train: 400, held_out: 200, exchanged: 100 };

fn random(count: usize, number: u64) -> Vec<f64> {
    let mut stream = Seed::new(1).stream(number);
    (0..count).map(|_| stream.unit() - 0.5).collect()
}

fn network(grammar: &Grammar, width: usize, architecture: Architecture) -> Network {
    Network::new(grammar.vocab(), grammar.classes(), grammar.shape(), width, architecture).unwrap()
}

fn untrained(network: &Network) -> Tensors<f32> {
    Tensors::sample(&network.parameters(), Seed::new(4))
}

fn architectures() -> [Architecture; 3] {
    [Architecture::cnn(), Architecture::inn(), Architecture::Transformer { layers: 2, heads: 4, mlp: 32 }]
}

fn probe(probe: Probe, network: &Network, weights: &Tensors<f32>, grammar: &Grammar) -> ProbeReport {
    probe.run(&mut Model::new(network), weights, grammar, Seed::new(9)).unwrap()
}

/// One channel: the slope of least squares shrinks by 1 / (1 + penalty), around the means.
#[test]
fn ridge_by_hand() {
    let (rows, targets) = ([1.0, 2.0, 3.0, 6.0], [2.0, 2.0, 3.0, 9.0]);
    // Means 3 and 4, sums of squares and products 14 and 21: the slope is 1.5.
    for penalty in [1e-12, 0.5, 3.0] {
        let ridge = Ridge::fit(&rows, 1, &targets, 1, penalty);
        let expected = 4.0 + 1.5 / (1.0 + penalty) * (10.0 - 3.0);
        let found = ridge.predict(&[10.0])[0];
        assert!((found - expected).abs() < 1e-9, "penalty {penalty}: {found}, not {expected}");
    }
}

#[test]
fn ridge_finds_a_planted_map() {
    let (count, width, outputs) = (300, 37, 3);
    let (rows, map, new) = (random(count * width, 0), random(width * outputs, 1), random(width, 2));
    let apply = |row: &[f64]| -> Vec<f64> {
        let output = |k: usize| row.iter().zip(map[k * width..].iter()).map(|(x, w)| x * w).sum::<f64>() + k as f64;
        (0..outputs).map(output).collect()
    };
    let targets: Vec<f64> = rows.chunks(width).flat_map(apply).collect();
    let ridge = Ridge::fit(&rows, width, &targets, outputs, 1e-12);
    for (found, expected) in ridge.predict(&new).iter().zip(apply(&new)) {
        assert!((found - expected).abs() < 1e-8, "{found}, not {expected}");
    }
}

/// At the minimum the gradient is zero: the errors, projected on a channel, balance the penalty on its weight.
#[test]
fn ridge_is_a_minimum() {
    let (count, width, penalty) = (60, 21, 0.1);
    let mut rows = random(count * width, 3);
    for row in rows.chunks_mut(width) {
        // Two channels that are nearly the same, one dead channel, and one of another scale.
        row[1] = row[0] + 0.01 * row[1];
        row[2] = 0.0;
        row[3] *= 1e4;
    }
    let targets = random(count, 4);
    let ridge = Ridge::fit(&rows, width, &targets, 1, penalty);
    let mean = |channel: usize| rows.iter().skip(channel).step_by(width).sum::<f64>() / count as f64;
    let centre: Vec<f64> = (0..width).map(mean).collect();
    let intercept = ridge.predict(&centre)[0];
    let errors: Vec<f64> = rows.chunks(width).zip(&targets).map(|(row, y)| y - ridge.predict(row)[0]).collect();
    for channel in (0..width).filter(|&channel| channel != 2) {
        let column: Vec<f64> = rows.iter().skip(channel).step_by(width).map(|x| x - centre[channel]).collect();
        let deviation = (column.iter().map(|x| x * x).sum::<f64>() / count as f64).sqrt();
        let mut stepped = centre.clone();
        stepped[channel] += deviation;
        let weight = ridge.predict(&stepped)[0] - intercept;
        let pull: f64 = column.iter().zip(&errors).map(|(x, error)| x / deviation * error).sum();
        // The trace is the number of rows for each living channel.
        let push = penalty * count as f64 * (width - 1) as f64 / width as f64 * weight;
        assert!((pull - push).abs() < 1e-9, "channel {channel}: {pull} and {push}");
    }
}

/// With one rule for each symbol and arity in the last layer, exchanging its synonyms changes nothing; those of the layer
/// above are seen by every network.
#[test]
fn where_there_are_no_synonyms_nothing_is_sensitive() {
    let [above, below] = [3, 1].map(|number| {
        let ensemble =
            [2, 3].iter().fold(Ensemble::new(6, 1), |all, &arity| all.rules(arity, RuleCount::Number(number)));
        let grammar = ensemble.sample(Seed::new(1)).unwrap();
        grammar.layer(0).rules().to_vec()
    });
    let grammar = Grammar::new(vec![6; 3], vec![1.0 / 6.0; 6], vec![above, below.clone()]).unwrap();
    let rigid = Grammar::new(vec![6; 3], vec![1.0 / 6.0; 6], vec![below.clone(), below]).unwrap();
    for architecture in architectures() {
        let network = network(&grammar, 16, architecture);
        let weights = untrained(&network);
        for layer in probe(SMALL, &network, &weights, &grammar).sensitivity {
            assert!(layer[0] > Some(0.2) && layer[0] < Some(1.2), "{architecture:?}: {layer:?}");
            assert_eq!(layer[1], Some(0.0), "{architecture:?}");
        }
        let report = probe(SMALL, &network, &weights, &rigid);
        assert!(report.sensitivity.iter().all(|layer| layer == &[Some(0.0), Some(0.0)]));
    }
}

/// A layer whose weights are zero never moves, and gives classifiers nothing better than chance.
#[test]
fn dead_layers_tell_nothing() {
    let grammar = Ensemble::new(8, 2).sample(Seed::new(1)).unwrap();
    let network = network(&grammar, 16, Architecture::inn());
    let report = probe(SMALL, &network, &Tensors::zeros(&network.parameters()), &grammar);
    assert!(report.sensitivity.iter().flatten().all(Option::is_none));
    for layer in &report.accuracy {
        for (accuracy, level) in layer.iter().zip(&report.levels) {
            assert_eq!(*accuracy, level.chance);
        }
    }
}

fn trained(network: &Network, grammar: &Grammar, sentences: u64, steps: u64) -> Tensors<f32> {
    let [train, test] =
        [(2, sentences), (3, 512)].map(|(seed, count)| Corpus::sample(grammar, Seed::new(seed), 0..count));
    let engine = Cpu::new(network, Optimizer::of_paper(network), &initial_state(network, Seed::new(4))).unwrap();
    let settings = Settings { max_steps: steps, min_steps: steps, ..Settings::default() };
    let mut trainer = Trainer::new(engine, settings, [&train, &test], Seed::new(5), Progress::default()).unwrap();
    while !matches!(trainer.advance().unwrap(), Event::Ended(_)) {}
    weights(network, &trainer.state()).unwrap()
}

/// With training the root moves to the top layer, which forgets the tokens.
#[test]
fn trained_networks_encode_the_root_on_top() {
    let grammar = Ensemble::new(8, 2).fraction(0.125).sample(Seed::new(1)).unwrap();
    for (architecture, sentences, steps) in [(Architecture::inn(), 4096, 400), (Architecture::cnn(), 8192, 1000)] {
        let network = network(&grammar, 64, architecture);
        let size = Probe { train: 1500, held_out: 750, exchanged: 300 };
        let before = probe(size, &network, &untrained(&network), &grammar);
        let after = probe(size, &network, &trained(&network, &grammar, sentences, steps), &grammar);
        let name = architecture.name();
        let top = before.layers.len() - 1;
        let root = |report: &ProbeReport| report.accuracy[top][0];
        let tokens = |report: &ProbeReport| report.sensitivity[top][1].unwrap();
        assert!(root(&after) > after.levels[0].chance + 0.5, "{name}: {after:?}");
        assert!(root(&after) > root(&before) + 0.25, "{name}: {} to {}", root(&before), root(&after));
        assert!(tokens(&after) < 0.6 * tokens(&before), "{name}: {} to {}", tokens(&before), tokens(&after));
        // The layer below carries the symbols of the level below the root better than the top layer does.
        assert!(after.accuracy[0][1] > after.accuracy[top][1] + 0.2, "{name}: {after:?}");
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let grammar = Ensemble::new(6, 2).sample(Seed::new(1)).unwrap();
    for architecture in architectures() {
        let network = network(&grammar, 48, architecture);
        let weights = untrained(&network);
        let [one, two] = [1, 2].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| probe(SMALL, &network, &weights, &grammar))
        });
        assert_eq!(one, two, "{architecture:?}");
        assert_eq!([one.layers.len(), one.accuracy.len()], [one.sensitivity.len(); 2]);
    }
}

#[test]
fn foreign_grammars_and_empty_samples_are_refused() {
    let grammar = Ensemble::new(6, 2).sample(Seed::new(1)).unwrap();
    let refused = |probe: Probe, network: &Network| {
        probe.run(&mut Model::new(network), &untrained(network), &grammar, Seed::new(9)).unwrap_err()
    };
    let own = network(&grammar, 8, Architecture::cnn());
    assert!(matches!(refused(Probe { held_out: 0, ..SMALL }, &own), Error::TooSmall { .. }));
    let binary = Shape::new(&[Arities::from([2]); 2]);
    let others = [Network { vocab: 7, ..own.clone() }, Network { shape: binary, ..own }];
    let messages = others.map(|network| refused(SMALL, &network).to_string());
    assert_eq!(messages[0], "network and grammar differ in the number of tokens: 7 and 6");
    let expected = "network and grammar differ in the numbers of children by level: [2..=2, 2..=2] and [2..=3, 2..=3]";
    assert_eq!(messages[1], expected);
}
