// The facts that a program needs of a contract, as TypeScript source: typed constants with no
// import, so that pure code may use it.
import type { Hex } from 'viem';
import type { AbiItem } from './compile.ts';

const COLUMNS = 100;

/** A value as TypeScript source: on one line where it fits, else one entry a line. */
function literal(value: unknown, indent: string, used: number): string {
  if (value === null || typeof value !== 'object') {
    if (typeof value === 'bigint') return `${value}n`;
    return typeof value === 'string' ? `'${value}'` : String(value);
  }
  const list = Array.isArray(value);
  const entries = list
    ? value.map((item) => ['', item] as const)
    : Object.entries(value).map(([key, item]) => [`${key}: `, item] as const);
  const inner = entries.map(([key, item]) => key + literal(item, '', -1e6)).join(', ');
  const line = list ? `[${inner}]` : `{ ${inner} }`;
  if (entries.length === 0 || indent.length + used + line.length < COLUMNS) return line;
  const deeper = `${indent}  `;
  const rows = entries.map(
    ([key, item]) => `${deeper}${key}${literal(item, deeper, key.length + 1)},`,
  );
  return `${list ? '[' : '{'}\n${rows.join('\n')}\n${indent}${list ? ']' : '}'}`;
}

export function constant(name: string, why: string, value: unknown): string {
  const text = literal(value, '', name.length + 16);
  return `/** ${why} */\nexport const ${name} = ${text} as const;\n`;
}

/** One string literal in pieces: a line of eleven thousand characters helps nobody. */
export function longHex(name: string, why: string, hex: Hex): string {
  const pieces = hex.match(/.{1,92}/g) ?? [];
  const rows = pieces.map((piece) => `  '${piece}'`).join(' +\n');
  return `/** ${why} */\nexport const ${name} = (\n${rows}\n) as \`0x\${string}\`;\n`;
}

/** `internalType` speaks of the source, the constructor of what already happened. */
export function lean(abi: readonly AbiItem[]): AbiItem[] {
  const text = JSON.stringify(
    abi.filter((item) => item.type !== 'constructor'),
    (key, value: unknown) => (key === 'internalType' ? undefined : value),
  );
  return JSON.parse(text) as AbiItem[];
}
