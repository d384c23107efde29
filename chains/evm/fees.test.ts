import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import gasSnapshot from '../../contracts/escrows/gas.snapshot.json' with { type: 'json' };
import type { EscrowTerms } from '../../core/terms.ts';
import type { Spend } from '../interface/gas.ts';
import { answerOf, type Lie, lyingNode, untilTested } from '../testing/nodes.ts';
import { refuses } from '../testing/refusals.ts';
import { type EvmAdapter, type EvmAdapterOptions, evmAdapter } from './adapter.ts';
import { gasFor, margin } from './fees.ts';
import { escrowGas, untriedGas } from './gas-policy.ts';
import { evmChains } from './policy.ts';
import { deploy, startAnvil } from './testing/anvil.ts';
import {
  adapterOn,
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

const signal = () => AbortSignal.timeout(60_000);
const chain = await startAnvil();
let adapter: EvmAdapter;
before(async () => {
  const { policy } = evmChains['evm-dev'];
  adapter = evmAdapter({ chain: 'evm-dev', chainId: 31_337, rpcUrls: [chain.rpcUrl], policy });
});
after(() => chain.stop());

const to = (address: string) => ({ address, pubkey: null });
const newcomer = () => adapter.parseAddress(`0x${randomBytes(20).toString('hex')}`);
const terms = async (over: Partial<EscrowTerms> = {}) => (await newLeg(chain, over)).terms;

test('what a claim costs is asked of whoever sends it', async () => {
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

test('who may fund or reveal can pay for the claim that is signed, on every chain', async () => {
  for (const { chainId } of Object.values(evmChains)) {
    for (const [token, kind] of [
      [null, 'native'],
      [newcomer(), 'token'],
    ] as const) {
      for (const rules of ['prague', 'amsterdam', 'either'] as const) {
        const wanted = margin * gasFor(chainId, await terms({ token }), 'claim', rules);
        // A wallet offers a fifth above the price.
        const signed = (untriedGas(chainId, kind, rules) * 6n) / 5n;
        assert.ok(signed <= wanted, `${chainId} ${kind}: ${signed}, and ${wanted} is asked for`);
      }
    }
  }
});

test('a funding is reckoned with all that is new in it, by the rules of its fork', async () => {
  const { figures } = gasSnapshot;
  const [native, token] = [await terms(), await terms({ token: newcomer() })];
  for (const fork of ['prague', 'amsterdam'] as const) {
    const at = (row: keyof typeof figures) => figures[row][fork].gas;
    const newWord = at("native fund, a lane's first") - at('native fund');
    const measured = {
      native: at("native fund, a lane's first"),
      token: at('token fund and approval of the amount, two transactions') + 2 * newWord,
    };
    for (const rules of [fork, 'either'] as const) {
      for (const { chainId } of Object.values(evmChains)) {
        assert.ok(Number(gasFor(chainId, native, 'fund', rules)) >= 1.2 * measured.native);
        assert.ok(Number(gasFor(chainId, token, 'fund', rules)) >= 1.2 * measured.token);
      }
    }
    assert.ok(Number(gasFor(1, token, 'fund', fork)) < 1.4 * measured.token);
    // Where gas holds the bytes, or Ethereum is paid on top, there is more of it.
    for (const { chainId } of [evmChains.arbitrum, evmChains.optimism]) {
      const least = 3n * gasFor(1, native, 'fund', fork);
      assert.ok(gasFor(chainId, native, 'fund', fork) >= least, `${chainId}`);
    }
  }
});

test('both parties are warned that have nothing for gas; nobody else is', async () => {
  const poor = await terms({ payout: to(newcomer()), refund: to(newcomer()) });
  const warned = (await adapter.warnings?.(poor, signal())) ?? [];
  assert.deepEqual(
    warned.map(({ verb, code, address }) => [verb, code, address]),
    [
      ['claim', 'fee_poor', poor.payout.address],
      ['fund', 'fee_poor', poor.refund.address],
    ],
  );
  assert.deepEqual(await adapter.warnings?.(await terms(), signal()), []);
});

test('a native leg counts in what its funder needs', async () => {
  const warned = await adapter.warnings?.(await terms({ amount: 10n ** 30n }), signal());
  assert.deepEqual(
    warned?.map(({ verb, address }) => [verb, address]),
    [['fund', funder.address]],
  );
});

const takesAll = '0x6001600c60003960016000f300';

test('of a contract that is paid nobody is warned: another wallet sends its claim', async () => {
  const payout = to(await deploy(chain, takesAll));
  assert.deepEqual(await adapter.warnings?.(await terms({ payout }), signal()), []);
});

const lying = untilTested((lie: Lie) => lyingNode(chain.rpcUrl, lie));

const adapterOf = (over: Partial<EvmAdapterOptions> = {}) => adapterOn(chain, over);

const answerOn = (method: string, params: readonly unknown[]) =>
  answerOf(chain.rpcUrl, method, params);

const limitsOf = (terms: EscrowTerms) =>
  untriedGas(31_337, terms.token === null ? 'native' : 'token', 'prague');

test('gas of a claim is tried without its secret, and is what the claim takes', async () => {
  const heard: string[] = [];
  const ear = await lying(({ method, params }, forward) => {
    heard.push(`${method} ${JSON.stringify(params)}`);
    return forward();
  });
  const adapter = adapterOf({ rpcUrls: [ear.url] });
  const token = await deployToken(chain, 'DevTether');
  await mint(chain, token, funder.address, 10_000n);
  for (const asset of [null, token]) {
    const leg = await newLeg(chain, { token: asset });
    await fund(chain, leg);
    const { terms, secret } = leg;
    const spend: Spend = { verb: 'claim', terms, secret: null };
    const tried = (await adapter.spendGas?.(spend, anyone.address, signal())) ?? 0n;
    assert.ok(heard.some((each) => each.startsWith('eth_estimateGas')));
    assert.ok(heard.every((each) => !each.includes(secret)));
    const open = await adapter.spendGas?.({ ...spend, secret }, anyone.address, signal());
    const hash = await claim(chain, leg);
    const { gasUsed } = await chain.client.getTransactionReceipt({ hash });
    for (const gas of [tried, open ?? 0n]) {
      assert.ok((gas * 5n) / 4n >= gasUsed && gas <= 2n * gasUsed, `${gas} for ${gasUsed}`);
      assert.ok((gas * 5n) / 4n <= limitsOf(terms), `${gas} where nothing can be tried`);
    }
  }
});

test('an escrow that is not open is not tried with the money of others', async () => {
  const others = await newLeg(chain, {});
  await fund(chain, others);
  const [empty, claimed] = [await newLeg(chain, {}), await newLeg(chain, {})];
  await fund(chain, claimed);
  await claim(chain, claimed);
  for (const { terms } of [empty, claimed]) {
    const spend: Spend = { verb: 'claim', terms, secret: null };
    const asked = adapterOf().spendGas?.(spend, anyone.address, signal()) ?? assert.fail();
    await assert.rejects(asked, refuses('nothing_there', /"(never|claimed)"/));
  }
});

test('a node that lends nothing to an estimate, and does not say so, is found out', async () => {
  const node = await lying(async ({ method, params }, forward) =>
    method === 'eth_estimateGas' && params.length > 2
      ? answerOn(method, params.slice(0, 2))
      : forward(),
  );
  const leg = await newLeg(chain, {});
  await fund(chain, leg);
  const spend: Spend = { verb: 'claim', terms: leg.terms, secret: null };
  const asked = adapterOf({ rpcUrls: [node.url] }).spendGas?.(spend, anyone.address, signal());
  await assert.rejects(asked ?? assert.fail(), refuses('chain_unavailable', /lends no state/));
});

test('an estimate above what a transaction may have is none', async () => {
  const leg = await newLeg(chain, {});
  await fund(chain, leg);
  for (const [gas, isTold] of [
    [2n ** 24n, true],
    [2n ** 24n + 1n, false],
  ] as const) {
    const answer = { result: `0x${gas.toString(16)}` };
    const node = await lying(({ method }, forward) =>
      method === 'eth_estimateGas' ? answer : forward(),
    );
    const { terms, secret } = leg;
    const asked = adapterOf({ rpcUrls: [node.url] }).spendGas?.(
      { verb: 'claim', terms, secret },
      anyone.address,
      signal(),
    );
    if (isTold) assert.equal(await asked, gas);
    else
      await assert.rejects(
        asked ?? assert.fail(),
        refuses('chain_unavailable', /above the 16777216/),
      );
  }
});

test('only an error of the escrow itself says that a claim would fail', async () => {
  const leg = await newLeg(chain, {});
  await fund(chain, leg);
  const claimed = await newLeg(chain, {});
  await fund(chain, claimed);
  await claim(chain, claimed);
  const ask = ({ terms, secret }: Leg, rpcUrl: string) =>
    adapterOf({ rpcUrls: [rpcUrl] }).spendGas?.(
      { verb: 'claim', terms, secret },
      anyone.address,
      signal(),
    ) ?? assert.fail();
  await assert.rejects(ask(claimed, chain.rpcUrl), refuses('payout_would_fail', /NotOpen/));
  const args = ['20', '2'].map((word) => word.padStart(64, '0'));
  // Error("no").
  const data = `0x08c379a0${args.join('')}${'6e6f'.padEnd(64, '0')}`;
  for (const error of [
    { code: -32_601, message: 'the method does not exist' },
    { code: 3, message: 'execution reverted', data },
    { code: -32_000, message: 'gas required exceeds allowance' },
  ]) {
    const node = await lying(({ method }, forward) =>
      method === 'eth_estimateGas' ? { error } : forward(),
    );
    await assert.rejects(ask(leg, node.url), refuses('chain_unavailable', /eth_estimateGas/));
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
    for (const [fork, rules] of [
      ['prague', 'prague'],
      ['prague', 'either'],
      ['amsterdam', 'amsterdam'],
      ['amsterdam', 'either'],
    ] as const) {
      const native = Number(untriedGas(chainId, 'native', rules));
      const token = Number(untriedGas(chainId, 'token', rules));
      for (const verb of ['claim', 'refund'] as const) {
        const settles = (asset: 'native' | 'token') => figures[`${asset} ${verb}`][fork].gas;
        assert.ok(native >= 1.25 * (settles('native') + makes[fork].account), `${native} ${fork}`);
        assert.ok(token >= 2 * (settles('token') + makes[fork].word), `${token} ${fork}`);
        assert.ok(token >= 3.5 * settles('token'));
      }
    }
  }
});

test('the gas of our own transactions is what was measured on each fork', () => {
  const { figures } = gasSnapshot;
  for (const fork of ['prague', 'amsterdam'] as const) {
    const at = (row: keyof typeof figures) => figures[row][fork].gas;
    const gas = escrowGas(fork);
    for (const [kept, measured] of [
      [gas.native.fund, at('native fund')],
      [gas.native.settle, Math.max(at('native claim'), at('native refund'))],
      [gas.token.fund, at('token fund, allowance standing')],
      [gas.token.settle, Math.max(at('token claim'), at('token refund'))],
      [gas.approve, at('token approval of the amount')],
      [gas.authorized, at("token fund by authorization, a lane's first")],
      [gas.native.fund + gas.newWord, at("native fund, a lane's first")],
      [gas.native.settle + gas.newAccount, at('native claim, payout never used')],
      [gas.token.settle + gas.newWord, at('token claim, payout holds none')],
    ] as const) {
      assert.equal(Number(kept), measured, fork);
    }
  }
});
