// A market comes back from a copy of its stopped home (docs/backup.md), over chains that went on:
// swaps of the copy end right, a later one ends by the SDK alone, and what was given out is void.
// The real server, database, bitcoind and anvil; Solana is a simulator.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { openFeed } from '@parley/market/edge/testing/feed-client.ts';
import { type Customer, newCustomer } from './support/customers.ts';
import { agreed, type Deal, finish, fund, offer, refusal, shows } from './support/deals.ts';
import { type Stage, sharedChains, startStage } from './support/stage.ts';

const limits = { timeout: 240_000 };
const hourSeconds = 3_600;
/** An acceptance outlasts the missing hour. */
const env = { PARLEY_ENCRYPTION_KEY: '', PARLEY_ACCEPT_TTL: '86400' };

const chains = sharedChains();
let stage: Stage;
let alice: Customer;
let bob: Customer;

before(async () => {
  stage = await startStage({ chains: await chains(), env });
}, limits);
after(() => stage?.close(), limits);

const isClaimed = (swap: { readonly status: string }) => swap.status === 'counterparty_claimed';
const ends = (deal: Deal) => shows(deal, 'it is settled', isClaimed);

/** The beginning of the feed for a maker that goes on from a position. */
async function resumedAt(url: string, since?: number) {
  const socket = await openFeed(url);
  socket.send({ apiKey: bob.key, resume: true, ...(since === undefined ? {} : { since }) });
  const ready = await socket.of('ready');
  const [first] = socket.frames.map(({ type }) => String(type));
  socket.close();
  return { seq: Number(ready.seq), first };
}

test(
  'open swaps of a copied home settle after a lost hour, and later ones by the SDK',
  limits,
  async () => {
    const home = join(stage.dir, 'home');
    const copy = join(stage.dir, 'copy');
    const first = await stage.startServer({ home });
    alice = await newCustomer(stage, 'Alice');
    bob = await newCustomer(stage, 'Bob', 'bitcoin');
    const both = [alice, bob] as const;
    const begun = await agreed(stage, both, 'SPL dollar', 'ETH');
    const funded = await agreed(stage, both, 'BTC', 'ETH');
    await Promise.all([fund(stage, begun, 'initiator'), fund(stage, funded, 'both')]);
    const waiting = await offer(stage, both, 'ETH', 'SOL');
    await waiting.accept(alice);
    const { seq } = await resumedAt(first.url);

    await first.market.stop();
    await promisify(execFile)('cp', ['-a', home, copy]);
    const second = await stage.startServer({ home });
    assert.ok((await waiting.accept(bob)).swapId, 'the acceptance becomes a swap in the lost hour');
    const later = await agreed(stage, both, 'ETH', 'SOL');
    await Promise.all([finish(stage, funded), fund(stage, later, 'both')]);
    await second.market.kill();
    await stage.move(hourSeconds);

    const third = await stage.startServer({ home: copy });
    const { first: begins, seq: next } = await resumedAt(third.url, seq);
    assert.deepEqual([begins, next > seq + 1_000_000], ['reset', true]);
    const thread = await bob.client.thread(waiting.threadId);
    assert.deepEqual([thread.takerAccepted, thread.status], [false, 'open']);
    // It was claimed on both chains in the lost hour.
    await ends(funded);
    const { status, code } = await refusal(alice.client.swap(later.id));
    assert.deepEqual([status, code], [404, 'unknown_swap']);
    const received = ['received', 'received'];
    assert.deepEqual(await finish(stage, begun), received);
    await ends(begun);
    assert.deepEqual(await finish(stage, later), received);
  },
);
