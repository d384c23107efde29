// A relayed claim that a node has had: others may know its secret, so it is landed until the
// timelock, whatever nodes and chains show of it meanwhile. One that no node took is given up.

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import type { GasOutcome } from '@parley/chains/gas/account.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { takeUp } from '@parley/market/db/watched.ts';
import { must } from '@parley/market/settle/testing/world.ts';
import type { Gas } from './port.ts';
import type { Loose } from './testing/desk.ts';
import { type Deal, long, onMarket, type Server, short } from './testing/market.ts';

const m = onMarket();
let gas: Loose;
let account: Gas['account'];
let adapter: ChainAdapter;
let deal: Deal;
beforeEach(async () => {
  gas = m.key();
  ({ account } = gas);
  adapter = m.deps.adapters.get(short) as ChainAdapter;
  deal = await m.funded();
  must(await m.relay(deal));
});

/** As a provider without a pending block: a waiting claim shows no secret. */
function blind(more: Partial<ChainAdapter> = {}): void {
  const readEscrow: ChainAdapter['readEscrow'] = async (escrow, signal) => {
    const facts = await adapter.readEscrow(escrow, signal);
    const shows = facts.claimed !== null && facts.claimed.confirmations > 0;
    return shows ? facts : { ...facts, claimed: null, secret: null };
  };
  m.show({ readEscrow, ...more });
}

/** The transactions that are broadcast from now on, while reads are blind. */
function hearing(more: Partial<ChainAdapter> = {}): string[] {
  const sent: string[] = [];
  const broadcast: ChainAdapter['broadcast'] = (transaction, signal) => {
    sent.push(transaction.touches[0]?.verb ?? 'void');
    return adapter.broadcast(transaction, signal);
  };
  blind({ broadcast, ...more });
  return sent;
}

const failing = (code: 'chain_timeout' | 'chain_unavailable' | 'refused_by_node', says = 'x') => ({
  broadcast: () => Promise.reject(new ParleyError(code, says, {})),
});

const attempts = () => m.attempts(deal);
const verbs = async () => (await attempts()).map(({ verb }) => verb);
const waits = async () => m.short.waits((await attempts())[0]?.txid);

async function pastReveal(isLost = false): Promise<void> {
  const { deadlines, legs } = await m.swap(deal);
  m.deps.freeze(((isLost ? legs.a.timelock : deadlines.revealBy) + 1) * 1_000);
  await m.keepAll();
}

async function lands(by: Server = m): Promise<void> {
  m.show({});
  await m.deepen();
  await m.hurry();
  await by.keeper.pass(short);
  await m.deepen();
  assert.equal((await m.swap(deal)).legs.a.status, 'claimed');
}

for (const [what, outcome, drops] of [
  ['one "not known" of a node', 'unknown', false],
  ['a node that forgot it', null, true],
  // As on chains where a transaction dies by itself.
  ['its death in no block', 'gone', true],
] as const satisfies readonly (readonly [string, GasOutcome | null, boolean])[]) {
  test(`${what} after the time to reveal does not withdraw it`, async () => {
    blind();
    await m.keep();
    if (drops) m.short.drop();
    if (outcome !== null) gas.account = { ...account, outcome: async () => outcome };
    await pastReveal();
    gas.account = account;
    assert.ok(!(await verbs()).includes('void'), 'its nonce is not taken by nothing');
    await lands();
  });
}

/** Sent, forgotten by the node, and polled after that. Whether the node has it again. */
async function isSentAgain(then: Partial<ChainAdapter>): Promise<boolean> {
  blind();
  await m.keep();
  m.short.drop();
  blind(then);
  await m.keepAll();
  const own = (await attempts()).map(({ verb, state }) => [verb, state]);
  assert.deepEqual(own, [['claim', 'open']], 'its nonce is not taken by nothing');
  return waits();
}

const mustAgree = () => Promise.reject(new ParleyError('sources_disagree', 'of a test', {}));
/** As a node that lies shows it: claimed by another, and final. */
const claimedDeep: ChainAdapter['readEscrow'] = async (escrow, signal) => {
  const facts = await adapter.readEscrow(escrow, signal);
  const claimed = { txid: `0x${'77'.repeat(32)}`, confirmations: 99, deep: true };
  return { ...facts, claimed, balance: 0n };
};

test('one node’s clock past the timelock does not withdraw it', async () => {
  const { timelock } = (await m.swap(deal)).legs.a;
  const heads: ChainAdapter['heads'] = async (signal) => {
    return { ...(await adapter.heads(signal)), clock: timelock + 1 };
  };
  assert.equal(await isSentAgain({ heads }), true);
  await lands();
});

test('a claim that one node shows does not withdraw it while nodes differ', async () => {
  assert.equal(await isSentAgain({ readEscrow: claimedDeep, mustAgree }), true);
  const { timelock } = (await m.swap(deal)).legs.a;
  const was = m.deps.now();
  m.deps.freeze((timelock + adapter.policy.lateClaimSeconds - 1) * 1_000);
  await m.keepAll();
  assert.deepEqual(await verbs(), ['claim'], 'as long as it may land');
  m.deps.freeze(was);
  await lands();
});

