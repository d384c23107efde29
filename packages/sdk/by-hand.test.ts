// The commands of docs/dont-trust-verify.md against the code they stand for.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { bytesToHex } from '@noble/hashes/utils.js';
import { parseBitcoinAddress } from '@parley/chains/bitcoin/networks.ts';
import { bitcoinEscrow } from '@parley/chains/bitcoin/plan.ts';
import { evmDeployment, evmEscrow, fundCalls, refundCall } from '@parley/chains/evm/plan.ts';
import { startAnvil } from '@parley/chains/evm/testing/anvil.ts';
import { deployToken, fund, funder, mint, newLeg } from '@parley/chains/evm/testing/swap.ts';
import { solanaDeployment, solanaEscrow } from '@parley/chains/solana/plan.ts';
import { tronEscrow } from '@parley/chains/tron/plan.ts';
import * as onTron from '@parley/chains/tron/testing/chain.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { bitcoinView, evmView } from './testing/honest.ts';
import { termsOn, tronView } from './testing/materials.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const text = readFileSync(join(root, 'docs/dont-trust-verify.md'), 'utf8');
/** The shell blocks of the document, in order. */
const [onEvm = '', onAnvil = '', onBitcoin = '', ofTron = '', onTronChain = '', ofSolana = ''] = [
  ...text.matchAll(/```bash\n([\s\S]*?)```/g),
].map(([, block = '']) => block);

async function lines(block: string, values: Record<string, string> = {}): Promise<string[]> {
  const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter);
  const env = { ...process.env, ...values, PATH };
  const { stdout } = await run('bash', ['-euc', block], { cwd: root, env, timeout: 60_000 });
  return stdout.trim().split('\n');
}

/** As the commands take them. */
const placeOf = ({ lane, fundBefore }: EscrowTerms) => ({
  LANE: lane?.number ?? '',
  COUNTER: String(lane?.counter),
  FUND_BEFORE: String(fundBefore),
});
const valuesOf = (terms: EscrowTerms) => ({
  HASHLOCK: terms.hashlock,
  PAYOUT: terms.payout.address,
  REFUND: terms.refund.address,
  PAYOUT_KEY: terms.payout.pubkey ?? '',
  REFUND_KEY: terms.refund.pubkey ?? '',
  TOKEN: terms.token ?? '',
  MINT: terms.token ?? '1'.repeat(32),
  AMOUNT: terms.amount.toString(),
  TIMELOCK: terms.timelock.toString(),
  ...placeOf(terms),
});

test('the commands for an EVM escrow give its address and its calls', async () => {
  const terms = termsOn('evm', true);
  const { deployment, chainId } = evmView;
  const where = { CONTRACT: deployment.contract, CHAIN_ID: String(chainId) };
  assert.deepEqual(await lines(onEvm, { ...valuesOf(terms), ...where }), [
    evmEscrow(terms, evmDeployment(31_337)).address,
    fundCalls(terms, deployment, terms.amount)[0]?.data,
    refundCall(terms, deployment).data,
  ]);
});

test('the commands for an EVM escrow on chain give its state and the balance at depth', async () => {
  const chain = await startAnvil();
  try {
    const coin = await newLeg(chain);
    const dollar = await deployToken(chain, 'DevDollar');
    await mint(chain, dollar, funder.address, 5_000n);
    const token = await newLeg(chain, { token: dollar, amount: 2_000n });
    for (const leg of [coin, token]) {
      const [CONTRACT = '', ID = ''] = leg.escrow.address.split(':');
      const TOKEN = leg.terms.token ?? `0x${'0'.repeat(40)}`;
      const values = { ...valuesOf(leg.terms), NODE: chain.rpcUrl, CONTRACT, ID, TOKEN };
      const seen = (depth: number, more = {}) =>
        lines(onAnvil, { ...values, DEPTH: String(depth), ...more });
      await fund(chain, leg);
      const there = ['1', leg.terms.amount.toString()];
      assert.deepEqual(await seen(1), there);
      // As an escrow sees it whose lane went on.
      assert.equal((await seen(1, { COUNTER: '0' }))[0], 'ended');
      assert.deepEqual(await seen(2), ['0', '0']);
      await chain.client.mine({ blocks: 1 });
      assert.deepEqual(await seen(2), there);
    }
  } finally {
    await chain.stop();
  }
});

test('the commands for a Bitcoin escrow give its script and its output', async () => {
  const terms = termsOn('bitcoin', false);
  const { address, redeemScript } = bitcoinEscrow(terms, bitcoinView.network);
  const output = bytesToHex(parseBitcoinAddress(address, bitcoinView.network).script);
  assert.deepEqual(await lines(onBitcoin, valuesOf(terms)), [redeemScript, output]);
});

test('the commands for a TRON escrow give its id', async () => {
  const { deployment } = tronView;
  const where = { CONTRACT: deployment.contract, CHAIN_ID: String(deployment.chainId) };
  for (const isToken of [false, true]) {
    const terms = termsOn('tron', isToken);
    const [id] = await lines(ofTron, { ...valuesOf(terms), ...where });
    assert.equal(`${where.CONTRACT}:${id}`, tronEscrow(terms, deployment).address);
  }
});

test('the commands for a TRON escrow on chain say that it is funded once that is solid', async () => {
  const chain = await onTron.startTron();
  try {
    const leg = onTron.newLeg(chain);
    const [, ID = ''] = leg.escrow.address.split(':');
    const where = { NODE: chain.url, CONTRACT: chain.deployment.contract, ID };
    const seen = (more = {}) => lines(onTronChain, { ...valuesOf(leg.terms), ...where, ...more });
    await onTron.fund(chain, leg);
    assert.deepEqual(await seen(), ['0']);
    await chain.solidify();
    assert.deepEqual(await seen(), ['1']);
    assert.equal((await seen({ COUNTER: '0' }))[0], 'ended');
  } finally {
    await chain.stop();
  }
});

test('the commands for a Solana escrow give its address', async () => {
  for (const isToken of [false, true]) {
    const terms = termsOn('solana', isToken);
    const [address] = await lines(ofSolana, {
      ...valuesOf(terms),
      PROGRAM: solanaDeployment.program,
    });
    assert.equal(address, solanaEscrow(terms, solanaDeployment).address);
  }
});

test('the example values are such as the first commands take', async () => {
  const [, values = ''] = /```sh\n(export HASHLOCK[\s\S]*?)```/.exec(text) ?? [];
  const said = await lines(`${values}\n${onEvm}`);
  assert.equal(said.length, 3);
  assert.match(said[0] ?? '', /^0x[0-9a-fA-F]{40}:[0-9a-f]{64}$/);
});
