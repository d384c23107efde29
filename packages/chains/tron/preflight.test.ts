import assert from 'node:assert/strict';
import { test } from 'node:test';
import snapshot from '@parley/contracts/escrows/energy.snapshot.json' with { type: 'json' };
import type { EscrowTerms } from '@parley/core/terms.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import type { TronMaterial } from '../interface/material.ts';
import { exchangedIn } from '../testing/nodes.ts';
import { refuses } from '../testing/refusals.ts';
import type { TronAdapter } from './adapter.ts';
import { ownEnergy } from './energy.ts';
import { httpClient } from './http.ts';
import { accountOf } from './node.ts';
import { fundCalls } from './plan.ts';
import {
  anyone,
  deploy,
  funder,
  type Leg,
  newcomer,
  newLeg,
  receiver,
  sendAndMine,
  signal,
} from './testing/chain.ts';
import { tronWorld } from './testing/world.ts';

const { chain, adapterOf, adapterOver } = await tronWorld();
const adapter = adapterOf();

const to = (address: string) => ({ address, pubkey: null });
const termsOf = (over: Partial<EscrowTerms> = {}) => newLeg(chain, over).terms;
const tried = (terms: EscrowTerms, about: 'payout' | 'funding') =>
  adapter.preflight(terms, about, signal());
const built = async (leg: Leg, by: TronAdapter = adapter) => {
  const input = { escrow: leg.escrow, feeRateSatPerVbyte: null };
  return (await by.buildFund(input, signal())) as TronMaterial;
};
const approved = async (terms: EscrowTerms) => {
  const [approve = assert.fail()] = fundCalls(terms, chain.deployment, 0n);
  await sendAndMine(chain, funder, approve);
};

test('a token that does not move is found', async () => {
  // Everybody has more than enough of it.
  const stuck = '60003560e01c63a9059cbb14601a5760001960005260206000f35b60006000fd';
  const terms = termsOf({ token: await deploy(chain, stuck) });
  const fails = /to the payout address T\w+ would fail: it fails: REVERT/;
  await assert.rejects(tried(terms, 'payout'), refuses('payout_would_fail', fails));
  const gains = refuses('funding_would_fail', /would gain 0 instead of 1000/);
  await assert.rejects(tried(terms, 'funding'), gains);
});

test('a token that takes a fee is found as soon as it is approved', async () => {
  const leg = newLeg(chain, { token: chain.token('FeeToken') });
  await tried(leg.terms, 'funding');
  await approved(leg.terms);
  const fee = refuses('funding_would_fail', /would gain 990 instead of 1000: a fee on transfers\?/);
  await assert.rejects(tried(leg.terms, 'funding'), fee);
  await assert.rejects(built(leg), fee);
});

test('addresses that were never used are named, with what they need', async () => {
  const payout = newcomer();
  const refund = newcomer();
  const terms = termsOf({ payout: to(payout), refund: to(refund) });
  const [claiming, funding, ...more] = await adapter.warnings(terms, signal());
  assert.deepEqual(more, []);
  // 1.3 times 41 000 energy at 100 sun, and 600 bytes at 1 000
  const { sentence = '', ...named } = claiming ?? {};
  const of = { code: 'not_activated', verb: 'claim', address: payout };
  assert.deepEqual(named, { ...of, need: 5_330_000n + 600_000n, has: 0n });
  assert.match(sentence, /never used on tron-dev.*5930000 sun.*anybody else may/);
  const { verb, address, code } = funding ?? {};
  assert.deepEqual([verb, address, code], ['fund', refund, 'not_activated']);
  // The sender of a claim is asked for its cost.
  const own = await adapter.claimShortage?.(terms, payout, signal());
  assert.deepEqual([own?.code, own?.verb], ['not_activated', 'claim']);
  assert.equal(await adapter.claimShortage?.(terms, anyone.address, signal()), null);
});

