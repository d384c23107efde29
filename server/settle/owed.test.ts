// What a party that follows `next[]` is owed when the other side plays foul or a moment goes wrong,
// on a real database and real chains.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { encodeFunctionData, parseAbi } from 'viem';
import type { ChainAdapter } from '../../chains/adapter.ts';
import { addressesOfPubkey } from '../../chains/bitcoin/keys.ts';
import { bitcoinNetworks } from '../../chains/bitcoin/networks.ts';
import type { Material } from '../../chains/interface/material.ts';
import { ParleyError } from '../../core/errors.ts';
import type { EscrowFacts } from '../../core/facts.ts';
import { type Swap, swapById } from '../db/swaps.ts';
import { createRentLooks } from './rent-left.ts';
import {
  addWallet,
  agree,
  bitcoin,
  claimLong,
  claimShort,
  type Deal,
  deepen,
  evm,
  fundBoth,
  fundLong,
  give,
  look,
  moveTo,
  must,
  newParty,
  send,
  signEvm,
  signedPayment,
  startWorld,
  swapOf,
  type World,
} from './testing/world.ts';

/** Blocks until nothing is looked after any more: the depth of dev chains, and six. */
const furthest = 8;
let world: World;
before(async () => {
  world = await startWorld();
});
after(() => world.close());

const legPath = (deal: Deal, leg: string, verb: string) =>
  `/v1/swaps/${deal.id}/legs/${leg}/${verb}`;

/** The counterparty corrects its Bitcoin key, which moves the long leg's escrow. */
async function correctKey(deal: Deal) {
  const { counterparty } = deal;
  const { pubkey } = await newParty(world);
  const { p2wpkh: address } = addressesOfPubkey(pubkey, bitcoinNetworks.regtest);
  await addWallet(world, counterparty.accountId, { family: 'bitcoin', address, authorised: true });
  return counterparty.post(`/v1/swaps/${deal.id}/address`, { chain: bitcoin, address: pubkey });
}

test('dust in a former escrow, which anyone could send, stops no swap', async () => {
  const deal = await agree(world);
  const { escrow } = (await swapOf(deal)).legs[deal.long];
  must(await correctKey(deal));
  await world.dev.faucet({ chain: bitcoin, address: escrow, amount: deal.sats / 100n - 1n });
  await deepen(world);
  const { next } = await swapOf(deal);
  assert.equal(next[0].action, 'fund');
  must(await deal.initiator.post(legPath(deal, deal.long, 'fund')));
});

test('a hundredth of the amount in a former escrow stops funding, at the broadcast too', async () => {
  const deal = await agree(world);
  const { escrow } = (await swapOf(deal)).legs[deal.long];
  must(await correctKey(deal));
  const built = must(await deal.initiator.post(legPath(deal, deal.long, 'fund')));
  await world.dev.faucet({ chain: bitcoin, address: escrow, amount: deal.sats / 100n });
  const { hex } = await signedPayment(world, built.payTo, deal.sats);
  const sent = await send(deal.initiator, bitcoin, hex);
  assert.deepEqual([sent.status, sent.code], [409, 'former_escrow_funded']);
});

test('a leg does not move once a funding of it was sent, even before a follower looked', async () => {
  const deal = await agree(world);
  await fundLong(world, deal);
  const moved = await correctKey(deal);
  assert.deepEqual([moved.status, moved.code], [409, 'addresses_fixed']);
  assert.equal((await swapOf(deal)).legs[deal.long].status, 'seen');
});

test('a leg does not move while its funding is being sent', async () => {
  const deal = await agree(world);
  let moved: Awaited<ReturnType<typeof correctKey>> | null = null;
  const adapter = world.deps.adapters.get(bitcoin)!;
  const broadcast: ChainAdapter['broadcast'] = async (transaction, signal) => {
    moved = await correctKey(deal);
    return adapter.broadcast(transaction, signal);
  };
  await having({ ...adapter, broadcast }, async () => {
    await fundLong(world, deal);
  });
  assert.deepEqual([moved!.status, moved!.code], [409, 'addresses_fixed']);
  assert.equal((await swapOf(deal)).legs[deal.long].status, 'seen');
});

