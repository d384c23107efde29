// The whole check of the contract: committed artifacts are current, forge tests pass on them, gas
// and energy are within their limits and as recorded. Ends with a line `forge: N passed, M failed`.
//
//   node contracts/escrows/test/run.ts [--profile soak]

import { join } from 'node:path';
import { staleFiles as staleTokens } from '../../evm/build.ts';
import { isEntry } from '../../evm/entry.ts';
import { forgeTest, profileArgument } from '../../evm/forge.ts';
import { checkEnergy, checkGas } from '../bench/figures.ts';
import { staleFiles } from '../build.ts';

async function main(): Promise<void> {
  const profile = profileArgument();
  const wrong: string[] = [];
  for (const path of staleFiles()) {
    wrong.push(`${path} differs from the source; run node contracts/escrows/build.ts`);
  }
  for (const path of staleTokens()) {
    wrong.push(`contracts/evm/${path} differs; run node contracts/evm/build.ts`);
  }
  const forge = await forgeTest(profile, join(import.meta.dirname, '..'));
  wrong.push(...(await checkGas()), ...(await checkEnergy()));
  for (const sentence of wrong) process.stderr.write(`contracts: ${sentence}\n`);
  if (wrong.length || forge.exitCode) process.exitCode = 1;
  else process.stdout.write('contracts: artifacts current, gas and energy within their limits\n');
  process.stdout.write(`forge: ${forge.passed} passed, ${forge.failed} failed\n`);
}

if (isEntry(import.meta.url)) await main();
