import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hexToBytes } from '@noble/hashes/utils.js';
import { initCode } from '@parley/contracts/escrows/artifacts/abi.ts';
import { faucetAddress } from '@parley/dev/simulators/tron/simulator.ts';
import type { SignedTron, TronMaterial } from '../interface/material.ts';
import { refuses } from '../testing/refusals.ts';
import type { TronAdapter } from './adapter.ts';
import { feeLimitOf, ownEnergy, withMargin } from './energy.ts';
import { httpClient } from './http.ts';
import { createdAddress, creationFault } from './identity.ts';
import { fundCalls, materialProblems, type Wanted } from './plan.ts';
import {
  type Account,
  adapterOn,
  anyone,
  fund,
  funder,
  inputOf,
  type Leg,
  newcomer,
  newLeg,
  quoting,
  receiver,
  signAll,
  signal,
} from './testing/chain.ts';
import type { Lie } from './testing/nodes.ts';
import { tronWorld } from './testing/world.ts';
import { tokenBalance } from './views.ts';

const { chain, urlOf, adapterOf, adapterOver: over } = await tronWorld();
const unavailable = (words: RegExp) => refuses('chain_unavailable', words);

function mustBeOurs(material: unknown, wanted: Wanted, { terms }: Leg): TronMaterial {
  const tron = material as TronMaterial;
  const bounds = { nowMs: (chain.now() + 5) * 1_000, mostFeeLimitSun: 50_000_000n };
  assert.deepEqual(materialProblems(tron, wanted, terms, chain.deployment, bounds), []);
  return tron;
}

async function perform(adapter: TronAdapter, material: TronMaterial, by: Account) {
  const txids: string[] = [];
  for (const signed of signAll(by, material)) {
    const read = await adapter.readSigned(signed, signal());
    txids.push(await adapter.broadcast(read, signal()));
    await chain.dev.mine(1);
    mustHavePaid(read.txid, signed.raw_data.fee_limit);
  }
  return txids;
}

/** It ended well, within its limit, and the limit is of the size of what it cost. */
function mustHavePaid(txid: string, feeLimit: number): void {
  const place = chain.dev.simulator.chain.find(txid);
  const { receipt } = place?.block.transactions[place.index]?.info ?? {};
  assert.equal(receipt?.result, 'SUCCESS');
  const fee = receipt?.energy_fee as number;
  assert.ok(fee * 1.2 <= feeLimit && feeLimit <= fee * 4, `${fee} of ${feeLimit}`);
}

for (const token of [null, 'ReturnsFalse', 'DevTether'] as const) {
  test(`${token ?? 'TRX'}: what is built is ours, and ends within its fee limit`, async () => {
    const adapter = adapterOf();
    const over = token === null ? {} : { token: chain.token(token) };
    const leg = newLeg(chain, over);
    const back = newLeg(chain, over);
    for (const each of [leg, back]) {
      const built = await adapter.buildFund(inputOf(each), signal());
      const funding = mustBeOurs(built, { verb: 'fund' }, each);
      assert.deepEqual([funding.escrow, funding.from], [each.escrow.address, funder.address]);
      await perform(adapter, funding, funder);
    }
    const material = await adapter.buildClaim(inputOf(leg), leg.secret, signal());
    const claiming = mustBeOurs(material, { verb: 'claim', secret: leg.secret }, leg);
    assert.equal(claiming.from, receiver.address);
    await perform(adapter, claiming, receiver);
    await chain.pass(7_201);
    const refunding = await adapter.buildRefund(inputOf(back), signal());
    await perform(adapter, mustBeOurs(refunding, { verb: 'refund' }, back), funder);
    const again = adapter.buildClaim(inputOf(leg), leg.secret, signal());
    await assert.rejects(again, refuses('nothing_there', /holds nothing: claimed/));
  });
}

