// A picture in the page: heading, a place that has its height before the picture is there, and a button that saves it.

import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { savePicture } from "./save.ts";

interface FigureProps {
  /** The name of the saved file, without its ending. */
  name: string;
  title: string;
  /** In pixels. */
  height: number;
  caption?: ComponentChildren;
  /** Something to choose what is shown, beside the heading. */
  controls?: ComponentChildren;
  /** Whether what is shown is being computed anew. */
  busy?: boolean;
  /** Draws the picture at this width; null if there is nothing to show yet. */
  children: (width: number) => JSX.Element | null;
}

export function Figure({ name, title, height, caption, controls, busy, children }: FigureProps) {
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place);
  const save = () => {
    const picture = place.current?.querySelector("svg");
    if (picture) savePicture(name, picture);
  };
  return (
    <figure class="figure" aria-busy={busy === true}>
      <div class="figure-head">
        <h3>{title}</h3>
        {controls}
        <button type="button" class="quiet save" onClick={save} aria-label={`Save “${title}” as SVG`} title="Save as SVG">
          SVG
        </button>
      </div>
      <div class="canvas" ref={place} style={{ minHeight: `${height}px` }}>
        {width > 0 ? children(width) : null}
      </div>
      {caption === undefined ? null : <figcaption>{caption}</figcaption>}
    </figure>
  );
}

/** The width of an element in pixels; 0 before it is known. */
function useWidth(place: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return;
    setWidth(element.clientWidth);
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return width;
}
