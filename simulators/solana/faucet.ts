// Gifts on the Solana dev chain: SOL from a well-known account, tokens by minting them. Its key is
// public, as everything of a dev network.

import { createHash } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import {
  AccountRole,
  type Address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  createTransactionMessage,
  getAddressDecoder,
  getAddressEncoder,
  getProgramDerivedAddress,
  getTransactionEncoder,
  type Instruction,
  pipe,
  type SignatureBytes,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import { type Account, ASSOCIATED_TOKEN, SYSTEM, TOKEN } from './accounts.ts';
import { type Block, blockhashAge } from './ledger.ts';
import { readWire, type Wire } from './wire.ts';

const seedOf = (name: string): Uint8Array => createHash('sha256').update(name).digest();
const faucetSeed = seedOf('parley dev chain: faucet');
const keyOf = (seed: Uint8Array): Address => getAddressDecoder().decode(ed25519.getPublicKey(seed));

export const faucetAddress = keyOf(faucetSeed);
export const faucetLamports = 500_000_000n * 1_000_000_000n;
/** A classic SPL dollar: six decimals, minted and frozen by the faucet's key. */
export const dollarMint = keyOf(seedOf('parley dev chain: dollar'));
export const dollarDecimals = 6;

const transferTag = 2;
const createIdempotentTag = 1;
const mintToTag = 7;

function word(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}

/** Its account as it is from the first block on. */
export function dollarAccount(rent: bigint): Account {
  const data = Buffer.alloc(82);
  for (const at of [0, 46]) {
    data.writeUInt32LE(1, at);
    data.set(getAddressEncoder().encode(faucetAddress), at + 4);
  }
  data[44] = dollarDecimals;
  data[45] = 1;
  return { lamports: rent, owner: TOKEN, data, executable: false };
}

let sent = 0;

/** Two gifts of one block must not be the same transaction: each carries a price of its own. */
function unique(): Instruction {
  sent += 1;
  return {
    programAddress: 'ComputeBudget111111111111111111111111111111' as Address,
    data: Buffer.concat([Buffer.from([3]), word(BigInt(sent % 100_000))]),
  };
}

type Tip = Pick<Block, 'blockhash' | 'height'>;

function signed({ blockhash, height }: Tip, instructions: readonly Instruction[]): Wire {
  const lifetime = {
    blockhash: blockhash as Blockhash,
    lastValidBlockHeight: BigInt(height + blockhashAge),
  };
  const { messageBytes } = pipe(
    createTransactionMessage({ version: 0 }),
    (tx) => setTransactionMessageFeePayer(faucetAddress, tx),
    (tx) => setTransactionMessageLifetimeUsingBlockhash(lifetime, tx),
    (tx) => appendTransactionMessageInstructions([unique(), ...instructions], tx),
    compileTransaction,
  );
  const signature = ed25519.sign(Uint8Array.from(messageBytes), faucetSeed) as SignatureBytes;
  const bytes = getTransactionEncoder().encode({
    messageBytes,
    signatures: { [faucetAddress]: signature },
  });
  return readWire(Uint8Array.from(bytes));
}

export function faucetTransfer(tip: Tip, to: Address, lamports: bigint): Wire {
  const transfer: Instruction = {
    programAddress: SYSTEM,
    accounts: [
      { address: faucetAddress, role: AccountRole.WRITABLE_SIGNER },
      { address: to, role: AccountRole.WRITABLE },
    ],
    data: Buffer.concat([Buffer.from([transferTag, 0, 0, 0]), word(lamports)]),
  };
  return signed(tip, [transfer]);
}

/** Mints into the owner's associated account, which is made where it is missing. */
export async function faucetMint(
  tip: Tip,
  mint: Address,
  owner: Address,
  amount: bigint,
): Promise<Wire> {
  const encode = (of: Address) => getAddressEncoder().encode(of);
  const [holding] = await getProgramDerivedAddress({
    programAddress: ASSOCIATED_TOKEN,
    seeds: [encode(owner), encode(TOKEN), encode(mint)],
  });
  const create: Instruction = {
    programAddress: ASSOCIATED_TOKEN,
    accounts: [
      { address: faucetAddress, role: AccountRole.WRITABLE_SIGNER },
      { address: holding, role: AccountRole.WRITABLE },
      { address: owner, role: AccountRole.READONLY },
      { address: mint, role: AccountRole.READONLY },
      { address: SYSTEM, role: AccountRole.READONLY },
      { address: TOKEN, role: AccountRole.READONLY },
    ],
    data: Buffer.from([createIdempotentTag]),
  };
  const mintTo: Instruction = {
    programAddress: TOKEN,
    accounts: [
      { address: mint, role: AccountRole.WRITABLE },
      { address: holding, role: AccountRole.WRITABLE },
      { address: faucetAddress, role: AccountRole.READONLY_SIGNER },
    ],
    data: Buffer.concat([Buffer.from([mintToTag]), word(amount)]),
  };
  return signed(tip, [create, mintTo]);
}