test('fee limits are 1.3 times what a trial used, and transactions last ten minutes', async () => {
  const adapter = adapterOf();
  const leg = newLeg(chain);
  const material = (await adapter.buildFund(inputOf(leg), signal())) as TronMaterial;
  for (const { raw_data } of material.transactions) {
    assert.equal(Math.floor(raw_data.expiration / 1_000), chain.now() + 600);
  }
  const [txid] = await perform(adapter, material, funder);
  const place = chain.dev.simulator.chain.find(txid as string);
  const receipt = place?.block.transactions[place.index]?.info.receipt;
  const used = BigInt(receipt?.energy_usage_total as number);
  const limit = material.transactions[0]?.raw_data.fee_limit;
  assert.equal(limit, Number((used * 13n + 9n) / 10n) * 100);
  const prices = { energySun: 100n, byteSun: 1_000n };
  // a node takes no more than 15 000 TRX
  assert.equal(feeLimitOf(10n ** 9n, prices), 15_000_000_000n);
  assert.ok(used < ownEnergy.trxFund && used > 20_000n, String(used));
});

test('a claim built for an address that was never used pays for making the account', async () => {
  const adapter = adapterOf();
  const leg = newLeg(chain, { payout: { address: newcomer(), pubkey: null } });
  await fund(chain, leg);
  const built = await adapter.buildClaim(inputOf(leg), leg.secret, signal());
  const [transaction] = (built as TronMaterial).transactions;
  assert.equal(transaction?.raw_data.fee_limit, Number(withMargin(41_000n) * 100n));
});

test('another chain, no contract, other code and another domain are refused', async () => {
  const open = (deployment: object, url = chain.url) =>
    adapterOn({ ...chain, deployment: { ...chain.deployment, ...deployment } }, [url]).open(
      signal(),
    );
  await open({});
  const other = `another contract than that of escrows at T\\w+: it answers no domain`;
  for (const [deployment, words] of [
    [{ chainId: 1 }, /of chain id \d+, not 1/],
    [{ contract: newcomer() }, /no escrow contract at T/],
    [{ contract: chain.token('DevDollar') }, new RegExp(other)],
  ] as const) {
    await assert.rejects(open(deployment), unavailable(words));
  }
  const odd = await urlOf(async ({ path }, forward) => {
    const { body } = await forward();
    if (path !== 'wallet/triggerconstantcontract') return { body };
    return { body: { ...(body as object), constant_result: ['00'.repeat(32)] } };
  });
  await assert.rejects(open({}, odd), unavailable(/another chain id/));
  // Init code that could have written anything before it returned the pinned code.
  const { creation, contract } = chain.deployment;
  const origin = hexToBytes(faucetAddress);
  const bytecode = hexToBytes(`${initCode.slice(2)}00`);
  const new_contract = { origin_address: origin, bytecode, consume_user_resource_percent: 100n };
  const { txid } = await chain.dev.simulator.sendAsFaucet('CreateSmartContract', { new_contract });
  await chain.solidify();
  const made = { contract: createdAddress(txid, origin), creation: txid };
  await assert.rejects(open(made), unavailable(/by other init code than the pinned/));
  await assert.rejects(open({ creation: txid }), unavailable(/created T\w+, not T/));
  await assert.rejects(open({ creation: '0f'.repeat(32) }), unavailable(/does not know 0f/));
  // No node is believed: other bytes have another id.
  const body = JSON.stringify({ value: txid });
  const known = await fetch(`${chain.url}/wallet/gettransactionbyid`, { method: 'POST', body });
  const { raw_data_hex: rawData } = (await known.json()) as { raw_data_hex: string };
  assert.match(creationFault(rawData, { contract, creation }) ?? '', /shows other bytes/);
});

