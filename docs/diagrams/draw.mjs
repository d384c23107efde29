// Draws each docs/diagrams/*.txt as an SVG beside it: a sequence, or a line of moments.
//   node docs/diagrams/draw.mjs            rewrites the SVGs
//   node docs/diagrams/draw.mjs --check    ends with 1 where one is not what its text says
// A text has a title (`# …`) and then, line by line: `actors: name, what it is | …`,
// `from > to: what happens`, `-- what everybody sees`, or `at time: name: what it means`.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';

const folder = new URL('./', import.meta.url);
const font = 'font-family="system-ui, sans-serif"';
const escaped = (text) => text.replace(/[&<>]/g, (each) => `&#${each.charCodeAt(0)};`);

function words(x, y, text, more = '') {
  return `<text x="${x}" y="${y}" text-anchor="middle" ${more}>${escaped(text)}</text>`;
}

function picture(title, width, height, parts) {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" ` +
      `${font} font-size="13" fill="#1f2937" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    words(width / 2, 26, title, 'font-size="16" font-weight="600"'),
    ...parts,
    '</svg>\n',
  ].join('\n');
}

function arrow(from, to, y) {
  const tip = to > from ? to - 8 : to + 8;
  return (
    `<path d="M${from} ${y}H${tip}" stroke="#2563eb" stroke-width="1.5" fill="none"/>` +
    `<path d="M${to} ${y}L${tip} ${y - 5}V${y + 5}Z" fill="#2563eb"/>`
  );
}

function sequence(title, actors, lines) {
  const [gap, step, top] = [220, 42, 96];
  const width = gap * actors.length;
  const height = top + step * lines.length + 20;
  const at = (name) => {
    const index = actors.findIndex((each) => each.name === name);
    if (index === -1) throw new Error(`${title}: no actor is called ${name}`);
    return gap / 2 + gap * index;
  };
  const parts = actors.flatMap(({ name, role }) => [
    `<path d="M${at(name)} 84V${height - 12}" stroke="#9ca3af" stroke-dasharray="4 4"/>`,
    words(at(name), 58, name, 'font-weight="600"'),
    words(at(name), 76, role, 'fill="#6b7280"'),
  ]);
  lines.forEach((line, index) => {
    const y = top + step * index + 28;
    const [, note] = /^-- (.+)$/.exec(line) ?? [];
    const [, from, to, text] = /^(.+?) > (.+?): (.+)$/.exec(line) ?? [];
    if (note !== undefined) {
      parts.push(
        `<rect x="24" y="${y - 20}" width="${width - 48}" height="28" rx="6" fill="#eef2ff"/>`,
        words(width / 2, y - 1, note),
      );
    } else if (from !== undefined) {
      const middle = (at(from) + at(to)) / 2;
      const room = Math.max(text.length * 7.4, 40);
      parts.push(
        arrow(at(from), at(to), y),
        `<rect x="${middle - room / 2}" y="${y - 21}" width="${room}" height="17" fill="#ffffff"/>`,
        words(middle, y - 8, text),
      );
    } else {
      throw new Error(`${title}: not understood: ${line}`);
    }
  });
  return picture(title, width, height, parts);
}

/** Moments at equal distances: the last would else leave no room for the others. */
function moments(title, lines) {
  const gap = 170;
  const [width, height, axis] = [gap * lines.length, 190, 96];
  const parts = [arrow(gap / 4, width - 12, axis)];
  lines.forEach((line, index) => {
    const [, time, name, text] = /^at (.+?): (\w+): (.+)$/.exec(line) ?? [];
    if (text === undefined) throw new Error(`${title}: not understood: ${line}`);
    const x = gap / 2 + gap * index;
    const rows = text.match(/.{1,22}(?:\s|$)/g) ?? [];
    parts.push(
      `<circle cx="${x}" cy="${axis}" r="6" fill="#2563eb"/>`,
      words(x, axis - 34, name, 'font-weight="600"'),
      words(x, axis - 16, time, 'fill="#6b7280"'),
      ...rows.map((row, at) => words(x, axis + 28 + 18 * at, row.trim())),
    );
  });
  return picture(title, width, height, parts);
}

export function draw(source) {
  const [head = '', ...lines] = source.trimEnd().split('\n');
  const title = head.replace(/^# /, '');
  if (!lines[0]?.startsWith('actors: ')) return moments(title, lines);
  const actors = lines[0]
    .slice('actors: '.length)
    .split(' | ')
    .map((each) => {
      const [name, role = ''] = each.split(', ');
      return { name, role };
    });
  return sequence(title, actors, lines.slice(1));
}

for (const name of readdirSync(folder).filter((each) => each.endsWith('.txt'))) {
  const svg = draw(readFileSync(new URL(name, folder), 'utf8'));
  const target = new URL(name.replace(/txt$/, 'svg'), folder);
  if (!process.argv.includes('--check')) writeFileSync(target, svg);
  else if (!existsSync(target) || readFileSync(target, 'utf8') !== svg) {
    console.error(`${name}: its SVG is another: node docs/diagrams/draw.mjs`);
    process.exitCode = 1;
  }
}