test('a funding that a node refuses fixes nothing', async () => {
  const deal = await agree(world);
  const built = must(await deal.initiator.post(legPath(deal, deal.long, 'fund')));
  const { hex } = await signedPayment(world, built.payTo, deal.sats);
  // The same coins are spent elsewhere first.
  const rival = await world.bitcoinRpc<{ vin: { txid: string; vout: number }[] }>(
    'decoderawtransaction',
    [hex],
  );
  const home = await world.faucetRpc<string>('getnewaddress');
  const inputs = rival.vin.map(({ txid, vout }) => ({ txid, vout, sequence: 0xffffffff }));
  const raw = await world.faucetRpc<string>('createrawtransaction', [inputs, [{ [home]: 0.001 }]]);
  const other = await world.faucetRpc<{ hex: string }>('signrawtransactionwithwallet', [raw]);
  await world.bitcoinRpc('sendrawtransaction', [other.hex, 0]);
  await world.dev.mine(bitcoin, 1);
  const sent = await send(deal.initiator, bitcoin, hex);
  assert.deepEqual([sent.status, sent.code], [400, 'refused_by_node']);
  must(await correctKey(deal));
});

test('a secret that was relayed is known at once, and its claim is known bytes ever after', async () => {
  const deal = await agree(world);
  await fundBoth(world, deal);
  const { revealBy } = (await swapOf(deal)).deadlines;
  const built = must(
    await deal.initiator.post(legPath(deal, deal.short, 'claim'), { secret: deal.secret }),
  );
  const [signed] = await signEvm(world, deal.initiator.evmAccount, built);
  const { txid } = must(await send(deal.initiator, 'evm', signed));
  const stored = await swapById(world.deps.db, deal.id);
  assert.equal(stored?.state.secret, deal.secret);
  assert.equal(stored?.status, 'initiator_claimed');
  await moveTo(world, revealBy + 60);
  const again = await send(deal.initiator, 'evm', signed);
  assert.deepEqual([again.status, again.body], [200, { txid }]);
  const claim = { secret: deal.secret };
  must(await deal.counterparty.post(legPath(deal, deal.long, 'claim'), claim));
});

test('a funding sent in time does not lapse its swap; the same bytes are 200 afterwards', async () => {
  const deal = await agree(world);
  const { initiatorFundBy, expiresAt } = (await swapOf(deal)).deadlines;
  const built = must(await deal.initiator.post(legPath(deal, deal.long, 'fund')));
  const { hex, txid } = await signedPayment(world, built.payTo, deal.sats);
  await moveTo(world, initiatorFundBy - 10);
  must(await send(deal.initiator, bitcoin, hex));
  await moveTo(world, initiatorFundBy + 10);
  assert.ok(initiatorFundBy + 10 < expiresAt);
  const again = await send(deal.initiator, bitcoin, hex);
  assert.deepEqual([again.status, again.body], [200, { txid }]);
  await deepen(world);
  await moveTo(world, expiresAt + 10);
  await look(world);
  assert.equal((await swapOf(deal)).status, 'initiator_funded');
  await give(world, deal);
  must(await deal.counterparty.post(legPath(deal, deal.short, 'fund')));
});

test('no secret is revealed for a payout that would fail', async () => {
  const deal = await agree(world, { asset: world.assets.hostile.get('FEE')! });
  await give(world, deal);
  await setFee(deal, 0n);
  await fundBoth(world, deal);
  await setFee(deal, 10_000n);
  const path = legPath(deal, deal.short, 'claim');
  const refusedBuild = await deal.initiator.post(path, { secret: deal.secret });
  assert.deepEqual([refusedBuild.status, refusedBuild.code], [409, 'payout_would_fail']);
  await setFee(deal, 0n);
  await claimShort(world, deal);
  assert.equal((await swapById(world.deps.db, deal.id))?.state.secret, deal.secret);
});