test('a funding is one only by its funder, as a call of the contract', async () => {
  const leg = newLeg(chain);
  const adapter = adapterOf();
  adapter.watch([leg.escrow]);
  const own = mustBeOurs(await adapter.buildFund(inputOf(leg), signal()), { verb: 'fund' }, leg);
  const [call] = fundCalls(leg.terms, chain.deployment, 0n);
  const touchesOf = async (signed: unknown) =>
    (await adapter.readSigned(signed as SignedTron, signal())).touches.map(({ verb }) => verb);
  for (const by of [anyone, funder]) {
    assert.deepEqual(await touchesOf(quoting(chain, by, call?.data ?? '')), []);
  }
  const [signed] = signAll(funder, own);
  assert.deepEqual(await touchesOf(signed), ['fund']);
  assert.equal((await adapter.readSigned(signed as SignedTron, signal())).payer, funder.address);
});

for (const [how, lie] of [
  ['refuses', { status: 500, body: 'no' }],
  ['never gives', undefined],
] as const) {
  test(`a node that ${how} receipts and blocks: the record is the truth all the same`, async () => {
    const leg = await fundedLeg();
    // Without its block, confirmations are told by the time that has passed.
    await chain.pass(60);
    const adapter = await over(({ path, body }, forward) =>
      /bynum$|transactioninfo/.test(path) && body.num !== 0 ? lie : forward(),
    );
    const { funded, balance } = await adapter.readEscrow(leg.escrow, signal());
    assert.deepEqual([funded?.txid, funded?.deep], ['unknown', true]);
    assert.equal(balance, leg.terms.amount);
  });
}

const adapterOver = (...urls: string[]) => adapterOn(chain, urls, { http: { rounds: 1 } });

const disagree = (words: RegExp) => refuses('sources_disagree', words);

async function fundedLeg(): Promise<Leg> {
  const leg = newLeg(chain);
  await fund(chain, leg);
  await chain.solidify();
  return leg;
}

test('a token that was taken out of the contract makes an escrow seen, never deep', async () => {
  const token = chain.token('DevDollar');
  const leg = newLeg(chain, { token });
  await fund(chain, leg);
  await chain.solidify();
  assert.equal((await adapterOver(chain.url).readEscrow(leg.escrow, signal())).funded?.deep, true);
  const http = httpClient({ chain: 'tron-dev', sources: [chain] });
  const had = await tokenBalance(http, 'solid', token, chain.deployment.contract, signal());
  const word = (value: bigint) => value.toString(16).padStart(64, '0');
  let together = 0;
  // Wherever its views say what the contract has of the token, asked together or alone.
  const seized: Lie = async ({ body }, forward) => {
    const said = await forward();
    const { constant_result: [output = ''] = [] } = said.body as { constant_result?: string[] };
    if (!output.includes(word(had))) return said;
    if (body.contract_address === undefined) together += 1;
    const constant_result = [output.replaceAll(word(had), word(leg.terms.amount - 1n))];
    return { body: { ...(said.body as object), constant_result } };
  };
  const url = await urlOf(seized);
  const { funded } = await adapterOver(url).readEscrow(leg.escrow, signal());
  assert.equal(funded?.deep, false);
  assert.equal(together, 2, 'the solid views and the newest ones');
  await assert.rejects(
    adapterOver(chain.url, url).mustAgree(leg.escrow, signal()),
    disagree(/without its tokens/),
  );
});

test('a node without a solid view is refused by the first call, alone and beside another', async () => {
  const half = await urlOf(({ path }, forward) =>
    path.startsWith('walletsolidity/') ? { status: 405, body: '<html>' } : forward(),
  );
  for (const urls of [[half], [chain.url, half]]) {
    const refused = { code: 'chain_unavailable', message: /no \/walletsolidity .*"solidityUrl"/ };
    await assert.rejects(adapterOver(...urls).heads(signal()), refused);
  }
});

test('a node that keeps no old transactions is refused alone, and holds up nothing beside another', async () => {
  const lite = await urlOf(({ path }, forward) =>
    path === 'wallet/gettransactionbyid' ? { body: {} } : forward(),
  );
  const refused = { code: 'chain_unavailable', message: /does not know/ };
  await assert.rejects(adapterOver(lite).heads(signal()), refused);
  for (const urls of [
    [chain.url, lite],
    [lite, chain.url],
  ]) {
    await adapterOver(...urls).heads(signal());
  }
});
