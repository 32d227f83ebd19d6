//! The paper's algorithm, its protocol and its signal-to-noise ratio: the numbers they must reach.

use gardenpath::learn::paper::{Alignment, cluster_true_rules, infer_binary, infer_ternary};
use gardenpath::learn::score::{score_rules, score_sentences};
use gardenpath::learn::{Learned, Learner, Outline, Paper};
use gardenpath::snr::{Average, SignalStudy, log_grid};
use gardenpath::{
    Corpus, Covariance, Ensemble, ExpectedMoments, Grammar, KMeans, Moments, Rule, Sampler, Seed, Stream, Symbol,
};

fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

fn paper(vocab: usize, depth: usize) -> Paper {
    Paper::new(Outline::new(vocab, depth))
}

fn learn(paper: &Paper, corpus: &Corpus) -> gardenpath::Result<Learned> {
    paper.learn(corpus, &mut |_| ())
}

fn grammar(vocab: usize, seed: u64) -> Grammar {
    Ensemble::new(vocab, 2).fraction(0.25).sample(Seed::new(seed)).unwrap()
}

/// From `samples` sentences, or exact for `None`.
fn covariance(grammar: &Grammar, samples: Option<u64>) -> Covariance {
    let Some(samples) = samples else { return ExpectedMoments::new(grammar).unwrap().covariance() };
    let mut moments = Moments::new(grammar.vocab(), grammar.classes()).unwrap();
    moments.add_sampled(&Sampler::new(grammar), Seed::new(1), 0..samples).unwrap();
    moments.covariance()
}

fn mean_purity(vocab: usize, samples: Option<u64>, grammars: u64) -> (f64, f64) {
    let purities = (0..grammars).map(|seed| {
        let grammar = grammar(vocab, seed);
        cluster_true_rules(&grammar, &covariance(&grammar, samples), &KMeans::new(vocab)).unwrap()
    });
    let sums = purities.fold((0.0, 0.0), |sums, purity| (sums.0 + purity.binary, sums.1 + purity.ternary));
    (sums.0 / grammars as f64, sums.1 / grammars as f64)
}

fn check_purity(vocab: usize, samples: Option<u64>, grammars: u64, binary: f64, ternary: f64) {
    let found = mean_purity(vocab, samples, grammars);
    assert!(found.0 >= binary && found.1 >= ternary, "v = {vocab}: {found:?}, expected {binary} and {ternary}");
}

#[test]
fn purity_of_a_million_sentences() {
    check_purity(8, Some(1_000_000), 6, 0.95, 0.78);
    check_purity(12, Some(1_000_000), 4, 0.95, 0.87);
    check_purity(16, Some(1_000_000), 2, 0.95, 0.90);
}

#[test]
#[ignore = "takes a minute: thousands of triples in 24 and 32 clusters"]
fn purity_of_a_million_sentences_at_large_vocabularies() {
    check_purity(16, Some(1_000_000), 6, 0.95, 0.90);
    check_purity(24, Some(1_000_000), 4, 0.95, 0.90);
    check_purity(32, Some(1_000_000), 4, 0.95, 0.87);
}

#[test]
fn purity_of_exact_moments() {
    check_purity(8, None, 10, 0.96, 0.80);
    check_purity(12, None, 4, 0.98, 0.88);
    check_purity(16, None, 2, 0.99, 0.92);
}

#[test]
#[ignore = "takes a minute: thousands of triples in 24 and 32 clusters"]
fn purity_of_exact_moments_at_large_vocabularies() {
    check_purity(24, None, 4, 0.99, 0.94);
    check_purity(32, None, 4, 0.99, 0.96);
}

/// Matched precision and recall of Algorithms 2 and 3 on exact moments: binary, ternary.
fn literal(vocab: usize, seed: u64, alignment: Alignment) -> [f64; 4] {
    let (truth, kmeans) = (grammar(vocab, seed), KMeans::new(vocab));
    let covariance = covariance(&truth, None);
    let binary = infer_binary(&covariance, 0.85, &kmeans).unwrap();
    let ternary = infer_ternary(&covariance, &binary, 1.5, alignment);
    let all = || binary.rules.iter().chain(&ternary);
    let share = |parent| 1.0 / all().filter(|rule| rule.parent == parent).count() as f64;
    let rules = all().map(|r| Rule { parent: r.parent, children: r.children, probability: share(r.parent) });
    let layers = vec![truth.layer(0).rules().to_vec(), rules.collect()];
    let learned = Grammar::new(truth.sizes().to_vec(), truth.prior().to_vec(), layers).unwrap();
    let score = &score_rules(&learned, &truth).unwrap()[1];
    let [binary, ternary] = [score.rules[2], score.rules[3]];
    [binary.precision(), binary.recall(), ternary.precision(), ternary.recall()]
}

