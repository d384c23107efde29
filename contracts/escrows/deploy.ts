// Puts the contract, or a shard of it, at its address on an EVM chain, the same on every chain. It
// looks whether the contract is there, and writes down by which transaction.
//
//   PARLEY_DEPLOYER_KEY=0x… node contracts/escrows/deploy.ts --rpc URL --network NAME [--shard N]
//   node contracts/escrows/deploy.ts --rpc URL --verify
//
// The address commits to the deployer, the salt and the init code. So whatever is there was made by
// the pinned init code, and its words were written by nothing else.

import { parseArgs } from 'node:util';
import {
  type Address,
  BaseError,
  getAddress,
  type Hex,
  HttpRequestError,
  InsufficientFundsError,
  TimeoutError,
} from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import {
  codeHashAt,
  DeploymentError,
  type DeployOptions,
  deployer,
  type Endpoint,
  reader,
  sendThroughDeployer,
} from '../evm/create2.ts';
import { isEntry } from '../evm/entry.ts';
import {
  type EscrowRecord,
  escrowCode,
  escrowRecords,
  escrowRecordsOf,
  isNetworkName,
  type Made,
  recordFault,
  recordFile,
  recordIn,
  writeRecord,
} from '../records.ts';
import { escrowsAbi, initCode } from './artifacts/abi.ts';
import { domainOf, mostShards, type Shard, shardAt, shardOf } from './ids.ts';

export type Verification = {
  readonly chainId: number;
  readonly contract: Address;
  readonly codeHash: Hex | null;
  /** The answer of its domain(); every id follows from it. */
  readonly domain: Hex | null;
  readonly ok: boolean;
};

export type Deployment = {
  readonly chainId: number;
  readonly contract: Address;
  readonly txHash: Hex | null;
};

export async function verifyDeployment(endpoint: Endpoint, shard = 0): Promise<Verification> {
  const client = reader(endpoint);
  const { address: contract } = shardOf(shard);
  const [chainId, codeHash] = await Promise.all([
    client.getChainId(),
    codeHashAt(client, contract),
  ]);
  if (codeHash === null) return { chainId, contract, codeHash, domain: null, ok: false };
  const abi = escrowsAbi;
  // Other code answers nothing that is a domain.
  const domain = await client
    .readContract({ address: contract, abi, functionName: 'domain' })
    .catch(() => null);
  return { chainId, contract, codeHash, domain, ok: domain === domainOf(chainId, contract) };
}

// Repeating it changes nothing. Throws DeploymentError: no CREATE2 deployer, or another chain id.
export async function deployContracts(options: DeployOptions, shard = 0): Promise<Deployment> {
  const { address: contract, salt } = shardOf(shard);
  const present = (await codeHashAt(reader(options), contract)) !== null;
  const txHash = present ? null : await sendThroughDeployer(options, { salt, initCode });
  const { chainId, codeHash, domain, ok } = await verifyDeployment(options, shard);
  if (ok) return { chainId, contract, txHash };
  const expected = domainOf(chainId, contract);
  throw new DeploymentError(
    'code_differs',
    codeHash === null
      ? `there is no contract at ${contract} on chain ${chainId} after its deployment`
      : `the contract at ${contract} on chain ${chainId} has the domain ${domain}, not ${expected}`,
    { chainId: String(chainId), address: contract },
  );
}

function deployerKey(io: Console): Hex {
  const key = io.key() ?? '';
  if (/^0x[0-9a-fA-F]{64}$/.test(key)) return key as Hex;
  const sentence = 'PARLEY_DEPLOYER_KEY must be set to 0x and 64 hex characters';
  throw new DeploymentError('key_missing', sentence, {});
}

const usage = `usage: npm run deploy -- --rpc URL [--network NAME] [--shard N] [--transaction HASH]
       npm run deploy -- --rpc URL [--network NAME] [--shard N] --verify
  --network NAME        of the record in contracts/escrows/deployments; default evm-CHAINID, for a
                        shard evm-CHAINID-shard-N
  --shard N             another instance of the code, from 1 to ${mostShards - 1}; 0: the first;
                        default: that of the network's record
  --transaction HASH    what made it, where it is there already and the node keeps no old state
  --records FOLDER      in place of contracts/escrows/deployments
  --verify              only looks whether it is there, as recorded where there is a record
  PARLEY_DEPLOYER_KEY   0x and 64 hex characters: who pays for the gas`;

type Asked = {
  readonly rpcUrl: string;
  readonly network: string | null;
  readonly shard: number;
  readonly transaction: Hex | null;
  readonly records: string;
  readonly verify: boolean;
};

/** A string: the part that is not understood; null: how to use it is asked for. */
function understand(args: string[]): Asked | string | null {
  const flag = { type: 'boolean', default: false } as const;
  const text = { type: 'string' } as const;
  try {
    const options = {
      rpc: text,
      network: text,
      shard: text,
      transaction: text,
      records: text,
      verify: flag,
      help: flag,
    } as const;
    const { values } = parseArgs({ args, options });
    const { rpc, network = null, transaction, verify, help, records = escrowRecords } = values;
    if (help) return null;
    if (rpc === undefined) return '--rpc is missing';
    if (!URL.canParse(rpc)) return '--rpc is no URL';
    if (network !== null && !isNetworkName(network)) return '--network is no name of a network';
    const known = network === null ? null : recordIn<EscrowRecord>(network, records);
    const { shard = String(shardAt(known?.contract ?? '')?.number ?? 0) } = values;
    if (!/^\d{1,3}$/.test(shard) || Number(shard) >= mostShards) {
      return `--shard is a number from 0 to ${mostShards - 1}, not ${shard}`;
    }
    const isHash = transaction === undefined || /^0x[0-9a-f]{64}$/.test(transaction);
    if (!isHash) return '--transaction is 0x and 64 hex digits';
    const asked = {
      network,
      shard: Number(shard),
      transaction: (transaction as Hex | undefined) ?? null,
    };
    return { ...asked, rpcUrl: rpc, records, verify };
  } catch (error) {
    const [sentence = ''] = (error as Error).message.split('. To specify ');
    return sentence;
  }
}

