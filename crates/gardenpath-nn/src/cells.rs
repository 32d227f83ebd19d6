//! The inputs of the cells of an inside network, from the template of the chart.

use crate::error::Result;
use crate::network::Normalization;
use crate::wiring::Input;
use gardenpath::{Arities, Shape, Span, Template, memory};
use std::collections::HashMap;

/// Splits into up to so many parts are listed one by one, which is the order of the sums of the paper's networks. Those into more
/// can be very many: their parts are counted.
const LISTED: usize = 3;

/// A part of the splits of a cell.
pub struct Part {
    /// The matrix that multiplies it: left and right of two parts, then left, middle and right of three, and so on.
    pub role: u32,
    /// The tokens.
    pub span: Span,
    /// How often it is a part, over the square root of the number of all splits with [`Normalization::Splits`].
    pub times: f32,
}

/// The role of the first of `arity` parts.
pub fn first_role(arities: Arities, arity: usize) -> u32 {
    arities.iter().take_while(|&fewer| fewer < arity).sum::<usize>() as u32
}

/// The parts of all splits of a span of `level`. A part may come several times.
pub fn parts(template: &Template, level: usize, span: Span, normalization: Normalization) -> Vec<Part> {
    let arities = template.shape().arities(level);
    let listed = if normalization == Normalization::Splits { 0 } else { LISTED };
    let mut parts = Vec::new();
    for split in template.splits(level, span).take_while(|split| split.len() <= listed) {
        let roles = first_role(arities, split.len())..;
        parts.extend(roles.zip(split).map(|(role, span)| Part { role, span, times: 1.0 }));
    }
    if arities.most() > listed {
        let counted = template.parts(level, span);
        let factor = match normalization {
            // Each split has one first part.
            Normalization::Splits => {
                let firsts = counted.iter().filter(|part| part.place == 0);
                1.0 / firsts.map(|part| part.splits).sum::<f64>().sqrt()
            }
            Normalization::FanIn | Normalization::Width => 1.0,
        };
        parts.extend(counted.iter().filter(|part| part.arity > listed).map(|part| {
            let role = first_role(arities, part.arity) + part.place as u32;
            Part { role, span: part.span, times: (part.splits * factor) as f32 }
        }));
    }
    parts
}

/// The cells of all sentences of one length.
#[derive(Clone, Debug)]
pub struct Cells {
    /// The cells of each level, tokens included.
    pub spans: Vec<Vec<Span>>,
    /// What the cells of each level above the tokens are made of: a cell and an input, by their numbers in the two levels.
    pub inputs: Vec<Vec<(u32, Input)>>,
}

impl Cells {
    /// The cells of sentences of `len` tokens, if they fit into memory with `width` channels each.
    pub fn new(shape: &Shape, len: usize, width: usize, normalization: Normalization) -> Result<Self> {
        Template::check_size(shape, &vec![width; shape.depth() + 1], len, size_of::<f32>())?;
        let template = Template::new(shape, len);
        let spans: Vec<Vec<Span>> = (0..=shape.depth()).map(|level| template.cells(level).collect()).collect();
        let parts = |level, len| parts(&template, level, Span::new(0, len), normalization);
        let inputs = (0..shape.depth()).map(|level| inputs(&|len| parts(level, len), &spans[level], &spans[level + 1]));
        let inputs = inputs.collect::<Result<_>>()?;
        Ok(Cells { spans, inputs })
    }
}

/// Rejects more inputs than fit into memory.
pub fn check_inputs(count: usize) -> Result<()> {
    let bytes = count as u128 * size_of::<(u32, Input)>() as u128;
    Ok(memory::check(format_args!("an inside network with {count} connections"), bytes)?)
}

/// The inputs of the cells of a level: the parts of all their splits. `parts` has those of a cell of any length at the first token.
fn inputs(parts: &dyn Fn(usize) -> Vec<Part>, targets: &[Span], children: &[Span]) -> Result<Vec<(u32, Input)>> {
    // They depend on the length alone, but for the start.
    let mut of_length: HashMap<usize, Vec<Part>> = HashMap::new();
    for cell in targets {
        of_length.entry(cell.len).or_insert_with(|| parts(cell.len));
    }
    let count = targets.iter().map(|cell| of_length[&cell.len].len()).sum();
    check_inputs(count)?;
    let mut inputs = Vec::with_capacity(count);
    for (target, cell) in (0..).zip(targets) {
        inputs.extend(of_length[&cell.len].iter().map(|part| {
            let span = Span::new(cell.start + part.span.start, part.span.len);
            let child = children.binary_search(&span).expect("the parts of a cell are cells") as u32;
            (target, Input { role: part.role, child, times: part.times })
        }));
    }
    Ok(inputs)
}
