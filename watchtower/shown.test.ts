// A relayed claim that a node has had: others may know its secret, so it is landed until the
// timelock, whatever nodes and chains show of it meanwhile. One that no node took is given up.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import type { ChainAdapter } from '../chains/adapter.ts';
import { showing } from '../chains/testing/showing.ts';
import { ParleyError } from '../core/errors.ts';
import { takeUp } from '../server/db/watched.ts';
import { evm, evm2, must } from '../server/settle/testing/world.ts';
import type { Gas } from './port.ts';
import {
  anotherDesk,
  attemptsOn,
  both,
  type Deal,
  type Desk,
  deepen,
  ether,
  fundedDeal,
  hurry,
  jobsOf,
  keep,
  keepAll,
  type Loose,
  passes,
  relay,
  startDesk,
  swapOf,
} from './testing/desk.ts';

const limits = { timeout: 120_000 };
type Adapters = Map<string, ChainAdapter>;
let desk: Desk;
let gas: Loose;
let account: Gas['account'];
let adapter: ChainAdapter;
let clock: number;
before(async () => {
  desk = await startDesk();
  gas = desk.deps.gas.get(evm2) as Loose;
  ({ account } = gas);
  adapter = desk.deps.adapters.get(evm2) as ChainAdapter;
}, limits);
beforeEach(() => {
  clock = desk.deps.now();
});
after(() => desk?.close());

function restore(): void {
  gas.account = account;
  (desk.deps.adapters as Adapters).set(evm2, adapter);
  desk.deps.freeze(clock);
}

/** As of a provider without a pending block: what waits shows no secret. */
function blind(more: Partial<ChainAdapter> = {}): void {
  const readEscrow: ChainAdapter['readEscrow'] = async (escrow, signal) => {
    const facts = await adapter.readEscrow(escrow, signal);
    const shows = facts.claimed !== null && facts.claimed.confirmations > 0;
    return shows ? facts : { ...facts, claimed: null, secret: null };
  };
  (desk.deps.adapters as Adapters).set(evm2, showing(adapter, { readEscrow, ...more }));
}

const funded = () => fundedDeal(desk);

async function pastReveal(deal: Deal, isLost = false): Promise<void> {
  const { deadlines, legs } = await swapOf(deal);
  desk.deps.freeze(((isLost ? legs.a.timelock : deadlines.revealBy) + 1) * 1_000);
  await keepAll(desk);
}

const onShort = (deal: Deal) => attemptsOn(desk, deal, evm2);

async function lands(deal: Deal, on: Desk = desk): Promise<void> {
  await deepen(desk);
  await hurry(desk);
  await keep(on);
  await deepen(desk);
  assert.equal((await swapOf(deal)).legs.a.status, 'claimed');
}

for (const [what, of] of [
  ['one "not known" of a node', { fate: 'unknown', drops: false }],
  ['a node that forgot it', { fate: null, drops: true }],
  // As on chains where a transaction dies by itself.
  ['its death in no block', { fate: 'gone', drops: true }],
] as const) {
  test(`${what} after the time to reveal does not withdraw it`, limits, async () => {
    const deal = await funded();
    must(await relay(deal));
    blind();
    try {
      await keep(desk);
      if (of.drops) await desk.rpc(evm2)('anvil_dropAllTransactions');
      const { fate } = of;
      if (fate !== null) gas.account = { ...account, fate: async () => fate };
      await pastReveal(deal);
      gas.account = account;
      const own = await onShort(deal);
      assert.ok(!own.some(({ verb }) => verb === 'void'), 'its nonce is not taken by nothing');
      if (!of.drops) {
        const waits = await desk.rpc(evm2)('eth_getTransactionByHash', [own.at(-1)?.txid]);
        assert.notEqual(waits, null, 'it is in the mempool');
      }
      await lands(deal);
    } finally {
      restore();
    }
  });
}

