// A person's TRX and tokens, and what its transactions burnt in energy and bandwidth.

import { sha256 } from '@noble/hashes/sha2.js';
import { hexToBytes } from '@noble/hashes/utils.js';
import { createBase58check } from '@scure/base';
import { post } from '../node-call.ts';
import type { Person } from '../people.ts';
import type { Coin, Place } from '../place.ts';

const base58check = createBase58check(sha256);

/** Base units, of the newest block. */
export async function tronBalance(person: Person, place: Place, { token }: Coin): Promise<bigint> {
  const { address } = person.tron;
  if (token === null) {
    const account = await ask<{ balance?: number }>(place, 'getaccount', {
      address,
      visible: true,
    });
    return BigInt(account.balance ?? 0);
  }
  const { constant_result } = await ask<{ constant_result?: string[] }>(
    place,
    'triggerconstantcontract',
    {
      owner_address: address,
      contract_address: token,
      function_selector: 'balanceOf(address)',
      parameter: Buffer.from(base58check.decode(address).subarray(1))
        .toString('hex')
        .padStart(64, '0'),
      visible: true,
    },
  );
  return BigInt(`0x${constant_result?.[0] ?? ''}`);
}

/** Sun. */
export async function tronFees(
  person: Person,
  place: Place,
  txids: Iterable<string>,
): Promise<bigint> {
  let fees = 0n;
  for (const txid of txids) {
    const { raw_data } = await ask<{
      raw_data: { contract: { parameter: { value: { owner_address: string } } }[] };
    }>(place, 'gettransactionbyid', { value: txid });
    const owner = raw_data.contract[0]?.parameter.value.owner_address ?? '';
    if (base58check.encode(hexToBytes(owner)) !== person.tron.address) {
      throw new Error(`${txid} was sent by ${owner}, not by ${person.name}`);
    }
    const { fee } = await ask<{ fee?: number }>(place, 'gettransactioninfobyid', { value: txid });
    fees += BigInt(fee ?? 0);
  }
  return fees;
}

function ask<T>(place: Place, method: string, body: object): Promise<T> {
  return post<T>(new URL(`/wallet/${method}`, place.tron.rpcUrl), body);
}
