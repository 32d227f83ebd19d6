//! How the work grows with the length of sentences, the number of symbols and the number of sentences.
//!
//! Instructions are counted, not seconds: the test starts itself under callgrind (Debian's `valgrind`), which counts what
//! [`counted_by_callgrind`] runs. The same code on the same data gives the same counts on any machine, however busy it is. Without valgrind
//! the tests say so and are skipped.

use gardenpath::learn::{Exact, Learner, Outline};
use gardenpath::{Corpus, Ensemble, Grammar, Inside, Moments, Predictor, Sampler, Seed, class_entropy};
use std::path::Path;
use std::process::Command;

/// Work of one size.
struct Work {
    /// What the work grows with: the mean length of the sentences, or how many symbols, sentences or tokens there are.
    size: f64,
    /// The number of repetitions: the work of one of them counts.
    repeated: f64,
    run: Box<dyn FnMut() + Send>,
}

/// Names the work that the process is to run under callgrind.
const WORK: &str = "GARDENPATH_GROWTH";

/// The work of this name, by increasing size.
fn work(name: &str) -> Vec<Work> {
    match name {
        "entropy" => [(2, 800), (3, 400), (4, 100), (5, 30), (6, 12)].map(|(depth, n)| entropy(depth, n)).into(),
        "inside" => [(2, 800), (3, 400), (4, 100), (5, 30), (6, 12)].map(|(depth, n)| inside(depth, n)).into(),
        "full" => [(3, 16), (4, 39), (5, 98), (6, 244)].map(|(depth, len)| full(depth, 16, len)).into(),
        "full by symbols" => [8, 16, 32].map(|vocab| Work { size: vocab as f64, ..full(4, vocab, 39) }).into(),
        "next" => [(2, 400), (3, 200), (4, 50), (5, 20)].map(|(depth, n)| next(depth, n)).into(),
        "next full" => [(4, 39), (5, 98), (6, 244)].map(|(depth, len)| next_full(depth, len)).into(),
        "learn by symbols" => [6, 8, 12].map(|vocab| learn(vocab, 20 * vocab.pow(3), vocab)).into(),
        "learn by more symbols" => [12, 16, 24].map(|vocab| learn(vocab, 20 * vocab.pow(3), vocab)).into(),
        "learn by sentences" => [6_000, 12_000, 24_000].map(|sentences| learn(6, sentences, sentences)).into(),
        "sample" => [10_000, 20_000, 40_000, 80_000].map(sample).into(),
        "count" => [10_000, 20_000, 40_000, 80_000].map(count).into(),
        _ => panic!("no work is called {name:?}"),
    }
}

fn grammar(vocab: usize, depth: usize, fraction: f64) -> Grammar {
    Ensemble::new(vocab, depth).fraction(fraction).sample(Seed::new(7)).expect("the parameters are right")
}

fn entropy(depth: usize, sentences: u64) -> Work {
    let ensemble = Ensemble::new(16, depth).fraction(0.5);
    let run = move || {
        let entropy = class_entropy(&ensemble, 1, sentences, Seed::new(0), &|_| ()).expect("the parameters are right");
        assert!(entropy.mean > 0.0);
    };
    Work { size: 2.5f64.powi(depth as i32), repeated: sentences as f64, run: Box::new(run) }
}

fn inside(depth: usize, sentences: u64) -> Work {
    let grammar = grammar(16, depth, 0.25);
    let corpus = Corpus::sample(&grammar, Seed::new(1), 0..sentences);
    let size = corpus.tokens().len() as f64 / sentences as f64;
    let run = move || {
        let posteriors = Inside::new(&grammar).batch(&corpus).expect("the tokens are right");
        assert!(posteriors.iter().all(|posterior| posterior.root().is_some()));
    };
    Work { size, repeated: sentences as f64, run: Box::new(run) }
}

