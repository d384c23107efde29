import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import snapshot from '../../contracts/escrows/energy.snapshot.json' with { type: 'json' };
import type { EscrowTerms } from '../../core/terms.ts';
import { freshLane } from '../../core/testing.ts';
import type { TronMaterial } from '../interface/material.ts';
import { untilTested } from '../testing/nodes.ts';
import { refuses } from '../testing/refusals.ts';
import { type TronAdapter, tronAdapter } from './adapter.ts';
import { ownEnergy } from './energy.ts';
import { httpClient } from './http.ts';
import { accountOf } from './node.ts';
import { fundCalls } from './plan.ts';
import { tronDevPolicy } from './policy.ts';
import {
  anyone,
  claim,
  deploy,
  fund,
  funder,
  type Leg,
  newcomer,
  newLeg,
  sendAndMine,
  signAll,
  signal,
  startTron,
  type TestChain,
} from './testing/chain.ts';
import { type Lie, lyingNode } from './testing/nodes.ts';
import { deployCoin } from './testing/tokens.ts';

/** Reverts whatever it is called with. */
const rejecting = '60006000fd';
/** A token of which everybody has more than enough, and which never moves. */
const stuck = '60003560e01c63a9059cbb14601a576000196000526020 6000f35b60006000fd'.replace(' ', '');

const chain = await startTron();
let adapter: TronAdapter;
before(async () => {
  adapter = adapterAt(chain.url);
});
after(() => chain.stop());
const lying = untilTested((lie: Lie) => lyingNode(chain.url, lie));

function adapterAt(url: string): TronAdapter {
  const { deployment } = chain;
  return tronAdapter({ chain: 'tron-dev', deployment, sources: [{ url }], policy: tronDevPolicy });
}

const to = (address: string) => ({ address, pubkey: null });
const legOf = (over: Partial<EscrowTerms> = {}) => newLeg(chain, over);

test('TRX, tokens that answer true, false or nothing: nothing is in the way', async () => {
  for (const name of ['ReturnsFalse', 'DevDollar', 'DevTether', null]) {
    const { terms } = legOf(name === null ? {} : { token: chain.token(name) });
    await adapter.preflight(terms, 'payout', signal());
    await adapter.preflight(terms, 'funding', signal());
    const held = async (refund = terms.refund) => adapter.held?.({ ...terms, refund }, signal());
    assert.ok(((await held()) ?? 0n) >= terms.amount);
    assert.equal(await held(to(newcomer())), 0n);
  }
});

test('a payout contract that rejects TRX is found', async () => {
  const { terms } = legOf({ payout: to(await deploy(chain, rejecting)) });
  const fails = refuses('payout_would_fail', /1000 of TRX \(sun\).*payout address T\w+ would fail/);
  await assert.rejects(adapter.preflight(terms, 'payout', signal()), fails);
  await assert.rejects(adapter.preflight(terms, 'funding', signal()), fails);
});

test('a refund contract that rejects TRX is found too', async () => {
  // The contract itself has what it will have to pay back.
  await fund(chain, legOf());
  const { terms } = legOf({ refund: to(await deploy(chain, rejecting)) });
  const fails = refuses('payout_would_fail', /1000 of TRX \(sun\).*refund address T\w+ would fail/);
  await assert.rejects(adapter.preflight(terms, 'payout', signal()), fails);
  await assert.rejects(adapter.preflight(terms, 'funding', signal()), fails);
});

test('an address that takes TRX because it has no code needs no trial', async () => {
  const { terms } = legOf({ payout: to(newcomer()) });
  await adapter.preflight(terms, 'payout', signal());
});

test('a token that does not move is found, and one that is none', async () => {
  const { terms } = legOf({ token: await deploy(chain, stuck) });
  const fails = refuses(
    'payout_would_fail',
    /to the payout address T\w+ would fail: it fails: REVERT/,
  );
  await assert.rejects(adapter.preflight(terms, 'payout', signal()), fails);
  const fund = adapter.preflight(terms, 'funding', signal());
  await assert.rejects(fund, refuses('funding_would_fail', /would gain 0 instead of 1000/));
  const none = legOf({ token: newcomer() });
  const nothing = refuses('payout_would_fail', /there is no contract at T/);
  await assert.rejects(adapter.preflight(none.terms, 'payout', signal()), nothing);
});

test('a token that takes a fee is found as soon as it is approved', async () => {
  const { terms, escrow } = legOf({ token: chain.token('FeeToken') });
  await adapter.preflight(terms, 'funding', signal());
  const [approve] = fundCalls(terms, chain.deployment, 0n);
  assert.ok(approve);
  await sendAndMine(chain, funder, approve);
  const fee = refuses('funding_would_fail', /would gain 990 instead of 1000: a fee on transfers\?/);
  await assert.rejects(adapter.preflight(terms, 'funding', signal()), fee);
  const build = adapter.buildFund({ escrow, feeRateSatPerVbyte: null }, signal());
  await assert.rejects(build, fee);
});

