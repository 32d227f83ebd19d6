// A derivation tree: the class on top, tokens at the bottom.

import type { Language, ReadTree, TreeNode } from "../api.ts";
import { Figure } from "../draw/figure.tsx";
import { categorical, INK, PAPER, short } from "../draw/palette.ts";
import { FONT, SIZE, textWidth } from "../draw/text.ts";
import { percent } from "../format.ts";
import type { Span } from "../views/reading.tsx";

interface TreeFigureProps {
  tree: ReadTree;
  /** Whether the sentence was written with this tree. */
  written: boolean;
  number: number;
  colour: number;
  tokens: number;
  language: Language;
  onSpan: (span: Span | null) => void;
}

const ROW = 44;

export function TreeFigure({ tree, written, number, colour, tokens, language, onSpan }: TreeFigureProps) {
  const height = ROW * language.depth + 36;
  return (
    <Figure
      name={`tree-${number}`}
      title={`${language.names[0]?.[tree.root]} · ${percent(tree.share)}${written ? " · as written" : ""}`}
      height={height}
    >
      {(width) => (
        <Tree
          width={width}
          height={height}
          tree={tree}
          colour={categorical(colour)}
          tokens={tokens}
          language={language}
          onSpan={onSpan}
        />
      )}
    </Figure>
  );
}

interface Placed {
  node: TreeNode;
  level: number;
  x: number;
  y: number;
  children: Placed[];
}

interface TreeProps extends Omit<TreeFigureProps, "number" | "colour" | "written"> {
  width: number;
  height: number;
  colour: string;
}

function Tree({ width: room, height, tree, colour, tokens, language, onSpan }: TreeProps) {
  const label = (level: number, symbol: number) => language.names[level]?.[symbol] ?? String(symbol);
  const column = Math.max(Math.min((room - 8) / tokens, 46), narrowest(flatten(place(tree.nodes, 0, (at) => at)), label));
  const width = Math.max(room, column * tokens + 8);
  const left = (width - column * tokens) / 2;
  const root = place(tree.nodes, 0, (at) => left + column * at);
  const all = flatten(root);
  return (
    <svg
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      font-family={FONT}
      font-size={SIZE}
      role="img"
      aria-label={`Tree of class ${label(0, tree.root)} with ${percent(tree.share)} of the probability: ${tree.tree}`}
      onPointerLeave={() => onSpan(null)}
    >
      {all.flatMap((parent) =>
        parent.children.map((child) => {
          const [top, bottom] = [parent.y + 8, child.y - 9];
          const middle = (top + bottom) / 2;
          return (
            <path
              key={`${child.level} ${child.node.start}`}
              d={`M${parent.x} ${top}C${parent.x} ${middle} ${child.x} ${middle} ${child.x} ${bottom}`}
              fill="none"
              stroke={colour}
              stroke-width={1.6}
            />
          );
        }),
      )}
      {all.map(({ node, level, x, y }) => {
        const text = label(level, node.symbol);
        const leaf = level === language.depth;
        const half = textWidth(text) / 2 + 4;
        return (
          <g key={`${level} ${node.start}`} onPointerEnter={() => onSpan({ start: node.start, span: node.span })}>
            <rect x={short(x - half)} y={y - 9} width={short(2 * half)} height={18} rx={4} fill={PAPER} />
            <text x={x} y={y + 4} text-anchor="middle" fill={leaf ? INK : colour} font-weight={level === 0 ? 600 : 400}>
              {text}
            </text>
          </g>
        );
      })}
    </svg>
  );
}

/** Places a node and what is below it: tokens in their columns, parents in the middle of their children. */
function place(node: TreeNode, level: number, column: (at: number) => number): Placed {
  const children = (node.children ?? []).map((child) => place(child, level + 1, column));
  const first = children[0];
  const last = children.at(-1);
  const x = first && last ? (first.x + last.x) / 2 : column(node.start + node.span / 2);
  return { node, level, x: short(x), y: 18 + ROW * level, children };
}

/** The width of columns at which no two labels of a level touch, for nodes that were placed in columns of width 1. */
function narrowest(nodes: readonly Placed[], label: (level: number, symbol: number) => string): number {
  const half = ({ node, level }: Placed) => textWidth(label(level, node.symbol)) / 2 + 3;
  const needed = nodes.map((node, k) => {
    const next = nodes.slice(k + 1).find((other) => other.level === node.level);
    return next === undefined ? 0 : (half(node) + half(next)) / (next.x - node.x);
  });
  return Math.max(16, ...needed);
}

function flatten(root: Placed): Placed[] {
  return [root, ...root.children.flatMap(flatten)];
}
