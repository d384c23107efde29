// Ways to fund a token leg, over HTTP on real EVM chains: the methods on offer, the pin of the leg,
// and the transactions that the market sends for a signer.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { typedDataToSign } from '@parley/chains/escrows/typed-data.ts';
import { evmDeployment, fundCalls } from '@parley/chains/evm/plan.ts';
import {
  authorizationAlternative,
  signedCall,
  typedDataProblems,
} from '@parley/chains/evm/ways.ts';
import type {
  AuthorizationAlternative,
  EvmMaterial,
  FundAlternative,
  PermitAlternative,
} from '@parley/chains/interface/material.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { agree, type Deal, deepen, legOf, sharedDesk } from '@parley/watchtower/testing/desk.ts';
import type { Hex } from 'viem';
import type { Asset } from '../../db/assets.ts';
import { escrowsOfSwap } from '../../db/escrows.ts';
import { swapById } from '../../db/swaps.ts';
import { keptAbilities } from '../../db/token-abilities.ts';
import { currentEscrow } from '../../settle/escrows.ts';
import {
  type Answer,
  addWallet,
  evm,
  must,
  newParty,
  type Party,
  send,
  signEvm,
} from '../../settle/testing/world.ts';
import { refused } from '../testing/edge.ts';

const amount = 650_000_000n;
const desk = sharedDesk();
let coin: Asset;
before(async () => {
  coin = desk.assets.signed;
  // The reserve for claims is not spent on fundings.
  await desk.dev.faucet({ chain: evm, address: desk.gasAddress, amount: 10n * 10n ** 18n });
  await desk.dev.mine(evm, 1);
  // With all the time of a build, however busy this machine is.
  await fundingOf(await dealt(), '?sign=authorization');
});

/** The taker gives the coin on `evm`, and has it; no coin for gas unless given. */
async function dealt(options: { asset?: Asset; ether?: bigint } = {}): Promise<Deal> {
  const { asset = coin, ether = 0n } = options;
  const deal = await agree(desk, { long: asset, longAmount: amount });
  const { address } = deal.taker.evmAccount;
  await desk.dev.faucet({ chain: evm, address, asset: asset.address!, amount });
  if (ether > 0n) await desk.dev.faucet({ chain: evm, address, amount: ether });
  return deal;
}

type Built = EvmMaterial & { readonly validUntil: number };

async function fundingOf(deal: Deal, query = ''): Promise<Built> {
  return must(await deal.taker.post(`${legOf(deal, 'b', 'fund')}${query}`));
}

function wayIn<Way extends FundAlternative['way']>(built: Built, way: Way) {
  const found = built.alternatives?.find((each) => each.way === way);
  assert.ok(found, `no ${way} in ${JSON.stringify(built.alternatives)}`);
  return found as Way extends 'permit' ? PermitAlternative : AuthorizationAlternative;
}

const sql = (text: string, ...values: unknown[]) => desk.deps.db.rows({ name: '', text, values });

async function termsOf(deal: Deal): Promise<EscrowTerms> {
  return currentEscrow((await swapById(desk.deps.db, deal.id))!, 'b')!.terms;
}

async function isPinned(deal: Deal): Promise<boolean> {
  const rows = await escrowsOfSwap(desk.deps.db, deal.id);
  return rows.some(({ leg, authorizedAt }) => leg === 'b' && authorizedAt !== null);
}

/** The counterparty names another wallet to be paid at. */
async function moveBy(party: Party, deal: Deal): Promise<Answer> {
  const { address } = (await newParty(desk)).evmAccount;
  await addWallet(desk, party.accountId, { family: 'evm', address, authorised: true });
  return party.post(`/v1/swaps/${deal.id}/address`, { chain: evm, address });
}

async function authorized(deal: Deal) {
  const built = await fundingOf(deal, '?sign=authorization');
  const { typedData, call } = wayIn(built, 'authorization');
  const signature = await deal.taker.evmAccount.signTypedData(typedDataToSign(typedData!));
  return { built, call: call!, signature };
}

async function sendCall(by: Party, call: { to: string; data: string; value: string }) {
  const txs = [call as { to: Hex; data: Hex; value: Hex }];
  const evmClient = desk.client(evm);
  const raw = await signEvm({ ...desk, evmClient }, by.evmAccount, { chainId: 31_337, txs });
  return send(by, 'evm', raw[0]);
}

const statusOf = async (deal: Deal) =>
  must(await deal.taker.get(`/v1/swaps/${deal.id}`)).legs.b.status;

