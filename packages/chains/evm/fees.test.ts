import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import gasSnapshot from '@parley/contracts/escrows/gas.snapshot.json' with { type: 'json' };
import type { EscrowTerms } from '@parley/core/terms.ts';
import { exchangedIn, type Lie } from '../testing/nodes.ts';
import { refuses } from '../testing/refusals.ts';
import { gasFor, margin } from './fees.ts';
import { untriedGas } from './gas-policy.ts';
import { evmChains } from './policy.ts';
import { deploy } from './testing/anvil.ts';
import {
  anyone,
  claim,
  deployToken,
  fund,
  funder,
  type Leg,
  mint,
  newLeg,
  receiver,
} from './testing/swap.ts';
import { evmWorld } from './testing/world.ts';

const { chain, adapterOf, adapterOver, signal } = await evmWorld();
const adapter = adapterOf();

const forks = ['prague', 'amsterdam'] as const;

const to = (address: string) => ({ address, pubkey: null });
const newcomer = () => adapter.parseAddress(`0x${randomBytes(20).toString('hex')}`);
const terms = async (over: Partial<EscrowTerms> = {}) => (await newLeg(chain, over)).terms;

test('the sender of a claim is asked for its cost', async () => {
  const payout = to(newcomer());
  for (const token of [null, newcomer()]) {
    const leg = await terms({ payout, token });
    const own = await adapter.claimShortage?.(leg, payout.address, signal());
    assert.deepEqual([own?.code, own?.verb, own?.address], ['fee_poor', 'claim', payout.address]);
    assert.match(own?.sentence ?? '', /has 0 wei on evm-dev, .* anybody else may send the claim/);
    assert.equal(await adapter.claimShortage?.(leg, receiver.address, signal()), null);
  }
});

test('a wallet must have all that its claim offers, or is to offer', async () => {
  const { terms: leg } = await newLeg(chain, {});
  const price = await chain.client.getGasPrice();
  const payer = newcomer();
  const needs = async (gas: bigint, feePerGas: bigint | null) => {
    const owed = { claims: [leg], fundings: [], offered: { gas, feePerGas } };
    const short = await adapter.fundsShortage?.(owed, payer, signal());
    const said = / has 0 wei on evm-dev, and to send a claim with (\d+) gas may take (\d+)/;
    const [, named, need] = said.exec(short?.sentence ?? '') ?? [];
    assert.equal(named, `${gas}`, short?.sentence);
    return BigInt(need ?? 0);
  };
  assert.equal(await needs(500_000n, 7n * price), 3_500_000n * price);
  // A fifth above the price, which is rounded up.
  const fifth = (await needs(500_000n, null)) - 600_000n * price;
  assert.ok(fifth >= 0n && fifth < 500_000n, `${fifth}`);
  // Never less than without.
  assert.equal(await needs(1n, 1n), margin * gasFor(31_337, leg, 'claim', 'prague') * price);
});

test('a party that may fund or reveal can pay for the claim that is signed, on every chain', async () => {
  for (const { chainId } of Object.values(evmChains)) {
    for (const [token, kind] of [
      [null, 'native'],
      [newcomer(), 'token'],
    ] as const) {
      for (const fork of forks) {
        const wanted = margin * gasFor(chainId, await terms({ token }), 'claim', fork);
        // A wallet offers a fifth above the price.
        const signed = (untriedGas(chainId, kind, fork) * 6n) / 5n;
        assert.ok(signed <= wanted, `${chainId} ${kind}: ${signed}, and ${wanted} is asked for`);
      }
    }
  }
});

