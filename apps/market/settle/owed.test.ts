// The rights of a party that follows `next[]` when the other side plays foul or a moment goes
// wrong, on a real database and real chains.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { addressesOfPubkey } from '@parley/chains/bitcoin/keys.ts';
import { bitcoinNetworks } from '@parley/chains/bitcoin/networks.ts';
import type { Material } from '@parley/chains/interface/material.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { EscrowFacts } from '@parley/core/facts.ts';
import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { clocksOf, type Swap, swapById } from '../db/swaps.ts';
import { createRentLooks } from './rent-left.ts';
import { altered, legPath, refused, sharedWorld } from './testing/shared.ts';
import {
  type Answer,
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
  fundShort,
  give,
  look,
  moveTo,
  must,
  newParty,
  send,
  sendEvm,
  signEvm,
  signedPayment,
  swapOf,
} from './testing/world.ts';
import { isRentDue } from './view.ts';

const world = sharedWorld();

/** The counterparty corrects its Bitcoin key, which moves the long leg's escrow. */
async function correctKey(deal: Deal): Promise<Answer> {
  const { counterparty } = deal;
  const { pubkey } = await newParty(world);
  const { p2wpkh: address } = addressesOfPubkey(pubkey, bitcoinNetworks.regtest);
  await addWallet(world, counterparty.accountId, { family: 'bitcoin', address, authorised: true });
  return counterparty.post(`/v1/swaps/${deal.id}/address`, { chain: bitcoin, address: pubkey });
}

/** The funding of the long leg, and a signed payment of it that is not sent. */
async function payment(deal: Deal) {
  const built = must(await deal.initiator.post(legPath(deal, 'long', 'fund')));
  return signedPayment(world, built.payTo, deal.sats);
}

test('a hundredth of the amount in a former escrow, which anyone could send, stops a funding at the broadcast; less does not', async () => {
  const deal = await agree(world);
  const { escrow: address } = (await swapOf(deal)).legs[deal.long];
  must(await correctKey(deal));
  await world.dev.faucet({ chain: bitcoin, address, amount: deal.sats / 100n - 1n });
  await deepen(world);
  const { hex } = await payment(deal);
  await world.dev.faucet({ chain: bitcoin, address, amount: deal.sats / 100n });
  refused(await send(deal.initiator, bitcoin, hex), 409, 'former_escrow_funded');
});

test('a leg does not move while its funding is sent, nor after it; one that a node refuses fixes nothing', async () => {
  const deal = await agree(world);
  const { hex } = await payment(deal);
  // The same coins are spent elsewhere first.
  const { vin } = await world.bitcoinRpc<{ vin: { txid: string; vout: number }[] }>(
    'decoderawtransaction',
    [hex],
  );
  const home = await world.faucetRpc<string>('getnewaddress');
  const inputs = vin.map(({ txid, vout }) => ({ txid, vout, sequence: 0xffffffff }));
  const raw = await world.faucetRpc<string>('createrawtransaction', [inputs, [{ [home]: 0.001 }]]);
  const rival = await world.faucetRpc<{ hex: string }>('signrawtransactionwithwallet', [raw]);
  await world.bitcoinRpc('sendrawtransaction', [rival.hex, 0]);
  await world.dev.mine(bitcoin, 1);
  refused(await send(deal.initiator, bitcoin, hex), 400, 'refused_by_node');
  must(await correctKey(deal));

  const moved: Answer[] = [];
  const moving = ({ broadcast }: ChainAdapter) => ({
    broadcast: async (...sent: Parameters<typeof broadcast>) => {
      moved.push(await correctKey(deal));
      return broadcast(...sent);
    },
  });
  await altered(world, { [bitcoin]: moving }, () => fundLong(world, deal));
  // Before a follower polled.
  moved.push(await correctKey(deal));
  for (const each of moved) refused(each, 409, 'addresses_fixed');
  assert.equal(moved.length, 2);
  assert.equal((await swapOf(deal)).legs[deal.long].status, 'seen');
});

test('a secret that was relayed is known at once, and its claim is known bytes ever after', async () => {
  const deal = await agree(world);
  await fundBoth(world, deal);
  const { revealBy } = (await swapOf(deal)).deadlines;
  const { initiator, secret } = deal;
  const built = must(await initiator.post(legPath(deal, 'short', 'claim'), { secret }));
  const [signed] = await signEvm(world, initiator.evmAccount, built);
  const { txid } = must(await send(initiator, 'evm', signed));
  const { state, status } = (await swapById(world.deps.db, deal.id)) as Swap;
  assert.deepEqual([state.secret, status], [secret, 'initiator_claimed']);
  await moveTo(world, revealBy + 60);
  assert.deepEqual(must(await send(initiator, 'evm', signed)), { txid });
  must(await deal.counterparty.post(legPath(deal, 'long', 'claim'), { secret }));
});

/** Sets the fee that the hostile token takes, in hundredths of a percent. */
async function setFee({ asset, initiator }: Deal, bps: bigint): Promise<void> {
  const abi = parseAbi(['function setFee(uint256 basisPoints)']);
  const data = encodeFunctionData({ abi, functionName: 'setFee', args: [bps] });
  const txs = [{ to: asset.address as Hex, data, value: '0x0' as const }];
  await sendEvm(world, initiator, { chainId: world.infos.evm.chainId ?? 0, txs });
  await deepen(world, 1);
}