/** The command asks for the key once it has something to send. */
export type Console = {
  out(line: string): void;
  err(line: string): void;
  key(): string | undefined;
};

/** The whole command; resolves to its exit status. */
export async function command(args: string[], io: Console): Promise<0 | 1 | 2> {
  try {
    return await run(args, io);
  } catch (error) {
    io.err(sentenceOf(error, args, io));
    return 1;
  }
}

async function run(args: string[], io: Console): Promise<0 | 1 | 2> {
  const asked = understand(args);
  if (asked === null) {
    io.out(usage);
    return 0;
  }
  if (typeof asked === 'string') {
    io.err(`${asked}\n${usage}`);
    return 2;
  }
  const { rpcUrl, shard, verify } = asked;
  const isWritten = verify || (await deployAndRecord(asked, io));
  const { chainId, contract, codeHash, domain, ok } = await verifyDeployment({ rpcUrl }, shard);
  const verdict = ok ? 'as pinned' : 'NOT as pinned';
  const shown = `code ${codeHash ?? 'none'} domain ${domain ?? 'none'}`;
  io.out(`chain ${chainId}: ${contract} ${shown} ${verdict}`);
  const isRecorded = !verify || !ok || (await isAsRecorded(asked, { chainId, contract }, io));
  return ok && isWritten && isRecorded ? 0 : 1;
}

/** False: the record differs from the chain, which the program reports. */
async function deployAndRecord(
  { rpcUrl, records, shard, ...asked }: Asked,
  io: Console,
): Promise<boolean> {
  const there = await verifyDeployment({ rpcUrl }, shard);
  const { chainId, contract } = there;
  const send = () => deployContracts({ rpcUrl, privateKey: deployerKey(io) }, shard);
  const txHash = there.ok ? null : (await send()).txHash;
  const how = txHash === null ? 'was there already' : `deployed by ${txHash}`;
  io.out(`chain ${chainId}: ${contract} ${how}`);
  const all = escrowRecordsOf(records, { family: 'evm', network: null, chainId });
  const named = all.filter((each) => each.contract === contract);
  const known = named.find(({ network }) => network === (asked.network ?? network));
  if (txHash === null && known !== undefined && asked.transaction === null) {
    const fault = await evmRecordFault({ rpcUrl }, known);
    const file = recordFile(known.network, records);
    io.out(fault === null ? `recorded in ${file}` : `${file}: ${fault}`);
    return fault === null;
  }
  const usual = shard === 0 ? `evm-${chainId}` : `evm-${chainId}-shard-${shard}`;
  const network = asked.network ?? known?.network ?? usual;
  const record = await evmRecordOf({ rpcUrl }, network, txHash ?? asked.transaction, shard);
  io.out(`written to ${writeRecord(record, records)}`);
  return true;
}

/** Says so; a chain without a record is none the worse for it. */
async function isAsRecorded(
  { rpcUrl, network, records }: Asked,
  { chainId, contract }: Pick<Verification, 'chainId' | 'contract'>,
  io: Console,
): Promise<boolean> {
  const all = escrowRecordsOf(records, { family: 'evm', network, chainId });
  const known = all.filter((each) => each.contract === contract);
  if (known.length === 0) {
    io.out(`chain ${chainId}: no deployment is recorded of ${network ?? 'it'}`);
    return network === null;
  }
  const faults = await Promise.all(known.map((record) => evmRecordFault({ rpcUrl }, record)));
  for (const [at, { network: name, transaction, deployedAt }] of known.entries()) {
    const fault = faults[at] ?? `made by ${transaction} at ${deployedAt}, as recorded`;
    io.out(`${name}: ${fault}`);
  }
  return faults.every((fault) => fault === null);
}

/** Viem's own message repeats the transaction: 19 000 digits of init code. */
function sentenceOf(error: unknown, args: string[], io: Console): string {
  if (error instanceof BaseError) {
    const { details, shortMessage } = error;
    const sentence = details === '' ? shortMessage : `${shortMessage} (${details.slice(0, 300)})`;
    const isOf = (...kinds: (abstract new (...all: never) => Error)[]) =>
      error.walk((cause) => kinds.some((kind) => cause instanceof kind)) !== null;
    if (isOf(InsufficientFundsError)) return `${privateKeyToAddress(deployerKey(io))}: ${sentence}`;
    const asked = understand(args);
    if (asked === null || typeof asked === 'string') return sentence;
    if (!isOf(HttpRequestError, TimeoutError)) return sentence;
    return `the node at ${new URL(asked.rpcUrl).host}: ${sentence}`;
  }
  return error instanceof Error ? error.message : String(error);
}

if (isEntry(import.meta.url)) {
  const io: Console = {
    out: (line) => void process.stdout.write(`${line}\n`),
    err: (line) => void process.stderr.write(`${line}\n`),
    key: () => process.env.PARLEY_DEPLOYER_KEY,
  };
  void command(process.argv.slice(2), io).then((code) => {
    process.exitCode = code;
  });
}

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
    ...escrowCode,
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
  return recordFault(record, { family: 'evm', chainId }, async () => {
    const instance = shardAt(record.contract);
    if (instance === null) return `${record.contract} is recorded, no shard of what is pinned`;
    return madeIn(client, record.transaction as Hex, instance);
  });
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
  if ((await codeHashAt(client, address)) === null) throw new Error(`no code is at ${address}`);
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