test('a timelock out of bounds is found, with the bounds', async () => {
  for (const timelock of [chain.now() + 60, chain.now() + 31 * 86_400]) {
    const { terms } = legOf({ timelock });
    const bounds = refuses('funding_would_fail', /is not between .*30 minutes to 30 days ahead/);
    await assert.rejects(adapter.preflight(terms, 'funding', signal()), bounds);
    await adapter.preflight(terms, 'payout', signal());
  }
});

test('a funder with too little is not refused: its money may still come', async () => {
  await adapter.preflight(legOf({ refund: to(newcomer()) }).terms, 'funding', signal());
  const poor = { token: chain.token('DevDollar'), refund: to(newcomer()) };
  await adapter.preflight(legOf(poor).terms, 'funding', signal());
});

test('terms that lose money are refused before any trial', async () => {
  const terms = { ...legOf().terms, payout: to(chain.deployment.contract) };
  const lost = refuses('bad_address', /is the escrow contract/);
  await assert.rejects(adapter.preflight(terms, 'payout', signal()), lost);
});

test('nobody is warned who can pay for what it has to send', async () => {
  assert.deepEqual(await adapter.warnings(legOf().terms, signal()), []);
  const token = legOf({ token: chain.token('ReturnsFalse') });
  assert.deepEqual(await adapter.warnings(token.terms, signal()), []);
});

test('addresses that were never used are named, with what they need', async () => {
  const [payout, refund] = [newcomer(), newcomer()];
  const { terms } = legOf({ payout: to(payout), refund: to(refund) });
  const [claim, fund, ...more] = await adapter.warnings(terms, signal());
  assert.deepEqual(more, []);
  // 1.3 times 41 000 energy at 100 sun, and 600 bytes at 1 000
  assert.deepEqual(
    { ...claim, sentence: '' },
    {
      code: 'not_activated',
      verb: 'claim',
      address: payout,
      need: 5_330_000n + 600_000n,
      has: 0n,
      sentence: '',
    },
  );
  assert.match(claim?.sentence ?? '', /never used on tron-dev.*5930000 sun.*anybody else may/);
  assert.deepEqual([fund?.verb, fund?.address, fund?.code], ['fund', refund, 'not_activated']);
});

test('one that cannot burn enough is named, and staked energy counts', async () => {
  const { address } = anyone;
  const { terms } = legOf({ payout: to(address) });
  const [balance, energy]: { value: number }[] = [{ value: 0 }, { value: 0 }] as never;
  const lie: Lie = ({ path, body }, forward) => {
    if (body.address === undefined || !String(body.address).startsWith('41')) return forward();
    if (path === 'wallet/getaccount') {
      return { body: { address: body.address, balance: balance?.value } };
    }
    if (path !== 'wallet/getaccountresource') return forward();
    return { body: { EnergyLimit: energy?.value, freeNetLimit: 600 } };
  };
  const node = await lying(lie);
  const warned = async (sun: number, staked: number) => {
    Object.assign(balance as object, { value: sun });
    Object.assign(energy as object, { value: staked });
    const warnings = await adapterAt(node.url).warnings(terms, signal());
    return warnings.filter(({ verb }) => verb === 'claim').map(({ code }) => code);
  };
  // 1.3 times 16 000 energy at 100 sun
  assert.deepEqual(await warned(2_080_000, 0), []);
  assert.deepEqual(await warned(2_079_999, 0), ['energy_poor']);
  assert.deepEqual(await warned(0, 20_800), []);
  assert.deepEqual(await warned(0, 20_799), ['energy_poor']);
  assert.deepEqual(await warned(100, 20_799), []);
});

test('what the funder pays in does not pay for its energy: it is told what it has, and needs', async () => {
  const http = httpClient({ chain: 'tron-dev', sources: [{ url: chain.url }] });
  const { balance = 0n } = (await accountOf(http, funder.address, signal())) ?? {};
  const funding = async (over: Partial<EscrowTerms>) => {
    const warnings = await adapter.warnings(legOf(over).terms, signal());
    return warnings.find(({ verb }) => verb === 'fund');
  };
  // 1.3 times 26 000 energy at 100 sun; of its free bandwidth enough may be left
  const energySun = 3_380_000n;
  for (const amount of [balance, balance + 40_000_000n]) {
    const warning = await funding({ amount });
    const bytesSun = (warning?.need ?? 0n) - amount - energySun;
    assert.ok(bytesSun === 0n || bytesSun === 600_000n, `${bytesSun}`);
    assert.deepEqual([warning?.code, warning?.has], ['energy_poor', balance]);
    const words = new RegExp(
      `has ${balance} sun .*to fund may take ${warning?.need} sun: ${amount} .*leg and ` +
        `${energySun + bytesSun} for energy and bandwidth`,
    );
    assert.match(warning?.sentence ?? '', words);
  }
  const amount = 50_000_000n;
  const fresh = await funding({ amount, refund: to(newcomer()) });
  assert.deepEqual([fresh?.code, fresh?.has], ['not_activated', 0n]);
  assert.equal(fresh?.need, amount + energySun + 600_000n);
  assert.match(
    fresh?.sentence ?? '',
    /never used.*at least 53980000 sun: 50000000 .*leg and 3980000/,
  );
});

