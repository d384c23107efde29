// A lane of the payee's, over HTTP on two real EVM chains: lent, signed for and used again, waited
// for only a while, and never given out twice.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { typedDataToSign } from '@parley/chains/escrows/typed-data.ts';
import { evmDeployment, fundCalls } from '@parley/chains/evm/plan.ts';
import { isOfPayee } from '@parley/chains/interface/lanes.ts';
import type { EvmMaterial, TypedData } from '@parley/chains/interface/material.ts';
import { laneGraceSeconds } from '@parley/core/limits.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import {
  agree,
  type Deal,
  deepen,
  ether,
  legOf,
  passes,
  sendOwn,
  sharedDesk,
  swapOf,
} from '@parley/watchtower/testing/desk.ts';
import type { Asset } from '../../db/assets.ts';
import { swapById } from '../../db/swaps.ts';
import { currentEscrow } from '../../settle/escrows.ts';
import { evm, evm2, must, newParty, type Party, signEvm } from '../../settle/testing/world.ts';
import { refused } from '../testing/edge.ts';

const desk = sharedDesk();
let coin: Asset;
before(async () => {
  coin = desk.assets.signed;
  await desk.dev.faucet({ chain: evm, address: desk.gasAddress, amount: 10n * ether });
  await desk.dev.mine(evm, 1);
});

/** The taker gives on leg b, which pays the maker. */
async function dealt(maker?: Party, asset: Asset = desk.assets.eth): Promise<Deal> {
  const isToken = asset.address !== null;
  const amount = isToken ? 650_000_000n : ether / 10n;
  const on = { long: asset, longAmount: amount };
  const deal = await agree(desk, { ...on, ...(maker && { maker }) });
  const { address } = deal.taker.evmAccount;
  await desk.dev.faucet({ chain: evm, address, amount: ether });
  if (asset.address !== null) {
    await desk.dev.faucet({ chain: evm, address, asset: asset.address, amount });
  }
  return deal;
}

const asks = ({ id, maker }: Deal, ownLane = true) =>
  maker.post(`/v1/swaps/${id}/address`, { chain: evm, address: maker.evmAccount.address, ownLane });
const openBy = (deal: Deal, by: 'maker' | 'taker', body: object = {}) =>
  deal[by].post(legOf(deal, 'b', 'lane'), body);
const funding = (deal: Deal) => deal.taker.post(legOf(deal, 'b', 'fund'));
const longOf = async (deal: Deal) => (await swapOf(deal)).legs.b;
const steps = async (deal: Deal) =>
  (await swapOf(deal)).next.map(
    (each: { by: string; action: string }) => `${each.by} ${each.action}`,
  );
const sign = (by: Party, text: TypedData) => by.evmAccount.signTypedData(typedDataToSign(text));
const later = (seconds: number) => desk.deps.advance(seconds * 1_000);

async function opened(deal: Deal): Promise<void> {
  const { material } = must(await openBy(deal, 'maker'));
  const { escrow } = material;
  const signature = await sign(deal.maker, material.typedData);
  must(await openBy(deal, 'maker', { signature, escrow }));
}

const termsOf = async ({ id }: Deal) =>
  currentEscrow((await swapById(desk.deps.db, id))!, 'b')!.terms;

/** In a lane of the payee's, without the market. */
async function fundHere({ evmAccount }: Party, payee: Party, terms: EscrowTerms): Promise<void> {
  await desk.dev.mine(evm, 1);
  const { lanes } = desk.deps.adapters.get(evm)!;
  const laneSignature = await sign(payee, lanes!.consent(terms));
  const txs = fundCalls(terms, evmDeployment(31_337), 0n, { laneSignature }) as never;
  const evmClient = desk.client(evm);
  const [raw] = await signEvm({ ...desk, evmClient }, evmAccount, { chainId: 31_337, txs });
  await desk.rpc(evm)('eth_sendRawTransaction', [raw]);
  await desk.dev.mine(evm, 1);
}

