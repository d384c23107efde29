// The record of a deployment, read from the chain and compared with it again.

import { getAddress, type Hex } from 'viem';
import { codeHashAt, deployer, type Endpoint, reader } from '../evm/create2.ts';
import { type EscrowRecord, type Made, madeFault } from '../records.ts';
import { deployment, initCode } from './artifacts/abi.ts';
import { type Shard, shardAt, shardOf } from './shards.ts';

type Reader = ReturnType<typeof reader>;

const dataOf = ({ salt }: Shard): Hex => `${salt}${initCode.slice(2)}`.toLowerCase() as Hex;

export async function evmRecordOf(
  endpoint: Endpoint,
  network: string,
  transaction: Hex | null,
  shard = 0,
): Promise<EscrowRecord> {
  const client = reader(endpoint);
  const instance = shardOf(shard);
  const chainId = await client.getChainId();
  const hash = transaction ?? (await madeBy(client, instance));
  const made = await madeIn(client, hash, instance);
  if (typeof made === 'string') throw new Error(made);
  return {
    network,
    family: 'evm',
    chainId,
    contract: instance.address,
    sha256: deployment.initCode.sha256.slice(2),
    bytes: deployment.initCode.bytes,
    transaction: hash,
    ...made,
  };
}

export async function evmRecordFault(
  endpoint: Endpoint,
  record: EscrowRecord,
): Promise<string | null> {
  const client = reader(endpoint);
  const chainId = await client.getChainId();
  const { initCode: pinned } = deployment;
  if (chainId !== record.chainId) {
    return `the node is of chain ${chainId}, not ${record.chainId} as recorded`;
  }
  const instance = shardAt(record.contract);
  if (instance === null) return `${record.contract} is recorded, no shard of what is pinned`;
  if (record.family !== 'evm') return `a record of ${record.family}, and not of evm`;
  if (`0x${record.sha256}` !== pinned.sha256 || record.bytes !== pinned.bytes) {
    const recorded = `${record.sha256} of ${record.bytes} bytes is recorded`;
    return `${recorded}: other init code than ${pinned.sha256.slice(2)} of ${pinned.bytes}`;
  }
  const made = await madeIn(client, record.transaction as Hex, instance);
  if (typeof made === 'string') return made;
  return madeFault(record, made);
}

/** A sentence where that transaction did not make the contract. */
async function madeIn(client: Reader, hash: Hex, instance: Shard): Promise<Made | string> {
  const found = await Promise.all([
    client.getTransaction({ hash }),
    client.getTransactionReceipt({ hash }),
  ]).catch(() => null);
  if (found === null) return `the node knows no transaction ${hash} in a block`;
  const [sent, receipt] = found;
  const isCall = sent.to !== null && getAddress(sent.to) === deployer.address;
  if (!isCall || sent.input.toLowerCase() !== dataOf(instance)) {
    return `${hash} is no call of the CREATE2 deployer with the pinned init code`;
  }
  if (receipt.status !== 'success') return `${hash} failed: another made the contract`;
  const { timestamp } = await client.getBlock({ blockHash: receipt.blockHash });
  return {
    payer: getAddress(sent.from),
    block: Number(receipt.blockNumber),
    deployedAt: new Date(Number(timestamp) * 1_000).toISOString(),
  };
}

/** In the first block with code there. */
async function madeBy(client: Reader, instance: Shard): Promise<Hex> {
  const { address } = instance;
  const isThere = async (blockNumber: bigint) =>
    (await client.getCode({ address, blockNumber })) !== undefined;
  let without = -1n;
  let withCode = await client.getBlockNumber();
  if ((await codeHashAt(client, address)) === null) throw new Error(`nothing is at ${address}`);
  while (withCode - without > 1n) {
    const middle = (without + withCode) / 2n;
    const found = await isThere(middle).catch((cause: unknown) => {
      const sentence = `the node keeps no state of block ${middle}: name it by --transaction HASH`;
      throw new Error(sentence, { cause });
    });
    if (found) withCode = middle;
    else without = middle;
  }
  const block = await client.getBlock({ blockNumber: withCode, includeTransactions: true });
  const data = dataOf(instance);
  const sent = block.transactions.filter((each) => each.input.toLowerCase() === data);
  for (const { hash } of sent) {
    if (typeof (await madeIn(client, hash, instance)) !== 'string') return hash;
  }
  throw new Error(`no transaction of block ${withCode} called the deployer: --transaction HASH`);
}