#[test]
fn thresholds_on_exact_moments() {
    // Binary rules are recovered; ternary ones are not, however many sentences there are.
    let [precision, recall, ternary_precision, ternary_recall] = literal(16, 0, Alignment::InnerProduct);
    assert!(precision > 0.95 && recall > 0.95, "{precision} {recall}");
    assert!((0.7..0.95).contains(&ternary_precision) && (0.7..0.95).contains(&ternary_recall));
    let large = literal(32, 0, Alignment::InnerProduct);
    assert!(large[2] > 0.84 && large[3] > 0.92, "{large:?}");
    let cosine = literal(32, 0, Alignment::Cosine);
    assert!(cosine[3] < large[3], "the inner product finds more: {cosine:?}");
}

#[test]
fn one_layer_is_learned_exactly() {
    let truth = Ensemble::new(8, 1).sample(Seed::new(3)).unwrap();
    let corpus = Corpus::sample(&truth, Seed::new(1), 0..100_000);
    let learned = learn(&paper(8, 1), &corpus).unwrap().grammar;
    assert!(score_rules(&learned, &truth).unwrap()[0].is_exact());
}

#[test]
fn two_layers_on_any_number_of_threads() {
    let truth = grammar(16, 0);
    let corpus = Corpus::sample(&truth, Seed::new(1), 0..1_000_000);
    let learned = in_pool(1, || learn(&paper(16, 2), &corpus).unwrap().grammar);
    assert_eq!(in_pool(3, || learn(&paper(16, 2), &corpus).unwrap().grammar), learned);
    let scores = score_rules(&learned, &truth).unwrap();
    assert!(scores[1].rules[2].f1() > 0.95 && scores[1].rules[3].f1() > 0.7, "{scores:?}");
    assert!(scores[0].rules[2].f1() > 0.95 && scores[0].rules[3].f1() > 0.9, "{scores:?}");
    let answers = score_sentences(&learned, &truth, Seed::new(99), 5000).unwrap();
    assert!(answers.bayes.accuracy > 0.98 && answers.bayes.parse_rate == 1.0);
    assert!((0.6..0.95).contains(&answers.learned.accuracy), "never Bayes: {answers:?}");
    assert!(answers.learned.cross_entropy > answers.bayes.cross_entropy);
}

#[test]
#[ignore = "measures time: run it alone, in release mode"]
fn eight_million_sentences_in_two_seconds() {
    let truth = grammar(16, 0);
    let start = std::time::Instant::now();
    let corpus = Corpus::sample(&truth, Seed::new(1), 0..8_000_000);
    let learned = learn(&paper(16, 2), &corpus).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    assert!(seconds < 2.0, "{seconds} s");
    assert_eq!(learned.levels[1].rules[2], 64);
}

#[test]
fn three_layers_run_and_bad_input_is_refused() {
    let truth = Ensemble::new(8, 3).fraction(0.25).sample(Seed::new(1)).unwrap();
    let corpus = Corpus::sample(&truth, Seed::new(1), 0..200_000);
    let learned = learn(&paper(8, 3), &corpus).unwrap();
    assert_eq!(learned.levels.iter().map(|level| level.level).collect::<Vec<_>>(), [0, 1, 2]);
    assert!(score_rules(&learned.grammar, &truth).unwrap()[2].rules[2].recall() > 0.7);
    assert!(learn(&paper(8, 3), &Corpus::default()).is_err());
    assert_eq!((learned.grammar.classes(), learned.grammar.vocab()), (8, 8), "those of the corpus");
    assert!(learn(&Paper { gamma_binary: 0.0, ..paper(8, 3) }, &corpus).is_err());
    // Nothing passes an absurd threshold, and the reason is given.
    let message = learn(&Paper { gamma_binary: 1e9, ..paper(8, 3) }, &corpus).unwrap_err().to_string();
    assert!(message.contains("pairs"), "{message}");
    // Sentences without information about their only root.
    let mut constant = Corpus::default();
    (0..10).for_each(|_| constant.push(&[0, 0, 0, 0, 0, 0, 0, 0], 0));
    assert!(learn(&paper(8, 3), &constant).is_err());
}

/// The same grammar with the inner symbols renamed.
fn renamed(grammar: &Grammar, stream: &mut Stream) -> Grammar {
    let depth = grammar.depth();
    let names: Vec<Vec<Symbol>> = (0..=depth)
        .map(|level| {
            let mut names: Vec<Symbol> = (0..grammar.sizes()[level] as Symbol).collect();
            if level > 0 && level < depth {
                (1..names.len()).for_each(|k| names.swap(k, stream.below(k as u64 + 1) as usize));
            }
            names
        })
        .collect();
    let rename = |level: usize, rule: &Rule| {
        let children: Vec<Symbol> = rule.children.iter().map(|child| names[level + 1][usize::from(child)]).collect();
        let children = gardenpath::Children::from_slice(&children).unwrap();
        Rule { parent: names[level][usize::from(rule.parent)], children, probability: rule.probability }
    };
    let layers = (0..depth).map(|l| grammar.layer(l).rules().iter().map(|rule| rename(l, rule)).collect()).collect();
    Grammar::new(grammar.sizes().to_vec(), grammar.prior().to_vec(), layers).unwrap()
}

