// How old a look at the chains may be when something is signed by it, and when it is sent.

import assert from 'node:assert/strict';
import test from 'node:test';
import { memoryStore } from '../stores/memory.ts';
import { honestSwap, now, swapId, tradeOf, views } from '../testing/honest.ts';
import { verifySwap } from '../verify.ts';
import type { EvmWallet } from '../wallets/wallet.ts';
import { freshMs, mostLooks, signAndKeep, signedFreshMs } from './before-sending.ts';
import { contextOf, legOf } from './context.ts';

const trade = tradeOf('maker');
const swap = verifySwap(honestSwap('maker'), trade, views, { swapId, now });
const record = { trade, swap, funding: null, claim: null, refund: null, publicSecret: null };
const name = (['a', 'b'] as const).find((each) => swap.legs[each].family === 'evm') ?? 'a';
const leg = legOf(record, name);

/** What is done, in order, where a turn comes so late or a signature takes so long. */
async function stepsOf(took: { turnMs?: number; signMs?: number }): Promise<string> {
  const steps: string[] = [];
  let atMs = 0;
  const wallet = { family: 'evm', address: `0x${'ab'.repeat(20)}`, forget: () => {} };
  const lock = async () => {
    atMs += took.turnMs ?? 0;
    return { release: async () => {} };
  };
  const context = contextOf({
    ...{ swapId, client: null, sources: new Map(), store: { ...memoryStore(), lock } },
    wallets: new Map([[leg.chain, wallet as unknown as EvmWallet]]),
  });
  const gate = async () => {
    steps.push('look');
    return async () => void steps.push('again');
  };
  await signAndKeep(
    context,
    leg,
    {
      gate,
      sign: async () => {
        steps.push('sign');
        atMs += took.signMs ?? 0;
        return { txid: '0x', raw: '0x' };
      },
      next: (funding) => {
        steps.push('keep');
        return { ...record, funding };
      },
      turn: { isUrgent: false },
    },
    () => atMs,
  );
  return steps.join(' ');
}

test('a look is repeated when the turn comes later than it is fresh, so many times', async () => {
  assert.equal(await stepsOf({ turnMs: freshMs }), 'look sign again keep');
  const looks = Array.from({ length: mostLooks }, () => 'look').join(' ');
  assert.equal(await stepsOf({ turnMs: freshMs + 1 }), `${looks} sign again keep`);
});

// What is kept is stamped with that moment: it is on its way from then on.
test('all is looked at again after a signature that took very long, and then kept', async () => {
  assert.equal(await stepsOf({ signMs: signedFreshMs }), 'look sign again keep');
  assert.equal(await stepsOf({ signMs: signedFreshMs + 1 }), 'look sign look keep');
});
