// The picture of docs/benchmarks.md: a bar a figure, as long as its ratio, and a mark where its bar
// is. It has a ground of its own, so that it can be read in light and in dark, and is narrow enough
// for a phone. A miss has another colour, and the word.

import type { Shown } from './figures.ts';

const width = 520;
const step = 38;
const left = 24;
const room = width - 2 * left;
/** Longer ones are cut off; their figure says how long. */
const mostRatio = 1.6;
const colours = { reached: '#0f766e', missed: '#c2410c', text: '#1f2937', faint: '#6b7280' };

const escaped = (text: string) =>
  text.replaceAll('`', '').replace(/[&<>]/g, (each) => `&#${each.charCodeAt(0)};`);
const at = (ratio: number) => left + (Math.min(ratio, mostRatio) / mostRatio) * room;

function words(x: number, y: number, text: string, more = ''): string {
  return `<text x="${x}" y="${y}" ${more}>${escaped(text)}</text>`;
}

function line({ says, found: { ratio, bar, is, ok } }: Shown, y: number): string[] {
  const mark = at(bar).toFixed(1);
  const colour = ok ? colours.reached : colours.missed;
  const verdict = `${ratio.toFixed(2)} (at ${is === 'atLeast' ? 'least' : 'most'} ${bar})${ok ? '' : ', missed'}`;
  const cut = ratio > mostRatio ? '→ ' : '';
  return [
    words(left, y + 12, says),
    words(width - left, y + 12, `${cut}${verdict}`, `text-anchor="end" fill="${colour}"`),
    `<rect x="${left}" y="${y + 18}" width="${(at(ratio) - left).toFixed(1)}" height="10" rx="2" fill="${colour}"/>`,
    `<path d="M${mark} ${y + 16}v14" stroke="${colours.text}" stroke-width="2"/>`,
  ];
}

function panel(title: string, shown: readonly Shown[], top: number): string[] {
  return [
    words(left, top, title, 'font-weight="600"'),
    ...shown.flatMap((each, row) => line(each, top + 14 + step * row)),
  ];
}

/** `below`: where and when it was measured. */
export function picture(shown: readonly Shown[], below: string): string {
  const rates = shown.filter(({ found }) => found.is === 'atLeast');
  const costs = shown.filter(({ found }) => found.is === 'atMost');
  const second = 100 + step * rates.length;
  const height = second + step * costs.length + 60;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" ` +
      `font-family="system-ui, sans-serif" font-size="13" fill="${colours.text}" role="img">`,
    '<title>Each figure against its peer or limit</title>',
    `<rect width="${width}" height="${height}" rx="8" fill="#ffffff"/>`,
    ...panel('Rates against the peer’s: at least up to the mark', rates, 36),
    ...panel('Costs against the limit or the peer’s: at most up to the mark', costs, second),
    words(left, height - 14, below, `fill="${colours.faint}" font-size="11"`),
    '</svg>\n',
  ].join('\n');
}