test('the approvals that a funding needs are part of what it takes', async () => {
  const token = chain.token('ReturnsFalse');
  const refund = to(newcomer());
  const warnings = await adapter.warnings(legOf({ token, refund }).terms, signal());
  const { need = 0n, sentence = '' } = warnings.find(({ verb }) => verb === 'fund') ?? {};
  // 60 000 for the funding without its transfer, which nobody without money can try (130 000),
  // and 22 141 for the approval; of each transaction 600 bytes
  const energy = (190_000n * 13n) / 10n + (22_141n * 13n + 9n) / 10n;
  assert.equal(need, energy * 100n + 1_200_000n);
  assert.match(sentence, new RegExp(`at least ${need} sun for energy and bandwidth$`));
});

test('a funder who is short gets its funding to sign: its money may still come', async () => {
  const build = (terms: EscrowTerms) => {
    const escrow = { ...legOf().escrow, terms };
    return adapter.buildFund({ escrow, feeRateSatPerVbyte: null }, signal());
  };
  const coin = await build(legOf({ refund: to(newcomer()), amount: 50_000_000n }).terms);
  assert.equal((coin as TronMaterial).transactions[0]?.raw_data.fee_limit, 3_380_000);
  const token = chain.token('Blacklist');
  const amount = 10n ** 30n;
  const { terms } = legOf({ token, amount });
  const [approve] = fundCalls(terms, chain.deployment, 0n);
  assert.ok(approve);
  await sendAndMine(chain, funder, approve);
  const { transactions } = (await build(terms)) as TronMaterial;
  assert.equal(transactions.length, 1);
  await adapter.preflight(terms, 'funding', signal());
});

test('after the funding the contract itself stands for the payment', async () => {
  const leg = legOf({ token: chain.token('DevDollar') });
  await fund(chain, leg);
  await adapter.preflight({ ...leg.terms, refund: to(newcomer()) }, 'payout', signal());
});

test('once a leg is funded, a refund address that would refuse its money stops no reveal', async () => {
  const leg = legOf();
  await fund(chain, leg);
  const terms = { ...leg.terms, refund: to(await deploy(chain, rejecting)) };
  await assert.rejects(adapter.preflight(terms, 'payout', signal()));
  await adapter.preflight(terms, 'claim', signal());
  const picky = { ...leg.terms, payout: to(await deploy(chain, rejecting)) };
  const fails = refuses('payout_would_fail', /payout address/);
  await assert.rejects(adapter.preflight(picky, 'claim', signal()), fails);
});

test('what a claim costs is asked of whoever sends it', async () => {
  const { terms } = legOf({ payout: to(newcomer()) });
  const own = await adapter.claimShortage?.(terms, terms.payout.address, signal());
  assert.deepEqual([own?.code, own?.verb], ['not_activated', 'claim']);
  assert.equal(await adapter.claimShortage?.(terms, anyone.address, signal()), null);
});

test('energy that somebody else lent pays for no claim, and what is staked does', async () => {
  const payout = to(newcomer());
  const { terms } = legOf({ payout });
  const claimable = async (account: { [name: string]: unknown }) => {
    const lie: Lie = async ({ path }, forward) => {
      if (/getaccountresource$/.test(path)) {
        return { body: { freeNetLimit: 600, EnergyLimit: 600_000, EnergyUsed: 0 } };
      }
      if (!/getaccount$/.test(path)) return forward();
      return { body: { address: 'it was used', ...account } };
    };
    const node = await lyingNode(chain.url, lie);
    const sources = [{ url: node.url }];
    const { deployment } = chain;
    const asked = tronAdapter({ chain: 'tron-dev', deployment, sources, policy: tronDevPolicy });
    const short = await asked.claimShortage?.(terms, payout.address, signal());
    await node.stop();
    return short === null;
  };
  const lent = { acquired_delegated_frozenV2_balance_for_energy: 9_000_000_000 };
  const staked = [{ amount: 5 }, { type: 'ENERGY', amount: 9_000_000_000 }];
  assert.equal(await claimable({ account_resource: lent }), false);
  assert.equal(await claimable({ balance: 50_000_000, account_resource: lent }), true);
  assert.equal(await claimable({ frozenV2: staked }), true);
  assert.equal(await claimable({ frozenV2: staked, account_resource: lent }), true);
});