test('a token that takes a fee by now is not funded, though its addresses were tried before', async () => {
  const deal = await agree(world, { asset: world.assets.hostile.get('FEE')! });
  await give(world, deal);
  await setFee(deal, 0n);
  await fundLong(world, deal);
  await deepen(world);
  await setFee(deal, 100n);
  const built = await deal.counterparty.post(legPath(deal, deal.short, 'fund'));
  assert.equal(built.status, 409);
  assert.match(String(built.code), /^(payout|funding)_would_fail$/);
  await setFee(deal, 0n);
  must(await deal.counterparty.post(legPath(deal, deal.short, 'fund')));
});

test('sources that disagree pause funding and revealing, never a refund or a public claim', async () => {
  const deal = await agree(world);
  await give(world, deal);
  await disagreeing(async () => {
    const built = await deal.initiator.post(legPath(deal, deal.long, 'fund'));
    assert.deepEqual([built.status, built.code], [409, 'sources_disagree']);
  });
  await fundLong(world, deal);
  await deepen(world);
  const path = legPath(deal, deal.short, 'fund');
  const material = must(await deal.counterparty.post(path));
  const [approve, fund] = await signEvm(world, deal.counterparty.evmAccount, material);
  must(await send(deal.counterparty, 'evm', approve));
  await disagreeing(async () => {
    const built = await deal.counterparty.post(path);
    assert.deepEqual([built.status, built.code], [409, 'sources_disagree']);
    const sent = await send(deal.counterparty, 'evm', fund);
    assert.deepEqual([sent.status, sent.code], [409, 'sources_disagree']);
  });
  must(await send(deal.counterparty, 'evm', fund));
  await deepen(world);
  const claim = { secret: deal.secret };
  const claimPath = legPath(deal, deal.short, 'claim');
  const [reveal] = await signEvm(
    world,
    deal.initiator.evmAccount,
    must(await deal.initiator.post(claimPath, claim)),
  );
  await disagreeing(async () => {
    const built = await deal.initiator.post(claimPath, claim);
    assert.deepEqual([built.status, built.code], [409, 'sources_disagree']);
    const sent = await send(deal.initiator, 'evm', reveal);
    assert.deepEqual([sent.status, sent.code], [409, 'sources_disagree']);
  });
  must(await send(deal.initiator, 'evm', reveal));
  await disagreeing(async () => {
    must(await deal.counterparty.post(legPath(deal, deal.long, 'claim'), claim));
  });
});

/** While `work` runs, the second source of Bitcoin shows another chain. */
function disagreeing(work: () => Promise<void>): Promise<void> {
  const mustAgree = async () => {
    throw new ParleyError('sources_disagree', 'two sources show different blocks', {});
  };
  const real = world.deps.adapters.get(bitcoin)!;
  const buildClaim: typeof real.buildClaim = async (input, ...more) => {
    if (!input.isPublic) await mustAgree();
    return real.buildClaim(input, ...more);
  };
  return having({ ...real, mustAgree, buildClaim }, work);
}

/** While `work` runs, this adapter stands in for its chain's. */
async function having(adapter: ChainAdapter, work: () => Promise<void>): Promise<void> {
  const adapters = world.deps.adapters as Map<string, ChainAdapter>;
  const real = adapters.get(adapter.chain)!;
  adapters.set(adapter.chain, adapter);
  try {
    await work();
  } finally {
    adapters.set(adapter.chain, real);
  }
}

/** Sets the fee that the hostile token takes, in hundredths of a percent. */
async function setFee(deal: Deal, bps: bigint): Promise<void> {
  const to = deal.asset.address as `0x${string}`;
  const abi = parseAbi(['function setFee(uint256 basisPoints)']);
  const data = encodeFunctionData({ abi, functionName: 'setFee', args: [bps] });
  const txs = [{ to, data, value: '0x0' as const }];
  const material = { chainId: world.infos.evm.chainId ?? 0, txs };
  const [raw] = await signEvm(world, deal.initiator.evmAccount, material);
  must(await send(deal.initiator, 'evm', raw));
  await deepen(world, 1);
}