/// The first sentence of a length, where all rules are grammatical.
fn crowded(depth: usize, vocab: usize, len: usize) -> (Grammar, Vec<u8>) {
    let grammar = grammar(vocab, depth, 1.0);
    let sampler = Sampler::new(&grammar);
    let tree = (0..).map(|i| sampler.tree(Seed::new(1), i)).find(|tree| tree.sentence().len() == len);
    let sentence = tree.expect("a typical length occurs").sentence().to_vec();
    (grammar, sentence)
}

fn full(depth: usize, vocab: usize, len: usize) -> Work {
    let (grammar, sentence) = crowded(depth, vocab, len);
    let run = move || {
        let posterior = Inside::new(&grammar).posterior(&sentence).expect("the tokens are right");
        assert!(posterior.root().is_some());
    };
    Work { size: len as f64, repeated: 1.0, run: Box::new(run) }
}

fn next(depth: usize, sentences: u64) -> Work {
    let grammar = grammar(16, depth, 0.25);
    let corpus = Corpus::sample(&grammar, Seed::new(1), 0..sentences);
    let size = corpus.tokens().len() as f64 / sentences as f64;
    let run = move || {
        let predictor = Predictor::new(&grammar);
        let mut reader = predictor.reader();
        for sentence in corpus.sentences() {
            reader.restart();
            sentence.iter().for_each(|&token| reader.push(token).expect("the tokens are right"));
            assert!(reader.next().last() > Some(&0.0), "a sentence may end where it does");
        }
    };
    Work { size, repeated: sentences as f64, run: Box::new(run) }
}

fn next_full(depth: usize, len: usize) -> Work {
    let (grammar, sentence) = crowded(depth, 16, len);
    let run = move || {
        let rows = Predictor::new(&grammar).rows(&sentence).expect("the tokens are right");
        assert_eq!(rows.len(), 17 * (sentence.len() + 1));
    };
    Work { size: len as f64, repeated: 1.0, run: Box::new(run) }
}

fn learn(vocab: usize, sentences: usize, size: usize) -> Work {
    let corpus = Corpus::sample(&grammar(vocab, 2, 0.25), Seed::new(1), 0..sentences as u64);
    let run = move || {
        let learned = Exact::new(Outline::new(vocab, 2)).learn(&corpus, &mut |_| ()).expect("the corpus is right");
        assert_eq!(learned.grammar.vocab(), vocab);
    };
    Work { size: size as f64, repeated: 1.0, run: Box::new(run) }
}

fn sample(sentences: u64) -> Work {
    let sampler = Sampler::new(&grammar(16, 3, 0.25));
    let run = move || {
        assert_eq!(Corpus::sample_with(&sampler, Seed::new(1), 0..sentences).len() as u64, sentences);
    };
    Work { size: sentences as f64, repeated: 1.0, run: Box::new(run) }
}

fn count(sentences: u64) -> Work {
    let corpus = Corpus::sample(&grammar(16, 3, 0.25), Seed::new(1), 0..sentences);
    let run = move || {
        let mut moments = Moments::new(16, 16).expect("the tables fit");
        moments.add_corpus(&corpus).expect("the tokens are right");
        assert_eq!(moments.pair_total(), (corpus.tokens().len() - corpus.len()) as u64);
    };
    Work { size: sentences as f64, repeated: 1.0, run: Box::new(run) }
}

/// What callgrind counts: it finds the function by its name, and notes the counts whenever it returns.
// SAFETY: nothing else has this name.
#[unsafe(no_mangle)]
#[inline(never)]
fn counted_by_callgrind(run: &mut dyn FnMut()) {
    run();
    // A last call would replace this function on the stack.
    std::hint::black_box(());
}

/// Runs the work that the environment names, on one thread: the part of these tests that callgrind watches.
#[test]
fn run_named_work() {
    let Ok(name) = std::env::var(WORK) else { return };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread can be started");
    for mut work in work(&name) {
        pool.install(|| counted_by_callgrind(&mut work.run));
    }
}

