// Dev chains in a process of their own, so that what they cost is not taken for the market's.

import { startDevnet } from '../devnet/devnet.ts';
import { devAssets, devChains } from '../server/start/dev-network.ts';
import { answerQuestions } from './children.ts';

const quiet = { info: () => {}, warn: () => {}, error: () => {} };
let stop = async () => {};

async function answer(question: { readonly dir: string } | { readonly stop: true }) {
  if ('stop' in question) return stop();
  const devnet = await startDevnet({ dir: question.dir, log: quiet, moveClock: () => {} });
  stop = () => devnet.stop();
  const chains = devChains(devnet);
  return { chains, assets: devAssets(chains, devnet) };
}

answerQuestions(answer);
