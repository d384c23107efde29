// A TRON chain with a plain token, in a process of its own: what it works is none of a market's.

import { startTron, type TestChain } from '../chains/tron/testing/chain.ts';
import { deployToken } from '../chains/tron/testing/tokens.ts';
import type { ChainSettings } from '../server/settings/chains.ts';
import { answerQuestions } from './children.ts';

export type TokenOn = { readonly on: ChainSettings; readonly token: string };

let tron: TestChain | null = null;

export const answers = {
  start: async (): Promise<TokenOn> => {
    tron = await startTron();
    const { url, deployment } = tron;
    const { chainId, contract, creation } = deployment;
    const place = { family: 'tron', chain: 'tron-dev', sources: [{ url }], world: 'dev' } as const;
    const on: ChainSettings = { ...place, chainId, contract, creation };
    return { on, token: await deployToken(tron, 'Plain') };
  },
  end: () => tron?.stop(),
};

answerQuestions(answers);