/** Sent, forgotten by the node, and looked at after that. Whether the node has it again. */
async function isSentAgain(deal: Deal, then: Partial<ChainAdapter>): Promise<boolean> {
  must(await relay(deal));
  blind();
  await keep(desk);
  await desk.rpc(evm2)('anvil_dropAllTransactions');
  blind(then);
  await keepAll(desk);
  const own = await onShort(deal);
  assert.deepEqual(
    own.map(({ verb, state }) => [verb, state]),
    [['claim', 'open']],
    'its nonce is not taken by nothing',
  );
  return (await desk.rpc(evm2)('eth_getTransactionByHash', [own[0]?.txid])) !== null;
}

const mustAgree = () => Promise.reject(new ParleyError('sources_disagree', 'of a test', {}));
/** As a node that lies shows it: claimed by another, and deep. */
const claimedDeep: ChainAdapter['readEscrow'] = async (escrow, signal) => {
  const facts = await adapter.readEscrow(escrow, signal);
  const claimed = { txid: `0x${'77'.repeat(32)}`, confirmations: 99, deep: true };
  return { ...facts, claimed, balance: 0n };
};

test('one node’s clock past the timelock does not withdraw it', limits, async () => {
  const deal = await funded();
  const { timelock } = (await swapOf(deal)).legs.a;
  const heads: ChainAdapter['heads'] = async (signal) => {
    return { ...(await adapter.heads(signal)), clock: timelock + 1 };
  };
  try {
    assert.equal(await isSentAgain(deal, { heads }), true);
    await lands(deal);
  } finally {
    restore();
  }
});

test('a claim that one node shows does not withdraw it while nodes differ', limits, async () => {
  const deal = await funded();
  try {
    assert.equal(await isSentAgain(deal, { readEscrow: claimedDeep, mustAgree }), true);
    const { timelock } = (await swapOf(deal)).legs.a;
    const verbs = async () => (await onShort(deal)).map(({ verb }) => verb);
    const was = desk.deps.now();
    desk.deps.freeze((timelock + adapter.policy.lateClaimSeconds - 1) * 1_000);
    await keepAll(desk);
    assert.deepEqual(await verbs(), ['claim'], 'as long as it may land');
    desk.deps.freeze(was);
    restore();
    await lands(deal);
  } finally {
    restore();
  }
});

test('nor does such a claim end its job where its bytes are lost', limits, async () => {
  const deal = await funded();
  must(await relay(deal));
  blind();
  try {
    await keep(desk);
    await desk.rpc(evm2)('anvil_dropAllTransactions');
    gas.account = { ...account, fate: async () => 'gone' };
    blind({ readEscrow: claimedDeep, mustAgree });
    await keepAll(desk);
    const fates = async () => (await onShort(deal)).map(({ fate, state }) => [fate, state]);
    assert.deepEqual(await fates(), [['gone', 'open']]);
    restore();
    await keepAll(desk);
    await lands(deal);
  } finally {
    restore();
  }
});

for (const [when, isLate] of [
  ['once its nodes agree', false],
  ['once a claim cannot land any more, though nodes differ', true],
] as const) {
  test(`what another has claimed is withdrawn ${when}`, limits, async () => {
    const deal = await funded();
    try {
      assert.equal(await isSentAgain(deal, { readEscrow: claimedDeep, mustAgree }), true);
      const { timelock } = (await swapOf(deal)).legs.a;
      const after = timelock + adapter.policy.lateClaimSeconds;
      if (isLate) desk.deps.freeze(after * 1_000);
      blind({ readEscrow: claimedDeep, ...(isLate ? { mustAgree } : {}) });
      await keepAll(desk);
      const verbs = (await onShort(deal)).map(({ verb }) => verb);
      assert.deepEqual(verbs, ['claim', 'void']);
    } finally {
      restore();
    }
    await deepen(desk);
  });
}