test('while a token takes a fee no payout is set, no leg of it funded, and no secret revealed', async () => {
  const deal = await agree(world, { asset: world.assets.fee });
  const { initiator, counterparty, secret } = deal;
  await give(world, deal);
  const { address } = initiator.evmAccount;
  const set = await initiator.post(`/v1/swaps/${deal.id}/address`, { chain: evm, address });
  refused(set, 409, 'payout_would_fail');
  refused(await initiator.post(legPath(deal, 'long', 'fund')), 409, 'payout_would_fail');
  await setFee(deal, 0n);
  await fundLong(world, deal);
  await deepen(world);
  // It takes one by now, though its addresses were tried before.
  await setFee(deal, 100n);
  const funding = await counterparty.post(legPath(deal, 'short', 'fund'));
  assert.equal(funding.status, 409);
  assert.match(String(funding.code), /^(payout|funding)_would_fail$/);
  await setFee(deal, 0n);
  await fundShort(world, deal);
  await deepen(world);
  await setFee(deal, 10_000n);
  refused(
    await initiator.post(legPath(deal, 'short', 'claim'), { secret }),
    409,
    'payout_would_fail',
  );
  await setFee(deal, 0n);
  await claimShort(world, deal);
  assert.equal((await swapById(world.deps.db, deal.id))?.state.secret, secret);
});

/** While `work` runs, the second source of Bitcoin shows another chain. */
function disagreeing(work: () => Promise<void>): Promise<void> {
  const mustAgree = async () => {
    throw new ParleyError('sources_disagree', 'two sources show different blocks', {});
  };
  const differs = ({ buildClaim }: ChainAdapter): Partial<ChainAdapter> => ({
    mustAgree,
    buildClaim: async (input, ...more) => {
      if (!input.isPublic) await mustAgree();
      return buildClaim(input, ...more);
    },
  });
  return altered(world, { [bitcoin]: differs }, work);
}

test('sources that disagree pause funding and revealing, never a refund or a public claim', async () => {
  const deal = await agree(world);
  const { initiator, counterparty, secret } = deal;
  await give(world, deal);
  const paused = (answer: Answer) => refused(answer, 409, 'sources_disagree');
  await disagreeing(async () => paused(await initiator.post(legPath(deal, 'long', 'fund'))));
  await fundLong(world, deal);
  await deepen(world);
  for (const [party, verb] of [
    [counterparty, 'fund'],
    [initiator, 'claim'],
  ] as const) {
    const build = () =>
      party.post(legPath(deal, 'short', verb), verb === 'claim' ? { secret } : undefined);
    const signed = await signEvm(world, party.evmAccount, must(await build()));
    const last = signed.pop();
    for (const approval of signed) must(await send(party, 'evm', approval));
    await disagreeing(async () => {
      paused(await build());
      paused(await send(party, 'evm', last));
    });
    must(await send(party, 'evm', last));
    if (verb === 'fund') await deepen(world);
  }
  await disagreeing(async () => {
    must(await counterparty.post(legPath(deal, 'long', 'claim'), { secret }));
  });
});

test('the funder’s own rest of a claim is built and sent without a timelock, if there is any', async () => {
  const deal = await agree(world, { asset: world.assets.eth });
  const { counterparty } = deal;
  await fundBoth(world, deal);
  await claimShort(world, deal);
  await deepen(world);
  const path = legPath(deal, 'short', 'refund');
  assert.equal((await counterparty.post(path)).code, 'already_claimed');
  const { escrow } = (await swapOf(deal)).legs[deal.short];
  const rent = { chain: evm, family: 'evm', sign: 'evm-tx', chainId: 31_337, txs: [], escrow };
  const touches = [{ escrow, verb: 'refund', secret: null }] as const;
  // As Solana does where a claim left the funder's account out.
  const leaving = () => ({
    buildRefund: async () => rent as unknown as Material,
    readSigned: async () => ({ txid: '0x77', raw: '0x00', touches }),
    isKnown: async () => false,
    broadcast: async () => '0x77',
  });
  await altered(world, { [evm]: leaving }, async () => {
    assert.deepEqual(must(await counterparty.post(path)).txs, []);
    assert.equal(must(await send(counterparty, evm, '0x00')).txid, '0x77');
  });
});

test('the rest of a claim is shown, a step of its funder once it can be fetched, and gone when it is', async () => {
  const deal = await agree(world, { asset: world.assets.eth });
  await fundBoth(world, deal);
  const { [deal.short]: from } = (await swapOf(deal)).deadlines.refundAt;
  let isThere = true;
  let reads = 0;
  const withRent = (facts: EscrowFacts): EscrowFacts =>
    facts.claimed && isThere ? { ...facts, rentLeft: { lamports: 897_840n, from } } : facts;
  const leaving = (adapter: ChainAdapter): Partial<ChainAdapter> => ({
    look: async (...asked) => {
      const { heads, facts } = await adapter.look(...asked);
      return { heads, facts: facts.map(withRent) };
    },
    readEscrow: async (...asked) => {
      reads += 1;
      return withRent(await adapter.readEscrow(...asked));
    },
  });
  await altered(world, { [evm]: leaving }, async () => {
    await claimShort(world, deal);
    await look(world);
    await claimLong(deal);
    await deepen(world, 8);
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
    const due = (await swapById(world.deps.db, deal.id)) as Swap;
    assert.equal(due.done, true);
    // A release leaves as much.
    const leg = due.state.legs[deal.short];
    const { claimed, ...rest } = leg.facts;
    const released = { ...leg, facts: { ...rest, claimed: null, refunded: claimed } };
    assert.ok(isRentDue(released, clocksOf(due, world.deps.now())));
    isThere = false;
    const looks = createRentLooks(world.deps);
    const shown = await looks.of(due);
    assert.equal(shown.state.legs[deal.short].facts.rentLeft, undefined);
    const before = reads;
    await looks.of(due);
    assert.equal(reads, before, 'of an escrow read within 15 s no node is asked');
    assert.deepEqual((await swapOf(deal)).next, [], 'and is not told by what was stored');
  });
});