const { figures } = snapshot;

async function fundAsBuilt(chain: TestChain, { escrow }: Leg): Promise<number[]> {
  const { deployment, url } = chain;
  const sources = [{ url }];
  const adapter = tronAdapter({ chain: 'tron-dev', deployment, sources, policy: tronDevPolicy });
  const material = await adapter.buildFund({ escrow, feeRateSatPerVbyte: null }, signal());
  const energies: number[] = [];
  for (const signed of signAll(funder, material as TronMaterial)) {
    const read = await adapter.readSigned(signed, signal());
    await adapter.broadcast(read, signal());
    await chain.dev.mine(1);
    const place = chain.dev.simulator.chain.find(read.txid);
    const { receipt } = place?.block.transactions[place.index]?.info ?? {};
    assert.equal(receipt?.result, 'SUCCESS');
    energies.push(receipt?.energy_usage_total as number);
  }
  await adapter.close();
  return energies;
}

test('TRX fundings as they are built take the energy of the snapshot', async () => {
  const chain = await startTron();
  try {
    const { number } = freshLane();
    const first = newLeg(chain, { lane: { number, counter: 1 } });
    const own = figures["TRX fund, a lane's first"];
    assert.deepEqual(await fundAsBuilt(chain, first), [own.energy]);
    await claim(chain, first);
    const again = newLeg(chain, { lane: { number, counter: 2 } });
    assert.deepEqual(await fundAsBuilt(chain, again), [figures['TRX fund'].energy]);
  } finally {
    await chain.stop();
  }
});

test('token fundings as they are built take the energy of the snapshot', async () => {
  const chain = await startTron();
  try {
    const { number } = freshLane();
    const plain = { [funder.address]: 10n ** 12n, [chain.deployment.contract]: 1n };
    const token = await deployCoin(chain, 'DevCoin', plain);
    const approve = figures['token approve, before such a funding'].energy;
    const used = figures['token fund, allowance of the amount'].energy;
    const standing = figures['token fund, allowance standing'].energy;
    const extra = figures["token fund, a lane's first"].energy - standing;
    const first = newLeg(chain, { token, lane: { number, counter: 1 } });
    assert.deepEqual(await fundAsBuilt(chain, first), [approve, used + extra]);
    await claim(chain, first);
    const again = newLeg(chain, { token, lane: { number, counter: 2 } });
    assert.deepEqual(await fundAsBuilt(chain, again), [approve, used]);
    await claim(chain, again);
    const dearest = await deployCoin(chain, 'FalseCoin', { [funder.address]: 10n ** 12n });
    const cold = newLeg(chain, { token: dearest, lane: { number, counter: 3 } });
    const [, energy] = await fundAsBuilt(chain, cold);
    assert.equal(energy, figures['token that answers false, fund, held none'].energy);
  } finally {
    await chain.stop();
  }
});

/** TRON's USDT, as `ownEnergy` reckons with it. Source: public figures. */
const usdt = { balance: 935, allowance: 5_400, mostFactor: 4.4 };

/** Of DevCoin, by which the snapshot was measured: whole calls of it on the same TVM. */
const coin = { transfer: 12_961, transferFrom: 18_548, balance: 477 };

test('what is reckoned with covers the snapshot, and by less than a tenth', () => {
  const first = figures["TRX fund, a lane's first"].energy - figures['TRX fund'].energy;
  const looks = 2 * (usdt.mostFactor * usdt.balance - coin.balance);
  const tokenFund =
    figures['token fund, allowance of the amount'].energy -
    coin.transferFrom +
    first +
    looks +
    usdt.mostFactor * usdt.allowance;
  const needed: { readonly [Each in keyof typeof ownEnergy]: number } = {
    trxFund: figures["TRX fund, a lane's first"].energy,
    trxSettle: Math.max(figures['TRX claim'].energy, figures['TRX refund'].energy),
    newAccount: figures['TRX claim, payout not activated'].energy - figures['TRX claim'].energy,
    tokenFund,
    tokenSettle:
      Math.max(figures['token claim'].energy, figures['token refund'].energy) -
      coin.transfer +
      looks,
    approve: figures['token approve, before such a funding'].energy,
  };
  for (const [name, energy] of Object.entries(needed)) {
    const reckoned = Number(ownEnergy[name as keyof typeof ownEnergy]);
    assert.ok(reckoned >= energy && reckoned < 1.1 * energy, `${name}: ${reckoned}, ${energy}`);
  }
});
