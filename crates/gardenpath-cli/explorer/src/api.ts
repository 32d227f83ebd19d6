// The contract between the page and `gardenpath explore`. The server is crates/gardenpath-cli/src/explore/.
//
// WHERE THINGS ARE. /explorer is a link to crates/gardenpath-cli/explorer, since the crate embeds the bundle:
//   explorer/src/*, explorer/package.json, explorer/package-lock.json, explorer/build.mjs   sources
//   explorer/dist/index.html, explorer/dist/app.js, explorer/dist/app.css                   the bundle, committed
//   explorer/dist/sources.sha256                                                            see "Stale bundles"
//   explorer/tests/*                                                                        browser tests (not hashed)
// node_modules must be git-ignored.
//
// THE PAGE. index.html refers to exactly "/app.js" (type="module") and "/app.css" in double quotes; the server replaces them by
// "/app.HASH.js" and "/app.HASH.css", which browsers keep for ever. The Content-Security-Policy is
//   default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; font-src 'self';
//   base-uri 'none'; form-action 'none'; frame-ancestors 'none'
// so: no inline <script>, no inline <style>, no style="" attributes in HTML text (element.style.x = … and attributes of SVG such as fill="" work),
// no eval. SVG of the server uses presentation attributes only. Files are saved with a Blob and <a download>.
//
// STATE IN THE URL: in the fragment (#view=reading&vocab=16&…). The server never sees it, and the redirect at the start keeps it.
//
// ACCESS. The printed URL is http://127.0.0.1:PORT/?key=…; the server answers with a cookie and redirects to /. Everything else needs the cookie:
// fetch and EventSource of the same origin send it by themselves. After a restart of the server the cookie is worth nothing: every
// request is refused with 403 (or cannot connect), and the page should say "the server has ended or was started again; open the URL it printed".
//
// REQUESTS. POST bodies are JSON with content-type application/json, 1 MB at most. Answers are JSON. Whatever is refused has a status of 4xx (or 503 if the
// server is busy or the work took too long) and the body { "error": "one line" } (at / the line as text): show the line. Abort fetches that are superseded
// (AbortController): the server stops the work when the connection closes.
// Numbers that are infinite or not a number are null. Probabilities are not rounded.

/** The body of every answer that is not 2xx. */
export interface Refusal { error: string }

// ---------------------------------------------------------------------------------------------------------------------------------
// Grammars: sent with each request, so that the server keeps nothing.

/** A random grammar: the options of `gardenpath grammar sample`. Unknown fields are refused, and so are choices without effect. */
export interface EnsembleGrammar {
  vocab: number                     // 1 … 255 symbols of each level
  depth: number                     // 1 … 16 layers of rules; sentences must not be longer than Limits.longest
  fraction?: number                 // of all tuples that are rules, default 0.25
  classes?: number                  // symbols of level 0, default vocab
  arities?: string                  // "2:0.5,3:0.5" (the default): the probability of each number of children, 1 … 8
  zipf?: number                     // exponent, default 0
  non_overlapping?: boolean         // default false
  cover?: boolean                   // default false
  seed?: number                     // whole, 0 … 2^53 - 1; default 0
}

/** The text of a .pcfg file (or the .json of published grammars). */
export interface TextGrammar { text: string }

export type GrammarChoice = EnsembleGrammar | TextGrammar

// ---------------------------------------------------------------------------------------------------------------------------------
// GET /api/start

export interface Start {
  version: string
  /** The grammar that was given on the command line. */
  grammar: { name: string; text: string } | null
  /** The store that GET /api/results reads, if there is one. */
  store: string | null
  /** Number of threads of the machine. */
  threads: number
  limits: Limits
}

export interface Limits {
  rules: number                     // of a grammar
  longest: number                   // tokens of the longest sentence of a grammar
  tokens: number                    // of a sentence that is read
  trees: number                     // that /api/reading lists
  sentences: number                 // that /api/language samples
  jobs: number                      // that run at the same time
  job_sentences: number             // to learn from
  job_steps: number                 // of a network
  job_width: number                 // of a network
}

// ---------------------------------------------------------------------------------------------------------------------------------
// POST /api/language: LanguageRequest -> Language. Within 100 ms at vocab 16, depth 3.

