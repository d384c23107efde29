// The whole check of the contract: committed artifacts are as their build left them, forge tests pass on them, gas
// and energy are within their limits and as recorded. Ends with a line `forge: N passed, M failed`.
//
//   node contracts/escrows/test/run.ts [--profile soak]

import { join } from 'node:path';
import { isEntry } from '../../evm/entry.ts';
import { forgeTest, profileArgument } from '../../evm/forge.ts';
import { isSealed } from '../../seals.ts';
import { checkEnergy, checkGas } from '../bench/figures.ts';

async function main(): Promise<void> {
  const profile = profileArgument();
  const wrong: string[] = [];
  for (const part of ['escrows', 'evm'] as const) {
    if (isSealed(part)) continue;
    wrong.push(
      `sources or artifacts changed since their build; run node contracts/${part}/build.ts`,
    );
  }
  const forge = await forgeTest(profile, join(import.meta.dirname, '..'));
  wrong.push(...(await checkGas()), ...(await checkEnergy()));
  for (const sentence of wrong) process.stderr.write(`contracts: ${sentence}\n`);
  if (wrong.length || forge.exitCode) process.exitCode = 1;
  else process.stdout.write('contracts: artifacts sealed, gas and energy within their limits\n');
  process.stdout.write(`forge: ${forge.passed} passed, ${forge.failed} failed\n`);
}

if (isEntry(import.meta.url)) await main();
