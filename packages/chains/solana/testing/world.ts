// A dev chain, an adapter for it, a funder and a recipient with SOL and dollars, and the ways in
// which money moves between them.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { TestContext } from 'node:test';
import { ed25519 } from '@noble/curves/ed25519.js';
import { holdingBytes } from '@parley/contracts/solana/testing/tokens.ts';
import { ParleyError, type RefusalCode } from '@parley/core/errors.ts';
import { hashlockOf } from '@parley/core/hashlock.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { newDir, startChain, type TestChain } from '@parley/dev/simulators/solana/testing/chain.ts';
import { base64 } from '@scure/base';
import type { Address } from '@solana/kit';
import type { Material, SolanaMaterial } from '../../interface/material.ts';
import type { WatchedEscrow } from '../../interface/reading.ts';
import { type SolanaAdapter, type SolanaAdapterOptions, solanaAdapter } from '../adapter.ts';
import { readTransaction } from '../message.ts';
import { solanaChains } from '../policy.ts';
import { associatedTokenAccount, systemProgram, tokenProgram } from '../programs.ts';
import { solanaAddressOfSeed } from '../proof.ts';
import { lyingNode } from './nodes.ts';

export const SOL = 1_000_000_000n;
export const HOUR = 3_600;
export const secret = createHash('sha256').update('a secret').digest('hex');

export const seedOf = (name: string): Uint8Array =>
  Uint8Array.from(createHash('sha256').update(name).digest());
export const walletOf = (name: string): string => solanaAddressOfSeed(seedOf(name));

/** Every call of the tests ends. */
export const soon = (): AbortSignal => AbortSignal.timeout(20_000);

export type World = {
  readonly chain: TestChain;
  readonly adapter: SolanaAdapter;
  readonly logged: string[];
  /** Unix seconds; moved by hand. */
  readonly time: { now: number };
  readonly dollar: string;
};

export function adapterOf(
  { chain, time }: Pick<World, 'chain' | 'time'>,
  logged: string[] = [],
  changed: Partial<SolanaAdapterOptions> = {},
): SolanaAdapter {
  return solanaAdapter({
    chain: 'solana-dev',
    rpcUrls: [chain.info.rpcUrl],
    ...solanaChains['solana-dev'],
    mostDriftSeconds: solanaChains['solana-dev'].policy.driftSeconds,
    now: () => time.now,
    log: (event) => logged.push(event),
    // A read of a test that is about something else is told the whole, on a slow machine too.
    historyWaitMs: 10_000,
    ...changed,
  });
}

type Lie = Parameters<typeof lyingNode>[2];

/** Over a node that lies so. */
export async function lyingAdapter(
  context: TestContext,
  world: Pick<World, 'chain' | 'time'>,
  lie: Lie,
  logged: string[] = [],
  changed: Partial<SolanaAdapterOptions> = {},
): Promise<SolanaAdapter> {
  const url = await lyingNode(context, world.chain.info.rpcUrl, lie);
  return adapterOf(world, logged, { rpcUrls: [url], ...changed });
}

export async function newWorld(context: TestContext): Promise<World> {
  const time = { now: Math.floor(Date.now() / 1_000) };
  const chain = await startChain(context, { dir: newDir(context), clock: { now: () => time.now } });
  const dollar = chain.info.tokens?.[0]?.address ?? '';
  const put = (of: string, owner: string, lamports: bigint, data: Uint8Array = new Uint8Array()) =>
    chain.put(of, { lamports, owner: owner as Address, data, executable: false });
  for (const name of ['funder', 'payee', 'stranger']) {
    const owner = walletOf(name) as Address;
    put(owner, systemProgram, 50n * SOL);
    const data = holdingBytes({ mint: dollar as Address, owner, amount: 1_000_000_000n });
    put(associatedTokenAccount(owner, dollar, tokenProgram), tokenProgram, 2_039_280n, data);
  }
  // Deep, so that every test begins with what is final.
  await chain.mine(6);
  const logged: string[] = [];
  return { chain, time, logged, dollar, adapter: adapterOf({ chain, time }, logged) };
}

