// Compiles the tokens of dev/ for the dev chain and for tests, with the compiler of contracts/evm.
//
//   node contracts/tron/build.ts            rewrites artifacts/
//   node contracts/tron/build.ts --check    fails when a committed file differs from the source

import { type Compiled, compile, LIGHT, sourcesOf } from '../evm/compile.ts';
import { isEntry } from '../evm/entry.ts';
import { staleIn, writeOrCheck } from '../generated.ts';

const here = import.meta.dirname;
const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Of `dev/Zoo.sol`: what the dev chain has beside the tokens of contracts/evm/dev. */
const ZOO = [
  'AnswersFalse',
  'AnswersTrue',
  'Blacklist',
  'Charge',
  'Everything',
  'Megabyte',
  'NoBalance',
  'Pause',
  'Rebase',
  'Reenter',
] as const;

function compileTokens(): ReadonlyMap<string, Compiled> {
  const sources = sourcesOf(...['tron/dev/Zoo.sol', 'escrows/test/zoo/Tokens.sol']);
  const compiled = new Map<string, Compiled>();
  compile(sources, compiled, LIGHT);
  return compiled;
}

function need(compiled: ReadonlyMap<string, Compiled>, name: string): Compiled {
  const contract = compiled.get(name);
  if (contract === undefined) throw new Error(`no contract ${name} in the sources`);
  return contract;
}

function generate(): Map<string, string> {
  const compiled = compileTokens();
  const zoo = Object.fromEntries(ZOO.map((name) => [name, need(compiled, name)]));
  return new Map([['artifacts/zoo.json', json(zoo)]]);
}

export const staleFiles = (): string[] => staleIn(here, generate());

if (isEntry(import.meta.url)) writeOrCheck(here, generate());
