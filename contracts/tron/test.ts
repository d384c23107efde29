// The whole check of the contract: committed artifacts are current, forge tests pass on them,
// energy is within the limits and as recorded. Ends with a line `forge: N passed, M failed`.
//
//   node contracts/tron/test.ts [--profile soak]

import { isEntry } from '../evm/entry.ts';
import { forgeTest, profileArgument } from '../evm/forge.ts';
import { staleFiles } from './build.ts';
import { checkEnergy } from './energy.ts';

async function main(): Promise<void> {
  const profile = profileArgument();
  const wrong: string[] = [];
  for (const path of await staleFiles()) {
    wrong.push(`${path} differs from the source; run node contracts/tron/build.ts`);
  }
  const forge = await forgeTest(profile, import.meta.dirname);
  wrong.push(...(await checkEnergy()));
  for (const sentence of wrong) process.stderr.write(`contracts: ${sentence}\n`);
  if (wrong.length > 0 || forge.exitCode !== 0) process.exitCode = 1;
  else process.stdout.write('contracts: artifacts current, energy within its limits\n');
  process.stdout.write(`forge: ${forge.passed} passed, ${forge.failed} failed\n`);
}

if (isEntry(import.meta.url)) await main();
