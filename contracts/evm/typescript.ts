// The facts that a program needs of a contract, as TypeScript source: typed constants with no
// import, so that pure code may use it.
import { inspect } from 'node:util';
import type { Hex } from 'viem';
import type { AbiItem } from './compile.ts';

export function constant(name: string, why: string, value: unknown): string {
  const text = inspect(value, { depth: null, breakLength: 100, maxArrayLength: null });
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
