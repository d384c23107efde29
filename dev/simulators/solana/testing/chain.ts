// A Solana dev chain of a test's own, kit's clients for it, and people with keys.

import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import {
  AccountRole,
  type Address,
  address,
  appendTransactionMessageInstructions,
  createKeyPairSignerFromPrivateKeyBytes,
  createSolanaRpc,
  createTransactionMessage,
  devnet,
  type Instruction,
  type KeyPairSigner,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import {
  type SolanaDevChain,
  type SolanaOptions,
  solanaChain,
} from '../../../devnet/solana-chain.ts';

export const SYSTEM = address('11111111111111111111111111111111');
const quiet = { info: () => {}, warn: () => {}, error: () => {} };
const tickMs = 20;

// kit's types tell clusters apart: only on devnet is there an airdrop.
const rpcTo = (url: string) => createSolanaRpc(devnet(url));

export type TestChain = SolanaDevChain & {
  readonly dir: string;
  readonly rpc: ReturnType<typeof rpcTo>;
};

type Options = Partial<Pick<SolanaOptions, 'dir' | 'lags' | 'slotMs' | 'clock'>> & {
  /** Make blocks by itself. Default: only when asked to. */
  readonly automatic?: boolean;
};

export function newDir(context: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'parley-solana-'));
  context.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

export async function startChain(context: TestContext, options: Options = {}): Promise<TestChain> {
  const dir = options.dir ?? newDir(context);
  const chain = await solanaChain({
    chain: 'solana-dev',
    dir,
    clock: options.clock ?? { now: () => Math.floor(Date.now() / 1_000) },
    log: quiet,
    slotMs: options.slotMs ?? 50,
    ...(options.lags === undefined ? {} : { lags: options.lags }),
  });
  await chain.setAutomatic(options.automatic === true);
  const timer = setInterval(() => void chain.tick(), tickMs);
  let stopped: Promise<void> | null = null;
  const stop = () => {
    clearInterval(timer);
    stopped ??= chain.stop();
    return stopped;
  };
  context.after(stop);
  const rpc = rpcTo(chain.info.rpcUrl);
  await untilNewConnection(rpc);
  return { ...chain, stop, dir, rpc };
}

/** On the port of a chain that ended, fetch may first find its own old connections closed. */
async function untilNewConnection(rpc: ReturnType<typeof rpcTo>): Promise<void> {
  for (let tries = 0; tries < 10; tries++) {
    const answer = await rpc
      .getHealth()
      .send()
      .catch(() => null);
    if (answer === 'ok') return;
  }
  throw new Error('the chain does not answer');
}

export function signer(name: string): Promise<KeyPairSigner> {
  return createKeyPairSignerFromPrivateKeyBytes(createHash('sha256').update(name).digest());
}

export function transfer(from: Address, to: Address, lamports: bigint): Instruction {
  const data = Buffer.alloc(12);
  data.writeUInt32LE(2, 0);
  data.writeBigUInt64LE(lamports, 4);
  return {
    programAddress: SYSTEM,
    accounts: [
      { address: from, role: AccountRole.WRITABLE_SIGNER },
      { address: to, role: AccountRole.WRITABLE },
    ],
    data,
  };
}

export async function signed(
  { rpc }: Pick<TestChain, 'rpc'>,
  payer: KeyPairSigner,
  instructions: readonly Instruction[],
) {
  const { value } = await rpc.getLatestBlockhash({ commitment: 'processed' }).send();
  return signTransactionMessageWithSigners(
    pipe(
      createTransactionMessage({ version: 0 }),
      (tx) => setTransactionMessageFeePayerSigner(payer, tx),
      (tx) => setTransactionMessageLifetimeUsingBlockhash(value, tx),
      (tx) => appendTransactionMessageInstructions(instructions, tx),
    ),
  );
}
