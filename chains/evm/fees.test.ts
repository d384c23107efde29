// Whether a wallet can pay for what it has to send, on a node.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { EscrowTerms } from '../../core/terms.ts';
import { type EvmAdapter, evmAdapter } from './adapter.ts';
import { evmChains } from './policy.ts';
import { deploy, startAnvil, type TestChain } from './testing/anvil.ts';
import { funder, newLeg, receiver } from './testing/swap.ts';

const signal = () => AbortSignal.timeout(60_000);
let chain: TestChain;
let adapter: EvmAdapter;
before(async () => {
  chain = await startAnvil();
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

/** Code that stops at once. */
const takesAll = '0x6001600c60003960016000f300';

test('of a contract that is paid nobody is warned: another wallet sends its claim', async () => {
  const payout = to(await deploy(chain, takesAll));
  assert.deepEqual(await adapter.warnings?.(await terms({ payout }), signal()), []);
});