async function gasOf(txid: string): Promise<bigint> {
  const { gasUsed } = await desk.client(evm).getTransactionReceipt({ hash: txid as `0x${string}` });
  return gasUsed;
}

/** Funds leg b; the gas that it took. */
async function funded(deal: Deal): Promise<bigint> {
  const txid = await sendOwn(desk, deal.taker, must(await funding(deal)));
  await deepen(desk);
  assert.equal((await longOf(deal)).status, 'funded');
  return gasOf(txid);
}

/** Both legs are claimed, and the lane of leg b is free again. */
async function settled(deal: Deal): Promise<void> {
  const { taker, maker, secret } = deal;
  for (const { evmAccount } of [maker, taker]) {
    for (const chain of [evm, evm2]) {
      await desk.dev.faucet({ chain, address: evmAccount.address, amount: ether });
    }
  }
  await deepen(desk);
  await sendOwn(desk, maker, must(await maker.post(legOf(deal, 'a', 'fund'))));
  await deepen(desk);
  await sendOwn(desk, taker, must(await taker.post(legOf(deal, 'a', 'claim'), { secret })));
  await deepen(desk);
  await sendOwn(desk, maker, must(await maker.post(legOf(deal, 'b', 'claim'), { secret })));
  await deepen(desk);
  assert.equal((await longOf(deal)).status, 'claimed');
}

test('a taker’s first swap in a lane that its maker has used costs less than in its own', async () => {
  const fresh = await funded(await dealt());
  const first = await dealt();
  const { swap } = must(await asks(first));
  assert.ok(isOfPayee(swap.legs.b.lane));
  assert.deepEqual([swap.legs.b.ownLane, swap.legs.b.laneSignature], [true, null]);
  assert.deepEqual(await steps(first), ['initiator wait', 'counterparty open_lane']);
  refused(await funding(first), '409 not_fundable_yet', /has 1\d s left/);
  await opened(first);
  const { legs } = must(await first.maker.get(`/v1/swaps/${first.id}`));
  assert.equal(legs.b.laneSignature, (await longOf(first)).laneSignature);
  assert.equal((await steps(first))[0], 'initiator fund');
  await funded(first);
  await settled(first);
  // The next swap of this maker is planned there from its beginning.
  const second = await dealt(first.maker);
  const { lane } = await longOf(second);
  assert.deepEqual(lane, { ...swap.legs.b.lane, counter: 2 });
  await opened(second);
  const used = await funded(second);
  assert.ok(used < fresh, `${used} gas in a used lane, ${fresh} in a fresh one`);
});

test('only the payee lends, and only where contracts hold the escrows', async () => {
  const deal = await dealt();
  const { evmAccount, post } = deal.taker;
  const { address } = evmAccount;
  const path = `/v1/swaps/${deal.id}/address`;
  refused(await post(path, { chain: evm, address, ownLane: true }), '400 bad_field', /is paid/);
  refused(await openBy(deal, 'maker'), '400 bad_field', /no lane of yours/);
  must(await asks(deal));
  refused(await openBy(deal, 'taker'), '403 not_your_leg');
  must(await asks(deal, false));
  assert.ok(!isOfPayee((await longOf(deal)).lane));
});

test('the signature is the payout address’s, over this escrow, and the first one stays', async () => {
  const deal = await dealt();
  must(await asks(deal));
  const { material } = must(await openBy(deal, 'maker'));
  const { escrow, typedData } = material;
  const give = (signature: string, of = escrow) => openBy(deal, 'maker', { signature, escrow: of });
  const right = await sign(deal.maker, typedData);
  refused(await give(await sign(deal.taker, typedData)), '400 bad_signature');
  refused(await openBy(deal, 'maker', { signature: right }), '400 bad_field');
  refused(await give(right, (await longOf(await dealt())).escrow), '400 unknown_escrow');
  must(await give(right));
  must(await give(right.toUpperCase().replace('0X', '0x')));
  assert.deepEqual(
    [(await longOf(deal)).laneSignature, must(await openBy(deal, 'maker')).material],
    [right, null],
  );
});

