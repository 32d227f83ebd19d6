//! Input validation, shared by all devices and done before anything is computed.

use crate::error::{Error, Result};
use crate::network::Network;
use gardenpath::{Arities, Symbol, memory};

impl Network {
    /// Rejects batches of so many sentences whose activations, at the very least, would not fit into memory.
    pub fn check_batch(&self, sentences: usize) -> Result<()> {
        let middle = |arities: Arities| (arities.least() + arities.most()) as f64 / 2.0;
        let length: f64 = (0..self.shape.depth()).map(|level| middle(self.shape.arities(level))).product();
        let rows = sentences as f64 * length * self.hidden_layers() as f64;
        let bytes = rows * self.width as f64 * size_of::<f32>() as f64;
        Ok(memory::check(format_args!("a batch of {sentences} sentences at width {}", self.width), bytes as u128)?)
    }

    /// Rejects sentences that the network cannot read: unknown tokens, and lengths that no tree of its shape has. If its task is to tell masked
    /// tokens, the number of tokens stands for the mask.
    ///
    /// ```
    /// use gardenpath::Shape;
    /// use gardenpath_nn::{Architecture, Network};
    ///
    /// let network = Network::new(8, 8, Shape::mixed(2), 64, Architecture::inn())?;
    /// assert!(network.check_sentences([&[0, 1, 2, 3][..], &[7; 9]]).is_ok());
    /// assert!(network.check_sentences([&[0, 1, 2, 8][..]]).is_err());
    /// assert!(network.check_sentences([&[0, 1, 2][..]]).is_err());
    /// # Ok::<(), gardenpath_nn::Error>(())
    /// ```
    pub fn check_sentences<'a>(&self, sentences: impl IntoIterator<Item = &'a [Symbol]>) -> Result<()> {
        for (sentence, tokens) in sentences.into_iter().enumerate() {
            if !self.shape.has_length(tokens.len()) {
                let (shortest, longest) = self.shape.lengths().into_inner();
                return Err(Error::Length { sentence, len: tokens.len(), shortest, longest });
            }
            if let Some(position) = tokens.iter().position(|&token| usize::from(token) >= self.inputs()) {
                let token = tokens[position];
                return Err(Error::UnknownToken { sentence, position, token, vocab: self.vocab });
            }
        }
        Ok(())
    }

    /// Rejects sentences to learn from: none, those that the network cannot read or has no question about, and unknown or missing answers.
    pub fn check_answered<'a>(
        &self,
        sentences: impl ExactSizeIterator<Item = &'a [Symbol]> + Clone,
        answers: &[Symbol],
    ) -> Result<()> {
        if sentences.len() == 0 {
            return Err(Error::TooSmall { what: "number of sentences", value: 0, least: 1 });
        }
        if self.task.is_root() {
            return self.check_labelled(sentences, answers);
        }
        self.check_sentences(sentences.clone())?;
        let questions = sentences.map(|sentence| self.task.questions(self.vocab, sentence)).sum();
        if questions == 0 {
            return Err(Error::TooSmall { what: "number of masked tokens", value: 0, least: 1 });
        }
        if questions != answers.len() {
            return Err(Error::Answers { questions, answers: answers.len() });
        }
        if let Some(number) = answers.iter().position(|&answer| usize::from(answer) >= self.outputs()) {
            return Err(Error::UnknownAnswer { number, answer: answers[number], outputs: self.outputs() });
        }
        Ok(())
    }

    /// Rejects what [`Network::check_answered`] refuses if the answers are roots.
    fn check_labelled<'a>(
        &self,
        sentences: impl ExactSizeIterator<Item = &'a [Symbol]>,
        roots: &[Symbol],
    ) -> Result<()> {
        if sentences.len() != roots.len() {
            return Err(Error::Labels { sentences: sentences.len(), labels: roots.len() });
        }
        if let Some(sentence) = roots.iter().position(|&root| usize::from(root) >= self.classes) {
            return Err(Error::UnknownRoot { sentence, root: roots[sentence], classes: self.classes });
        }
        self.check_sentences(sentences)
    }
}