#[test]
fn names_of_inner_symbols_do_not_matter() {
    let truth = Ensemble::new(10, 4).sample(Seed::new(1)).unwrap();
    let learned = renamed(&truth, &mut Seed::new(2).stream(0));
    assert_ne!(learned, truth);
    for score in score_rules(&learned, &truth).unwrap() {
        assert!(score.is_exact() && score.purity[2] == 1.0 && score.purity[3] == 1.0);
    }
    let answers = score_sentences(&learned, &truth, Seed::new(9), 200).unwrap();
    assert_eq!(answers.learned.accuracy, answers.bayes.accuracy);
    // An unrelated grammar shares about a quarter of the tuples, hardly any of them with the right parents.
    let other = Ensemble::new(10, 4).sample(Seed::new(5)).unwrap();
    let score = &score_rules(&other, &truth).unwrap()[3];
    assert!(score.rules[3].f1() < 0.1, "{:?}", score.rules[3]);
    assert!(score_rules(&grammar(8, 1), &truth).is_err());
}

#[test]
fn clusters_are_found_and_do_not_depend_on_threads() {
    // 30 clusters of 6 points each: plain restarts of k-means rarely find all of them.
    let mut stream = Seed::new(4).stream(0);
    let mut gauss = || (0..12).map(|_| stream.unit()).sum::<f64>() - 6.0;
    let centres: Vec<f64> = (0..30 * 5).map(|_| 10.0 * gauss()).collect();
    let rows: Vec<f64> = (0..180 * 5).map(|k| centres[k % 150] + gauss()).collect();
    let kmeans = KMeans::new(30).seed(Seed::new(1));
    let found = in_pool(1, || kmeans.fit(&rows, 5).unwrap());
    assert_eq!(found, in_pool(3, || kmeans.fit(&rows, 5).unwrap()));
    let more = kmeans.clone().restarts(200).patience(200).fit(&rows, 5).unwrap();
    assert!(found.inertia() <= more.inertia() * 1.001, "{} against {}", found.inertia(), more.inertia());
    // Equal rows, and fewer rows than clusters.
    let same = KMeans::new(3).fit(&[1.0; 8], 2).unwrap();
    assert_eq!((same.clusters(), same.inertia()), (3, 0.0));
    assert_eq!(KMeans::new(9).fit(&[1.0, 2.0], 1).unwrap().clusters(), 2);
    assert!(KMeans::new(2).fit(&[1.0, f64::NAN], 1).is_err());
    assert!(KMeans::new(2).fit(&[1.0, 2.0, 3.0], 2).is_err());
}

fn predicted(vocab: usize, depth: usize, grammars: u64, guess: f64) -> f64 {
    let ensemble = Ensemble::new(vocab, depth).fraction(1.0 / vocab as f64);
    let grid = log_grid(guess / 8.0, guess * 8.0, 13);
    let study = SignalStudy::measure(&ensemble, grammars, &grid, Seed::new(3), &|_| ()).unwrap();
    let found = study.sample_complexity(0.5, Average::RatioOfMeans).unwrap();
    let (low, high) = study.interval(0.5, Average::RatioOfMeans, 0.95, Seed::new(1)).unwrap();
    assert!(low <= found && found <= high && high < 1.6 * low, "{low} {found} {high}");
    let other = study.sample_complexity(0.5, Average::MeanOfRatios).unwrap();
    assert!((1.2..3.5).contains(&(found / other)), "the mean of ratios differs: {found} against {other}");
    found
}

/// The slope of ln P* over ln v.
fn exponent(points: &[(usize, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|&(v, p)| ((v as f64).ln(), p.ln())).collect();
    let mean = |pick: fn(&(f64, f64)) -> f64| logs.iter().map(pick).sum::<f64>() / logs.len() as f64;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let covariance: f64 = logs.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    covariance / logs.iter().map(|point| (point.0 - x).powi(2)).sum::<f64>()
}

fn check_snr(depth: usize, grammars: u64, expected: &[(usize, f64)]) {
    let found: Vec<(usize, f64)> =
        expected.iter().map(|&(vocab, guess)| (vocab, predicted(vocab, depth, grammars, guess))).collect();
    for (&(vocab, found), &(_, expected)) in found.iter().zip(expected) {
        assert!((found / expected).ln().abs() < 0.25, "v = {vocab}: {found} against {expected}");
    }
    let exponent = exponent(&found);
    assert!((1.8..2.4).contains(&exponent), "{exponent}");
}

#[test]
fn snr_at_depth_two() {
    check_snr(2, 40, &[(8, 3.7e3), (12, 8.2e3), (16, 1.3e4), (24, 3.7e4), (32, 6.0e4)]);
}

#[test]
#[ignore = "takes half a minute: ten million sentences per grammar at the largest vocabulary"]
fn snr_at_depth_three() {
    check_snr(3, 20, &[(8, 4.6e4), (12, 1.13e5), (16, 1.68e5), (24, 5.0e5), (32, 9.0e5)]);
}
