// Compiles the dev tokens and writes what is committed: artifacts/.
//
//   node contracts/evm/build.ts            rewrites them
//   node contracts/evm/build.ts --check    fails when a committed file differs from the source

import { staleIn, writeOrCheck } from '../generated.ts';
import { build } from './compile.ts';
import { DEV_TOKENS } from './dev-tokens.ts';
import { isEntry } from './entry.ts';

const here = import.meta.dirname;

/** Every generated file, by its path under contracts/evm. */
function generate(): Map<string, string> {
  const { contract } = build('tokens');
  return new Map(
    DEV_TOKENS.map((name) => [
      `artifacts/${name}.json`,
      `${JSON.stringify(contract(name), null, 2)}\n`,
    ]),
  );
}

/** Committed files that are not what the sources make, by their path under contracts/evm. */
export const staleFiles = () => staleIn(here, generate());

if (isEntry(import.meta.url)) writeOrCheck(here, generate());
