// Dev chains in a process of their own, so that what they cost is not taken for the market's.

import { startDevnet } from '@parley/dev/devnet/devnet.ts';
import { devAssets, devChains } from '@parley/market/start/dev-network.ts';
import { answerQuestions } from './children.ts';

const quiet = { info: () => {}, warn: () => {}, error: () => {} };
let stop = async () => {};

export const answers = {
  start: async (dir: string) => {
    const devnet = await startDevnet({ dir, log: quiet, moveClock: () => {} });
    stop = () => devnet.stop();
    const chains = devChains(devnet);
    return { chains, assets: devAssets(chains, devnet) };
  },
  end: () => stop(),
};

answerQuestions(answers);
