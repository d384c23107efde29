// Broadcasting: the relayed transactions, those that the gates stop, and the answer where a node
// hangs.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { bitcoinNetworks } from '@parley/chains/bitcoin/networks.ts';
import { buildSpend } from '@parley/chains/bitcoin/plan.ts';
import { testSwap } from '@parley/chains/bitcoin/testing/swaps.ts';
import { atAStretch } from '@parley/chains/interface/turns.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { escrowAt, escrowsOfSwap, termsOf } from '../../db/escrows.ts';
import { broadcast as sendOn } from '../../settle/broadcast.ts';
import { type HangingNode, hangingNode } from '../../settle/testing/gate.ts';
import { sharedWorld } from '../../settle/testing/shared.ts';
import {
  agree,
  bitcoin,
  claimShort,
  type Deal,
  deepen,
  type EvmCalls,
  evm,
  freshAdapters,
  fundBoth,
  fundLong,
  give,
  moveTo,
  must,
  newParty,
  type Party,
  requestsTo,
  send,
  signEvm,
  signedPayment,
  signedSpend,
  swapOf,
} from '../../settle/testing/world.ts';
import { type AppOptions, buildApp } from '../app.ts';
import { refused } from '../testing/edge.ts';

const world = sharedWorld();
let somebody: Party;
before(async () => {
  somebody = await newParty(world);
});

/** A transaction of the account's own to itself. */
async function ownTransaction({ evmAccount }: Pick<Party, 'evmAccount'>, value: Hex = '0x1') {
  const txs: EvmCalls['txs'] = [{ to: evmAccount.address, data: '0x', value }];
  const [raw] = await signEvm(world, evmAccount, { chainId: 31_337, txs });
  return raw!;
}

test('anything well-formed is relayed, by family or chain key, and twice is the same', async () => {
  const { hex, txid } = await signedPayment(world, somebody.btcAddress, 50_000n);
  assert.deepEqual(must(await send(somebody, 'bitcoin', hex)), { txid });
  assert.deepEqual(must(await send(somebody, bitcoin, hex.toUpperCase())), { txid });
  await world.dev.mine(bitcoin, 1);
  assert.deepEqual(must(await send(somebody, bitcoin, hex)), { txid });
  const { address } = somebody.evmAccount;
  await world.dev.faucet({ chain: evm, address, amount: 10n ** 18n });
  const raw = await ownTransaction(somebody);
  const first = must(await send(somebody, 'evm', raw));
  assert.deepEqual(must(await send(somebody, evm, raw)), first);
  await world.dev.mine(evm, 1);
  assert.deepEqual(must(await send(somebody, evm, raw)), first);
});

test('a transaction that is malformed, for a chain that is not served, or refused by a node is 400', async () => {
  const elsewhere = await somebody.evmAccount.signTransaction({
    chainId: 5_555,
    nonce: 0,
    to: somebody.evmAccount.address,
    gas: 21_000n,
    maxFeePerGas: 1n,
    maxPriorityFeePerGas: 1n,
    type: 'eip1559',
  });
  const psbt = { psbtBase64: 'AAAA', signaturesHex: ['00'] };
  const escrow = testSwap({ timelock: 1_900_000_000, since: 0 });
  const ofNoSwap = { psbtBase64: refundOf(escrow.terms), signaturesHex: ['11'.repeat(64)] };
  const { hex } = await signedPayment(world, somebody.btcAddress, 50_000n);
  const spent = hex.replace(/^(.{12})(.{64})/, (_all, head) => head + 'ab'.repeat(32));
  const evmAccount = privateKeyToAccount(generatePrivateKey());
  for (const [chain, signed, code, words] of [
    ['dogecoin', '00', 'bad_chain', /./],
    ['tron', '00', 'bad_chain', /./],
    ...['evm', bitcoin].flatMap((each) =>
      ['zz', '0x00'].map((bytes) => [each, bytes, 'bad_transaction', /./] as const),
    ),
    [bitcoin, { psbtBase64: 'x' }, 'bad_field', /./],
    [bitcoin, psbt, 'bad_transaction', /./],
    // Before its signatures are checked.
    [bitcoin, ofNoSwap, 'bad_transaction', /the escrow of no swap here/],
    ['evm', elsewhere, 'bad_transaction', /./],
    [evm, elsewhere, 'bad_transaction', /./],
    // With the words of the node.
    [evm, await ownTransaction({ evmAccount }), 'refused_by_node', /funds/i],
    [bitcoin, spent, 'refused_by_node', /./],
  ] as const) {
    refused(await send(somebody, chain, signed), `400 ${code}`, words);
  }
});

