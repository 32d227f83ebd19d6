// The size of texts in pictures, before they are drawn.

export const FONT = "system-ui, 'Segoe UI', 'Noto Sans', Arial, sans-serif";
export const SIZE = 12;

let context: CanvasRenderingContext2D | null = null;

/** The width of a text in pixels. */
export function textWidth(text: string, size = SIZE): number {
  context ??= document.createElement("canvas").getContext("2d");
  if (context === null) return text.length * size * 0.55;
  context.font = `${size}px ${FONT}`;
  return context.measureText(text).width;
}
