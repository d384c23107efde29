// A payment on Solana, unsigned: SOL, or a token to the account that a wallet usually has for it,
// which is made where it is missing.

import { concatBytes } from '@noble/hashes/utils.js';
import { rpcClient } from '@parley/chains/nodes/rpc.ts';
import {
  isOnCurve,
  parseSolanaAddress,
  solanaAddressBytes,
} from '@parley/chains/solana/address.ts';
import { type Instruction, unsignedTransaction } from '@parley/chains/solana/message.ts';
import { accountsAt, latestBlockhash, simulate } from '@parley/chains/solana/node.ts';
import {
  associatedTokenAccount,
  associatedTokenProgram,
  isTokenProgram,
  systemProgram,
} from '@parley/chains/solana/programs.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { base64 } from '@scure/base';
import { Failure } from '../failures.ts';
import type { Payment } from './payment.ts';

/** By their programs: system, token, associated token. */
const verbs = { transfer: 2, transferChecked: 12, makeIdempotent: 1 } as const;

type Nodes = { readonly chain: string; readonly rpcUrls: readonly string[] };

/** An address that no key signs for would keep the coins for ever. Throws `bad_address`. */
export function parseWallet(text: string): string {
  const address = parseSolanaAddress(text);
  if (isOnCurve(solanaAddressBytes(address))) return address;
  const sentence = `${address} is no wallet: no key signs for it (is it a token account?)`;
  throw new ParleyError('bad_address', sentence, {});
}

/** Base64. */
export async function solanaPayment(
  { chain, rpcUrls }: Nodes,
  from: string,
  pay: Payment,
  signal: AbortSignal,
): Promise<string> {
  const rpc = rpcClient({ chain, urls: rpcUrls });
  const instructions =
    pay.token === null
      ? [coins(from, pay)]
      : await tokens(from, { ...pay, mint: pay.token }, async (mint) => {
          const { accounts } = await accountsAt(rpc, [mint], 'confirmed', signal, 0);
          return accounts[0]?.owner ?? '';
        });
  const { blockhash } = await latestBlockhash(rpc, 'confirmed', signal);
  return base64.encode(unsignedTransaction(from, instructions, blockhash));
}

/** Throws Failure `pay_fails` where a node says that it would, as below the rent of a new account. */
export async function mustSucceed(
  { chain, rpcUrls }: Nodes,
  transaction: string,
  signal: AbortSignal,
): Promise<void> {
  const rpc = rpcClient({ chain, urls: rpcUrls });
  const trial = await simulate(rpc, transaction, signal);
  if (trial === null) return;
  const why = trial.logs.at(-1) ?? JSON.stringify(trial.error);
  throw new Failure('needs_you', 'pay_fails', `the payment on ${chain} would fail: ${why}`);
}

const word = (value: bigint) => {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, value, true);
  return bytes;
};
const pays = (address: string) => ({ address, signs: true, writes: true });
const writes = (address: string) => ({ address, signs: false, writes: true });
const reads = (address: string) => ({ address, signs: false, writes: false });

function coins(from: string, { to, amount }: Payment): Instruction {
  const data = concatBytes(Uint8Array.of(verbs.transfer, 0, 0, 0), word(amount));
  return { program: systemProgram, accounts: [pays(from), writes(to)], data };
}

async function tokens(
  from: string,
  { to, mint, decimals, amount }: Payment & { readonly mint: string },
  ownerOf: (mint: string) => Promise<string>,
): Promise<Instruction[]> {
  const program = await ownerOf(mint);
  if (!isTokenProgram(program)) throw new Error('the token is no mint');
  const [own, other] = [from, to].map((each) => associatedTokenAccount(each, mint, program));
  const making = [pays(from), writes(other ?? ''), reads(to), reads(mint), reads(systemProgram)];
  const moving = [writes(own ?? ''), reads(mint), writes(other ?? ''), pays(from)];
  return [
    {
      program: associatedTokenProgram,
      accounts: [...making, reads(program)],
      data: Uint8Array.of(verbs.makeIdempotent),
    },
    {
      program,
      accounts: moving,
      data: concatBytes(
        Uint8Array.of(verbs.transferChecked),
        word(amount),
        Uint8Array.of(decimals),
      ),
    },
  ];
}