/** The PSBT of a refund of an escrow that nobody has signed. */
function refundOf(terms: EscrowTerms, amount = 1_000_000n): string {
  const output = { txid: 'ab'.repeat(32), vout: 0, amount };
  return buildSpend(terms, bitcoinNetworks.regtest, 'refund', [output], 500n).psbtBase64;
}

async function unsignedRefund(deal: Deal) {
  const rows = await escrowsOfSwap(world.deps.db, deal.id);
  const terms = termsOf(rows.find(({ leg }) => leg === deal.long)!.terms);
  return { psbtBase64: refundOf(terms, deal.sats), signaturesHex: ['11'.repeat(64)] };
}

/** Another application on the same database, closed after the work. */
async function elsewhere(
  deps: Partial<typeof world.deps>,
  options: AppOptions,
  work: (postOf: (party: Party) => Party['post']) => Promise<void>,
): Promise<void> {
  const app = await buildApp({ ...world.deps, ...deps }, options);
  try {
    await work(({ key }) => requestsTo(app, key).post);
  } finally {
    await app.close();
  }
}
/** As for real chains: with dev chains all accounts come from one address. */
const ofNetwork = (times: number) => {
  const { settings } = world.deps;
  return { settings: { ...settings, rateLimitPerNetwork: times * settings.rateLimit } };
};
const broadcast = '/v1/tx/broadcast';

test('a client that has used up the processor time hears so, and short work of anybody still passes', async () => {
  const deal = await agree(world);
  const body = { chain: bitcoin, signed: await unsignedRefund(deal) };
  const paid = await signedPayment(world, somebody.btcAddress, 50_000n);
  let ms = 0;
  let each = 30;
  const clock = { processorClock: () => (ms += each) };
  await elsewhere(ofNetwork(10), clock, async (postOf) => {
    const post = postOf(somebody);
    const postUntilOver = async (party: Party) => {
      for (;;) {
        const answer = await postOf(party)(broadcast, body);
        if (answer.status === 429) return answer;
        refused(answer, '400 bad_transaction', /the signature is not by/);
      }
    };
    const over = await postUntilOver(somebody);
    refused(over, '429 processor_time_limited', /of this account have taken 2 s/);
    assert.ok(Number(over.headers['retry-after']) >= 1);
    must(await post(broadcast, { chain: bitcoin, signed: paid.hex }));
    each = 4;
    refused(await post(broadcast, body), '400 bad_transaction');
  });
});

test('a funding signed in time and sent too late is stopped', async () => {
  const deal = await agree(world);
  const path = `/v1/swaps/${deal.id}/legs/${deal.long}/fund`;
  const built = must(await deal.initiator.post(path));
  const { hex } = await signedPayment(world, built.payTo, deal.sats);
  await moveTo(world, built.validUntil);
  refused(await send(deal.initiator, bitcoin, hex), '409 too_late_to_fund');
});

test('a second funding of a leg is stopped, the first one sent again is not', async () => {
  const deal = await agree(world);
  const { escrow } = (await swapOf(deal)).legs[deal.long];
  const first = await signedPayment(world, escrow, deal.sats);
  const second = await signedPayment(world, escrow, deal.sats);
  must(await send(deal.initiator, bitcoin, first.hex));
  refused(await send(deal.initiator, bitcoin, second.hex), '409 already_funded');
  assert.equal(must(await send(deal.initiator, bitcoin, first.hex)).txid, first.txid);
});