test("a token's own funding methods are offered, tried once and kept; each is what the terms demand", async () => {
  const deal = await dealt();
  const built = await fundingOf(deal);
  assert.deepEqual(
    built.alternatives?.map(({ way }) => way),
    ['permit', 'authorization'],
  );
  const withheld = wayIn(built, 'authorization');
  assert.deepEqual([withheld.typedData, withheld.call, withheld.relay], [null, null, true]);
  const asked = await fundingOf(deal, '?sign=authorization&allowance=standing');
  const terms = await termsOf(deal);
  const view = { separator: null, nonce: 0n, latestDeadline: built.validUntil } as const;
  const problems = (each: FundAlternative, allowance: 'exact' | 'standing') =>
    typedDataProblems(each, terms, evmDeployment(31_337), { ...view, allowance });
  assert.deepEqual(problems(wayIn(built, 'permit'), 'exact'), []);
  assert.deepEqual(problems(wayIn(asked, 'permit'), 'standing'), []);
  assert.deepEqual(problems(wayIn(asked, 'authorization'), 'exact'), []);
  assert.notEqual(asked.txs[0]?.data, built.txs[0]?.data);
  const kept = await keptAbilities(desk.deps.db, evm, coin.address!);
  assert.equal(kept?.abilities.authorization?.name, 'Dev Coin');
  const again = await dealt({ asset: desk.assets.usd });
  assert.deepEqual((await fundingOf(again)).alternatives, []);
  const native = await agree(desk);
  assert.equal('alternatives' in (await fundingOf(native)), false);
});

test('a permit and its one transaction fund the leg', async () => {
  const deal = await dealt({ ether: 10n ** 18n });
  const { typedData, call } = wayIn(await fundingOf(deal), 'permit');
  const signature = await deal.taker.evmAccount.signTypedData(typedDataToSign(typedData));
  must(await sendCall(deal.taker, signedCall(call, signature)));
  await deepen(desk);
  assert.equal(await statusOf(deal), 'funded');
  assert.equal(await isPinned(deal), false);
});

test('a funder without a coin signs, and the market sends it: once, whoever asks again', async () => {
  const deal = await dealt();
  const { built, signature } = await authorized(deal);
  const path = legOf(deal, 'b', 'fund');
  const body = { relay: true, signature, escrow: built.escrow };
  const key = { 'idempotency-key': 'relay-it' };
  const relayed = must(await deal.taker.post(path, body, key));
  assert.equal(relayed.relayed, true);
  assert.deepEqual(must(await deal.taker.post(path, body, key)), relayed, 'as it was stored');
  assert.deepEqual(must(await deal.taker.post(path, body)), relayed, 'asked anew');
  await desk.keeper.pass(evm);
  await deepen(desk);
  assert.equal(await statusOf(deal), 'funded');
  assert.deepEqual(must(await deal.taker.post(path, body)), relayed, 'once it is funded');
});

test('a relay wants the refund address’s signature over this very escrow', async () => {
  const deal = await dealt();
  const path = legOf(deal, 'b', 'fund');
  const built = await fundingOf(deal);
  const { escrow } = built;
  const permit = wayIn(built, 'permit');
  const { taker, maker } = deal;
  const signs = (party: Party, each: FundAlternative) =>
    party.evmAccount.signTypedData(typedDataToSign(each.typedData!));
  const other = await authorized(await dealt());
  const lies = ['0x', 'hello', await signs(taker, permit), other.signature];
  for (const signature of lies) {
    refused(await taker.post(path, { relay: true, signature, escrow }), '400 bad_signature');
  }
  assert.equal(await isPinned(deal), false, 'nobody has a signature');
  const { signature } = await authorized(deal);
  const body = { relay: true, signature, escrow };
  refused(await maker.post(path, body), '403 not_your_leg');
  for (const each of [other.built.escrow, 'hello']) {
    const answer = await taker.post(path, { ...body, escrow: each });
    refused(answer, '400 unknown_escrow', /was never an escrow of leg b/);
  }
  for (const each of [
    { signature, escrow },
    { relay: true, escrow },
  ]) {
    refused(await taker.post(path, each), '400 bad_field');
  }
  for (const query of ['?sign=other', '?allowance=all']) {
    refused(await taker.post(path + query), '400 bad_field');
  }
  for (const [each, words] of [
    [await agree(desk), /native coin/],
    [await dealt({ asset: desk.assets.usd }), /takes no authorization/],
  ] as const) {
    const { escrow } = await fundingOf(each);
    const answer = await each.taker.post(legOf(each, 'b', 'fund'), { ...body, escrow });
    refused(answer, '409 relay_unavailable', words);
  }
});