export function escrowIn(
  { time, adapter }: Pick<World, 'time' | 'adapter'>,
  changed: Partial<EscrowTerms> = {},
): WatchedEscrow {
  const terms: EscrowTerms = {
    chain: 'solana-dev',
    hashlock: hashlockOf(secret),
    payout: { address: walletOf('payee'), pubkey: null },
    refund: { address: walletOf('funder'), pubkey: null },
    token: null,
    amount: 2n * SOL,
    timelock: time.now + 4 * HOUR,
    ...changed,
  };
  const { address } = adapter.plan(terms);
  return { address, terms, requiredConfirmations: 32, since: time.now };
}

type Step = (world: World, escrow: WatchedEscrow) => Promise<unknown>;

/** A world with an escrow in it, and what was done to that in turn. */
export async function sceneOf(context: TestContext, ...steps: readonly Step[]) {
  const world = await newWorld(context);
  const escrow = escrowIn(world);
  for (const step of steps) await step(world, escrow);
  return { ...world, world, escrow };
}

export const built = (escrow: WatchedEscrow) => ({
  escrow,
  feeRateSatPerVbyte: null,
  isPublic: false,
});

/** Signs as a wallet would: the one signature that is wanted. */
export function signed(material: Material, name: string): string {
  assert.equal(material.sign, 'solana-tx');
  const bytes = base64.decode(material.sign === 'solana-tx' ? material.transaction : '');
  const { message, keys } = readTransaction(base64.encode(bytes));
  assert.equal(keys[0], walletOf(name), 'the transaction is this wallet’s to pay for');
  bytes.set(ed25519.sign(message, seedOf(name)), 1);
  return base64.encode(bytes);
}

export async function sent({ adapter }: World, material: Material, name: string): Promise<string> {
  const read = await adapter.readSigned(signed(material, name), soon());
  return adapter.broadcast(read, soon());
}

export async function fund(world: World, escrow: WatchedEscrow): Promise<string> {
  const txid = await sent(world, await world.adapter.buildFund(built(escrow), soon()), 'funder');
  await world.chain.mine(2);
  return txid;
}

export async function claim(world: World, escrow: WatchedEscrow): Promise<string> {
  const material = await world.adapter.buildClaim(built(escrow), secret, soon());
  const txid = await sent(world, material, 'payee');
  await world.chain.mine(2);
  return txid;
}

export async function refund(world: World, escrow: WatchedEscrow): Promise<string> {
  const material = await world.adapter.buildRefund(built(escrow), soon());
  const txid = await sent(world, material, 'funder');
  await world.chain.mine(2);
  return txid;
}

export async function releaseOf(
  { adapter }: Pick<World, 'adapter'>,
  escrow: WatchedEscrow,
): Promise<SolanaMaterial> {
  const material = await adapter.consent?.buildRelease(built(escrow), soon());
  assert.ok(material?.sign === 'solana-tx');
  return material;
}

export async function release(world: World, escrow: WatchedEscrow): Promise<string> {
  const txid = await sent(world, await releaseOf(world, escrow), 'payee');
  await world.chain.mine(2);
  return txid;
}

/** Sends bytes to the node, past the adapter and the node's preflight. */
export async function sendRaw({ chain }: Pick<World, 'chain'>, wire: string): Promise<void> {
  await chain.rpc
    .sendTransaction(wire as never, { encoding: 'base64', skipPreflight: true })
    .send();
  await chain.mine(2);
}

export const finalize = ({ chain }: Pick<World, 'chain'>): Promise<void> => chain.mine(6);

export async function moveTo({ chain, time }: World, now: number): Promise<void> {
  time.now = now;
  await chain.mine(2);
}

export async function refuses(work: Promise<unknown>, code: RefusalCode, words = /./) {
  await assert.rejects(work, (error: unknown) => {
    assert.ok(error instanceof ParleyError, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, words);
    return true;
  });
}
