import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import gasSnapshot from '../../contracts/escrows/gas.snapshot.json' with { type: 'json' };
import type { EscrowTerms } from '../../core/terms.ts';
import { type EvmAdapter, evmAdapter } from './adapter.ts';
import { gasFor, margin } from './fees.ts';
import { untriedGas } from './gas-policy.ts';
import { evmChains } from './policy.ts';
import { deploy, startAnvil } from './testing/anvil.ts';
import { funder, newLeg, receiver } from './testing/swap.ts';

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
    const short = await adapter.purseShortage?.(owed, payer, signal());
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