/** The exchanges of this, when the nodes were checked. */
const exchanged = async (work: () => Promise<unknown>) => {
  await adapter.open(signal());
  return (await exchangedIn(work)).flat();
};

test('warnings ask each thing once, and all views of both sides in one call', async () => {
  const rich = termsOf({ payout: to(receiver.address), refund: to(anyone.address) });
  const least = ['getaccountresource', 'getaccountresource', 'triggerconstantcontract'];
  assert.deepEqual(await exchanged(() => adapter.warnings(rich, signal())), least);
  const parties = { payout: to(newcomer()), refund: to(newcomer()) };
  const all = ['getaccount', 'getaccount', 'getchainparameters', ...least].sort();
  const native = termsOf(parties);
  assert.deepEqual(await exchanged(() => adapter.warnings(native, signal())), all);
  const token = termsOf({ ...parties, token: chain.token('DevDollar') });
  // And the trials of the transfer and of its approval.
  const trials = ['triggerconstantcontract', 'triggerconstantcontract'];
  assert.deepEqual(await exchanged(() => adapter.warnings(token, signal())), [...all, ...trials]);
});

test('a preflight asks for all its views in one call, beside its trial', async () => {
  const terms = termsOf();
  const asked = await exchanged(() => adapter.preflight(terms, 'funding', signal()));
  assert.equal(asked.length, 2);
});

test('the trials of a funding and of both payments leave at once', async () => {
  let isOpen = false;
  let waiting = 0;
  const slow = await adapterOver(async ({ path, body }, forward) => {
    const isOfTrial = path === 'wallet/triggerconstantcontract' && body.contract_address;
    if (!isOpen || !isOfTrial) return forward();
    waiting += 1;
    await waitUntil(() => waiting === 4, { mostMs: 5_000 });
    return forward();
  });
  await slow.open(signal());
  isOpen = true;
  await slow.preflight(termsOf({ token: chain.token('DevDollar') }), 'funding', signal());
  assert.equal(waiting, 4, 'an approval, and payments to the contract, the payee and the funder');
});

/** Over a node that says this of every account and of its resources, and asks no views at once. */
const over = (account: object, resources: object) =>
  adapterOver(({ path, body }, forward) => {
    const isOfViews = path === 'wallet/triggerconstantcontract' && !body.contract_address;
    if (isOfViews) return { body: {} };
    if (!String(body.address).startsWith('41')) return forward();
    if (path === 'wallet/getaccount') return { body: { address: body.address, ...account } };
    if (path !== 'wallet/getaccountresource') return forward();
    return { body: { freeNetLimit: 600, ...resources } };
  });

for (const [balance, EnergyLimit, codes] of [
  // 1.3 times 16 000 energy at 100 sun
  [2_080_000, 0, []],
  [2_079_999, 0, ['energy_poor']],
  [0, 20_800, []],
  [0, 20_799, ['energy_poor']],
  [100, 20_799, []],
] as const) {
  test(`${balance} sun and ${EnergyLimit} energy: ${codes.join() || 'no warning'}`, async () => {
    const asked = await over({ balance }, { EnergyLimit });
    const warnings = await asked.warnings(termsOf({ payout: to(anyone.address) }), signal());
    const claims = warnings.filter(({ verb }) => verb === 'claim');
    assert.deepEqual(
      claims.map(({ code }) => code),
      codes,
    );
  });
}

const lent = { acquired_delegated_frozenV2_balance_for_energy: 9_000_000_000 };
const frozenV2 = [{ amount: 5 }, { type: 'ENERGY', amount: 9_000_000_000 }];

for (const [what, account, pays] of [
  ['was lent by somebody', { account_resource: lent }, false],
  ['was lent, beside enough sun,', { balance: 50_000_000, account_resource: lent }, true],
  ['is staked', { frozenV2 }, true],
  ['is staked and lent', { frozenV2, account_resource: lent }, true],
] as const) {
  test(`energy that ${what} pays for ${pays ? 'a' : 'no'} claim`, async () => {
    const asked = await over(account, { EnergyLimit: 600_000, EnergyUsed: 0 });
    const { payout, ...terms } = termsOf({ payout: to(newcomer()) });
    const short = await asked.claimShortage?.({ payout, ...terms }, payout.address, signal());
    assert.equal(short === null, pays);
  });
}

