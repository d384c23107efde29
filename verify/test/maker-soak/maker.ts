// A maker of the soak: `maker.ts SETTINGS DEV`, by the clock of a dev network.

import { devnetClient } from '@parley/dev/devnet/client.ts';
import { main } from '@parley/maker/main.ts';
import { devClock } from '@parley/scripts/maker-dev.ts';

const [file = '', dev = ''] = process.argv.slice(2);
const client = devnetClient(dev);
const { clockOffsetSeconds } = await client.chains(AbortSignal.timeout(30_000));
process.exitCode = await main([file], { movedMs: devClock(client, clockOffsetSeconds) });
