// Puts a contract of escrows on a TRON network, writes down by which transaction, and
// compares what is there with the pinned code and that record. Its address differs from network to
// network: with its creation it goes into PARLEY_CHAINS.
//
//   PARLEY_DEPLOYER_KEY=… npm run deploy:tron -- --url URL --network NAME
//   npm run deploy:tron -- --url URL --verify
//
// What was signed is kept in PARLEY_HOME until it is recorded: a second try sends the same bytes
// again and waits for them, so that it pays nothing that the first has paid. Where a record is
// there already, nothing is sent.

import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { tronHex } from '@parley/chains/tron/address.ts';
import { readTronSigned, signTronTransaction } from '@parley/chains/tron/broadcast.ts';
import { type Http, httpClient, TronRefusal } from '@parley/chains/tron/http.ts';
import { createdAddress, creatorIn, tronFault } from '@parley/chains/tron/identity.ts';
import {
  blockOf,
  chainIdOf,
  headBlock,
  infoOf,
  knows,
  rawDataOf,
  sendHex,
} from '@parley/chains/tron/node.ts';
import { referenceTo, type TronOrigin } from '@parley/chains/tron/plan.ts';
import { tronAddressOfKey } from '@parley/chains/tron/proof.ts';
import { initCode } from '@parley/contracts/escrows/artifacts/abi.ts';
import { isEntry } from '@parley/contracts/evm/entry.ts';
import {
  type EscrowRecord,
  escrowCode,
  escrowRecords,
  escrowRecordsOf,
  isNetworkName,
  type Made,
  recordFault,
  recordFile,
  writeRecord,
} from '@parley/contracts/records.ts';
import { encodeFields, type Field } from '@parley/contracts/tron/protobuf.ts';
import { rawTransaction } from '@parley/contracts/tron/transaction.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { Misused, parsed, understood, wholeNumber } from '@parley/host/command.ts';
import { nullIfMissing } from '@parley/host/missing-file.ts';

const defaultFeeLimitTrx = '1000';
const usage = `usage: npm run deploy:tron -- --url URL [--network NAME] [--fee-limit TRX]
       npm run deploy:tron -- --url URL --verify [--network NAME]
  --network NAME        of the record in contracts/escrows/deployments; default tron-CHAINID
  --verify              only compares what is recorded with the chain
  --records FOLDER      in place of contracts/escrows/deployments
  --solidity-url URL    where that is a port of its own
  --fee-limit TRX       most that the energy may cost; default ${defaultFeeLimitTrx}
  PARLEY_DEPLOYER_KEY   64 hex characters: who pays for the energy
  PARLEY_HOME           where a transaction is kept until it is recorded, default .parley`;

const sunPerTrx = 1_000_000n;
const mostFeeLimitTrx = 99_999;
const minedLimitMs = 120_000;
const pollMs = 1_000;
const expirationMs = 600_000;

export type TronDeployOptions = {
  readonly url: string;
  readonly solidityUrl?: string;
  readonly privateKey: Uint8Array;
  readonly feeLimitSun: bigint;
  readonly home: string;
  /** Default: the record of this chain, else `tron-CHAINID`. */
  readonly network?: string | null;
  readonly records?: string;
  readonly say?: (sentence: string) => void;
  readonly waitMs?: number;
};

type Sent = {
  readonly raw: string;
  readonly txid: string;
  /** Unix milliseconds after which no block takes it. */
  readonly expiration: number;
  readonly file: string;
};

/** Throws an Error where it fails or is in no block in time: another call waits for it. */
export async function deployTron(options: TronDeployOptions): Promise<EscrowRecord> {
  const { privateKey, home, network = null, records = escrowRecords, say = () => {} } = options;
  const http = clientOf(options);
  const chainId = await chainIdOf(http, AbortSignal.timeout(options.waitMs ?? minedLimitMs));
  const [known] = escrowRecordsOf(records, { family: 'tron', network, chainId });
  if (known !== undefined) {
    const fault = await tronRecordFault(http, known, AbortSignal.timeout(minedLimitMs));
    const file = recordFile(known.network, records);
    if (fault !== null) throw new Error(`${file}: ${fault}. Name another --network`);
    say(`${known.contract} was there already, as recorded in ${file}`);
    return known;
  }
  const name = network ?? `tron-${chainId}`;
  const owner = hexToBytes(tronHex(tronAddressOfKey(privateKey)));
  const kept = join(home, `deploy-tron-${chainId}-${tronAddressOfKey(privateKey)}.hex`);
  const txid = await mined(http, options, kept, owner);
  const deployed = { chainId, contract: createdAddress(txid, owner), creation: txid };
  const signal = AbortSignal.timeout(minedLimitMs);
  const record = await tronRecordOf(http, name, deployed, signal).catch((cause: Error) => {
    throw new Error(`after ${txid} ${cause.message}. Run it again to record it`, { cause });
  });
  say(`written to ${writeRecord(record, records)}`);
  await rm(kept, { force: true });
  return record;
}