test('once a node has it, no other chain stands in its way', limits, async () => {
  const deal = await funded();
  must(await relay(deal));
  blind();
  const adapters = desk.deps.adapters as Adapters;
  const other = adapters.get(evm) as ChainAdapter;
  try {
    await keep(desk);
    await desk.rpc(evm2)('anvil_dropAllTransactions');
    const down = () => Promise.reject(new ParleyError('chain_unavailable', 'down', {}));
    adapters.set(evm, showing(other, { heads: down, readEscrow: down }));
    await hurry(desk);
    await desk.keeper.pass(evm2);
    const [own] = await onShort(deal);
    assert.notEqual(await desk.rpc(evm2)('eth_getTransactionByHash', [own?.txid]), null);
  } finally {
    adapters.set(evm, other);
    restore();
  }
  await lands(deal);
});

const failing = (code: 'chain_timeout' | 'chain_unavailable' | 'refused_by_node') => ({
  broadcast: () => Promise.reject(new ParleyError(code, 'of a test', {})),
});

test('a node’s silence counts as if it had it', limits, async () => {
  const deal = await funded();
  try {
    must(await relay(deal));
    blind(failing('chain_timeout'));
    await keep(desk);
    blind();
    await pastReveal(deal);
    assert.ok(!(await onShort(deal)).some(({ verb }) => verb === 'void'));
    await lands(deal);
  } finally {
    restore();
  }
});

for (const [what, code] of [
  ['what all nodes refused', 'refused_by_node'],
  ['what reached no node', 'chain_unavailable'],
] as const) {
  test(`${what} is not shown after the time to reveal`, limits, async () => {
    const deal = await funded();
    const sent: string[] = [];
    try {
      must(await relay(deal));
      blind(failing(code));
      await keep(desk);
      blind({
        broadcast: (transaction, signal) => {
          sent.push(...transaction.touches.map(({ verb }) => verb));
          return adapter.broadcast(transaction, signal);
        },
      });
      await pastReveal(deal);
      assert.deepEqual(
        (await onShort(deal)).map(({ verb }) => verb),
        ['claim', 'void'],
      );
      await deepen(desk);
      await keepAll(desk);
      const [job] = (await jobsOf(desk, deal)).filter(({ chain }) => chain === evm2);
      assert.equal(job?.state, 'dropped');
      assert.equal((await swapOf(deal)).secret, null);
      assert.deepEqual(sent, [], 'no claim leaves');
    } finally {
      restore();
    }
  });
}

test('what reached no node is sent once one is there, in time', limits, async () => {
  const deal = await funded();
  try {
    must(await relay(deal));
    blind(failing('chain_unavailable'));
    await keep(desk);
    blind();
    await keepAll(desk);
    assert.deepEqual(
      (await onShort(deal)).map(({ verb }) => verb),
      ['claim'],
    );
    await lands(deal);
  } finally {
    restore();
  }
});

test('a claim that nodes refuse for its fee pays more at the next look', limits, async () => {
  const deal = await funded();
  let first: string | null = null;
  const words = 'max fee per gas less than block base fee';
  try {
    must(await relay(deal));
    blind({
      broadcast: (transaction, signal) => {
        first ??= transaction.txid;
        if (transaction.txid !== first) return adapter.broadcast(transaction, signal);
        return Promise.reject(new ParleyError('refused_by_node', words, {}));
      },
    });
    await keep(desk);
    await keepAll(desk);
    const [refused, raised, ...more] = await onShort(deal);
    assert.deepEqual([refused?.txid, raised?.verb, more], [first, 'claim', []]);
    assert.equal(raised?.nonce, refused?.nonce);
    assert.ok(BigInt(raised?.offer ?? 0) > BigInt(refused?.offer ?? 0));
  } finally {
    restore();
  }
  await lands(deal);
});

