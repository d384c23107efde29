// The Solana simulator as a dev chain: the escrow program, faucet and dollar from block one on.

import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import deployment from '@parley/contracts/solana/deployment.json' with { type: 'json' };
import { DevnetError, RefusedRequest } from '@parley/host/failure.ts';
import type { Log } from '@parley/host/log.ts';
import { type Address, getBase58Decoder, isAddress } from '@solana/kit';
import { LiteSVM, Rent } from 'litesvm';
import litesvm from 'litesvm/package.json' with { type: 'json' };
import { type Account, SYSTEM, writeAccount } from '../simulators/solana/accounts.ts';
import {
  dollarAccount,
  dollarDecimals,
  dollarMint,
  faucetAddress,
  faucetLamports,
  faucetMint,
  faucetTransfer,
} from '../simulators/solana/faucet.ts';
import { openJournal } from '../simulators/solana/journal.ts';
import {
  type Lags,
  type Ledger,
  makeBlock,
  openLedger,
  putAccount,
  setAhead,
  takeBack,
  tipOf,
} from '../simulators/solana/ledger.ts';
import { serveRpc } from '../simulators/solana/rpc-server.ts';
import { submit } from '../simulators/solana/transaction-methods.ts';
import type { ChainHead, ChainInfo, DevChain, DevToken, Gift } from './dev-chain.ts';
import { amountOf, cannotSend, tokenGift } from './faucet.ts';
import { keptPort, loopback } from './processes.ts';

export type SolanaOptions = {
  readonly chain: string;
  readonly dir: string;
  readonly clock: { now(): number };
  readonly log: Log;
  readonly lags?: Lags;
  /** How long a slot takes while the chain makes blocks by itself. Default 400. */
  readonly slotMs?: number;
  /** Hash of the first block of the cluster that it stands for. Default: a new one. */
  readonly genesisHash?: string;
};

type Info = ChainInfo & Required<Pick<ChainInfo, 'program' | 'genesisHash'>>;

export type SolanaDevChain = DevChain & {
  readonly info: Info;
  /** Takes the last blocks back, as a change of fork does; never a finalized one. */
  takeBack(blocks: number): void;
  /** Writes an account as nobody could by a transaction: hostile mints, frozen holdings. */
  put(address: string, account: Account | null): void;
  /** Seconds that the chain's own clock runs ahead of the dev network's; negative: behind. */
  drift(seconds: number): void;
  /** The rent of an account from now on, in lamports for each of its bytes and of 128 more. */
  setRent(lamportsPerByte: bigint): void;
};

/** A cluster's confirmed and finalized are about 2 and 32 slots behind; here tests wait less. */
export const devLags: Lags = { processed: 0, confirmed: 1, finalized: 5 };

const lamportsPerSol = 1_000_000_000n;
const coins = { usual: 100n * lamportsPerSol, most: 10_000n * lamportsPerSol, unit: 'lamports' };
/** The faucet's dollar, on a validator too. */
export const devDollar: DevToken = {
  contract: 'SplDollar',
  symbol: 'USDD',
  name: 'Dev Dollar',
  decimals: dollarDecimals,
  address: dollarMint,
};
/** After a stall (a laptop that slept) the chain does not make up for all of it. */
const mostBlocksAtOnce = 10;