test("a funder's deposit does not pay for its energy: it is told what it has, and needs", async () => {
  const http = httpClient({ chain: 'tron-dev', sources: [chain] });
  const { balance = 0n } = (await accountOf(http, funder.address, signal())) ?? {};
  const funding = async (terms: Partial<EscrowTerms>) => {
    const warnings = await adapter.warnings(termsOf(terms), signal());
    return warnings.find(({ verb }) => verb === 'fund') ?? assert.fail();
  };
  // 1.3 times 26 000 energy at 100 sun; its free bandwidth may still suffice
  const energySun = 3_380_000n;
  for (const amount of [balance, balance + 40_000_000n]) {
    const { code, has, need, sentence } = await funding({ amount });
    const bytesSun = need - amount - energySun;
    assert.ok(bytesSun === 0n || bytesSun === 600_000n, `${bytesSun}`);
    assert.deepEqual([code, has], ['energy_poor', balance]);
    const parts = `${amount} .*leg and ${energySun + bytesSun} for energy and bandwidth`;
    const words = new RegExp(`has ${balance} sun .*to fund may take ${need} sun: ${parts}`);
    assert.match(sentence, words);
  }
  const amount = 50_000_000n;
  const { sentence, ...fresh } = await funding({ amount, refund: to(newcomer()) });
  assert.deepEqual([fresh.code, fresh.has], ['not_activated', 0n]);
  assert.equal(fresh.need, amount + energySun + 600_000n);
  assert.match(sentence, /never used.*at least 53980000 sun: 50000000 .*leg and 3980000/);
});

test('a funder who is short gets its funding to sign: its money may still come', async () => {
  const coin = await built(newLeg(chain, { refund: to(newcomer()), amount: 50_000_000n }));
  assert.equal(coin.transactions[0]?.raw_data.fee_limit, 3_380_000);
  const leg = newLeg(chain, { token: chain.token('DevDollar'), amount: 10n ** 30n });
  await approved(leg.terms);
  assert.equal((await built(leg)).transactions.length, 1);
  await tried(leg.terms, 'funding');
});

const { figures } = snapshot;

/** TRON's USDT, as `ownEnergy` reckons with it. Source: public figures. */
const usdt = { balance: 935, allowance: 5_400, mostFactor: 4.4 };

/** The energy of DevCoin, by which the snapshot was measured: whole calls of it on the same TVM. */
const coin = { transfer: 12_961, transferFrom: 18_548, balance: 477 };

test('the reckoned cost covers the snapshot, and by less than a tenth', () => {
  const of = (row: keyof typeof figures) => figures[row].energy;
  const first = of("TRX fund, a lane's first") - of('TRX fund');
  const looks = 2 * (usdt.mostFactor * usdt.balance - coin.balance);
  const allowance = usdt.mostFactor * usdt.allowance;
  const settled = Math.max(of('token claim'), of('token refund')) - coin.transfer;
  const funded = of('token fund, allowance of the amount') - coin.transferFrom + first;
  const needed: { readonly [Each in keyof typeof ownEnergy]: number } = {
    trxFund: of("TRX fund, a lane's first"),
    trxSettle: Math.max(of('TRX claim'), of('TRX refund')),
    newAccount: of('TRX claim, payout not activated') - of('TRX claim'),
    tokenFund: funded + looks + allowance,
    tokenSettle: settled + looks,
    approve: of('token approve, before such a funding'),
  };
  for (const [name, energy] of Object.entries(needed)) {
    const reckoned = Number(ownEnergy[name as keyof typeof ownEnergy]);
    assert.ok(reckoned >= energy && reckoned < 1.1 * energy, `${name}: ${reckoned}, ${energy}`);
  }
});
