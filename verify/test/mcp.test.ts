// Agents trade on a real market by the protocol's own client: plan and digest for each step, over
// stdio and HTTP, one of them killed between plan and act and in the middle of a settlement.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { runParley } from '@parley/cli/run.ts';
import { fileStore } from '@parley/sdk/stores/file.ts';
import { keysOf } from '@parley/trader/keys/words.ts';
import {
  type Agent,
  type Answer,
  httpAgent,
  quietIo,
  serveMcp,
  stdioAgent,
} from './support/agents.ts';
import { waitUntil } from './support/waiting.ts';
import { sharedWeb } from './support/web.ts';

const opened = sharedWeb();
let dir: string;
let dev: readonly string[];
let bob: Agent;
const open: (() => Promise<unknown>)[] = [];

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'parley-mcp-'));
  const { market } = await opened();
  dev = ['--dev', '--market', market.ready.url, '--control', market.ready.dev ?? ''];
  bob = await nearby(await home('bob'));
});
after(async () => {
  for (const close of open.toReversed()) await close();
  await rm(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

const home = async (name: string) => mkdtemp(join(dir, name));

/** A process over stdio. */
async function started(folder: string): Promise<Agent> {
  const agent = await stdioAgent(folder, dev);
  open.push(agent.close);
  return agent;
}

/** Over HTTP, in this process: modules are loaded once. */
async function nearby(folder: string, args = dev): Promise<Agent> {
  const served = await serveMcp(folder, args);
  open.push(served.stop);
  const agent = await httpAgent(served);
  open.push(agent.close);
  return agent;
}

const sells = { side: 'sell', amount: '0.01', base: 'bitcoin-regtest', quote: 'evm-dev:USDV' };

test('an agent trades by plans, and killed it goes on: between plan and act, and while it settles', async () => {
  const folder = await home('alice');
  const first = await started(folder);
  const { rfqId } = await first.trade('post_rfq', sells);
  const { threadId } = await bob.trade('quote', { rfqId, amount: '640' });
  const args = { threadId, price: '640' };
  // It waits at the request that stands, and its plan is that of `accept`.
  const asks = { ...sells, atLeast: '639.99', waitSeconds: 1 };
  const { plan, best } = await first.call('best_quote', asks);
  assert.deepEqual([best.threadId, plan.sends.gives.units], [threadId, '1000000']);
  assert.match(plan.words.join('\n'), /you fund {2}first.*\n.*you take it back from/);
  first.kill();
  const second = await started(folder);
  const accepted = await second.call('accept', { ...args, digest: plan.digest });
  assert.deepEqual([accepted.done.swapId, accepted.again], [null, false]);
  assert.equal((await second.call('accept', { ...args, digest: plan.digest })).again, true);
  // As a crash leaves it that came right after the market's answer: its swap is found.
  const foundAgain = async () => {
    const kept = join(folder, 'data/parley/dev/mcp/plans', `${plan.digest}.json`);
    const written = JSON.parse(await readFile(kept, 'utf8')) as Answer;
    await writeFile(kept, JSON.stringify({ ...written, state: 'begun', result: null }));
    const { again, done } = await second.call('accept', { ...args, digest: plan.digest });
    assert.deepEqual([again, done.lacking, done.role], [true, null, accepted.done.role]);
    return done.swapId;
  };
  assert.equal(await foundAgain(), null);
  const { swapId } = await bob.trade('accept', args);
  assert.equal(await foundAgain(), swapId);
  assert.match((await second.call('account')).limits.assets[0].leftToday.amount, /^0\.99$/);
  await bob.trade('settle', { swapId });
  await second.trade('settle', { swapId });
  const fundTx = await funded(second, swapId);
  second.kill();
  // The begun swap goes on by itself, without a question.
  const third = await nearby(folder);
  const mine = await ended(third, swapId);
  const theirs = await ended(bob, swapId);
  assert.deepEqual([mine.driven.step, theirs.driven.step], ['received', 'received']);
  assert.equal(givenBy(mine).fundTx, fundTx, 'it was funded once');
  // The market sees it a moment later than who is paid.
  await waitUntil(async () => {
    const { swap } = await third.call('swap', { swapId });
    return swap.next.length === 0;
  });
  // A node that is slow beside other work is silent for a moment.
  const { verified, legs } = await waitUntil(async () => {
    const shown = await third.call('verify', { swapId });
    return shown.legs.every(({ balance }: Answer) => balance !== null) && shown;
  });
  assert.equal(verified, true);
  for (const { claimed, balance } of legs) assert.deepEqual([claimed, balance.units], [true, '0']);
  const heard = [first, second, third].map((each) => each.heard()).join('');
  await isSilent(folder, heard);
});

/** Neither words, nor a key made of them, nor the API key was in any answer, error or log. */
async function isSilent(folder: string, heard: string): Promise<void> {
  const data = join(folder, 'data/parley/dev');
  const words = (await readFile(join(data, 'dev.words'), 'utf8')).trim();
  const { key } = JSON.parse(await readFile(join(data, 'account.json'), 'utf8')) as Answer;
  const { wallets } = await keysOf(words, 'dev');
  assert.ok(heard.length > 5_000, 'it was heard');
  for (const secret of [words, words.slice(0, 30), key, ...Object.values(wallets)]) {
    assert.ok(!heard.includes(secret), 'a secret was told');
  }
}

const givenBy = ({ legs }: Answer): Answer =>
  legs.find(({ fundedBy }: Answer) => fundedBy === 'you');

async function funded(agent: Agent, swapId: string): Promise<string> {
  return waitUntil(async () => {
    const { swap } = await agent.call('swap', { swapId, waitSeconds: 1 });
    const { fundTx } = givenBy(swap);
    if (fundTx === null) assert.equal(swap.driven.state, 'running');
    return fundTx;
  });
}

async function ended(agent: Agent, swapId: string): Promise<Answer> {
  return waitUntil(async () => {
    const { swap } = await agent.call('swap', { swapId, waitSeconds: 30 });
    const { driven } = swap;
    return driven === null || driven.state === 'running' ? null : swap;
  });
}

test('limits, another price, a digest that is another’s, and an asset that nobody pinned: refused with facts', async () => {
  const folder = await home('limits');
  const alice = await nearby(folder);
  const { rfqId } = await alice.trade('post_rfq', { ...sells, amount: '0.2' });
  const { threadId } = await bob.trade('quote', { rfqId, amount: '9000' });
  const over = await alice.refused('accept', { threadId, price: '9000' });
  assert.deepEqual(
    [over.code, over.facts],
    ['over_swap_limit', { asset: 'bitcoin-regtest', units: '20000000', perSwap: '10000000' }],
  );
  const moved = await alice.refused('accept', { threadId, price: '8999' });
  assert.deepEqual(moved.facts, { price: '9000', given: '8999' });
  await mustBeNamed(alice, folder, { rfqId, threadId });
  const args = { threadId, amount: '9500' };
  const { plan } = await alice.call('counter', args);
  const strange = await bob.refused('counter', { ...args, digest: plan.digest });
  assert.equal(strange.code, 'unknown_digest');
  await bob.trade('quote', { rfqId, amount: '9100' });
  const late = await alice.refused('counter', { ...args, digest: plan.digest });
  assert.deepEqual([late.code, late.facts.field], ['facts_changed', 'from']);
  assert.equal(
    (await alice.refused('post_rfq', { ...sells, quote: 'evm-dev:NONE' })).code,
    'not_pinned',
  );
  assert.equal((await alice.trade('cancel_rfq', { rfqId })).status, 'cancelled');
});

/** Under the price of a request that this profile has not made, a market could show any amount. */
async function mustBeNamed(alice: Agent, folder: string, of: { rfqId: string; threadId: string }) {
  await rm(join(folder, 'data/parley/dev/terms', `${of.rfqId}.json`));
  const args = { threadId: of.threadId, price: '9000' };
  const facts = { ...sells, amount: '0.2' };
  const unknown = await alice.refused('accept', args);
  assert.deepEqual([unknown.code, unknown.facts], ['terms_unknown', facts]);
  const less = await alice.refused('accept', { ...args, ...facts, amount: '0.1' });
  assert.deepEqual([less.code, less.facts], ['other_terms', facts]);
  assert.equal((await alice.refused('accept', { ...args, ...facts })).code, 'over_swap_limit');
}

test('without keys it agrees by addresses and a hashlock, gives what is to be signed, and no secret', async () => {
  const folder = await home('carol');
  const [, ...at] = dev;
  const signal = new AbortController().signal;
  const parley = (...args: string[]) => runParley([...args, '--yes'], quietIo(folder, signal));
  assert.equal(await parley('init', '--dev', ...at), 0);
  assert.equal(await parley('login', '--key-file', join(folder, 'carol.words'), '--new'), 0);
  // A leg that its funder cannot pay is given to nobody.
  assert.equal(await parley('faucet'), 0);
  const account = join(folder, 'data/parley/dev/account.json');
  const { key, addresses } = JSON.parse(await readFile(account, 'utf8')) as Answer;
  const carol = await nearby(folder, []);
  const { tools } = await carol.client.listTools();
  assert.deepEqual(
    ['settle', 'refund', 'unsigned_transaction'].map((name) =>
      tools.some((each) => each.name === name),
    ),
    [false, false, true],
  );
  const asks = { side: 'sell', amount: '5', base: 'evm-dev:USDV', quote: 'tron-dev' };
  const { rfqId } = await carol.trade('post_rfq', asks);
  const { threadId } = await bob.trade('quote', { rfqId, amount: '20' });
  const own = { payTo: addresses['tron-dev'], refundTo: addresses['evm-dev'] };
  const args = { threadId, price: '20', ...own, hashlock: randomBytes(32).toString('hex') };
  assert.equal((await carol.refused('accept', { threadId, price: '20' })).class, 'usage');
  await carol.trade('accept', args);
  const { swapId } = await bob.trade('accept', { threadId, price: '20' });
  for (const which of ['payTo', 'refundTo']) await carol.trade('set_address', { swapId, which });
  const watched = await fileStore(join(folder, 'data/parley/dev/mcp/watched'));
  assert.ok((await watched.getTrade(threadId))?.swapSeenAt, 'when it was first seen is kept');
  // One secret would open both swaps.
  const second = await carol.trade('post_rfq', asks);
  const other = await bob.trade('quote', { rfqId: second.rfqId, amount: '20' });
  const twice = await carol.refused('accept', { ...args, threadId: other.threadId });
  assert.deepEqual([twice.code, twice.facts], ['hashlock_used', { threadId }]);
  // The other side names its addresses when it begins to settle.
  await bob.trade('settle', { swapId });
  const early = await waitUntil(async () => {
    const refused = await carol.refused('unsigned_transaction', { swapId, verb: 'claim' });
    return /both sides name/.test(refused.sentence) ? null : refused;
  });
  assert.match(early.sentence, /the secret is not public yet/);
  assert.deepEqual(early.facts, { leg: 'a', mayReveal: false, code: 'not_both_funded' });
  const { material, amount } = await carol.call('unsigned_transaction', { swapId, verb: 'fund' });
  assert.deepEqual([material.sign, amount.units], ['evm-tx', '5000000']);
  // From now on no other swap of this request is funded.
  assert.equal((await watched.getSwap(swapId))?.byHand, true);
  // The market offers a permit too, which nothing here has verified.
  const signed = ['chain', 'family', 'sign', 'chainId', 'from', 'txs', 'escrow', 'validUntil'];
  assert.deepEqual(Object.keys(material), signed);
  assert.equal(material.from, own.refundTo);
  await bob.trade('refund', { swapId, release: true });
  const givenUp = async () =>
    (await carol.refused('unsigned_transaction', { swapId, verb: 'fund' })).code;
  await waitUntil(async () => (await givenUp()) === 'given_up');
  await readOnly(folder, key);
});

/** A key of its own in a file, and a server that only reads. */
async function readOnly(folder: string, key: string): Promise<void> {
  const file = join(folder, 'key');
  await writeFile(file, key, { mode: 0o600 });
  const reader = await nearby(folder, ['--read-only', '--api-key-file', file]);
  const { tools } = await reader.client.listTools();
  assert.ok(tools.every(({ annotations }) => annotations?.readOnlyHint === true));
  assert.equal((await reader.call('swaps')).swaps.length, 1);
}