export interface LanguageRequest {
  grammar: GrammarChoice
  sentences?: number                // to show, default 10
  first?: number                    // number of the first one: sentence i is a function of (grammar, seed, i); default 0
  seed?: number                     // of the sentences, default 1
}

export interface Language {
  depth: number
  sizes: number[]                   // symbols of each level, from the classes (level 0) to the tokens (level depth)
  names: string[][]                 // [level][symbol]
  prior: number[]                   // of the classes
  layers: LayerSummary[]            // depth of them, from the root down
  rules: number                     // all
  /** Exact probabilities of all lengths that sentences have. */
  lengths: { length: number; probability: number }[]
  mean_length: number
  sentences: SampledSentence[]
  /** Class entropy H(Y|X) of this one language in nats, from up to 400 sentences; guessing is ln(sizes[0]). null if even one takes too long. */
  entropy: { mean: number; stderr: number | null; sentences: number } | null
  /** Theory; null for grammars from text. */
  critical_fraction: number | null  // where the mean field of candidates bifurcates
  fraction: number | null           // the one that was asked for
  effective_fractions: ByArity[] | null // [layer]: after rounding to whole numbers of rules
}

export type ByArity = Record<string, number>  // number of children -> value

export interface LayerSummary {
  level: number                     // of the parents
  rules: ByArity                    // number of rules by number of children
  probability: ByArity              // mean probability of each number of children
}

export interface SampledSentence { number: number; tokens: number[]; root: number }

// POST /api/rules: RulesRequest -> Rules. The rules of one symbol, or of a whole layer.

export interface RulesRequest { grammar: GrammarChoice; level: number; parent?: number }
export interface Rules {
  level: number
  total: number
  /** At most 2,000, in the order of the grammar. */
  rules: { parent: number; children: number[]; probability: number }[]
}

// POST /api/pcfg: { grammar } -> Pcfg. For "save" (.pcfg).
export interface Pcfg { text: string }

// POST /api/entropy: EntropyRequest -> Entropy. The crossover: class entropy against the fraction of rules, for the ensemble of the controls.
// Send it with effort 0 while dragging, then 1 and 2 to refine; each answers within about 50, 300 and 2000 ms. Refused for text.

export interface EntropyRequest { grammar: EnsembleGrammar; effort?: 0 | 1 | 2 }
export interface Entropy {
  /** In increasing order of the fraction, about 12 (effort 0) to 24 of them; in nats. Fractions are those of the largest number of children, after rounding. */
  points: { fraction: number; entropy: number; stderr: number | null }[]
  grammars: number                  // that were averaged for a point
  sentences: number                 // of each of them
  guessing: number                  // ln(classes)
  critical_fraction: number | null  // see Language
  /** The limit of many symbols, at depth 2; null otherwise. `paper` is the formula as it is printed, for two and three children at even odds. */
  theory: { fraction: number; entropy: number; paper: number | null }[] | null
}

// ---------------------------------------------------------------------------------------------------------------------------------
// POST /api/reading: ReadingRequest -> Reading. Exactly one of tokens, sentence, sample.

export interface ReadingRequest {
  grammar: GrammarChoice
  tokens?: number[]
  sentence?: string                 // names of tokens, separated by blanks, or numbers as "[0,3,1]" or "0 3 1"
  sample?: { seed: number; number: number }  // the sentence of /api/language with the same seed and number
  trees?: number                    // at most so many, default 10
}

export interface Reading {
  tokens: number[]
  /** Of a sampled sentence: the class and the tree that it was written with. */
  truth: { root: number; tree: string } | null
  /** ln P(sentence); null if the grammar cannot write it. Then trees, posterior, hidden are empty, and `why` says why, if it is known. */
  logprob: number | null
  why: string | null
  tree_count: string                // exact, in decimal digits
  trees: ReadTree[]                 // the most probable ones first
  posterior: number[]               // of the class given the sentence; [] if impossible
  entropy: number                   // of it, in nats
  /** hidden[level][position]: posterior of the symbol of this level above the token, given the whole sentence, as [symbol, probability], most
   *  probable first; levels 0 … depth - 1. */
  hidden: [number, number][][][]
  /** chart[level], from the root to the tokens. */
  chart: ChartLevel[]
  /** Before the first token, after each, and after the end: tokens.length + 2 of them. */
  steps: Step[]
  /** -ln of the probability of each token given those before it, and of the end: tokens.length + 1; null if impossible. */
  surprisal: (number | null)[]
}

