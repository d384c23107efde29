// Draws a price over time into a canvas. A file of its own, since its library is loaded when a chart
// is shown.

import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

export type Drawing = {
  /** Unix seconds, ascending. */
  readonly at: readonly number[];
  readonly prices: readonly number[];
  /** The time that the drawing spans, up to its last point. */
  readonly seconds: number;
  readonly priceText: (price: number) => string;
  readonly timeText: (at: number) => string;
  /** A point is under the pointer; null: it is elsewhere. */
  readonly onPoint: (index: number | null) => void;
};

/** The colours that the element has by the style sheet, whatever the scheme. */
function coloursOf(place: HTMLElement) {
  const { color, borderTopColor, columnRuleColor, fontFamily } = getComputedStyle(place);
  // A canvas knows fewer colours than a style sheet; a computed one is `rgb(15, 111, 92)`.
  const fade = (share: number) => color.replace(/^rgb\((.*)\)$/, `rgba($1, ${share})`);
  return { line: color, fade, grid: borderTopColor, ink: columnRuleColor, fontFamily };
}

/** Until what it returns is called. */
export function draw(place: HTMLElement, drawing: Drawing): () => void {
  let plot = plotIn(place, drawing);
  const again = () => {
    plot.destroy();
    plot = plotIn(place, drawing);
  };
  const scheme = matchMedia('(prefers-color-scheme: dark)');
  scheme.addEventListener('change', again);
  const resized = new ResizeObserver(() => {
    const { clientWidth: width, clientHeight: height } = place;
    if (width > 0 && (width !== plot.width || height !== plot.height)) {
      plot.setSize({ width, height });
    }
  });
  resized.observe(place);
  return () => {
    scheme.removeEventListener('change', again);
    resized.disconnect();
    plot.destroy();
  };
}

function plotIn(place: HTMLElement, drawing: Drawing): uPlot {
  const { at, prices, seconds, priceText, timeText, onPoint } = drawing;
  const { line, fade, grid, ink, fontFamily } = coloursOf(place);
  // The library would span a thousand days for one point.
  const last = at.at(-1) ?? 0;
  const font = `12px ${fontFamily}`;
  const labels = { stroke: ink, font, ticks: { show: false } };
  const options: uPlot.Options = {
    width: place.clientWidth,
    height: place.clientHeight,
    padding: [8, 0, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 9, fill: line } },
    scales: {
      x: { time: true, range: () => [last - seconds, last] },
      y: { range: (_, low, high) => around(low, high) },
    },
    axes: [
      {
        ...labels,
        size: 26,
        gap: 8,
        space: 88,
        grid: { show: false },
        values: (_, splits) => splits.map(timeText),
      },
      {
        ...labels,
        side: 1,
        size: (_, values) => 16 + 7 * longest(values),
        gap: 8,
        space: 48,
        grid: { stroke: grid, width: 1 },
        values: (_, splits) => splits.map(priceText),
      },
    ],
    series: [
      {},
      {
        stroke: line,
        width: 2,
        // A line through one point is none.
        points: { show: at.length === 1, size: 8, fill: line },
        fill: ({ ctx, bbox }) => {
          const fill = ctx.createLinearGradient(0, bbox.top, 0, bbox.top + bbox.height);
          fill.addColorStop(0, fade(0.28));
          fill.addColorStop(1, fade(0));
          return fill;
        },
      },
    ],
    hooks: { setCursor: [({ cursor: { idx } }) => onPoint(idx ?? null)] },
  };
  return new uPlot(options, [[...at], [...prices]], place);
}

/** In letters; the library asks before there are any. */
function longest(values: readonly string[] | null): number {
  return Math.max(0, ...(values ?? []).map(({ length }) => length));
}

/** A tenth of room above and below, so that no line runs along an edge. */
function around(low: number, high: number): [number, number] {
  const room = (high - low || Math.abs(high) * 0.02 || 1) / 10;
  return [low - room, high + room];
}