/// Sizes, and how many instructions one repetition takes. None without valgrind.
fn instructions(name: &str) -> Option<Vec<(f64, f64)>> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("growth-{}", name.replace(' ', "-")));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("there is room for counts");
    let mut callgrind = Command::new("valgrind");
    callgrind
        .args(["--tool=callgrind", "--toggle-collect=counted_by_callgrind", "--dump-after=counted_by_callgrind"])
        .arg(format!("--callgrind-out-file={}/counts", folder.display()))
        .arg(std::env::current_exe().expect("the test has a file"))
        .args(["--exact", "run_named_work"])
        .env(WORK, name);
    let output = match callgrind.output() {
        Ok(output) => output,
        Err(error) => {
            eprintln!("skipped: growth is measured with valgrind, which does not start ({error})");
            return None;
        }
    };
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    let counts = |(number, work): (usize, Work)| {
        let path = folder.join(format!("counts.{}", number + 1));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let total = text.lines().find_map(|line| line.strip_prefix("totals: ")).expect("counts have a sum");
        (work.size, total.trim().parse::<f64>().expect("a count is a number") / work.repeated)
    };
    Some(work(name).into_iter().enumerate().map(counts).collect())
}

/// Tests that the exponent from each size to the next is not above its bound, nor so low that most of the work was not counted.
fn check(name: &str, bounds: &[f64]) {
    let Some(found) = instructions(name) else { return };
    let exponent = |pair: &[(f64, f64)]| (pair[1].1 / pair[0].1).ln() / (pair[1].0 / pair[0].0).ln();
    let exponents: Vec<f64> = found.windows(2).map(exponent).collect();
    println!("{name}: exponents {exponents:.2?} of {found:.0?}");
    assert_eq!(exponents.len(), bounds.len());
    let is_right = |(exponent, most): (&f64, &f64)| (0.3..=*most).contains(exponent);
    assert!(
        exponents.iter().zip(bounds).all(is_right),
        "{name}: the exponents are {exponents:.3?}, expected at most {bounds:?}; instructions by size: {found:.0?}"
    );
}

/// Cells are sparse, and stay so: the cube of the length is far away.
#[test]
fn inside_is_less_than_cubic_in_the_length() {
    check("inside", &[1.7, 2.5, 2.4, 2.4]);
}

/// The last step is steeper than cubic: from depth 5 to 6, the cells of level 1 go from 2 to 12 candidates.
#[test]
fn class_entropy_is_cubic_until_the_chart_fills_up() {
    check("entropy", &[1.7, 2.4, 2.5, 3.6]);
}

#[test]
fn full_charts_are_cubic_in_the_length() {
    check("full", &[0.9, 2.1, 3.0]);
}

#[test]
fn full_charts_are_cubic_in_the_symbols() {
    check("full by symbols", &[2.4, 3.1]);
}

#[test]
fn next_tokens_are_less_than_quadratic_in_the_length() {
    check("next", &[1.5, 1.7, 1.5]);
}

#[test]
fn next_tokens_of_full_charts_are_at_most_cubic() {
    check("next full", &[1.4, 2.4]);
}

/// There are as many rules as the cube of the number of symbols, and so many sentences that each is seen equally often.
#[test]
fn learning_grows_like_the_number_of_rules() {
    check("learn by symbols", &[3.15, 3.15]);
}

#[test]
#[ignore = "two minutes"]
fn learning_more_symbols_grows_like_the_number_of_rules() {
    check("learn by more symbols", &[3.1, 3.15]);
}

#[test]
fn learning_is_linear_in_the_sentences() {
    check("learn by sentences", &[1.05, 1.05]);
}

#[test]
fn sampling_is_linear_in_the_tokens() {
    check("sample", &[1.05, 1.05, 1.05]);
}

#[test]
fn counting_is_linear_in_the_tokens() {
    check("count", &[1.02, 1.02, 1.02]);
}