test('fundings of several swaps in one transaction are each known as sent, and each has its gate', async () => {
  const first = await agree(world);
  const { counterparty } = first;
  const second = await agree(world, { counterparty });
  const deals = [first, second];
  const sentAt = () =>
    Promise.all(
      deals.map(async (deal) => {
        const { escrow } = (await swapOf(deal)).legs[deal.short];
        return (await escrowAt(world.deps.db, evm, escrow))?.sentAt ?? null;
      }),
    );
  const batch = async () => {
    const legs = await Promise.all(
      deals.map(async ({ id, short }) => {
        const rows = await escrowsOfSwap(world.deps.db, id);
        const { terms } = rows.find(({ leg }) => leg === short) ?? assert.fail();
        return { terms: termsOf(terms) };
      }),
    );
    const adapter = world.deps.adapters.get(evm);
    const from = counterparty.evmAccount.address;
    const built = await adapter?.buildBatch?.(
      { verb: 'fund', legs },
      from,
      AbortSignal.timeout(60_000),
    );
    const raws = await signEvm(
      world,
      counterparty.evmAccount,
      built?.material as unknown as EvmCalls,
    );
    const [approval = assert.fail(), funding = assert.fail()] = raws;
    return { approval, funding };
  };
  for (const deal of deals) await give(world, deal);
  await fundLong(world, first);
  await deepen(world);
  const { approval, funding } = await batch();
  must(await send(counterparty, evm, approval));
  refused(await send(counterparty, evm, funding), '409 not_fundable_yet');
  await fundLong(world, second);
  await deepen(world);
  // The first funding of a batch is not known as sent where the second may not be sent.
  const { db } = world.deps;
  let held = 0;
  const onceHeld: typeof db.transaction = async (work) => {
    held += 1;
    assert.equal(held, 1, 'the second is not held');
    return db.transaction(work);
  };
  const deps = { ...world.deps, db: { ...db, transaction: onceHeld } };
  const signal = AbortSignal.timeout(60_000);
  const sent = { chain: evm, signed: funding, inTurns: atAStretch, signal };
  await assert.rejects(
    sendOn(deps, async () => {}, sent),
    /the second is not held/,
  );
  assert.deepEqual(await sentAt(), [null, null]);
  must(await send(counterparty, evm, funding));
  assert.ok((await sentAt()).every((at) => at !== null));
  await deepen(world);
  for (const deal of deals) {
    assert.equal((await swapOf(deal)).legs[deal.short].status, 'funded');
  }
});

test('a claim signed in time and sent after the reveal deadline is stopped', async () => {
  const deal = await agree(world);
  await fundBoth(world, deal);
  const { secret, short, initiator } = deal;
  const path = `/v1/swaps/${deal.id}/legs/${short}/claim`;
  const built = must(await initiator.post(path, { secret }));
  const [raw] = await signEvm(world, initiator.evmAccount, built);
  await moveTo(world, built.validUntil);
  refused(await send(initiator, 'evm', raw), '409 too_late_to_reveal');
  assert.equal((await swapOf(deal)).secret, null);
});

test('with the secret public no gate of ours stops a claim, however late', async () => {
  const deal = await agree(world);
  await fundBoth(world, deal);
  await claimShort(world, deal);
  await deepen(world);
  const { timelock } = (await swapOf(deal)).legs[deal.long];
  await moveTo(world, timelock + 60);
  const { counterparty, long, secret } = deal;
  const path = `/v1/swaps/${deal.id}/legs/${long}/claim`;
  const built = must(await counterparty.post(path, { secret }));
  assert.ok(built.validUntil > Math.floor(world.deps.now() / 1000));
  must(await send(counterparty, bitcoin, signedSpend(counterparty, built, secret)));
  await deepen(world);
  assert.equal((await swapOf(deal)).status, 'counterparty_claimed');
});

test('a broadcast the node leaves unanswered is 504 and names the txid to look up', async () => {
  const { address } = somebody.evmAccount;
  await world.dev.faucet({ chain: evm, address, amount: 10n ** 18n });
  const raw = await ownTransaction(somebody, '0x2');
  const payment = await signedPayment(world, somebody.btcAddress, 50_000n);
  await withHangingNodes(async (nodes, postOf) => {
    nodes.evm.hang(/eth_sendRawTransaction/);
    nodes.bitcoin.hang(/sendrawtransaction/);
    for (const [chain, signed] of [
      ['evm', raw],
      [bitcoin, payment.hex],
    ] as const) {
      const answer = await postOf(somebody)(broadcast, { chain, signed });
      refused(answer, '504 chain_timeout');
      const { txid } = must(await send(somebody, chain, signed));
      assert.equal(answer.headers['x-parley-txid'], txid);
    }
  });
});

type Nodes = { readonly bitcoin: HangingNode; readonly evm: HangingNode };

/** Another application on the same database, whose nodes hang on command. */
async function withHangingNodes(
  work: (nodes: Nodes, postOf: (party: Party) => Party['post']) => Promise<void>,
): Promise<void> {
  const { infos, deps } = world;
  const nodes: Nodes = {
    bitcoin: await hangingNode(infos.bitcoin.rpcUrl),
    evm: await hangingNode(infos.evm.rpcUrl),
  };
  const behind = {
    bitcoin: { ...infos.bitcoin, rpcUrl: nodes.bitcoin.url },
    evm: { ...infos.evm, rpcUrl: nodes.evm.url },
    evm2: null,
  };
  const settings = { ...deps.settings, chainTimeoutMs: 5_000 };
  const adapters = freshAdapters(behind, deps.now);
  try {
    await elsewhere({ settings, adapters }, {}, (postOf) => work(nodes, postOf));
  } finally {
    for (const each of Object.values(nodes)) {
      each.hang(null);
      await each.close();
    }
  }
}
