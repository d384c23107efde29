import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import escrowsPinned from '@parley/contracts/escrows/deployment.json' with { type: 'json' };
import { contractId } from '@parley/core/rules.ts';
import { policies } from '@parley/core/testing.ts';
import { bitcoinAdapter } from '../bitcoin/adapter.ts';
import { escrowScript } from '../bitcoin/escrow-script.ts';
import { bitcoinContract, escrowTree } from '../bitcoin/escrow-tree.ts';
import { bitcoinNetworks } from '../bitcoin/networks.ts';
import { evmAdapter } from '../evm/adapter.ts';
import { parseEvmAddress } from '../evm/address.ts';
import { evmContract } from '../evm/plan.ts';

const nowhere = 'http://127.0.0.1:9';
const policy = policies.ethereum;
const head = (digest: string) => digest.replace('0x', '').slice(0, 16);

const version = head(escrowsPinned.initCode.keccak256);

test('EVM: where the contract is, and the head of the digest of its init code', () => {
  const { contract } = evmAdapter({ chain: 'x', chainId: 1, rpcUrls: [nowhere], policy });
  assert.deepEqual(contract, { address: escrowsPinned.address, version });
  // However it is written: case says nothing.
  const elsewhere = `0x${'fa'.repeat(20)}`;
  const moved = evmContract({ contract: elsewhere });
  assert.equal(contractId(moved), `${parseEvmAddress(elsewhere)}:${version}`);
});

test('Bitcoin: the digest of the templates of both forms, on every network', () => {
  const options = { source: { coreUrl: nowhere }, now: () => 0 };
  for (const network of ['mainnet', 'testnet', 'regtest'] as const) {
    const { contract } = bitcoinAdapter({ chain: 'x', network, ...options });
    assert.deepEqual(contract, bitcoinContract);
  }
  const sample = {
    hashlock: '11'.repeat(32),
    claimer: `02${'22'.repeat(32)}`,
    funder: `03${'33'.repeat(32)}`,
    timelock: 1_800_000_000,
  };
  const { script } = escrowTree(sample, bitcoinNetworks.mainnet);
  const both = createHash('sha256').update(escrowScript(sample)).update(script);
  const template = both.digest('hex').slice(0, 16);
  // Pinned: another template is another version, which customers have to hear of.
  assert.deepEqual(bitcoinContract, { address: null, version: template });
  assert.equal(template, '5b8ed66669d4635d');
});
