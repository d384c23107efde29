// Puts the contract of all escrows on a TRON network, and compares what is there with the pinned
// code. Its address differs from network to network: with its creation it goes into
// PARLEY_CHAINS.
//
//   PARLEY_DEPLOYER_KEY=… npm run deploy:tron -- --url URL                 deploys, then verifies
//   npm run deploy:tron -- --url URL --verify --contract ADDRESS --creation TXID
//
// What was signed is kept in PARLEY_HOME until its end is known: a second try sends the same bytes
// again and waits for them, so that it pays nothing that the first has paid.

import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { parseTronAddress, tronHex } from '../chains/tron/address.ts';
import { createdAddress, createType } from '../chains/tron/creation.ts';
import { type Http, httpClient, TronRefusal } from '../chains/tron/http.ts';
import { tronFault } from '../chains/tron/identity.ts';
import { chainIdOf, headBlock, infoOf, knows, sendHex } from '../chains/tron/node.ts';
import { tronAddressOfKey } from '../chains/tron/proof.ts';
import { encodeFields } from '../chains/tron/protobuf.ts';
import { readTronSigned, signTronTransaction } from '../chains/tron/signed.ts';
import { referenceTo } from '../chains/tron/transaction.ts';
import { initCode } from '../contracts/escrows/artifacts/abi.ts';
import { isEntry } from '../contracts/evm/entry.ts';
import { ParleyError } from '../core/errors.ts';
import { Misused, parsed, understood, wholeNumber } from './command.ts';

const usage = `usage: npm run deploy:tron -- --url URL [--solidity-url URL] [--fee-limit TRX]
       npm run deploy:tron -- --url URL --verify --contract ADDRESS --creation TXID
  PARLEY_DEPLOYER_KEY   64 hex characters: who pays for the energy
  PARLEY_HOME           where a transaction is kept until its end is known, default .parley`;

const sunPerTrx = 1_000_000n;
const defaultFeeLimitTrx = '1000';
const mostFeeLimitTrx = 99_999;
const minedLimitMs = 120_000;
const pollMs = 1_000;
const expirationMs = 600_000;
const createUrl = 'type.googleapis.com/protocol.CreateSmartContract';

export type TronDeployOptions = {
  readonly url: string;
  readonly solidityUrl?: string;
  readonly privateKey: Uint8Array;
  readonly feeLimitSun: bigint;
  /** Folder of what was signed and has no end yet. */
  readonly home: string;
  readonly say?: (sentence: string) => void;
  /** Until it is in a block. */
  readonly waitMs?: number;
};

export type DeployedTron = {
  readonly chainId: number;
  /** base58 */
  readonly contract: string;
  /** The transaction that created it. */
  readonly creation: string;
};

type Sent = {
  readonly raw: string;
  readonly txid: string;
  /** Unix milliseconds after which no block takes it. */
  readonly expiration: number;
  readonly file: string;
};

/**
 * Throws an Error when the transaction fails or expires, and when it is in no block within two
 * minutes: then another call waits for the same.
 */