async function mined(
  http: Http,
  options: TronDeployOptions,
  file: string,
  owner: Uint8Array,
): Promise<string> {
  const { say = () => {}, waitMs = minedLimitMs } = options;
  const signal = AbortSignal.timeout(waitMs);
  const earlier = await keptIn(file);
  const isOver = earlier !== null && (await endOf(http, earlier, signal)) === 'gone';
  const sent =
    earlier === null || isOver ? await signAndKeep(http, options, file, owner, signal) : earlier;
  const contract = createdAddress(sent.txid, owner);
  say(`${sent === earlier ? 'waits again for' : 'sends'} ${sent.txid}, contract ${contract}`);
  try {
    await give(http, sent, signal);
    await succeeded(http, sent, signal);
    return sent.txid;
  } catch (error) {
    if (!signal.aborted) throw error;
    const sentence = `${sent.txid} is in no block yet; the contract will be at ${contract}`;
    throw new Error(`${sentence}. Run it again to wait for it`, { cause: error });
  }
}

async function keptIn(file: string): Promise<Sent | null> {
  const raw = await readFile(file, 'utf8').catch(nullIfMissing);
  return raw === null ? null : { ...readTronSigned(raw.trim()), file };
}

async function signAndKeep(
  http: Http,
  { privateKey, feeLimitSun }: TronDeployOptions,
  file: string,
  owner: Uint8Array,
  signal: AbortSignal,
): Promise<Sent> {
  const rawData = await creation(http, owner, feeLimitSun, signal);
  const unsigned = { txID: bytesToHex(sha256(rawData)), raw_data_hex: bytesToHex(rawData) };
  const read = readTronSigned(signTronTransaction(privateKey, unsigned));
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, `${read.raw}\n`, { mode: 0o600 });
  return { ...read, file };
}

/** A node that is slow, or says that it has it, may have it: its block tells. */
async function give(http: Http, { raw, txid, file }: Sent, signal: AbortSignal): Promise<void> {
  try {
    await sendHex(http, raw, signal);
  } catch (error) {
    if (error instanceof ParleyError) return;
    if (!(error instanceof TronRefusal) || error.code === 'DUP_TRANSACTION_ERROR') return;
    if (await knows(http, txid, signal)) return;
    await rm(file, { force: true });
    throw error;
  }
}

function clientOf({ url, solidityUrl }: Pick<TronDeployOptions, 'url' | 'solidityUrl'>): Http {
  const source = solidityUrl === undefined ? { url } : { url, solidityUrl };
  return httpClient({ chain: 'tron', sources: [source] });
}

/** raw_data; field numbers: packages/chains/tron/plan.ts, core/contract/smart_contract.proto. */
async function creation(
  http: Http,
  owner: Uint8Array,
  feeLimitSun: bigint,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const { timestampMs: timestamp } = await headBlock(http, 'head', signal);
  const contract = encodeFields([
    [1, owner],
    [4, hexToBytes(initCode.replace(/^0x/, ''))],
    // Callers pay for all of their energy.
    [6, 100n],
    [7, utf8ToBytes('ParleyEscrows')],
    [8, 10_000_000n],
  ]);
  const call: Field[] = [
    [1, owner],
    [2, contract],
  ];
  return rawTransaction('CreateSmartContract', call, {
    ...referenceTo(await headBlock(http, 'solid', signal)),
    expiration: timestamp + expirationMs,
    timestamp,
    feeLimitSun,
  });
}

async function succeeded(http: Http, sent: Sent, signal: AbortSignal): Promise<void> {
  const { txid, file } = sent;
  for (;;) {
    const end = await endOf(http, sent, signal).catch((error: unknown) => {
      if (signal.aborted || !(error instanceof ParleyError)) throw error;
      return 'waits' as const;
    });
    if (end === 'succeeded') return;
    if (end !== 'waits') await rm(file, { force: true });
    if (end === 'failed')
      throw new Error(`the deployment ${txid} failed: is its fee limit too low?`);
    if (end === 'gone') throw new Error(`${txid} came into no block: you paid nothing`);
    await sleep(pollMs, undefined, { signal });
  }
}

/** A block takes what expires after the one before it. */
async function endOf(
  http: Http,
  { txid, expiration }: Sent,
  signal: AbortSignal,
): Promise<'waits' | 'succeeded' | 'failed' | 'gone'> {
  // Asked first: a transaction that comes into a block between the questions is not gone.
  const { timestampMs } = await headBlock(http, 'solid', signal);
  const info = await infoOf(http, txid, 'head', signal);
  if (info !== null) return info.succeeded ? 'succeeded' : 'failed';
  return timestampMs > expiration ? 'gone' : 'waits';
}

