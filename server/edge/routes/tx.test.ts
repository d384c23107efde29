// Broadcasting: what is relayed, what the gates stop, and what a hanging node is answered with.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { bitcoinNetworks } from '../../../chains/bitcoin/networks.ts';
import { buildSpend } from '../../../chains/bitcoin/plan.ts';
import { testSwap } from '../../../chains/bitcoin/testing/swaps.ts';
import { escrowsOfSwap, termsOf } from '../../db/escrows.ts';
import { type HangingNode, hangingNode } from '../../settle/testing/gate.ts';
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
  look,
  moveTo,
  must,
  newParty,
  type Party,
  requestsTo,
  send,
  sendEvm,
  signEvm,
  signedPayment,
  signedSpend,
  startWorld,
  swapOf,
} from '../../settle/testing/world.ts';
import { buildApp } from '../app.ts';
import { refused } from '../testing/edge.ts';

const world = await startWorld();
after(() => world.close());
const somebody = await newParty(world);

test('anything well-formed is relayed, by family or chain key, and twice is the same', async () => {
  const { hex, txid } = await signedPayment(world, somebody.btcAddress, 50_000n);
  assert.deepEqual(must(await send(somebody, 'bitcoin', hex)), { txid });
  assert.deepEqual(must(await send(somebody, bitcoin, hex.toUpperCase())), { txid });
  await world.dev.mine(bitcoin, 1);
  assert.deepEqual(must(await send(somebody, bitcoin, hex)), { txid });
  const { evmAccount } = somebody;
  await world.dev.faucet({ chain: evm, address: evmAccount.address, amount: 10n ** 18n });
  const call = { to: evmAccount.address, data: '0x', value: '0x1' } as const;
  const [raw] = await signEvm(world, evmAccount, { chainId: 31_337, txs: [call] });
  const first = must(await send(somebody, 'evm', raw));
  assert.deepEqual(must(await send(somebody, evm, raw)), first);
  await world.dev.mine(evm, 1);
  assert.deepEqual(must(await send(somebody, evm, raw)), first);
});

test('what is malformed, or for a chain that is not served, is 400', async () => {
  const post = (body: unknown) => somebody.post('/v1/tx/broadcast', body);
  for (const chain of ['dogecoin', 'tron']) {
    refused(await post({ chain, signed: '00' }), '400 bad_chain');
  }
  for (const chain of ['evm', bitcoin]) {
    for (const signed of ['zz', '0x00'])
      refused(await post({ chain, signed }), '400 bad_transaction');
  }
  refused(await post({ chain: bitcoin, signed: { psbtBase64: 'x' } }), '400 bad_field');
  const psbt = { psbtBase64: 'AAAA', signaturesHex: ['00'] };
  refused(await post({ chain: bitcoin, signed: psbt }), '400 bad_transaction');
  const elsewhere = await somebody.evmAccount.signTransaction({
    chainId: 5_555,
    nonce: 0,
    to: somebody.evmAccount.address,
    gas: 21_000n,
    maxFeePerGas: 1n,
    maxPriorityFeePerGas: 1n,
    type: 'eip1559',
  });
  refused(await post({ chain: 'evm', signed: elsewhere }), '400 bad_transaction');
  refused(await post({ chain: evm, signed: elsewhere }), '400 bad_transaction');
});

test('the refusal of a node is 400 with its words', async () => {
  const poor = privateKeyToAccount(generatePrivateKey());
  const call = { to: poor.address, data: '0x', value: '0x1' } as const;
  const [raw] = await signEvm(world, poor, { chainId: 31_337, txs: [call] });
  const answer = await send(somebody, evm, raw);
  refused(answer, '400 refused_by_node');
  assert.match(answer.body.error, /funds/i);
  const { hex } = await signedPayment(world, somebody.btcAddress, 50_000n);
  const spent = hex.replace(/^(.{12})(.{64})/, (_all, head) => head + 'ab'.repeat(32));
  refused(await send(somebody, bitcoin, spent), '400 refused_by_node');
});

/** A refund of this escrow that nobody has signed. */
async function unsignedRefund(deal: Deal) {
  const rows = await escrowsOfSwap(world.deps.db, deal.id);
  const terms = termsOf(rows.find(({ leg }) => leg === deal.long)!.terms);
  const output = { txid: 'ab'.repeat(32), vout: 0, amount: deal.sats };
  const { regtest } = bitcoinNetworks;
  const { psbtBase64 } = buildSpend(terms, regtest, 'refund', [output], 500n);
  return { psbtBase64, signaturesHex: ['11'.repeat(64)] };
}

test('a PSBT of an escrow that is of no swap is refused before its signatures are looked at', async () => {
  const { terms } = testSwap({ timelock: 1_900_000_000, since: 0 });
  const output = { txid: 'ab'.repeat(32), vout: 0, amount: 1_000_000n };
  const { psbtBase64 } = buildSpend(terms, bitcoinNetworks.regtest, 'refund', [output], 500n);
  const answer = await send(somebody, bitcoin, { psbtBase64, signaturesHex: ['11'.repeat(64)] });
  refused(answer, '400 bad_transaction', /the escrow of no swap here/);
});

