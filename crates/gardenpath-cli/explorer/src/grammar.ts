// Which grammar the page is about, as the server wants it.

import { useEffect, useState } from "preact/hooks";
import type { EnsembleGrammar, GrammarChoice } from "./api.ts";
import type { Server } from "./client.ts";
import { type State, update } from "./state.ts";

/** Longer fragments are cut off by some programs that links are sent with. */
const LONGEST_LINK = 16_000;
const KEY = "gardenpath-file";

/** The texts of loaded files by their compressed forms; "" for the one that is too long for a URL. */
const texts = new Map<string, string>();

/** The grammar of the controls. */
export function ensemble(state: State): EnsembleGrammar {
  return {
    vocab: state.vocab,
    depth: state.depth,
    fraction: state.fraction,
    arities: state.arities,
    seed: state.seed,
    ...(state.classes > 0 ? { classes: state.classes } : {}),
  };
}

/** The grammar of the page; null while it is not known yet. */
export function useGrammar(state: State, server: Server): GrammarChoice | null {
  const [, redraw] = useState(0);
  const { source, file } = state;
  useEffect(() => {
    if (source !== "file" || texts.has(file)) return;
    const read = file === "" ? Promise.resolve(sessionStorage.getItem(KEY)) : unpack(file);
    read.then(
      (text) => {
        if (text === null) return update({ source: "controls" });
        texts.set(file, text);
        redraw((times) => times + 1);
      },
      () => update({ source: "controls", file: "" }),
    );
  }, [source, file]);
  if (source === "controls") return ensemble(state);
  if (source === "given")
    return server.start === null ? null : server.start.grammar === null ? ensemble(state) : { text: server.start.grammar.text };
  const text = texts.get(file);
  return text === undefined ? null : { text };
}

/** Makes the text of a file the grammar of the page. Returns whether the URL holds all of it. */
export async function openGrammar(text: string): Promise<boolean> {
  const packed = await pack(text);
  const fits = packed.length <= LONGEST_LINK;
  const file = fits ? packed : "";
  texts.set(file, text);
  if (!fits) sessionStorage.setItem(KEY, text);
  update({ source: "file", file, tokens: [], sample: 0, step: 0, first: 0, layer: 0, parent: 0 });
  return fits;
}

async function pack(text: string): Promise<string> {
  const bytes = await transform(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function unpack(packed: string): Promise<string> {
  const binary = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (sign) => sign.charCodeAt(0));
  return new TextDecoder().decode(await transform(bytes, new DecompressionStream("deflate-raw")));
}

async function transform(bytes: Uint8Array<ArrayBuffer>, through: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(through);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