/** Read from the chain, so that it is the same whoever writes it. */
async function tronRecordOf(
  http: Http,
  network: string,
  deployment: TronOrigin,
  signal: AbortSignal,
): Promise<EscrowRecord> {
  const made = await madeBy(http, deployment, signal);
  if (typeof made === 'string') throw new Error(made);
  const { chainId, contract, creation } = deployment;
  return {
    network,
    family: 'tron',
    chainId,
    contract,
    ...escrowCode,
    transaction: creation,
    ...made,
  };
}

export async function tronRecordFault(
  http: Http,
  record: EscrowRecord,
  signal: AbortSignal,
): Promise<string | null> {
  const { contract, transaction: creation } = record;
  const chainId = await chainIdOf(http, signal);
  return recordFault(record, { family: 'tron', chainId }, () =>
    madeBy(http, { chainId, contract, creation }, signal),
  );
}

async function madeBy(
  http: Http,
  deployment: TronOrigin,
  signal: AbortSignal,
): Promise<Made | string> {
  const fault = await tronFault(http, deployment, signal);
  if (fault !== null) return `the node ${fault.says}`;
  const { creation } = deployment;
  const [rawData, block] = await Promise.all([
    rawDataOf(http, creation, signal),
    blockOf(http, creation, signal),
  ]);
  const payer = rawData && creatorIn(rawData);
  if (!payer || block === null) return `the node shows ${creation} in no block`;
  return {
    payer,
    block: block.number,
    deployedAt: new Date(block.timestampMs).toISOString(),
  };
}

type Where = Pick<TronDeployOptions, 'url' | 'solidityUrl'>;

function understand(args: string[]) {
  const { values } = parsed({
    args,
    options: {
      url: { type: 'string' },
      'solidity-url': { type: 'string' },
      'fee-limit': { type: 'string', default: defaultFeeLimitTrx },
      verify: { type: 'boolean', default: false },
      network: { type: 'string' },
      records: { type: 'string', default: escrowRecords },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  const { url, network = null, records, verify, 'solidity-url': solidityUrl } = values;
  if (url === undefined) throw new Misused('--url is missing');
  if (network !== null && !isNetworkName(network)) {
    throw new Misused(`--network is the name of a network, not "${network}"`);
  }
  const feeLimit = wholeNumber('--fee-limit', values['fee-limit'], { most: mostFeeLimitTrx });
  const where: Where = solidityUrl === undefined ? { url } : { url, solidityUrl };
  const feeLimitSun = BigInt(feeLimit) * sunPerTrx;
  return { where, network, records, verify, feeLimitSun };
}

type Asked = NonNullable<ReturnType<typeof understand>>;

async function main({ where, verify, ...asked }: Asked): Promise<number> {
  if (verify) return verifyRecorded(where, asked);
  const say = (sentence: string) => process.stderr.write(`${sentence}\n`);
  const privateKey = deployerKey();
  const home = process.env.PARLEY_HOME ?? '.parley';
  const record = await deployTron({ ...where, ...asked, privateKey, home, say });
  const { chainId, contract, transaction: creation } = record;
  process.stdout.write(`${JSON.stringify({ chainId, contract, creation })}\n`);
  return 0;
}

async function verifyRecorded(
  where: Where,
  { network, records }: Pick<Asked, 'network' | 'records'>,
): Promise<number> {
  const http = clientOf(where);
  const signal = AbortSignal.timeout(minedLimitMs);
  const chainId = await chainIdOf(http, signal);
  const known = escrowRecordsOf(records, { family: 'tron', network, chainId });
  if (known.length === 0) {
    throw new Error(`no deployment is recorded of ${network ?? `chain ${chainId}`}`);
  }
  let status = 0;
  for (const record of known) {
    const { network: name, contract, transaction, deployedAt } = record;
    const fault = await tronRecordFault(http, record, signal);
    const well = `the pinned contract, made by ${transaction} at ${deployedAt}, as recorded`;
    process.stdout.write(`${name}: ${contract}: ${fault ?? well}\n`);
    if (fault !== null) status = 1;
  }
  return status;
}

function deployerKey(): Uint8Array {
  const key = (process.env.PARLEY_DEPLOYER_KEY ?? '').replace(/^0x/, '');
  if (/^[0-9a-fA-F]{64}$/.test(key)) return hexToBytes(key);
  throw new Error('PARLEY_DEPLOYER_KEY must be set to 64 hex characters');
}

if (isEntry(import.meta.url)) {
  process.exitCode = await main(understood({ usage, understand })).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    return 1;
  });
}