test('who has used up the processor time is told so, and short work of anybody still passes', async () => {
  const deal = await agree(world);
  const body = { chain: bitcoin, signed: await unsignedRefund(deal) };
  const paid = await signedPayment(world, somebody.btcAddress, 50_000n);
  let ms = 0;
  let each = 30;
  // As for real chains: with dev chains all accounts come from one address.
  const settings = { ...world.deps.settings };
  settings.rateLimitPerNetwork = 10 * settings.rateLimit;
  const deps = { ...world.deps, settings };
  const app = await buildApp(deps, { processorClock: () => (ms += each) });
  const postOf = (party: Party) => requestsTo(app, party.key).post;
  const postUntilOver = async (party: Party) => {
    for (;;) {
      const answer = await postOf(party)('/v1/tx/broadcast', body);
      if (answer.status === 429) return answer;
      refused(answer, '400 bad_transaction', /the signature is not by/);
    }
  };
  try {
    const over = await postUntilOver(somebody);
    const ofAccount = /of this account have taken 2 s of .* 100 ms come back a second/;
    refused(over, '429 processor_time_limited', ofAccount);
    assert.ok(Number(over.headers['retry-after']) >= 1);
    const asked = Number(over.headers['ratelimit-remaining']);
    const more = await postOf(somebody)('/v1/tx/broadcast', body);
    assert.equal(Number(more.headers['ratelimit-remaining']), asked - 1, 'requests are counted');
    must(await postOf(somebody)('/v1/tx/broadcast', { chain: bitcoin, signed: paid.hex }));
    // All of one network together have twice as much.
    refused(await postUntilOver(deal.initiator), '429 processor_time_limited');
    const network = await postUntilOver(deal.counterparty);
    assert.match(network.body.error, /of this client network have taken 4 s/);
    each = 4;
    const short = await postOf(somebody)('/v1/tx/broadcast', body);
    refused(short, '400 bad_transaction');
    ms += 60_000;
    each = 30;
    refused(await postOf(somebody)('/v1/tx/broadcast', body), '400 bad_transaction');
  } finally {
    await app.close();
  }
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

test('a refund before its time is stopped here, not by the node', async () => {
  const deal = await agree(world);
  await fundLong(world, deal);
  await deepen(world);
  const adapter = world.deps.adapters.get(bitcoin)!;
  const swap = await swapOf(deal);
  const { escrow: address, timelock, requiredConfirmations } = swap.legs[deal.long];
  const side = (which: 'payout' | 'refund') => ({
    address: swap.legs[deal.long][`${which}Address`],
    pubkey: swap.legs[deal.long][`${which}Pubkey`],
  });
  const terms = {
    chain: bitcoin,
    hashlock: deal.hashlock,
    payout: side('payout'),
    refund: side('refund'),
    token: null,
    amount: deal.sats,
    timelock,
  };
  const built = await adapter.buildRefund(
    {
      escrow: { address, terms, requiredConfirmations, since: 0 },
      feeRateSatPerVbyte: null,
      isPublic: false,
    },
    AbortSignal.timeout(5_000),
  );
  assert.ok(built.sign === 'btc-sighash');
  const { psbtBase64, sighashHexes } = built;
  const signed = signedSpend(deal.initiator, { psbtBase64, sighashHexes: [...sighashHexes] });
  refused(await send(deal.initiator, bitcoin, signed), '409 too_early_to_refund');
});

test('an escrow planned by another process is known to the gates here', async () => {
  const deal = await agree(world);
  const { escrow } = (await swapOf(deal)).legs[deal.long];
  const { hex } = await signedPayment(world, escrow, deal.sats);
  const adapters = freshAdapters(world.infos, world.deps.now);
  const elsewhere = await buildApp({ ...world.deps, adapters });
  const { initiatorFundBy } = (await swapOf(deal)).deadlines;
  await moveTo(world, initiatorFundBy);
  const { post } = requestsTo(elsewhere, somebody.key);
  const answer = await post('/v1/tx/broadcast', { chain: bitcoin, signed: hex });
  refused(answer, '409 too_late_to_fund');
  await elsewhere.close();
});

test('a node that hangs: builders and address 504, nothing changed, then all is well', async () => {
  const deal = await agree(world);
  await give(world, deal);
  await fundLong(world, deal);
  await deepen(world);
  await withHangingNodes(async ({ nodes, partyHere }) => {
    const initiator = partyHere(deal.initiator);
    const counterparty = partyHere(deal.counterparty);
    const path = `/v1/swaps/${deal.id}/legs`;
    const before = await swapOf(deal);
    nodes.evm.hang(/./);
    const fund = await counterparty.post(`${path}/${deal.short}/fund`);
    refused(fund, '504 chain_timeout');
    const once = { 'idempotency-key': 'again' };
    const again = await counterparty.post(`${path}/${deal.short}/fund`, undefined, once);
    refused(again, '504 chain_timeout');
    const { secret } = deal;
    refused(await initiator.post(`${path}/${deal.short}/claim`, { secret }), '504 chain_timeout');
    refused(await counterparty.post(`${path}/${deal.short}/refund`), '504 chain_timeout');
    const address = { chain: evm, address: deal.counterparty.evmAccount.address };
    refused(await counterparty.post(`/v1/swaps/${deal.id}/address`, address), '504 chain_timeout');
    // The other chain is none of its business.
    refused(await initiator.post(`${path}/${deal.long}/refund`), '409 too_early_to_refund');
    assert.deepEqual(await swapOf(deal), before);
    nodes.evm.hang(null);
    must(await counterparty.post(`${path}/${deal.short}/fund`, undefined, once));
  });
});

test('a broadcast the node leaves unanswered is 504 and names the txid to look up', async () => {
  await withHangingNodes(async ({ nodes, partyHere }) => {
    const { evmAccount } = somebody;
    await world.dev.faucet({ chain: evm, address: evmAccount.address, amount: 10n ** 18n });
    const call = { to: evmAccount.address, data: '0x', value: '0x2' } as const;
    const [raw] = await signEvm(world, evmAccount, { chainId: 31_337, txs: [call] });
    nodes.evm.hang(/eth_sendRawTransaction/);
    const body = { chain: 'evm', signed: raw };
    const answer = await partyHere(somebody).post('/v1/tx/broadcast', body);
    refused(answer, '504 chain_timeout');
    const { txid } = must(await send(somebody, 'evm', raw));
    assert.equal(answer.headers['x-parley-txid'], txid);
    const payment = await signedPayment(world, somebody.btcAddress, 50_000n);
    nodes.bitcoin.hang(/sendrawtransaction/);
    const slow = await partyHere(somebody).post('/v1/tx/broadcast', {
      chain: bitcoin,
      signed: payment.hex,
    });
    refused(slow, '504 chain_timeout');
    assert.equal(slow.headers['x-parley-txid'], payment.txid);
  });
});

test('a claim with a public secret is built while the other chain hangs', async () => {
  const deal = await agree(world);
  await fundBoth(world, deal);
  const path = `/v1/swaps/${deal.id}/legs/${deal.short}/claim`;
  const built = must(await deal.initiator.post(path, { secret: deal.secret }));
  await sendEvm(world, deal.initiator, built);
  await look(world);
  await withHangingNodes(async ({ nodes, partyHere }) => {
    nodes.evm.hang(/./);
    const claim = `/v1/swaps/${deal.id}/legs/${deal.long}/claim`;
    must(await partyHere(deal.counterparty).post(claim, { secret: deal.secret }));
  });
});

type Nodes = { readonly bitcoin: HangingNode; readonly evm: HangingNode };

/** Another application on the same database, whose nodes hang on command. */
async function withHangingNodes(
  work: (here: {
    nodes: Nodes;
    partyHere: (party: Party) => Pick<Party, 'get' | 'post'>;
  }) => Promise<void>,
): Promise<void> {
  const { infos, deps } = world;
  const nodes: Nodes = {
    bitcoin: await hangingNode(infos.bitcoin.rpcUrl),
    evm: await hangingNode(infos.evm.rpcUrl),
  };
  const adapters = freshAdapters(
    {
      bitcoin: { ...infos.bitcoin, rpcUrl: nodes.bitcoin.url },
      evm: { ...infos.evm, rpcUrl: nodes.evm.url },
      evm2: null,
    },
    deps.now,
  );
  const settings = { ...deps.settings, chainTimeoutMs: 1_500 };
  const app = await buildApp({ ...deps, settings, adapters });
  try {
    await work({ nodes, partyHere: (party) => requestsTo(app, party.key) });
  } finally {
    nodes.bitcoin.hang(null);
    nodes.evm.hang(null);
    await app.close();
    await nodes.bitcoin.close();
    await nodes.evm.close();
  }
}

test('a network that has used up its free parts by raw transactions stops no party of an open swap', async () => {
  const deal = await agree(world);
  const txs: EvmCalls['txs'] = [{ to: somebody.evmAccount.address, data: '0x', value: '0x1' }];
  const [signed] = await signEvm(world, somebody.evmAccount, { chainId: 31_337, txs });
  let ms = 0;
  const settings = { ...world.deps.settings };
  settings.rateLimitPerNetwork = 5 * settings.rateLimit;
  const app = await buildApp({ ...world.deps, settings }, { processorClock: () => (ms += 100) });
  const postOf = ({ key }: Party) =>
    requestsTo(app, key).post('/v1/tx/broadcast', { chain: evm, signed });
  try {
    let answer = await postOf(somebody);
    // 100 ms each, of which 50 come back meanwhile.
    for (let posted = 1; posted < 150 && answer.status === 200; posted += 1) {
      answer = await postOf(somebody);
    }
    const ofNetwork = /of this client network have taken 5 s/;
    refused(answer, '429 processor_time_limited', ofNetwork);
    must(await postOf(deal.initiator));
    refused(await postOf(somebody), '429 processor_time_limited');
  } finally {
    await app.close();
  }
});