export interface ReadTree {
  root: number
  share: number                     // P(tree | sentence)
  logprob: number                   // ln P(tree | root)
  tree: string                      // in brackets
  nodes: TreeNode                   // for drawing it
}

export interface TreeNode { symbol: number; start: number; span: number; children?: TreeNode[] }

export interface ChartLevel {
  level: number
  true_count: number                // symbols on spans that some derivation of the sentence has
  spurious_count: number            // those that derive their span, but are in no derivation of the sentence
  /** The most probable ones first, then spurious ones; at most 1,000. */
  cells: { start: number; span: number; symbol: number; probability: number }[]  // probability 0: spurious
}

export interface Step {
  /** P(class | what was read so far); null if no sentence begins so. */
  posterior: number[] | null
  entropy: number | null
  /** P(symbol of the level above the last token | what was read so far), levels 0 … depth - 1; null before the first token, after the end (see
   *  Reading.hidden), and if impossible. */
  hidden: number[][] | null
  /** P(next token), last the probability of the end; null after the end, and if impossible. */
  next: number[] | null
}

// POST /api/ambiguous: AmbiguousRequest -> Ambiguous. Finds a short sentence with several trees, of several classes if there is one.
// Another seed finds another one.

export interface AmbiguousRequest { grammar: GrammarChoice; seed?: number }
export interface Ambiguous {
  /** null: none of the sentences that were tried is ambiguous. */
  found: { tokens: number[]; root: number; number: number; tree_count: string; entropy: number; classes: number } | null
  tried: number
  seed: number                      // reading { sample: { seed, number } } is this sentence, too
}

// ---------------------------------------------------------------------------------------------------------------------------------
// Jobs. POST /api/jobs: JobRequest -> { id }. DELETE /api/jobs/ID -> { stopped: boolean }. GET /api/jobs/ID/events: server-sent events.
//
// A job lives while somebody listens to its events: it is stopped 5 seconds after the last listener has gone (so a reload can listen again: events are repeated
// from the beginning, or after Last-Event-ID), or if nobody has listened 10 seconds after it was started. Ended jobs are forgotten a minute later (404).
// More than Limits.jobs at a time are refused with 429.

export interface JobRequest {
  grammar: GrammarChoice
  learner?: LearnerChoice           // exactly one of both
  network?: NetworkChoice
}

/** Learns the grammar back from more and more sentences, powers of two from about samples / 64 on and last samples: each is a point of the curve. */
export interface LearnerChoice {
  kind: 'exact' | 'unlabelled' | 'paper' | 'em'
  samples: number                   // at least 16; exact and unlabelled: ten for each symbol of a hidden level
  seed?: number                     // default 1
  starts?: number                   // em only, default 3
  rounds?: number                   // em only, default 50
}

export interface NetworkChoice {
  model: 'cnn' | 'inn' | 'transformer'
  task: 'root' | 'next'             // next needs transformer
  samples: number
  width: number                     // transformer: a multiple of heads
  seed?: number                     // default 1
  test?: number                     // sentences to test on, default 2,000
  batch?: number                    // default 128
  max_steps?: number                // default 20,000
  learning_rate?: number            // default as in `gardenpath train`
  layers?: number                   // transformer: default depth
  heads?: number                    // transformer: default 4
}

/** Server-sent events: `event: NAME`, `id: N`, `data: JSON`. After `end` nothing follows: close the EventSource. */
export interface JobEvents {
  floors: Floors                    // first; once
  progress: ProgressEvent           // where the work is; at most ten a second
  point: CurvePoint                 // a point of a learning curve
  rules: RulesFound                 // learners only: after each point, and while a level is learned
  end: End                          // last; once
}

/** What nobody can beat on the same test set, and what guessing gives, in nats: per sentence (root) or token (next). */
export interface Floors {
  unit: 'sentence' | 'token'
  guessing: number
  bayes: number                     // the loss of exact prediction
  bayes_accuracy: number | null
  /** next: expected losses of those who know the lowest 0, 1, … depth layers of rules; the last is the floor. */
  levels: number[] | null
  weights: number | null            // parameters of a network
  truth_rules: RulesFound['levels'] // learners: what is to be found (correct = learned = 0); [] for networks
}

