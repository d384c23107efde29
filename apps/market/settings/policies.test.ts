import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bitcoinPolicies } from '@parley/chains/bitcoin/policy.ts';
import { evmChains } from '@parley/chains/evm/policy.ts';
import { solanaChains } from '@parley/chains/solana/policy.ts';
import { type ChainSettings, parseChains } from './chains.ts';
import { policyOf } from './policies.ts';

const node = 'http://127.0.0.1:1';

function evm(chainId: number, rest: object = {}): ChainSettings {
  return { family: 'evm', chain: 'x', chainId, rpcUrls: [node], ...rest };
}

test('a chain has the policy of its chain id or network', () => {
  const { policy, depthTag } = policyOf(evm(8_453));
  assert.equal(policy.high.confirmations, 30);
  assert.equal(depthTag, 'safe');
  assert.deepEqual(policyOf(evm(1)), {
    policy: evmChains.ethereum.policy,
    depthTag: null,
    mostDriftSeconds: null,
  });
  for (const [network, expected] of [
    ['mainnet', bitcoinPolicies.mainnet],
    ['signet', bitcoinPolicies.testnet],
    ['regtest', bitcoinPolicies.regtest],
  ] as const) {
    const chain: ChainSettings = { family: 'bitcoin', chain: 'b', network, rpcUrl: node };
    assert.deepEqual(policyOf(chain).policy, expected);
  }
});

test('a policy is named, or given in numbers of its own over the one it is like', () => {
  assert.deepEqual(policyOf(evm(100, { policy: 'base' })), {
    policy: evmChains.base.policy,
    depthTag: 'safe',
    mostDriftSeconds: null,
  });
  const { policy } = policyOf(evm(1, { policy: { normal: { confirmations: 20 } } }));
  const { ethereum } = evmChains;
  const normal = { ...ethereum.policy.normal, confirmations: 20 };
  assert.deepEqual(policy, { ...ethereum.policy, normal });
  const like = policyOf(evm(100, { policy: { like: 'base' }, depthTag: null }));
  assert.deepEqual(like, {
    policy: evmChains.base.policy,
    depthTag: null,
    mostDriftSeconds: null,
  });
  const { high } = policyOf({
    family: 'bitcoin',
    chain: 'b',
    network: 'mainnet',
    rpcUrl: node,
    policy: { high: { confirmations: 10 } },
  }).policy;
  assert.equal(high.confirmations, 10);
});

test('a clock may trail by the whole outage where nobody says otherwise', () => {
  const { windowSeconds: _, ...rest } = evmChains.ethereum.policy;
  const windowOf = (chainId: number, policy: object) => {
    const { values, wrong } = parseChains([evm(chainId, { policy })], 'mainnet');
    assert.deepEqual(wrong, []);
    return policyOf(values[0] as ChainSettings).policy.windowSeconds;
  };
  assert.equal(windowOf(100, rest), null);
  assert.equal(windowOf(100, { ...rest, windowSeconds: 60 }), 60);
  assert.equal(windowOf(100, { like: 'base' }), 12 * 3_600);
  assert.equal(windowOf(1, {}), 0);
  assert.equal(windowOf(1, { windowSeconds: null }), null);
  const broken = [evm(1, { policy: { windowSeconds: -1 } })];
  assert.match(String(parseChains(broken, 'mainnet').wrong), /windowSeconds/);
});

test('a Solana chain’s clock may drift as far as its deadlines hold, and no further', () => {
  const solana = (rest: object = {}): ChainSettings => ({
    family: 'solana',
    chain: 's',
    genesisHash: solanaChains.solana.genesisHash,
    rpcUrls: [node],
    program: '11111111111111111111111111111111',
    ...rest,
  });
  const { driftSeconds } = solanaChains.solana.policy;
  assert.equal(policyOf(solana()).mostDriftSeconds, driftSeconds);
  assert.equal(policyOf(solana({ mostDriftSeconds: 60 })).mostDriftSeconds, 60);
  assert.equal(policyOf(solana({ policy: { driftSeconds: 60 } })).mostDriftSeconds, 60);
  const more = { mostDriftSeconds: driftSeconds + 1 };
  assert.throws(() => policyOf(solana(more)), /is 1801, more than driftSeconds 1800, which holds/);
  const late = { policy: { driftSeconds: driftSeconds + 1 } };
  assert.throws(() => policyOf(solana(late)), /lateClaimSeconds is 1800, less than .* 1801/);
});

test('an unknown, missing or unsound value is refused with its numbers', () => {
  const refused = (chain: ChainSettings, expected: RegExp) =>
    assert.throws(() => policyOf(chain), expected);
  refused(evm(100), /"x" \(id 100\) refused: no policy is known .* floorSeconds, .*high\.outage/);
  refused(evm(1, { policy: 'moon' }), /no policy "moon"; there are: ethereum, sepolia/);
  refused(evm(1, { policy: 'toString' }), /no policy "toString"/);
  refused(evm(1, { policy: 'evm-dev' }), /the policy "evm-dev" is for dev chains only/);
  refused(evm(100, { policy: { like: 'evm-dev' } }), /for dev chains only/);
  refused(
    { family: 'bitcoin', chain: 'b', network: 'mainnet', rpcUrl: node, policy: 'regtest' },
    /the policy "regtest" is for dev chains only/,
  );
  refused(
    evm(1, { policy: { normal: { confirmations: 40 } } }),
    /high\.confirmations is 32, less than normal\.confirmations 40/,
  );
  refused(evm(1, { policy: { floorSeconds: 31 * 86_400 } }), /is more than 2592000 s ahead/);
});
