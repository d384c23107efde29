// Gifts of SOL and dollars on the Solana dev chain. Its key is public, as all of a dev network.

import { createHash } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import {
  type Address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  createNoopSigner,
  createTransactionMessage,
  getAddressDecoder,
  getTransactionEncoder,
  type Instruction,
  pipe,
  type SignatureBytes,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import { getTransferSolInstruction } from '@solana-program/system';
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getMintEncoder,
  getMintToInstruction,
} from '@solana-program/token';
import { type Account, TOKEN } from './accounts.ts';
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

const faucet = createNoopSigner(faucetAddress);

export function dollarAccount(rent: bigint): Account {
  const data = getMintEncoder().encode({
    mintAuthority: faucetAddress,
    supply: 0n,
    decimals: dollarDecimals,
    isInitialized: true,
    freezeAuthority: faucetAddress,
  });
  return { lamports: rent, owner: TOKEN, data: Uint8Array.from(data), executable: false };
}

let sent = 0;

/** Two gifts of one block must not be the same transaction: each carries a price of its own. */
function unique(): Instruction {
  sent += 1;
  const data = Buffer.alloc(9, 3);
  data.writeBigUInt64LE(BigInt(sent % 100_000), 1);
  return { programAddress: 'ComputeBudget111111111111111111111111111111' as Address, data };
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

export function faucetTransfer(tip: Tip, to: Address, amount: bigint): Wire {
  return signed(tip, [getTransferSolInstruction({ source: faucet, destination: to, amount })]);
}

/** Mints into the owner's associated account, which is made where it is missing. */
export async function faucetMint(
  tip: Tip,
  mint: Address,
  owner: Address,
  amount: bigint,
): Promise<Wire> {
  const [ata] = await findAssociatedTokenPda({ owner, tokenProgram: TOKEN, mint });
  return signed(tip, [
    getCreateAssociatedTokenIdempotentInstruction({ payer: faucet, ata, owner, mint }),
    getMintToInstruction({ mint, token: ata, mintAuthority: faucet, amount }),
  ]);
}
