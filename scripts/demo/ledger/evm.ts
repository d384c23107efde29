// A person's ether and tokens on the EVM chain, and what its transactions paid in fees.

import { rpc } from '../node-call.ts';
import type { Person } from '../people.ts';
import type { Coin, Place } from '../place.ts';

/** Base units. */
export async function evmBalance(person: Person, place: Place, { token }: Coin): Promise<bigint> {
  const { rpcUrl } = place.evm;
  const { address } = person.evm;
  if (token === null)
    return BigInt(await rpc<string>(rpcUrl, 'eth_getBalance', [address, 'latest']));
  const padded = address.slice(2).toLowerCase().padStart(64, '0');
  const call = { to: token, data: `0x70a08231${padded}` };
  return BigInt(await rpc<string>(rpcUrl, 'eth_call', [call, 'latest']));
}

/** Wei. Throws unless these are all the transactions that the person ever sent. */
export async function evmFees(
  person: Person,
  place: Place,
  txids: ReadonlySet<string>,
): Promise<bigint> {
  const { rpcUrl } = place.evm;
  const { address } = person.evm;
  let fees = 0n;
  for (const txid of txids) {
    const { from, gasUsed, effectiveGasPrice } = await rpc<{
      from: string;
      gasUsed: string;
      effectiveGasPrice: string;
    }>(rpcUrl, 'eth_getTransactionReceipt', [txid]);
    if (from.toLowerCase() !== address.toLowerCase()) {
      throw new Error(`${txid} was sent by ${from}, not by ${person.name}`);
    }
    fees += BigInt(gasUsed) * BigInt(effectiveGasPrice);
  }
  const sent = Number(await rpc<string>(rpcUrl, 'eth_getTransactionCount', [address, 'latest']));
  if (sent !== txids.size) {
    throw new Error(`${person.name} sent ${sent} EVM transactions, ${txids.size} are known`);
  }
  return fees;
}