test('from its text on a leg moves for nobody; before it, it does', async () => {
  const deal = await dealt();
  const { escrow } = await fundingOf(deal);
  must(await moveBy(deal.maker, deal));
  const moved = await fundingOf(deal);
  assert.notEqual(moved.escrow, escrow);
  const { built, signature } = await authorized(deal);
  const { fundBefore } = await termsOf(deal);
  for (const party of [deal.maker, deal.taker]) {
    refused(await moveBy(party, deal), '409 addresses_fixed', new RegExp(`${fundBefore}`));
  }
  const { address } = deal.taker.evmAccount;
  must(await deal.taker.post(`/v1/swaps/${deal.id}/address`, { chain: evm, address }));
  // A signature for the escrow that the leg moved off opens nothing here.
  const old = { relay: true, signature, escrow };
  refused(await deal.taker.post(legOf(deal, 'b', 'fund'), old), '409 escrow_moved');
  assert.equal((await fundingOf(deal)).escrow, built.escrow);
});

test('a move that was prepared before the text was given does not go through after it', async () => {
  const deal = await dealt();
  const adapter = desk.deps.adapters.get(evm)!;
  const preflight = adapter.preflight;
  let asked: Promise<unknown> | null = null;
  Object.assign(adapter, {
    preflight: async (...args: Parameters<typeof preflight>) => {
      // While the move is tried on the chain, its funder asks for the text.
      Object.assign(adapter, { preflight });
      asked = fundingOf(deal, '?sign=authorization');
      await asked;
      return preflight(...args);
    },
  });
  refused(await moveBy(deal.maker, deal), '409 addresses_fixed');
  assert.ok(asked !== null);
});

test('a funding by signature that is sent through here pins the leg, though a node refuses it', async () => {
  const deal = await dealt();
  const { call, signature } = await authorized(deal);
  await sql('update escrows set authorized_at = null where swap_id = $1', deal.id);
  // Its sender has nothing to pay for gas.
  const poor = await newParty(desk);
  refused(await sendCall(poor, signedCall(call, signature)), '400 refused_by_node');
  assert.equal(await isPinned(deal), true);
  refused(await moveBy(deal.maker, deal), '409 addresses_fixed');
  // Anybody may send it, and it passes the same gates.
  const rich = await newParty(desk);
  await desk.dev.faucet({ chain: evm, address: rich.evmAccount.address, amount: 10n ** 18n });
  must(await sendCall(rich, signedCall(call, signature)));
  await deepen(desk);
  assert.equal(await statusOf(deal), 'funded');
  const late = await sendCall(rich, signedCall(call, signature));
  refused(late, '409 already_funded');
});

test('a text that anybody could write pins no leg of others', async () => {
  const deal = await dealt();
  const other = await dealt();
  const { signature } = await authorized(other);
  const { dataBeforeSignature, to } = authorizationAlternative(
    await termsOf(deal),
    evmDeployment(31_337),
    (await keptAbilities(desk.deps.db, evm, coin.address!))!.abilities,
  )!.call!;
  const poor = await newParty(desk);
  const call = { to, dataBeforeSignature, value: '0x0' } as const;
  refused(await sendCall(poor, signedCall(call, signature)), '400 refused_by_node');
  assert.equal(await isPinned(deal), false);
  must(await moveBy(deal.maker, deal));
});

test('a pinned leg leaves a lane that is used once that is final, and not before', async () => {
  const ether = 10n ** 18n;
  const deal = await dealt({ ether });
  const { call, signature, built } = await authorized(deal);
  const { taker } = deal;
  const terms = await termsOf(deal);
  // The funder uses the lane by itself: other terms under the same counter.
  const other = { ...terms, hashlock: 'cd'.repeat(32), token: null, amount: 5n };
  const [elsewhere] = fundCalls(other, evmDeployment(31_337), 0n);
  must(await sendCall(taker, elsewhere!));
  await desk.dev.mine(evm, 1);
  const path = legOf(deal, 'b', 'fund');
  refused(await taker.post(path), '409 addresses_fixed');
  await deepen(desk);
  refused(await taker.post(path), '409 escrow_moved');
  const fresh = await fundingOf(deal);
  assert.notEqual(fresh.escrow, built.escrow);
  // The old signature opens nothing any more, on the market or on the chain.
  const old = { relay: true, signature, escrow: built.escrow };
  refused(await taker.post(path, old), '409 escrow_moved');
  refused(await sendCall(taker, signedCall(call, signature)), '409 escrow_moved');
  assert.equal(await isPinned(deal), true, 'of the former escrow');
  must(await moveBy(deal.maker, deal));
});
