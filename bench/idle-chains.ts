// Dev chains in a process of their own, so that what they cost is not taken for the market's.

import { devnetClient } from '@parley/dev/devnet/client.ts';
import { startDevnet } from '@parley/dev/devnet/devnet.ts';
import { devAssets, devChains } from '@parley/market/start/dev-network.ts';
import { answerQuestions } from './children.ts';

const quiet = { info: () => {}, warn: () => {}, error: () => {} };
let stop = async () => {};

export const answers = {
  /** `dev`: the control of a dev network that runs already, in a miniature. */
  start: async (dir: string, dev: string) => {
    const devnet =
      dev === ''
        ? await startDevnet({ dir, log: quiet, moveClock: () => {} })
        : { ...(await devnetClient(dev).status()), stop: async () => {} };
    stop = () => devnet.stop();
    const chains = devChains(devnet);
    return { chains, assets: devAssets(chains, devnet) };
  },
  end: () => stop(),
};

answerQuestions(answers);