export async function deployTron(options: TronDeployOptions): Promise<DeployedTron> {
  const { privateKey, home, say = () => {}, waitMs = minedLimitMs } = options;
  const http = clientOf(options);
  const signal = AbortSignal.timeout(waitMs);
  const chainId = await chainIdOf(http, signal);
  const from = tronAddressOfKey(privateKey);
  const owner = hexToBytes(tronHex(from));
  const file = join(home, `deploy-tron-${chainId}-${from}.hex`);
  const earlier = await keptIn(file);
  const isOver = earlier !== null && (await endOf(http, earlier, signal)) === 'gone';
  const sent =
    earlier === null || isOver ? await signAndKeep(http, options, file, owner, signal) : earlier;
  const contract = createdAddress(sent.txid, owner);
  say(`${sent === earlier ? 'waits again for' : 'sends'} ${sent.txid}, contract ${contract}`);
  try {
    await give(http, sent, signal);
    await succeeded(http, sent, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    const sentence = `${sent.txid} is in no block yet; the contract will be at ${contract}`;
    throw new Error(`${sentence}. Run it again to wait for it`, { cause: error });
  }
  const deployed = { chainId, contract, creation: sent.txid };
  const fault = await tronFault(http, deployed, AbortSignal.timeout(minedLimitMs));
  if (fault !== null) throw new Error(`after ${sent.txid} the node ${fault.says}`);
  await rm(file, { force: true });
  return deployed;
}

async function keptIn(file: string): Promise<Sent | null> {
  const raw = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
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

/** raw_data; field numbers: chains/tron/transaction.ts, core/contract/smart_contract.proto. */
async function creation(
  http: Http,
  owner: Uint8Array,
  feeLimitSun: bigint,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const { timestampMs } = await headBlock(http, 'head', signal);
  const { refBlockBytes, refBlockHash } = referenceTo(await headBlock(http, 'solid', signal));
  const contract = encodeFields([
    [1, owner],
    [4, hexToBytes(initCode.replace(/^0x/, ''))],
    // Callers pay for all of their energy.
    [6, 100n],
    [7, utf8ToBytes('ParleyEscrows')],
    [8, 10_000_000n],
  ]);
  const call = encodeFields([
    [1, owner],
    [2, contract],
  ]);
  const any = encodeFields([
    [1, utf8ToBytes(createUrl)],
    [2, call],
  ]);
  const typed = encodeFields([
    [1, createType],
    [2, any],
  ]);
  return encodeFields([
    [1, hexToBytes(refBlockBytes)],
    [4, hexToBytes(refBlockHash)],
    [8, BigInt(timestampMs + expirationMs)],
    [11, typed],
    [14, BigInt(timestampMs)],
    [18, feeLimitSun],
  ]);
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
    if (end === 'gone') throw new Error(`${txid} came into no block: nothing was paid`);
    await sleep(pollMs, undefined, { signal });
  }
}

/** A block takes what expires after the one before it. */
async function endOf(
  http: Http,
  { txid, expiration }: Sent,
  signal: AbortSignal,
): Promise<'waits' | 'succeeded' | 'failed' | 'gone'> {
  // Asked first: what comes into a block between the questions is not gone.
  const { timestampMs } = await headBlock(http, 'solid', signal);
  const info = await infoOf(http, txid, 'head', signal);
  if (info !== null) return info.succeeded ? 'succeeded' : 'failed';
  return timestampMs > expiration ? 'gone' : 'waits';
}

/** What is wrong with the contract there; null = nothing. */
export async function verifyTron(
  where: Pick<TronDeployOptions, 'url' | 'solidityUrl'>,
  { contract, creation }: Pick<DeployedTron, 'contract' | 'creation'>,
): Promise<string | null> {
  const http = clientOf(where);
  const signal = AbortSignal.timeout(minedLimitMs);
  const chainId = await chainIdOf(http, signal);
  const deployment = { chainId, contract: parseTronAddress(contract), creation };
  return (await tronFault(http, deployment, signal))?.says ?? null;
}

function understand(args: string[]) {
  const { values } = parsed({
    args,
    options: {
      url: { type: 'string' },
      'solidity-url': { type: 'string' },
      'fee-limit': { type: 'string', default: defaultFeeLimitTrx },
      verify: { type: 'boolean', default: false },
      contract: { type: 'string' },
      creation: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  const { url, contract = '', creation = '', verify, 'solidity-url': solidity } = values;
  if (url === undefined) throw new Misused('--url is missing');
  if (verify && contract === '') throw new Misused('--contract is missing');
  if (verify && !/^[0-9a-f]{64}$/.test(creation)) throw new Misused('--creation is missing');
  const feeLimit = wholeNumber('--fee-limit', values['fee-limit'], { most: mostFeeLimitTrx });
  return { url, contract, creation, verify, solidity, feeLimitSun: BigInt(feeLimit) * sunPerTrx };
}

type Asked = NonNullable<ReturnType<typeof understand>>;

async function main({
  url,
  contract,
  creation,
  verify,
  solidity,
  feeLimitSun,
}: Asked): Promise<number> {
  const where = solidity === undefined ? { url } : { url, solidityUrl: solidity };
  if (verify) {
    const fault = await verifyTron(where, { contract, creation });
    process.stdout.write(`${contract}: ${fault ?? 'the pinned contract of this network'}\n`);
    return fault === null ? 0 : 1;
  }
  const privateKey = deployerKey();
  const home = process.env.PARLEY_HOME ?? '.parley';
  const say = (sentence: string) => process.stderr.write(`${sentence}\n`);
  const done = await deployTron({ ...where, privateKey, feeLimitSun, home, say });
  process.stdout.write(`${JSON.stringify(done)}\n`);
  return 0;
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