test('what a claim left of the funder’s own is built and sent without a timelock, if there is any', async () => {
  const deal = await agree(world, { asset: world.assets.eth });
  await fundBoth(world, deal);
  await claimShort(world, deal);
  await deepen(world);
  const path = `/v1/swaps/${deal.id}/legs/${deal.short}/refund`;
  assert.equal((await deal.counterparty.post(path)).code, 'already_claimed');
  // As Solana does where a claim left the funder's account out.
  const adapters = world.deps.adapters as Map<string, ChainAdapter>;
  const adapter = adapters.get(evm) as ChainAdapter;
  const rent = { chain: evm, family: 'evm', sign: 'evm-tx', chainId: 31_337, txs: [] };
  const buildRefund = async () => ({ ...rent, escrow: 'e' }) as unknown as Material;
  const { escrow } = (await swapOf(deal)).legs[deal.short];
  const touches = [{ escrow, verb: 'refund', secret: null }] as const;
  adapters.set(evm, {
    ...adapter,
    buildRefund,
    readSigned: async () => ({ txid: '0x77', raw: '0x00', touches }),
    isKnown: async () => false,
    broadcast: async () => '0x77',
  });
  try {
    const built = await deal.counterparty.post(path);
    assert.equal(built.code, null);
    assert.deepEqual(built.body.txs, []);
    const input = { chain: evm, signed: '0x00' };
    assert.equal((await deal.counterparty.post('/v1/tx/broadcast', input)).body.txid, '0x77');
  } finally {
    adapters.set(evm, adapter);
  }
});

test('what a claim left is told, a step of its funder once it can be fetched, and gone when it is', async () => {
  const deal = await agree(world, { asset: world.assets.eth });
  await fundBoth(world, deal);
  const { [deal.short]: from } = (await swapOf(deal)).deadlines.refundAt;
  let isThere = true;
  let reads = 0;
  const withRent = (facts: EscrowFacts): EscrowFacts =>
    facts.claimed && isThere ? { ...facts, rentLeft: { lamports: 897_840n, from } } : facts;
  const adapters = world.deps.adapters as Map<string, ChainAdapter>;
  const adapter = adapters.get(evm) as ChainAdapter;
  adapters.set(evm, {
    ...adapter,
    look: async (...asked) => {
      const { heads, facts } = await adapter.look(...asked);
      return { heads, facts: facts.map(withRent) };
    },
    readEscrow: async (...asked) => {
      reads += 1;
      return withRent(await adapter.readEscrow(...asked));
    },
  });
  try {
    await claimShort(world, deal);
    await look(world);
    await claimLong(deal);
    await deepen(world, furthest);
    const settled = await swapOf(deal);
    assert.deepEqual(settled.legs[deal.short].rentLeft, { lamports: '897840', from });
    assert.deepEqual([settled.legs[deal.long].rentLeft, settled.next], [null, []]);
    await moveTo(world, from);
    await deepen(world);
    const [step, ...others] = (await swapOf(deal)).next;
    assert.deepEqual(
      [step?.by, step?.action, step?.leg, others],
      ['counterparty', 'refund', deal.short, []],
    );
    assert.match(step?.why ?? '', /^897840 lamports /);
    const stored = () => swapById(world.deps.db, deal.id) as Promise<Swap>;
    assert.equal((await stored()).done, true);
    isThere = false;
    const looks = createRentLooks(world.deps);
    const due = await stored();
    const shown = await looks.of(due);
    assert.equal(shown.state.legs[deal.short].facts.rentLeft, undefined);
    const before = reads;
    await looks.of(due);
    assert.equal(reads, before, 'of an escrow looked at within 15 s no node is asked');
    assert.deepEqual((await swapOf(deal)).next, [], 'and is not told by what was stored');
  } finally {
    adapters.set(evm, adapter);
  }
});
