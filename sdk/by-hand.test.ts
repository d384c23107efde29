// The commands of docs/dont-trust-verify.md against the code they stand for.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { bytesToHex } from '@noble/hashes/utils.js';
import { parseBitcoinAddress } from '../chains/bitcoin/networks.ts';
import { bitcoinEscrow } from '../chains/bitcoin/plan.ts';
import { evmDeployment, evmEscrow, fundCalls, refundCall } from '../chains/evm/plan.ts';
import { foundryBinary } from '../contracts/evm/anvil.ts';
import { bitcoinView, now, termsOf } from './testing/honest.ts';

const run = promisify(execFile);
const castDir = dirname(foundryBinary('anvil').replaceAll('anvil', 'cast'));

/** The shell blocks of the document, in order. */
async function blocks(): Promise<string[]> {
  const text = await readFile(join(import.meta.dirname, '../docs/dont-trust-verify.md'), 'utf8');
  return [...text.matchAll(/```bash\n([\s\S]*?)```/g)].map(([, block = '']) => block);
}

async function lines(block: string, values: Record<string, string>): Promise<string[]> {
  const PATH = [castDir, process.env.PATH].join(delimiter);
  const env = { ...process.env, ...values, PATH };
  const { stdout } = await run('bash', ['-euc', block], { env, timeout: 60_000 });
  return stdout.trim().split('\n');
}

test('the commands for an EVM escrow give its address and its calls', async () => {
  const terms = termsOf('a', now + 20_000);
  const [block = ''] = await blocks();
  const said = await lines(block, {
    HASHLOCK: terms.hashlock,
    PAYOUT: terms.payout.address,
    REFUND: terms.refund.address,
    TOKEN: terms.token ?? '',
    AMOUNT: terms.amount.toString(),
    TIMELOCK: terms.timelock.toString(),
    FACTORY: evmDeployment.factory,
    PROXY_HASH: evmDeployment.proxyInitCodeHash,
  });
  assert.deepEqual(said, [
    evmEscrow(terms, evmDeployment).address,
    fundCalls(terms, evmDeployment, terms.amount)[0]?.data,
    refundCall(terms, evmDeployment).data,
  ]);
});

test('the commands for a Bitcoin escrow give its script and its output', async () => {
  const terms = termsOf('b', now + 90_000);
  const [, block = ''] = await blocks();
  const said = await lines(block, {
    HASHLOCK: terms.hashlock,
    PAYOUT_KEY: terms.payout.pubkey ?? '',
    REFUND_KEY: terms.refund.pubkey ?? '',
    TIMELOCK: terms.timelock.toString(),
  });
  const { address, redeemScript } = bitcoinEscrow(terms, bitcoinView.network);
  const output = bytesToHex(parseBitcoinAddress(address, bitcoinView.network).script);
  assert.deepEqual(said, [redeemScript, output]);
});
