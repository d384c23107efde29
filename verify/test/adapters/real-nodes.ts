// The promises of adapters on real nodes that the dev network starts (dev/devnet/nodes): for `npm run
// soak -- nodes`. A line for each node counts; it ends with 1 where one was broken.

import { keepPromises } from './kept.ts';
import { startRealDrivers } from './real-drivers.ts';

const say = (text: string) => process.stderr.write(`${text}\n`);

const { all, stop } = await startRealDrivers(say);
try {
  if (all.length === 0) throw new Error('no real node is given');
  for (const { info, driver } of all) {
    const { name, version } = info.node;
    console.log(`${name} ${version} at ${info.rpcUrl}`);
    const { total, isKept } = await keepPromises(driver, process.argv[2] ?? '', say);
    console.log(`nodes: ${name} ${total}`);
    if (!isKept) process.exitCode = 1;
  }
} finally {
  await stop();
}