export interface ProgressEvent {
  line: string                      // for people
  done: number | null               // 0 … 1, if it is known
  step: number | null               // networks
  loss: number | null               // networks: running mean of the training loss
  seconds: number
}

export interface CurvePoint {
  /** Networks: steps of training. Learners: number of sentences. */
  x: number
  /** null: the learned grammar derives too few of the sentences. */
  test_loss: number | null
  test_accuracy: number | null
  train_loss: number | null         // networks
  /** Learners: whether the learner itself trusts what it found; why not. */
  verdict: string | null
  seconds: number
}

export interface RulesFound {
  samples: number
  /** Whether this is the result for `samples` (compared with the truth), or news of a level at work (then `correct` is null). */
  final: boolean
  /** News of a level at work has one entry with arity 0: the rules of all numbers of children together. */
  levels: { level: number; arity: number; correct: number | null; learned: number; truth: number }[]
}

export interface End {
  how: 'done' | 'stopped' | 'failed'
  line: string                      // for people; the error if it failed
  seconds: number
}

// ---------------------------------------------------------------------------------------------------------------------------------
// Results. GET /api/results -> Results. GET /api/results/NAME?scale=SCALE -> Chapter (without scale: the one with most results).

export interface Results {
  store: string | null              // null: there is none; experiments is [] then
  experiments: ExperimentSummary[]  // those of which the store has results first
}

export interface ExperimentSummary {
  name: string                      // of the experiment, such as "cnn"
  title: string
  scales: { name: string; cells: number; done: number }[]
}

export interface Chapter {
  name: string
  title: string
  expects: string
  caption: string
  scale: string
  cells: number
  done: number
  damaged: string[]
  /** The figure of the report; null if there are no results. */
  svg: string | null
  curves: CurveFamily[]             // the slider works on one of them
  thresholds: Threshold[]
  fits: FitResult[]                 // all fits: exponents, collapses, ratios, means, thresholds
  claims: Claim[]
  /** Why curves, fits or claims are missing, if they are. */
  problem: string | null
}

/** Curves that are said to fall on one another if `x` is divided by `by`^exponent. */
export interface CurveFamily {
  fit: string                       // name of the fit
  group: string                     // such as "depth = 2"; "" if there is one for all
  x: string                         // such as "samples"
  y: string                         // such as "normalized_loss"
  by: string                        // such as "vocab"
  predicted: number | null          // the exponent that is claimed; null: thresholds only
  measured: FitResult['found'][0] | null
  level: number | null              // P* is where y crosses this
  curves: { by: number; label: string; points: { x: number; y: number; stderr: number | null; seeds: number }[] }[]
}

export interface Threshold {
  fit: string
  group: Record<string, string | number | boolean | null>
  words: string                     // the group in words: "depth = 2, vocab = 8"
  level: number
  value: number | null
  interval: [number | null, number | null] | null
  seeds: number
  because: string | null
}

export interface FitResult {
  name: string
  kind: 'threshold' | 'exponent' | 'collapse' | 'mean' | 'ratio'
  found: {
    group: Record<string, string | number | boolean | null>
    words: string
    value: number | null
    interval: [number | null, number | null] | null  // 95%; an open end is null
    seeds: number
    because: string | null          // why there is no value or interval
  }[]
}

export interface Claim {
  id: string
  statement: string
  source: string                    // "paper formula", "paper experiment", "identity", "ours"
  group: string                     // in words
  expected: string                  // in words, such as "2 ± 0.4"
  correction: string | null
  estimate: number | null
  interval: [number | null, number | null] | null
  verdict: 'agrees' | 'corrected' | 'differs' | 'inconclusive'
  because: string
  reason: string                    // why the margin is what it is
}

// ---------------------------------------------------------------------------------------------------------------------------------
// Stale bundles. build.mjs writes explorer/dist/sources.sha256: the SHA-256, in lower-case hex with a newline, of the concatenation of, for each source file in
// the order of their paths (bytes), path + "\n" + length in bytes as decimal + "\n" + contents. Source files are package.json, package-lock.json, build.mjs,
// tsconfig.json if it exists, and everything below src/ (paths relative to explorer/, with "/"). A test in Rust computes the same and, with a message how to
// build, refuses a bundle of other sources. dist/* must be a function of the sources alone.
