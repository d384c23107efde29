// A TRON chain with a plain token, in a process of its own: what it works is none of a market's.

import { startTron, type TestChain } from '../chains/tron/testing/chain.ts';
import { deployToken } from '../chains/tron/testing/tokens.ts';
import type { ChainSettings } from '../server/settings/chains.ts';
import { answerQuestions } from './children.ts';

export type TokenOn = { readonly on: ChainSettings; readonly token: string };

let tron: TestChain | null = null;

answerQuestions(async ({ ends }: { readonly ends: boolean }) => {
  if (ends) return tron?.stop();
  tron = await startTron();
  const { url, deployment } = tron;
  const { chainId, contract, creation } = deployment;
  const on: ChainSettings = {
    family: 'tron',
    chain: 'tron-dev',
    chainId,
    contract,
    creation,
    sources: [{ url }],
    world: 'dev',
  };
  return { on, token: await deployToken(tron, 'Plain') } satisfies TokenOn;
});