export async function solanaChain(options: SolanaOptions): Promise<SolanaDevChain> {
  const { chain, dir, clock, log, lags = devLags, slotMs = 400 } = options;
  const { genesisHash = newGenesis() } = options;
  const svm = newVm();
  const ledger = openLedger(svm, openJournal(dir, genesisHash), lags, clock.now);
  const server = await serveRpc(ledger, { host: loopback, port: await keptPort(dir), log });
  log.info(
    { chain, port: server.port },
    'the Solana dev chain is a simulator: a VM with a node’s RPC, not a validator',
  );
  const state = { automatic: true, madeAtMs: performance.now() };
  const mine = async (blocks: number) => {
    for (let made = 0; made < blocks; made++) makeBlock(ledger);
    state.madeAtMs = performance.now();
  };
  return {
    info: {
      chain,
      family: 'solana',
      rpcUrl: `http://${loopback}:${server.port}`,
      node: { name: 'litesvm (simulator)', version: litesvm.version },
      program: deployment.program,
      genesisHash: ledger.genesis,
      tokens: [devDollar],
    },
    nativeSymbol: 'SOL',
    head: async () => headOf(ledger),
    mine,
    tick: async () => {
      if (!state.automatic) return;
      const { madeAtMs } = state;
      const due = Math.floor((performance.now() - madeAtMs) / slotMs);
      if (due <= 0) return;
      await mine(Math.min(due, mostBlocksAtOnce));
      // The rest of a slot counts for the next: ticks come less often than slots.
      if (due <= mostBlocksAtOnce) state.madeAtMs = madeAtMs + due * slotMs;
    },
    give: (gift) => give(ledger, gift),
    moveTo: async (now) => {
      setAhead(ledger, Math.max(ledger.ahead, now - clock.now()));
      // Finalized at once, as on the other chains: the mover of the clock reads it next.
      await mine(lags.finalized + 1);
    },
    setAutomatic: async (automatic) => {
      state.automatic = automatic;
      state.madeAtMs = performance.now();
    },
    takeBack: (blocks) => takeBack(ledger, blocks),
    put: (of, account) => putAccount(ledger, of as Address, account),
    drift: (seconds) => setAhead(ledger, seconds),
    // No threshold beside the price (SIMD-0194), and no part of it burnt.
    setRent: (lamportsPerByte) => svm.setRent(new Rent(lamportsPerByte, 1, 0)),
    stop: () => server.close(),
  };
}

function newGenesis(): string {
  return getBase58Decoder().decode(randomBytes(32));
}

/** The VM before its first block: its own programs, the escrow program, the faucet, the dollar. */
function newVm(): LiteSVM {
  // Duplicates and blockhashes are the ledger's business: the VM keeps neither.
  const svm = new LiteSVM().withTransactionHistory(0n).withBlockhashCheck(false);
  const file = join(import.meta.dirname, '../..', 'contracts', 'solana', 'parley_escrow.so');
  const program = readFileSync(file);
  const digest = createHash('sha256').update(program).digest('hex');
  if (digest !== deployment.sha256) {
    throw new DevnetError(`${file} is not the pinned program`, { digest });
  }
  svm.addProgram(deployment.program as Address, program);
  const faucet = { lamports: faucetLamports, owner: SYSTEM, data: new Uint8Array() };
  writeAccount(svm, faucetAddress, { ...faucet, executable: false });
  writeAccount(svm, dollarMint, dollarAccount(svm.minimumBalanceForRentExemption(82n)));
  return svm;
}

function headOf(ledger: Ledger): ChainHead {
  const { height, time } = tipOf(ledger);
  return { height, time, medianTime: time };
}

async function give(ledger: Ledger, gift: Gift): Promise<{ txid: string; amount: bigint }> {
  const { wire, amount } = await giftOn(tipOf(ledger), gift);
  try {
    submit(ledger, wire, { preflightCommitment: 'processed' });
  } catch (error) {
    throw cannotSend(error);
  }
  makeBlock(ledger);
  const txid = wire.signature;
  if (ledger.history.get(txid)?.err === null) return { txid, amount };
  throw new RefusedRequest(409, `The gift ${txid} failed on chain.`);
}

/** The faucet's transaction on a blockhash. Throws RefusedRequest. */
export async function giftOn(tip: Parameters<typeof faucetTransfer>[0], gift: Gift) {
  const { address } = gift;
  if (!isAddress(address)) throw new RefusedRequest(400, `${address} is not a Solana address.`);
  if (gift.token === null) {
    const amount = amountOf(gift, coins);
    return { wire: faucetTransfer(tip, address, amount), amount };
  }
  const { amount } = tokenGift([devDollar], gift);
  return { wire: await faucetMint(tip, dollarMint, address, amount), amount };
}