test('a wallet is asked for the gas of the fork that may be in force when it claims', async () => {
  const { terms: leg } = await newLeg(chain, {});
  const payer = newcomer();
  const price = await chain.client.getGasPrice();
  const said = (current: number, next: number | null) => {
    const config = next === null ? null : { activationTime: next };
    return { result: { current: { activationTime: current }, next: config } };
  };
  for (const [answer, fork] of [
    [said(0, null), 'prague'],
    [said(0, leg.timelock + 1), 'prague'],
    [said(0, leg.timelock), 'amsterdam'],
    [said(1, null), 'amsterdam'],
    [{ result: null }, 'amsterdam'],
    [{ error: { code: -32_601, message: 'the method does not exist' } }, 'amsterdam'],
    [{ status: 403 }, 'amsterdam'],
  ] as const) {
    const by = await adapterOver(({ method }, forward) =>
      method === 'eth_config' ? answer : forward(),
    );
    const short = await by.claimShortage?.(leg, payer, signal());
    assert.equal(short?.need, margin * gasFor(31_337, leg, 'claim', fork) * price, fork);
    assert.equal(await by.untriedGas?.(leg, signal()), untriedGas(31_337, 'native', fork));
  }
});

test('a funding is reckoned with all that is new in it, by the rules of its fork', async () => {
  const { figures } = gasSnapshot;
  const native = await terms();
  const token = await terms({ token: newcomer() });
  for (const fork of forks) {
    const at = (row: keyof typeof figures) => figures[row][fork].gas;
    const newWord = at("native fund, a lane's first") - at('native fund');
    const measured = {
      native: at("native fund, a lane's first"),
      token: at('token fund and approval of the amount, two transactions') + 2 * newWord,
    };
    for (const { chainId } of Object.values(evmChains)) {
      assert.ok(Number(gasFor(chainId, native, 'fund', fork)) >= 1.2 * measured.native);
      assert.ok(Number(gasFor(chainId, token, 'fund', fork)) >= 1.2 * measured.token);
    }
    assert.ok(Number(gasFor(1, token, 'fund', fork)) < 1.4 * measured.token);
    // Where gas holds the bytes, or Ethereum is paid on top, there is more of it.
    for (const { chainId } of [evmChains.arbitrum, evmChains.optimism]) {
      const least = 3n * gasFor(1, native, 'fund', fork);
      assert.ok(gasFor(chainId, native, 'fund', fork) >= least, `${chainId}`);
    }
  }
});

test('both parties are warned that have nothing for gas; a native leg counts in what it takes', async () => {
  const warned = async (over: Partial<EscrowTerms> = {}) =>
    ((await adapter.warnings?.(await terms(over), signal())) ?? []).map(
      ({ verb, code, address }) => [verb, code, address] as const,
    );
  const payout = newcomer();
  const refund = newcomer();
  assert.deepEqual(await warned({ payout: to(payout), refund: to(refund) }), [
    ['claim', 'fee_poor', payout],
    ['fund', 'fee_poor', refund],
  ]);
  assert.deepEqual(await warned(), []);
  assert.deepEqual(await warned({ amount: 10n ** 30n }), [['fund', 'fee_poor', funder.address]]);
  // A contract is paid by whoever sends its claim.
  const takesAll = '0x6001600c60003960016000f300';
  assert.deepEqual(await warned({ payout: to(await deploy(chain, takesAll)) }), []);
});

test('all that the warnings of both sides ask leaves in one exchange, and all of a claim', async () => {
  const leg = await terms();
  await adapter.open(signal());
  const asked = ['config', 'gasPrice', 'getBalance', 'getBalance', 'getCode', 'getCode'];
  assert.deepEqual(await exchangedIn(async () => adapter.warnings?.(leg, signal())), [
    asked.map((each) => `eth_${each}`),
  ]);
  const claim = async () => adapter.claimShortage?.(leg, anyone.address, signal());
  assert.equal((await exchangedIn(claim)).length, 1);
});

const spent = async ({ terms: of, secret }: Pick<Leg, 'terms' | 'secret'>, by = adapter) =>
  (await by.spendGas?.({ verb: 'claim', terms: of, secret }, anyone.address, signal())) ??
  assert.fail();
const untried = async ({ terms: of }: Leg, by = adapter) =>
  (await by.spendGas?.({ verb: 'claim', terms: of, secret: null }, anyone.address, signal())) ??
  assert.fail();
