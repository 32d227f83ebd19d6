//! Probes against what is known: grammars without synonyms, networks before and after training.

use gardenpath::{Arities, Corpus, Ensemble, Grammar, RuleCount, Seed, Shape};
use gardenpath_nn::engine::{Cpu, initial_state, weights};
use gardenpath_nn::probe::{Probe, ProbeReport};
use gardenpath_nn::train::{Event, Progress, Settings, Trainer};
use gardenpath_nn::{Architecture, Error, Model, Network, Optimizer, Task, Tensors};

const SMALL: Probe = Probe { train: 400, held_out: 200, exchanged: 100 };

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

/// No probe knows more than exact inference from what the network sees; that from a prefix knows less than that from the sentence, and is
/// right as often as it expects.
#[test]
fn no_probe_beats_the_bound() {
    let grammar = Ensemble::new(6, 2).fraction(0.4).sample(Seed::new(1)).unwrap();
    let size = Probe { train: 1500, held_out: 1500, exchanged: 10 };
    let mut bounds = Vec::new();
    for task in [Task::Root, Task::Masked, Task::Next] {
        let transformer = Architecture::Transformer { layers: 2, heads: 4, mlp: 96 };
        let network = network(&grammar, 48, transformer).with_task(task).unwrap();
        let report = probe(size, &network, &trained(&network, &grammar, 4096, 300), &grammar);
        assert_eq!([report.layers.len(), report.accuracy.len()], [2; 2]);
        for (level, found) in report.levels.iter().enumerate() {
            let noise = 4.0 * (found.bound * (1.0 - found.bound) / 1500.0).sqrt();
            let best = report.accuracy.iter().map(|layer| layer[level]).fold(0.0, f64::max);
            println!("{} level {level}: {best:.3} <= {:.3}, chance {:.3}", task.name(), found.bound, found.chance);
            assert!(best <= found.bound + noise && found.chance <= found.bound + noise, "{}: {report:?}", task.name());
            assert!((0.0..6f64.ln()).contains(&found.entropy));
        }
        bounds.push(report.levels.iter().map(|level| level.bound).collect::<Vec<f64>>());
    }
    assert_eq!(bounds[0], bounds[1]);
    assert!(bounds[2][0] < bounds[0][0] - 0.1 && bounds[2][1] < bounds[0][1], "{bounds:?}");
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
    let expected = "network and grammar differ in the numbers of children by level: [{2}, {2}] and [{2, 3}, {2, 3}]";
    assert_eq!(messages[1], expected);
}