for (const [when, isLost] of [
  ['after the time to reveal', false],
  ['after the timelock', true],
] as const) {
  test(`what all nodes refused is not shown ${when} by a key without coins`, limits, async () => {
    const deal = await funded();
    const sent: string[] = [];
    try {
      must(await relay(deal));
      const refuse = () => Promise.reject(new ParleyError('refused_by_node', 'of a test', {}));
      blind({ broadcast: refuse });
      await keep(desk);
      const { timelock } = (await swapOf(deal)).legs.a;
      blind({
        heads: async (signal) => {
          const heads = await adapter.heads(signal);
          return isLost ? { ...heads, clock: timelock + 1 } : heads;
        },
        broadcast: (transaction, signal) => {
          sent.push(transaction.txid);
          return adapter.broadcast(transaction, signal);
        },
      });
      gas.account = { ...account, balance: async () => 0n };
      await pastReveal(deal, isLost);
      const verbs = (await onShort(deal)).map(({ verb }) => verb);
      const [job] = (await jobsOf(desk, deal)).filter(({ chain }) => chain === evm2);
      assert.deepEqual([verbs, job?.last_failure], [['claim'], 'fee_above_limit']);
      assert.deepEqual(sent, [], 'nothing leaves');
      gas.account = account;
      await passes(desk);
      assert.equal(sent.length, 1, 'its nonce is taken by nothing');
      assert.equal((await swapOf(deal)).secret, null);
    } finally {
      restore();
    }
  });
}

test('what a former key sent is landed by the key that follows it', limits, async () => {
  const deal = await funded();
  must(await relay(deal));
  blind();
  try {
    await keep(desk);
    await desk.rpc(evm2)('anvil_dropAllTransactions');
    const next = await anotherDesk(desk, { key: randomBytes(32).toString('hex') });
    for (const chain of both) {
      await desk.dev.faucet({ chain, address: next.gasAddress, amount: ether });
    }
    const { revealBy } = (await swapOf(deal)).deadlines;
    desk.deps.freeze((revealBy + 1) * 1_000);
    const text = `update keeper_attempts set fate = 'gone', sealed = null, sealed_version = null
      where chain = $1 and address <> $2 and fate in ('unknown', 'pending', 'mined')`;
    for (const chain of both) {
      await desk.deps.db.rows({ name: 'test_retired', text, values: [chain, next.gasAddress] });
    }
    await hurry(desk);
    await keep(next);
    await lands(deal, next);
    await next.keeper.stop();
    await next.settlement.stop();
    await next.app.close();
  } finally {
    restore();
  }
});

test('a secret that becomes public while its relay is dropped is claimed', limits, async () => {
  const deal = await funded();
  must(await relay(deal));
  try {
    await pastReveal(deal);
    let isFirst = true;
    // The counterparty's claim of the other leg is seen meanwhile.
    const look: ChainAdapter['look'] = async (...about) => {
      const looked = await adapter.look(...about);
      if (!isFirst) return looked;
      isFirst = false;
      const { db, now } = desk.deps;
      const text = 'update swaps set secret = $2 where id = $1';
      await db.rows({ name: 'test_public', text, values: [deal.id, deal.secret] });
      await takeUp(db, { chains: [evm2], closing: [], now: new Date(now()) }, 100);
      return looked;
    };
    (desk.deps.adapters as Adapters).set(evm2, { ...adapter, look });
    for (let pass = 0; pass < 2; pass += 1) {
      await keepAll(desk);
    }
    assert.equal(isFirst, false);
    await lands(deal);
  } finally {
    restore();
  }
});

test('signed again it does not wait behind relays that came after it', limits, async () => {
  const deal = await funded();
  must(await relay(deal));
  const { db } = desk.deps;
  const crowded: typeof db = {
    ...db,
    rows: async <Row>(statement: Parameters<typeof db.rows>[0]) => {
      const rows = await db.rows<Row>(statement);
      if (statement.name !== 'keeper_sums') return rows;
      return rows.map((each) => ({ ...each, relaysUnderWay: 16 }));
    },
  };
  const busy = await anotherDesk({ ...desk, deps: { ...desk.deps, db: crowded } }, desk);
  const own = busy.deps.gas.get(evm2) as Loose;
  const { account: real } = own;
  await busy.keeper.pass(evm2);
  await desk.rpc(evm2)('anvil_dropAllTransactions');
  own.account = { ...real, fate: async () => 'gone' };
  await hurry(desk);
  await busy.keeper.pass(evm2);
  own.account = real;
  const fates = (await onShort(deal)).map(({ fate }) => fate);
  assert.deepEqual(fates, ['gone', 'unknown']);
  await busy.settlement.stop();
  await busy.app.close();
  await lands(deal);
});