test('nor does such a claim end its job where its bytes are lost', async () => {
  blind();
  await m.keep();
  m.short.drop();
  gas.account = { ...account, outcome: async () => 'gone' };
  blind({ readEscrow: claimedDeep, mustAgree });
  await m.keepAll();
  const outcomes = (await attempts()).map(({ outcome, state }) => [outcome, state]);
  assert.deepEqual(outcomes, [['gone', 'open']]);
  gas.account = account;
  m.show({});
  await m.keepAll();
  await lands();
});

test('a claim of a public secret is sent though one node shows another’s, while nodes differ', async () => {
  const open = await m.public();
  m.show({ readEscrow: claimedDeep, mustAgree }, long);
  await m.keepAll();
  m.show({}, long);
  await m.passes(2);
  assert.equal((await m.swap(open)).legs.b.claimedBy, 'keeper');
});

for (const [when, isLate] of [
  ['once its nodes agree', false],
  ['once a claim cannot land any more, though nodes differ', true],
] as const) {
  test(`a leg that another has claimed is withdrawn ${when}`, async () => {
    assert.equal(await isSentAgain({ readEscrow: claimedDeep, mustAgree }), true);
    const { timelock } = (await m.swap(deal)).legs.a;
    const { lateClaimSeconds, high } = adapter.policy;
    // An outage delays the chain's clock, as far as its policy lets it.
    const until = timelock + lateClaimSeconds + high.outageSeconds;
    if (isLate) m.deps.freeze(until * 1_000);
    blind({ readEscrow: claimedDeep, ...(isLate ? { mustAgree } : {}) });
    await m.keepAll();
    assert.deepEqual(await verbs(), ['claim', 'void']);
  });
}

test('once a node has it, no other chain stands in its way', async () => {
  blind();
  await m.keep();
  m.short.drop();
  const down = () => Promise.reject(new ParleyError('chain_unavailable', 'down', {}));
  m.show({ heads: down, readEscrow: down }, long);
  await m.turn();
  assert.equal(await waits(), true);
});

test('a node’s silence counts as if it had it', async () => {
  blind(failing('chain_timeout'));
  await m.keep();
  blind();
  await pastReveal();
  assert.ok(!(await verbs()).includes('void'));
  await lands();
});

for (const [what, code] of [
  ['what all nodes refused', 'refused_by_node'],
  ['what reached no node', 'chain_unavailable'],
] as const) {
  test(`${what} is not shown after the time to reveal`, async () => {
    blind(failing(code));
    await m.keep();
    const sent = hearing();
    await pastReveal();
    assert.deepEqual(await verbs(), ['claim', 'void']);
    await m.deepen();
    await m.keepAll();
    assert.equal((await m.job(deal))?.state, 'dropped');
    assert.equal((await m.swap(deal)).secret, null);
    assert.deepEqual(sent, ['void'], 'no claim leaves');
  });
}

test('a transaction that reached no node is sent once one is there, in time', async () => {
  blind(failing('chain_unavailable'));
  await m.keep();
  blind();
  await m.keepAll();
  assert.deepEqual(await verbs(), ['claim']);
  await lands();
});

for (const [when, isLost] of [
  ['after the time to reveal', false],
  ['after the timelock', true],
] as const) {
  test(`a claim that all nodes refused is not shown ${when} by a key without coins`, async () => {
    blind(failing('refused_by_node'));
    await m.keep();
    const { timelock } = (await m.swap(deal)).legs.a;
    const sent = hearing({
      heads: async (signal) => {
        const heads = await adapter.heads(signal);
        return isLost ? { ...heads, clock: timelock + 1 } : heads;
      },
    });
    gas.account = { ...account, balance: async () => 0n };
    await pastReveal(isLost);
    assert.deepEqual(
      [await verbs(), (await m.job(deal))?.last_failure],
      [['claim'], 'fee_above_limit'],
    );
    assert.deepEqual(sent, [], 'nothing leaves');
    gas.account = account;
    await m.passes();
    assert.deepEqual(sent, ['void'], 'its nonce is taken by nothing');
    assert.equal((await m.swap(deal)).secret, null);
  });
}

test("a former key's transaction is landed by the key that follows it", async () => {
  blind();
  await m.keep();
  m.short.drop();
  const next = await m.open({ address: 'the next key' });
  const { revealBy } = (await m.swap(deal)).deadlines;
  m.deps.freeze((revealBy + 1) * 1_000);
  await next.keeper.begin();
  await m.hurry();
  await next.keeper.pass(short);
  assert.deepEqual((await attempts()).map(({ outcome }) => outcome).slice(0, 1), ['gone']);
  await lands(next);
});

test('a secret that becomes public while its relay is dropped is claimed', async () => {
  await pastReveal();
  let isFirst = true;
  // The counterparty's claim of the other leg is seen meanwhile.
  const look: ChainAdapter['look'] = async (...about) => {
    const looked = await adapter.look(...about);
    if (!isFirst) return looked;
    isFirst = false;
    await m.reveal(deal);
    const { db, now } = m.deps;
    await takeUp(db, { chains: [short], now: new Date(now()) }, 100);
    return looked;
  };
  m.show({ look });
  for (let pass = 0; pass < 2; pass += 1) await m.keepAll();
  assert.equal(isFirst, false);
  await lands();
});
