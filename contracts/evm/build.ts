// Compiles the dev tokens and writes what is committed: artifacts/.
//
//   node contracts/evm/build.ts            rewrites them
//   node contracts/evm/build.ts --check    fails when a committed file differs from the source

import { writeOrCheck } from '../generated.ts';
import { build } from './compile.ts';
import { DEV_TOKENS } from './dev-tokens.ts';

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

writeOrCheck(here, 'evm', generate());
