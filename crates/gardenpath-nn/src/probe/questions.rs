//! The questions of a probe: a sentence, and for each level of its tree the symbol of one node.

use crate::network::Network;
use crate::task::Task;
use gardenpath::{Grammar, Node, Sampler, Seed, Span, Tree};

/// A sentence with its tree, and one node of each level whose symbol is asked for.
pub struct Question {
    /// The tree.
    pub tree: Tree,
    /// `[level]`: the symbol, and the tokens whose rows it is read off.
    pub nodes: Vec<Node>,
}

/// An endless list of questions. Each is a function of the seed and its number.
pub struct Questions<'g> {
    sampler: Sampler,
    grammar: &'g Grammar,
    causal: bool,
    longest: u64,
    seed: Seed,
}

impl<'g> Questions<'g> {
    /// The questions for a network.
    pub fn new(network: &Network, grammar: &'g Grammar, seed: Seed) -> Self {
        let longest = *network.shape.lengths().end() as u64;
        Questions { sampler: Sampler::new(grammar), grammar, causal: network.task == Task::Next, longest, seed }
    }

    /// The grammar.
    pub fn grammar(&self) -> &'g Grammar {
        self.grammar
    }

    /// Whether the network sees only what stands before a token.
    pub fn is_causal(&self) -> bool {
        self.causal
    }

    /// A question.
    ///
    /// One node of each level is taken at random: so the nodes of a level are independent. A causal network is asked about what lies above one
    /// random token. The token is chosen before its sentence: if it were one of those that the sentence has, the choice would tell something
    /// about the length, and so about what is still to come.
    pub fn get(&self, number: u64) -> Question {
        if !self.causal {
            let tree = self.sampler.tree(self.seed, number);
            let nodes = choose_nodes(&tree, self.seed.child("nodes"), number);
            return Question { tree, nodes };
        }
        let mut stream = self.seed.child("tokens").stream(number);
        let attempt = |attempt| {
            let token = stream.below(self.longest) as usize;
            let tree = self.sampler.tree(self.seed.nth(attempt), number);
            let nodes = || (0..tree.depth()).map(|level| above(&tree, level, token)).collect();
            (token < tree.sentence().len()).then(|| Question { nodes: nodes(), tree: tree.clone() })
        };
        (0..).find_map(attempt).expect("some sentence is long enough")
    }
}

fn choose_nodes(tree: &Tree, seed: Seed, number: u64) -> Vec<Node> {
    let mut stream = seed.stream(number);
    let choose = |level| {
        let nodes = tree.nodes(level);
        nodes[stream.below(nodes.len() as u64) as usize]
    };
    (0..tree.depth()).map(choose).collect()
}

/// The symbol of a level above a token, to be read off the row of the token.
fn above(tree: &Tree, level: usize, token: usize) -> Node {
    let nodes = tree.nodes(level);
    let node = nodes.iter().find(|node| node.span.range().contains(&token)).expect("every token has ancestors");
    Node { span: Span::new(token, 1), symbol: node.symbol }
}
