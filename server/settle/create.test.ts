// The swap that an agreement makes, and how escrows are taken up: a real PostgreSQL, and the real
// adapters without their nodes, which nothing here asks.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { ChainAdapter } from '../../chains/adapter.ts';
import { bitcoinAdapter } from '../../chains/bitcoin/adapter.ts';
import { addressesOfPubkey } from '../../chains/bitcoin/keys.ts';
import { bitcoinNetworks } from '../../chains/bitcoin/networks.ts';
import { evmAdapter } from '../../chains/evm/adapter.ts';
import { parseEvmAddress } from '../../chains/evm/address.ts';
import { evmChains } from '../../chains/evm/policy.ts';
import { ParleyError } from '../../core/errors.ts';
import { type TestDatabase, testDatabase } from '../../test/support/database.ts';
import { type TestDeps, testDeps } from '../../test/support/deps.ts';
import type { Tx } from '../db/database.ts';
import { type Swap, swapById } from '../db/swaps.ts';
import { uuidv7 } from '../ids.ts';
import type { Asset } from '../market/assets.ts';
import { createSwap } from './create.ts';
import { previewLegs, type TradeTerms } from './preview.ts';
import { fromTheStart, takeUp } from './take-up.ts';
import { insertAccount, type Wallet } from './testing/account.ts';

let database: TestDatabase;
let deps: TestDeps;
let assets: { btc: Asset; usd: Asset; other: Asset };

before(async () => {
  database = await testDatabase();
  const nowhere = 'http://127.0.0.1:9';
  const evm = (chain: 'evm-dev' | 'evm-dev-2') =>
    evmAdapter({ chain, ...evmChains[chain], rpcUrls: [nowhere] });
  const bitcoin = bitcoinAdapter({
    chain: 'bitcoin',
    network: 'regtest',
    source: { coreUrl: nowhere },
    now: () => Math.floor(Date.now() / 1000),
  });
  const adapters: ChainAdapter[] = [bitcoin, evm('evm-dev'), evm('evm-dev-2')];
  deps = testDeps({
    db: database.db,
    adapters: new Map(adapters.map((each) => [each.chain, each])),
  });
  assets = {
    btc: await asset('bitcoin', null, 5_000_000n),
    usd: await asset('evm-dev', parseEvmAddress(`0x${'d0'.repeat(20)}`), null),
    other: await asset('evm-dev-2', null, null),
  };
});
after(() => database?.drop());

async function asset(
  chain: string,
  address: string | null,
  highValueFrom: bigint | null,
): Promise<Asset> {
  const id = uuidv7(deps.now(), deps.randomBytes);
  await deps.db.rows({
    name: 'test_asset',
    text: `insert into assets (id, chain, symbol, address, decimals, verified, source, created_at)
      values ($1, $2, 'X', $3, 8, true, 'curated', now())`,
    values: [id, chain, address],
  });
  const rest = { symbol: 'X', decimals: 8, enabled: true, verified: true, source: 'curated' };
  return { id, chain, address, highValueFrom, ...rest };
}

function wallets(): { evm: Wallet; bitcoin: Wallet } {
  const { publicKey } = secp256k1.keygen();
  const pubkey = bytesToHex(publicKey);
  const { p2wpkh } = addressesOfPubkey(pubkey, bitcoinNetworks.regtest);
  const address = parseEvmAddress(`0x${randomBytes(20).toString('hex')}`);
  return {
    evm: { family: 'evm', address, pubkey: null },
    bitcoin: { family: 'bitcoin', address: p2wpkh, pubkey },
  };
}

/** The rows an agreement stands on, and the swap made of them inside `tx`. */
async function make(
  tx: Tx,
  terms: TradeTerms,
  parties: { makerId: string; takerId: string },
): Promise<string> {
  const { makerId, takerId } = parties;
  const id = () => uuidv7(deps.now(), deps.randomBytes);
  const [rfqId, threadId] = [id(), id()];
  const hashlock = randomBytes(32).toString('hex');
  await tx.rows({
    name: 'test_rfq',
    text: `insert into rfqs (id, creator_id, direction, base_asset_id, base_amount, quote_asset_id,
        visibility, status, created_at, expires_at, updated_at)
      values ($1, $2, $3, $4, 1, $5, 'public', 'agreed', now(), now(), now())`,
    values: [rfqId, takerId, terms.direction, terms.base.id, terms.quote.id],
  });
  await tx.rows({
    name: 'test_thread',
    text: `insert into threads (id, rfq_id, maker_id, taker_id, status, quote_amount, proposed_by,
        messages, created_at, updated_at)
      values ($1, $2, $3, $4, 'agreed', 1, 'maker', '[]', now(), now())`,
    values: [threadId, rfqId, makerId, takerId],
  });
  await tx.rows({
    name: 'test_hashlock',
    text: `insert into hashlocks values ($1, $2, $3, now())`,
    values: [hashlock, takerId, threadId],
  });
  const agreement = { ...terms, threadId, rfqId, hashlock, makerId, takerId };
  return (await createSwap(tx, deps, agreement)).swapId;
}

async function account(...logins: Wallet[]): Promise<string> {
  return (await insertAccount(deps, logins)).accountId;
}