const funded = async (over: Partial<EscrowTerms> = {}) => {
  const leg = await newLeg(chain, over);
  await fund(chain, leg);
  return leg;
};

test('gas of a claim is tried without its secret, and is what the claim takes', async () => {
  const heard: string[] = [];
  const ear = await adapterOver(({ method, params }, forward) => {
    heard.push(`${method} ${JSON.stringify(params)}`);
    return forward();
  });
  const token = await deployToken(chain, 'DevTether');
  await mint(chain, token, funder.address, 10_000n);
  for (const [asset, kind] of [
    [null, 'native'],
    [token, 'token'],
  ] as const) {
    const leg = await funded({ token: asset });
    const tried = await untried(leg, ear);
    assert.ok(heard.some((each) => each.startsWith('eth_estimateGas')));
    assert.ok(heard.every((each) => !each.includes(leg.secret)));
    const open = await spent(leg, ear);
    const hash = await claim(chain, leg);
    const { gasUsed } = await chain.client.getTransactionReceipt({ hash });
    for (const gas of [tried, open]) {
      const most = (gas * 5n) / 4n;
      assert.ok(most >= gasUsed && gas <= 2n * gasUsed, `${gas} for ${gasUsed}`);
      assert.ok(most <= untriedGas(31_337, kind, 'prague'), `${gas} where nothing can be tried`);
    }
  }
});

/** An adapter whose node gives this answer to a request for an estimate. */
const estimating = (answer: Awaited<ReturnType<Lie>> & object) =>
  adapterOver(({ method }, forward) => (method === 'eth_estimateGas' ? answer : forward()));

test('an estimate above what a transaction may have is none', async () => {
  const leg = await funded();
  const most = 2n ** 24n;
  const saying = (gas: bigint) => estimating({ result: `0x${gas.toString(16)}` });
  assert.equal(await spent(leg, await saying(most)), most);
  const above = spent(leg, await saying(most + 1n));
  await assert.rejects(above, refuses('chain_unavailable', /above the 16777216/));
});

test('only an error of the escrow itself says that a claim would fail', async () => {
  const leg = await funded();
  const claimed = await funded();
  await claim(chain, claimed);
  await assert.rejects(spent(claimed), refuses('payout_would_fail', /NotOpen/));
  const args = ['20', '2'].map((word) => word.padStart(64, '0'));
  // Error("no").
  const data = `0x08c379a0${args.join('')}${'6e6f'.padEnd(64, '0')}`;
  for (const error of [
    { code: -32_601, message: 'the method does not exist' },
    { code: 3, message: 'execution reverted', data },
    { code: -32_000, message: 'gas required exceeds allowance' },
  ]) {
    const asked = spent(leg, await estimating({ error }));
    await assert.rejects(asked, refuses('chain_unavailable', /eth_estimateGas/));
  }
});

test('the limits where nothing can be tried do on their fork, whatever a settlement makes', () => {
  const { figures } = gasSnapshot;
  // An account takes 25 000 by Prague's rules, and 120 bytes of state at 1 530 by Amsterdam's.
  const makes = {
    prague: { account: 25_000, word: 17_100 },
    amsterdam: { account: 183_600, word: 97_920 },
  };
  for (const { chainId } of Object.values(evmChains)) {
    for (const fork of forks) {
      const native = Number(untriedGas(chainId, 'native', fork));
      const token = Number(untriedGas(chainId, 'token', fork));
      for (const verb of ['claim', 'refund'] as const) {
        const settles = (asset: 'native' | 'token') => figures[`${asset} ${verb}`][fork].gas;
        assert.ok(native >= 1.25 * (settles('native') + makes[fork].account), `${native} ${fork}`);
        assert.ok(token >= 2 * (settles('token') + makes[fork].word), `${token} ${fork}`);
        assert.ok(token >= 3.5 * settles('token'));
      }
    }
  }
});
