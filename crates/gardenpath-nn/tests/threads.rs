//! Training gives the same bytes with any number of threads, and when it is interrupted and resumed.

use gardenpath::{Corpus, Ensemble, Grammar, Seed};
use gardenpath_nn::engine::{Cpu, Engine, NamedTensor, initial_state};
use gardenpath_nn::train::{Event, Progress, Settings, Trainer};
use gardenpath_nn::{Architecture, Network, Optimizer};

fn networks(grammar: &Grammar) -> Vec<Network> {
    let network = |width, architecture| {
        Network::new(grammar.vocab(), grammar.classes(), grammar.shape(), width, architecture).unwrap()
    };
    vec![
        network(130, Architecture::cnn()),
        network(70, Architecture::inn()),
        network(48, Architecture::Transformer { layers: 2, heads: 4, mlp: 100 }),
    ]
}

fn grammar(depth: usize) -> Grammar {
    Ensemble::new(8, depth).fraction(0.125).sample(Seed::new(4)).unwrap()
}

/// Trains for some steps, or measurements, and returns where the run stands.
fn train(
    network: &Network,
    grammar: &Grammar,
    (state, progress): (Vec<NamedTensor>, Progress),
    events: usize,
) -> (Vec<NamedTensor>, Progress) {
    let train = Corpus::sample(grammar, Seed::new(1), 0..500);
    let test = Corpus::sample(grammar, Seed::new(2), 0..700);
    let engine = Cpu::new(network, Optimizer::of_paper(network), &state).unwrap();
    let settings = Settings { max_steps: 60, ..Settings::default() };
    let mut trainer = Trainer::new(engine, settings, [&train, &test], Seed::new(3), progress).unwrap();
    for _ in 0..events {
        if let Event::Ended(_) = trainer.advance().unwrap() {
            break;
        }
    }
    (trainer.engine.state(), trainer.progress().clone())
}

fn start(network: &Network) -> (Vec<NamedTensor>, Progress) {
    (initial_state(network, Seed::new(9)), Progress::default())
}

fn bits(state: &[NamedTensor]) -> Vec<u32> {
    state.iter().flat_map(|tensor| tensor.values.iter().map(|value| value.to_bits())).collect()
}

#[test]
fn one_two_and_eight_threads_give_the_same_bytes() {
    for depth in [2, 3] {
        let grammar = grammar(depth);
        for network in networks(&grammar) {
            let with = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| train(&network, &grammar, start(&network), 40))
            };
            let (state, progress) = with(1);
            for threads in [2, 8] {
                let other = with(threads);
                assert!(bits(&state) == bits(&other.0), "{} with {threads} threads", network.architecture.name());
                assert_eq!(progress, other.1);
            }
        }
    }
}

#[test]
fn an_interrupted_run_ends_with_the_same_bytes() {
    let grammar = grammar(2);
    for network in networks(&grammar) {
        let whole = train(&network, &grammar, start(&network), 1000);
        assert_eq!(whole.1.step, 60);
        for pieces in [[1, 1000], [17, 1000], [34, 1000], [35, 1000]] {
            let parts = pieces.iter().fold(start(&network), |at, &events| train(&network, &grammar, at, events));
            assert!(bits(&whole.0) == bits(&parts.0), "{} after {}", network.architecture.name(), pieces[0]);
            assert_eq!(whole.1, parts.1);
        }
    }
}