const terms = (more: Partial<TradeTerms> = {}): TradeTerms => ({
  direction: 'sell_base',
  base: assets.btc,
  quote: assets.usd,
  baseAmount: 1_000_000n,
  quoteAmount: 650_000_000n,
  ...more,
});

async function made(more: Partial<TradeTerms> = {}, [maker, taker] = [wallets(), wallets()]) {
  const makerId = await account(maker.evm, maker.bitcoin);
  const takerId = await account(taker.evm, taker.bitcoin);
  const parties = { makerId, takerId };
  const id = await deps.db.transaction((tx) => make(tx, terms(more), parties));
  return { swap: (await swapById(deps.db, id)) as Swap, maker, taker };
}

test('the bitcoin leg is long in both directions; its funder is the initiator', async () => {
  const sold = (await made()).swap;
  assert.deepEqual([sold.long, sold.initiator], ['b', 'taker']);
  assert.equal(sold.state.legs.b.amount, 1_000_000n);
  const bought = (await made({ direction: 'buy_base' })).swap;
  assert.deepEqual([bought.long, bought.initiator], ['a', 'maker']);
  assert.equal(bought.state.legs.b.amount, 650_000_000n);
});

test('between two chains alike the taker’s leg is long', async () => {
  const { swap } = await made({ base: assets.usd, quote: assets.other });
  assert.deepEqual([swap.long, swap.initiator], ['b', 'taker']);
});

test('login wallets fill the addresses in, and both escrows are planned', async () => {
  const { swap, maker, taker } = await made();
  const { a, b } = swap.state.legs;
  assert.deepEqual(
    [a.payoutAddress, a.refundAddress, b.payoutAddress, b.refundAddress],
    [taker.evm.address, maker.evm.address, maker.bitcoin.address, taker.bitcoin.address],
  );
  assert.deepEqual([b.payoutPubkey, b.refundPubkey], [maker.bitcoin.pubkey, taker.bitcoin.pubkey]);
  assert.notEqual(a.escrow, null);
  assert.notEqual(b.escrow, null);
  assert.equal(typeof swap.redeemScripts.b, 'string');
});

test('a Taproot login, or one without a key, leaves the bitcoin addresses open', async () => {
  const maker = wallets();
  const { p2tr } = addressesOfPubkey(maker.bitcoin.pubkey as string, bitcoinNetworks.regtest);
  const taproot = { ...maker, bitcoin: { ...maker.bitcoin, address: p2tr } };
  const keyless = { ...wallets() };
  const { swap } = await made({}, [
    taproot,
    { ...keyless, bitcoin: { ...keyless.bitcoin, pubkey: null } },
  ]);
  const { b } = swap.state.legs;
  assert.deepEqual([b.payoutAddress, b.refundAddress, b.escrow], [null, null, null]);
});

test('what the thread previews is what the swap gets', async () => {
  const preview = previewLegs(deps, terms());
  const { swap } = await made();
  assert.equal(preview.initiator, swap.initiator);
  for (const name of ['a', 'b'] as const) {
    const leg = swap.state.legs[name];
    const { amount, long, chain, timelockSeconds } = preview.legs[name];
    assert.deepEqual([leg.amount, leg.long, leg.chain], [amount, long, chain]);
    assert.equal(leg.timelock - swap.agreedAt, timelockSeconds);
  }
});

test('a high value wants the chain’s high depth, from its first unit on', async () => {
  const depth = async (baseAmount: bigint) =>
    (await made({ baseAmount })).swap.state.legs.b.requiredConfirmations;
  const { normal, high } = deps.adapters.get('bitcoin')!.policy;
  assert.equal(await depth(4_999_999n), normal.confirmations);
  assert.equal(await depth(5_000_000n), high.confirmations);
});

test('an asset of a chain that is not served is refused', () => {
  const gone = { ...assets.other, chain: 'gone' };
  assert.throws(
    () => previewLegs(deps, terms({ quote: gone })),
    (error: unknown) => error instanceof ParleyError && error.code === 'bad_chain',
  );
});

test('escrows are taken up once, also those whose transaction commits last', async () => {
  const adapter = deps.adapters.get('evm-dev')!;
  const position = fromTheStart();
  while ((await takeUp(deps, adapter, position)).full);
  assert.deepEqual((await takeUp(deps, adapter, position)).fresh, []);
  const one = wallets();
  const two = wallets();
  const makerId = await account(one.evm, one.bitcoin);
  const takerId = await account(two.evm, two.bitcoin);
  const gate = Promise.withResolvers<void>();
  const inside = Promise.withResolvers<string>();
  const slow = deps.db.transaction(async (tx) => {
    inside.resolve(await make(tx, terms(), { makerId, takerId }));
    await gate.promise;
  });
  const slowId = await inside.promise;
  const quick = (await made()).swap.id;
  const first = await takeUp(deps, adapter, position);
  assert.deepEqual(
    first.fresh.map((row) => row.swap_id),
    [quick],
  );
  assert.deepEqual((await takeUp(deps, adapter, position)).fresh, []);
  gate.resolve();
  await slow;
  const second = await takeUp(deps, adapter, position);
  assert.deepEqual(
    second.fresh.map((row) => row.swap_id),
    [slowId],
  );
  assert.deepEqual((await takeUp(deps, adapter, position)).fresh, []);
});
