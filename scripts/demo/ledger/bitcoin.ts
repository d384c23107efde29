// A person's bitcoin, and what its transactions paid in fees.

import { rpc } from '../node-call.ts';
import type { Person } from '../people.ts';
import type { Place } from '../place.ts';

function sats(coins: number): bigint {
  return BigInt(Math.round(coins * 1e8));
}

/** Confirmed satoshis. */
export async function bitcoinOf(person: Person, { bitcoin }: Place): Promise<bigint> {
  const scan = ['start', [`addr(${person.bitcoin.address})`]];
  const set = await rpc<{ total_amount: number }>(bitcoin.rpcUrl, 'scantxoutset', scan);
  return sats(set.total_amount);
}

type CoreTx = { vin: { txid: string; vout: number }[]; vout: { value: number; n: number }[] };

/** Inputs less outputs, satoshis. */
export async function bitcoinFees(place: Place, txids: Iterable<string>): Promise<bigint> {
  const read = (id: string) => rpc<CoreTx>(place.bitcoin.rpcUrl, 'getrawtransaction', [id, 1]);
  let fees = 0n;
  for (const txid of txids) {
    const tx = await read(txid);
    for (const { txid: from, vout } of tx.vin) {
      fees += sats((await read(from)).vout.find(({ n }) => n === vout)?.value ?? 0);
    }
    for (const { value } of tx.vout) fees -= sats(value);
  }
  return fees;
}