test('an unsigned lane is waited for only a while: the leg moves to one of its funder, for good', async () => {
  const deal = await dealt();
  must(await asks(deal));
  const { material } = must(await openBy(deal, 'maker'));
  const late = { escrow: material.escrow, signature: await sign(deal.maker, material.typedData) };
  later(laneGraceSeconds);
  assert.equal((await steps(deal))[0], 'initiator fund');
  refused(await funding(deal), '409 escrow_moved', /has not signed/);
  assert.ok(!isOfPayee((await longOf(deal)).lane));
  refused(await openBy(deal, 'maker', late), '409 escrow_moved');
  // Nor is this maker's next swap planned in a lane of its.
  assert.ok(!isOfPayee((await longOf(await dealt(deal.maker))).lane));
  must(await asks(deal, false));
  must(await asks(deal));
  assert.ok(!isOfPayee((await longOf(deal)).lane), 'it does not move back');
  await funded(deal);
});

test('money in a lent lane that the leg has left lets nothing more be funded', async () => {
  const deal = await dealt();
  must(await asks(deal));
  const terms = await termsOf(deal);
  later(laneGraceSeconds);
  refused(await funding(deal), '409 escrow_moved');
  // The payee gives its signature to the funder alone.
  await fundHere(deal.taker, deal.maker, terms);
  await deepen(desk);
  const { formerEscrows, amount } = await longOf(deal);
  assert.equal(formerEscrows.at(-1).balance, amount);
  refused(await funding(deal), '409 former_escrow_funded');
  assert.match((await swapOf(deal)).next[0].why, /refund with \?escrow=/);
});

test('a lane that its owner has used elsewhere is found out before anybody pays for it', async () => {
  const deal = await dealt();
  must(await asks(deal));
  await opened(deal);
  const terms = await termsOf(deal);
  const stranger = await newParty(desk);
  const refund = { address: stranger.evmAccount.address, pubkey: null };
  const other = { ...terms, refund, hashlock: 'cd'.repeat(32), amount: 5n };
  await desk.dev.faucet({ chain: evm, address: refund.address, amount: ether });
  await fundHere(stranger, deal.maker, other);
  refused(await funding(deal), '409 escrow_moved', /cannot take/);
  const { lane, laneSignature } = await longOf(deal);
  assert.ok(isOfPayee(lane) && lane.number !== terms.lane?.number);
  assert.equal(laneSignature, null, 'of the former escrow');
  await opened(deal);
  await funded(deal);
});

test('a wish for a lane moves no leg whose funding was built', async () => {
  const deal = await dealt();
  const { txs, chain, escrow } = must(await funding(deal)) as EvmMaterial;
  assert.equal(must(await asks(deal)).swap.legs.b.escrow, escrow);
  await sendOwn(desk, deal.taker, { txs, chain, chainId: 31_337, escrow } as never);
  await deepen(desk);
  assert.equal((await longOf(deal)).status, 'funded');
});

test('a token is funded in a lent lane by permit and by the market’s gas key', async () => {
  const deal = await dealt(undefined, coin);
  must(await asks(deal));
  await opened(deal);
  const built = must(await deal.taker.post(`${legOf(deal, 'b', 'fund')}?sign=authorization`));
  const { alternatives, escrow } = built;
  assert.deepEqual(
    alternatives.map(({ way }: { way: string }) => way),
    ['permit', 'authorization'],
  );
  const signature = await sign(deal.taker, alternatives[1].typedData);
  must(await deal.taker.post(legOf(deal, 'b', 'fund'), { relay: true, signature, escrow }));
  await passes(desk, 2);
  assert.equal((await longOf(deal)).status, 'funded');
});
