// Balances read from the nodes themselves, and network fees computed from the transactions, to the
// last base unit. The market is asked nothing here.

import type { Person, Place } from './people.ts';

export type Holding = { sats: bigint; wei: bigint; dollars: bigint };
export const nothing: Holding = { sats: 0n, wei: 0n, dollars: 0n };

const callLimitMs = 30_000;

export function add(one: Holding, other: Holding): Holding {
  return {
    sats: one.sats + other.sats,
    wei: one.wei + other.wei,
    dollars: one.dollars + other.dollars,
  };
}

async function rpc<T>(url: string, method: string, params: readonly unknown[]): Promise<T> {
  const node = new URL(url);
  const login = Buffer.from(`${node.username}:${node.password}`).toString('base64');
  [node.username, node.password] = ['', ''];
  const response = await fetch(node, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Basic ${login}` },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(callLimitMs),
  });
  const answer = (await response.json()) as { result: T; error?: { message: string } | null };
  if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
  return answer.result;
}

function sats(coins: number): bigint {
  return BigInt(Math.round(coins * 1e8));
}

/** What a person holds now: confirmed coins, ether, tokens. */
export async function holdingOf(person: Person, place: Place): Promise<Holding> {
  const { evm, bitcoin } = place;
  const padded = person.evm.address.slice(2).toLowerCase().padStart(64, '0');
  const balanceOf = { to: evm.dollar.address, data: `0x70a08231${padded}` };
  const [wei, dollars] = await Promise.all([
    rpc<string>(evm.rpcUrl, 'eth_getBalance', [person.evm.address, 'latest']),
    rpc<string>(evm.rpcUrl, 'eth_call', [balanceOf, 'latest']),
  ]);
  const scan = ['start', [`addr(${person.bitcoin.address})`]];
  const set = await rpc<{ total_amount: number }>(bitcoin.rpcUrl, 'scantxoutset', scan);
  return { sats: sats(set.total_amount), wei: BigInt(wei), dollars: BigInt(dollars) };
}

/** The fee of a mined EVM transaction, and who paid it. */
async function evmFee(place: Place, txid: string): Promise<{ from: string; wei: bigint }> {
  const receipt = await rpc<{ from: string; gasUsed: string; effectiveGasPrice: string }>(
    place.evm.rpcUrl,
    'eth_getTransactionReceipt',
    [txid],
  );
  return {
    from: receipt.from,
    wei: BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice),
  };
}

type CoreTx = { vin: { txid: string; vout: number }[]; vout: { value: number; n: number }[] };

/** Inputs less outputs. */
async function bitcoinFee(place: Place, txid: string): Promise<bigint> {
  const read = (id: string) => rpc<CoreTx>(place.bitcoin.rpcUrl, 'getrawtransaction', [id, 1]);
  const tx = await read(txid);
  let fee = 0n;
  for (const { txid: from, vout } of tx.vin) {
    fee += sats((await read(from)).vout.find(({ n }) => n === vout)?.value ?? 0);
  }
  for (const { value } of tx.vout) fee -= sats(value);
  return fee;
}

/** Network fees of a person's transactions, each counted once. */
export async function feesOf(
  person: Person,
  place: Place,
  txids: ReadonlySet<string>,
): Promise<Holding> {
  let fees = nothing;
  let count = 0;
  for (const txid of txids) {
    if (!txid.startsWith('0x')) {
      fees = add(fees, { ...nothing, sats: await bitcoinFee(place, txid) });
      continue;
    }
    const { from, wei } = await evmFee(place, txid);
    if (from.toLowerCase() !== person.evm.address.toLowerCase()) {
      throw new Error(`${txid} was sent by ${from}, not by ${person.name}`);
    }
    count += 1;
    fees = add(fees, { ...nothing, wei });
  }
  const sent = await rpc<string>(place.evm.rpcUrl, 'eth_getTransactionCount', [
    person.evm.address,
    'latest',
  ]);
  if (Number(sent) !== count) {
    throw new Error(`${person.name} sent ${Number(sent)} EVM transactions, ${count} are known`);
  }
  return fees;
}
