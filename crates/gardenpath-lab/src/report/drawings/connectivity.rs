//! The connections of the inside network and of the convolutional network.

use super::sketch::{BINARY, TERNARY, TRUE};
use crate::draw::network;
use crate::experiment::plan::Origin;
use crate::report::{Finding, Page, Picture};
use anyhow::Result;
use gardenpath::theory::trees::{Topology, two_level_topologies};
use gardenpath::{Arities, Shape, Span};
use gardenpath_nn::connections::layers;
use gardenpath_nn::{Architecture, Network};
use gardenpath_plot::Figure;

pub(in crate::report) const CONNECTIVITY: Picture = Picture {
    name: "INN_CNN_sketches",
    title: "Connections of INN and CNN",
    paper: "At depth 2 the CNN has a single filter of length 4 and stride 2 in each layer, while the inside network has \
            separate binary and ternary filters that build the cells of the inside algorithm; at the root six tokens \
            receive input from 3-3 and 2-2-2.",
    draw,
};

/// The depth, and the length of the sketched sentence.
const DEPTH: usize = 2;
const TOKENS: usize = 6;

fn draw() -> Result<Page> {
    let of_kind = |architecture: Architecture| Network::new(2, 2, Shape::mixed(DEPTH), 1, architecture);
    let (inn, cnn) = (of_kind(Architecture::inn())?, of_kind(Architecture::cnn())?);
    let panels = vec![
        network::draw(&layers(&inn, TOKENS)?, TOKENS, |role| if role < 2 { BINARY } else { TERNARY })
            .titled("Inside network")
            .into(),
        network::draw(&layers(&cnn, TOKENS)?, TOKENS, |_| TRUE).titled("Convolutional network").into(),
    ];
    Ok(Page {
        figure: Figure { panel_height: Some(150.0), ..Figure::grid(2, panels) },
        caption: format!(
            "How the two networks read a sentence of {TOKENS} tokens (bottom). (a) Each unit of the inside network covers \
             the tokens below it; binary filters are red, ternary ones green, and only units used by some tree exist. (b) \
             A unit of the convolutional network sees up to four neighbors in the layer below, whatever the tree."
        ),
        findings: vec![of_cells(&inn)?, of_filters(&inn, &cnn), of_patches(&cnn)?],
    })
}

/// The cells of the inside network, compared with the nodes of all trees of each length.
fn of_cells(inn: &Network) -> Result<Finding> {
    let topologies: Vec<Topology> = two_level_topologies(Arities::PAPER).collect();
    let trees = |len: usize| topologies.iter().filter(move |topology| topology.sentence_len() == len);
    let (mut counts, mut same) = (Vec::new(), true);
    for len in inn.shape.lengths() {
        let layers = layers(inn, len)?;
        let cell = |row: usize| Span::new(layers[0].places[row].start, layers[0].places[row].len);
        let mut seen: Vec<_> = layers[1].inputs.iter().map(|(_, input)| cell(input.child as usize)).collect();
        let mut nodes: Vec<_> = trees(len).flat_map(|topology| topology.blocks()).collect();
        seen.sort_unstable();
        nodes.sort_unstable();
        same &=
            seen == nodes && layers[0].places.iter().all(|place| nodes.contains(&Span::new(place.start, place.len)));
        counts.push(layers[0].places.len());
    }
    Ok(Finding::check(
        Origin::Identity,
        "The hidden cells are the nodes of all trees of that length, and the root sees each once per tree: 3-3 and 2-2-2 for six tokens",
        format!("{counts:?} cells for 4 to 9 tokens"),
        same && layers(inn, TOKENS)?[1].inputs.len() == 5,
    ))
}

/// The filter lengths, from the tokens up.
fn of_filters(inn: &Network, cnn: &Network) -> Finding {
    let filters = |network: &Network| -> Vec<usize> {
        let parameters = network.parameters();
        parameters.iter().filter(|parameter| parameter.name != "readout").map(|parameter| parameter.shape[0]).collect()
    };
    let (inn, cnn) = (filters(inn), filters(cnn));
    Finding::check(
        Origin::PaperFormula,
        "The INN has a binary and a ternary filter in each of L layers, the CNN one filter of length 4 in each of L + 1",
        format!("lengths {inn:?} and {cnn:?}"),
        inn == [2, 3].repeat(DEPTH) && cnn == vec![4; DEPTH + 1],
    )
}

/// Whether every pair and triple of adjacent tokens is seen by one filter.
fn of_patches(cnn: &Network) -> Result<Finding> {
    let (mut seen, mut number) = (0, 0);
    for len in cnn.shape.lengths() {
        let first = &layers(cnn, len)?[0];
        let sees = |row: usize, token: usize| {
            first.inputs.iter().any(|(own, input)| (*own as usize, input.child as usize) == (row, token))
        };
        for tuple in [2, 3].into_iter().flat_map(|size| (0..=len - size).map(move |start| start..start + size)) {
            number += 1;
            let whole = (0..first.places.len()).any(|row| tuple.clone().all(|token| sees(row, token)));
            seen += usize::from(whole);
        }
    }
    Ok(Finding::check(
        Origin::PaperFormula,
        "Size 4 and stride 2 let the filter see every pair and every triple of adjacent tokens",
        format!("{seen} of {number} pairs and triples of sentences with 4 to 9 tokens"),
        seen == number,
    ))
}
