// Tests only: the picture of the states of a settlement, drawn from settle/states.txt. Run by
// itself it writes the picture.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const room = join(import.meta.dirname, '..');
export const pictureFile = join(room, 'states.svg');
const width = 148;
const height = 40;
const stepX = 190;
const stepY = 110;
const margin = 12;

/** Places of the states, and whether an arrow goes both ways. */
export function readStates() {
  const text = readFileSync(join(room, 'settle/states.txt'), 'utf8');
  const places = [...text.matchAll(/^(\w+) (\d) (\d)$/gm)].map(
    ([, name = '', x, y]) => [name, { x: Number(x), y: Number(y) }] as const,
  );
  const arrows = [...text.matchAll(/^(\w+) (<?)-> (\w+): (.+)$/gm)].map(
    ([, from = '', back, to = '', why = '']) => ({ from, to, both: back === '<', why }),
  );
  return { places: new Map(places), arrows };
}

export function drawStates(): string {
  const { places, arrows } = readStates();
  const centre = (name: string) => {
    const { x, y } = places.get(name) ?? { x: 0, y: 0 };
    return { x: margin + width / 2 + x * stepX, y: margin + height / 2 + y * stepY };
  };
  const lines = arrows.map(({ from, to, both }) => {
    const a = centre(from);
    const b = centre(to);
    const dx = b.x - a.x;
    const dy = b.y - a.y;
    // From border to border of the two boxes.
    const part = Math.min(width / 2 / Math.abs(dx || 1e-9), height / 2 / Math.abs(dy || 1e-9));
    const at = (share: number) => `${Math.round(a.x + dx * share)} ${Math.round(a.y + dy * share)}`;
    // Past the boxes between them in one row.
    const isFar = dy === 0 && Math.abs(dx) > 2 * stepX;
    const bend = `${a.x + dx / 2} ${a.y + 90}`;
    const path = isFar
      ? `M ${a.x} ${a.y + height / 2} Q ${bend} ${b.x} ${b.y + height / 2}`
      : `M ${at(part)} L ${at(1 - part)}`;
    return `<path d="${path}" marker-end="url(#to)"${both ? ' marker-start="url(#to)"' : ''}/>`;
  });
  const boxes = [...places.keys()].map((name) => {
    const { x, y } = centre(name);
    const corner = `x="${x - width / 2}" y="${y - height / 2}"`;
    const box = `<rect ${corner} width="${width}" height="${height}" rx="8"/>`;
    return `${box}<text x="${x}" y="${y + 5}">${name}</text>`;
  });
  const size = `0 0 ${4 * stepX + width + 2 * margin} ${2 * stepY + height + 4 * margin}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${size}" role="img">
<title>The states of a settlement</title>
<style>path{stroke:#667;fill:none}rect{fill:#eef;stroke:#446}
text{font:14px monospace;text-anchor:middle;fill:#113}</style>
<marker id="to" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8"
orient="auto-start-reverse"><path d="M0 0L8 4L0 8"/></marker>
${[...lines, ...boxes].join('\n')}
</svg>
`;
}

if (process.argv[1] === import.meta.filename) writeFileSync(pictureFile, drawStates());
