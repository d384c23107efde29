// The maker program by a file of settings, with the clock of a dev network:
//
//   node test/maker-soak/maker.ts maker.toml CONTROL-ADDRESS

import { devnetClient } from '../../devnet/client.ts';
import { main } from '../../maker/main.ts';
import { devClock } from '../../scripts/maker-dev.ts';

const [file = '', dev = ''] = process.argv.slice(2);
const client = devnetClient(dev);
const { clockOffsetSeconds } = await client.chains(AbortSignal.timeout(10_000));
process.exitCode = await main([file], devClock(client, clockOffsetSeconds));
