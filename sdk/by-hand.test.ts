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
import { startAnvil } from '../chains/evm/testing/anvil.ts';
import { deployToken, fund, funder, mint, newLeg } from '../chains/evm/testing/swap.ts';
import { solanaDeployment, solanaEscrow } from '../chains/solana/plan.ts';
import { solanaAddressOfSeed } from '../chains/solana/proof.ts';
import { tronEscrow } from '../chains/tron/plan.ts';
import { tronAddressOfKey } from '../chains/tron/proof.ts';
import * as onTron from '../chains/tron/testing/chain.ts';
import type { EscrowTerms } from '../core/terms.ts';
import { bitcoinView, now, termsOf } from './testing/honest.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..');

/** The shell blocks of the document, in order. */
async function blocks(): Promise<string[]> {
  const text = await readFile(join(root, 'docs/dont-trust-verify.md'), 'utf8');
  return [...text.matchAll(/```bash\n([\s\S]*?)```/g)].map(([, block = '']) => block);
}

async function lines(block: string, values: Record<string, string>): Promise<string[]> {
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
    ...placeOf(terms),
    CONTRACT: evmDeployment(31_337).contract,
    CHAIN_ID: '31337',
  });
  assert.deepEqual(said, [
    evmEscrow(terms, evmDeployment(31_337)).address,
    fundCalls(terms, evmDeployment(31_337), terms.amount)[0]?.data,
    refundCall(terms, evmDeployment(31_337)).data,
  ]);
});

test('the commands for an EVM escrow on chain give its state and the balance at depth', async () => {
  const chain = await startAnvil();
  try {
    const coin = await newLeg(chain);
    const dollar = await deployToken(chain, 'DevDollar');
    await mint(chain, dollar, funder.address, 5_000n);
    const token = await newLeg(chain, { token: dollar, amount: 2_000n });
    const [, block = ''] = await blocks();
    for (const leg of [coin, token]) {
      const [contract = '', id = ''] = leg.escrow.address.split(':');
      const seen = async (depth: number, more: Record<string, string> = {}) =>
        lines(block, {
          NODE: chain.rpcUrl,
          CONTRACT: contract,
          ID: id,
          REFUND: leg.terms.refund.address,
          TOKEN: leg.terms.token ?? `0x${'0'.repeat(40)}`,
          DEPTH: String(depth),
          ...placeOf(leg.terms),
          ...more,
        });
      await fund(chain, leg);
      const { timestamp } = await chain.client.getBlock();
      const there = ['1', String(timestamp), leg.terms.amount.toString()];
      assert.deepEqual(await seen(1), there);
      // As an escrow sees it whose lane went on.
      assert.equal((await seen(1, { COUNTER: '0' }))[0], 'ended');
      assert.deepEqual(await seen(2), ['0', '0', '0']);
      await chain.client.mine({ blocks: 1 });
      assert.deepEqual(await seen(2), there);
    }
  } finally {
    await chain.stop();
  }
});

test('the commands for a Bitcoin escrow give its script and its output', async () => {
  const terms = termsOf('b', now + 90_000);
  const [, , block = ''] = await blocks();
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

test('the commands for a TRON escrow give its id', async () => {
  const addressOf = (byte: number) => tronAddressOfKey(new Uint8Array(32).fill(byte));
  const where = { chainId: 0xcd8690dc, contract: addressOf(9) };
  const [, , , block = ''] = await blocks();
  for (const token of [null, addressOf(3)]) {
    const terms: EscrowTerms = {
      ...termsOf('a', now + 20_000),
      payout: { address: addressOf(1), pubkey: null },
      refund: { address: addressOf(2), pubkey: null },
      token,
      fundBefore: now + 10_000,
      lane: { number: 'a5'.repeat(12), counter: 3 },
    };
    const [id] = await lines(block, {
      CHAIN_ID: String(where.chainId),
      CONTRACT: where.contract,
      HASHLOCK: terms.hashlock,
      PAYOUT: terms.payout.address,
      REFUND: terms.refund.address,
      TOKEN: token ?? '',
      AMOUNT: terms.amount.toString(),
      TIMELOCK: terms.timelock.toString(),
      ...placeOf(terms),
    });
    assert.equal(`${where.contract}:${id}`, tronEscrow(terms, where).address);
  }
});

test('the commands for a TRON escrow on chain say that it is funded once that is solid', async () => {
  const chain = await onTron.startTron();
  try {
    const leg = onTron.newLeg(chain);
    const [, , , , block = ''] = await blocks();
    const { contract } = chain.deployment;
    const [, ID = ''] = leg.escrow.address.split(':');
    const place = { ...placeOf(leg.terms), REFUND: leg.terms.refund.address };
    const seen = (more: Record<string, string> = {}) =>
      lines(block, { NODE: chain.url, CONTRACT: contract, ID, ...place, ...more });
    await onTron.fund(chain, leg);
    const fundedAt = chain.now();
    assert.deepEqual(await seen(), ['0', '0']);
    await chain.solidify();
    assert.deepEqual(await seen(), ['1', String(fundedAt)]);
    assert.equal((await seen({ COUNTER: '0' }))[0], 'ended');
  } finally {
    await chain.stop();
  }
});

test('the example values are such as the first commands take', async () => {
  const text = await readFile(join(root, 'docs/dont-trust-verify.md'), 'utf8');
  const [, values = ''] = /```sh\n(export HASHLOCK[\s\S]*?)```/.exec(text) ?? [];
  const [block = ''] = await blocks();
  const said = await lines(`${values}\n${block}`, {});
  assert.equal(said.length, 3);
  assert.match(said[0] ?? '', /^0x[0-9a-fA-F]{40}:[0-9a-f]{64}$/);
});

test('the commands for a Solana escrow give its address', async () => {
  const addressOf = (byte: number) => solanaAddressOfSeed(new Uint8Array(32).fill(byte));
  const [, , , , , block = ''] = await blocks();
  for (const token of [null, addressOf(3)]) {
    const terms: EscrowTerms = {
      ...termsOf('a', now + 20_000),
      payout: { address: addressOf(1), pubkey: null },
      refund: { address: addressOf(2), pubkey: null },
      token,
    };
    const [address] = await lines(block, {
      PROGRAM: solanaDeployment.program,
      HASHLOCK: terms.hashlock,
      PAYOUT: terms.payout.address,
      REFUND: terms.refund.address,
      MINT: token ?? '1'.repeat(32),
      AMOUNT: terms.amount.toString(),
      TIMELOCK: terms.timelock.toString(),
    });
    assert.equal(address, solanaEscrow(terms, solanaDeployment).address);
  }
});
