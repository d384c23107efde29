// A person's SOL and tokens, what its transactions paid, and the rent that stays with each escrow
// that it funded.

import { rpc } from '../node-call.ts';
import type { Person } from '../people.ts';
import type { Coin, Place } from '../place.ts';

/** For what is there for good. */
const confirmed = { commitment: 'confirmed' } as const;
/** What the faucet gave a moment ago counts, and is not even confirmed when the demo begins. */
const newest = { commitment: 'processed' } as const;

/** Base units. */
export async function solanaBalance(
  person: Person,
  place: Place,
  { token }: Coin,
): Promise<bigint> {
  const { rpcUrl } = place.solana;
  const { address } = person.solana;
  if (token === null) {
    const { value } = await rpc<{ value: number }>(rpcUrl, 'getBalance', [address, newest]);
    return BigInt(value);
  }
  const how = { ...newest, encoding: 'jsonParsed' };
  const { value } = await rpc<{
    value: { account: { data: { parsed: { info: { tokenAmount: { amount: string } } } } } }[];
  }>(rpcUrl, 'getTokenAccountsByOwner', [address, { mint: token }, how]);
  const amounts = value.map(({ account }) => BigInt(account.data.parsed.info.tokenAmount.amount));
  return amounts.reduce((sum, amount) => sum + amount, 0n);
}

/** Lamports: fees, and the tombstones of the person's escrows, which keep their rent for ever. */
export async function solanaFees(
  person: Person,
  place: Place,
  txids: Iterable<string>,
  escrows: Iterable<string>,
): Promise<bigint> {
  const { rpcUrl } = place.solana;
  let fees = 0n;
  for (const txid of txids) {
    const how = { ...confirmed, encoding: 'json', maxSupportedTransactionVersion: 0 };
    const found = await rpc<{
      transaction: { message: { accountKeys: string[] } };
      meta: { fee: number };
    } | null>(rpcUrl, 'getTransaction', [txid, how]);
    if (found === null) throw new Error(`${txid} is in no block`);
    const payer = found.transaction.message.accountKeys[0];
    if (payer !== person.solana.address) {
      throw new Error(`${txid} was paid by ${payer}, not by ${person.name}`);
    }
    fees += BigInt(found.meta.fee);
  }
  for (const escrow of escrows) {
    const { value } = await rpc<{ value: number }>(rpcUrl, 'getBalance', [escrow, confirmed]);
    fees += BigInt(value);
  }
  return fees;
}
