//! The rows of a batch, and which of them are read.

use crate::matmul::{Link, identity};
use crate::task::Task;
use gardenpath::Symbol;

/// Which rows of a batch there are.
pub struct Batch {
    /// The token and the position of each row.
    pub rows: Vec<(u32, u32)>,
    /// The number of rows of each sentence.
    pub positions: Vec<usize>,
    /// The number of rows of each sentence that are read.
    pub questions: Vec<usize>,
    /// From every row to itself.
    pub all: Vec<Link>,
    /// From the rows that are read to their logits.
    pub read: Vec<Link>,
}

impl Batch {
    /// The rows of sentences, of which those of a task are read.
    pub fn new(task: Task, vocab: usize, sentences: &[&[Symbol]]) -> Self {
        // Embeddings are those of the tokens, the class token and the mask, which is number `vocab` in sentences.
        let class = vocab as u32;
        let embedding = |&token: &Symbol| u32::from(token) + u32::from(usize::from(token) == vocab);
        let mut rows = Vec::new();
        for sentence in sentences {
            rows.push((class, 0));
            rows.extend(sentence.iter().map(embedding).zip(1..));
        }
        let is_read = |embedding: u32| match task {
            Task::Root => embedding == class,
            Task::Next => true,
            Task::Masked => embedding > class,
        };
        let read = (0..).zip(&rows).filter(|(_, (embedding, _))| is_read(*embedding));
        let read = read.zip(0..).map(|((from, _), to)| Link { from, to }).collect();
        let positions = sentences.iter().map(|sentence| sentence.len() + 1).collect();
        let questions = sentences.iter().map(|sentence| task.questions(vocab, sentence)).collect();
        Batch { positions, questions, all: identity(rows.len()), read, rows }
    }
}
