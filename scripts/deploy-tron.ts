// Puts the contract of all escrows on a TRON network, and compares what is there with the pinned
// code. Its address differs from network to network: with its creation it goes into
// PARLEY_CHAINS.
//
//   PARLEY_DEPLOYER_KEY=… npm run deploy:tron -- --url URL                 deploys, then verifies
//   npm run deploy:tron -- --url URL --verify --contract ADDRESS --creation TXID

import { setTimeout as sleep } from 'node:timers/promises';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { parseTronAddress, tronHex } from '../chains/tron/address.ts';
import { createdAddress, createType } from '../chains/tron/creation.ts';
import { type Http, httpClient } from '../chains/tron/http.ts';
import { tronFault } from '../chains/tron/identity.ts';
import { chainIdOf, headBlock, infoOf, sendHex } from '../chains/tron/node.ts';
import { tronAddressOfKey } from '../chains/tron/proof.ts';
import { encodeFields } from '../chains/tron/protobuf.ts';
import { readTronSigned, signTronTransaction } from '../chains/tron/signed.ts';
import { referenceTo } from '../chains/tron/transaction.ts';
import { isEntry } from '../contracts/evm/entry.ts';
import { initCode } from '../contracts/tron/artifacts/abi.ts';
import { Misused, parsed, understood, wholeNumber } from './command.ts';

const usage = `usage: npm run deploy:tron -- --url URL [--solidity-url URL] [--fee-limit TRX]
       npm run deploy:tron -- --url URL --verify --contract ADDRESS --creation TXID
  PARLEY_DEPLOYER_KEY   64 hex characters: who pays for the energy`;

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
};

export type DeployedTron = {
  readonly chainId: number;
  /** base58 */
  readonly contract: string;
  /** The transaction that created it. */
  readonly creation: string;
};

/** Throws an Error when the transaction fails, or is in no block within two minutes. */
export async function deployTron(options: TronDeployOptions): Promise<DeployedTron> {
  const http = clientOf(options);
  const signal = AbortSignal.timeout(minedLimitMs);
  const owner = hexToBytes(tronHex(tronAddressOfKey(options.privateKey)));
  const rawData = await creation(http, owner, options.feeLimitSun, signal);
  const txID = bytesToHex(sha256(rawData));
  const unsigned = { txID, raw_data_hex: bytesToHex(rawData) };
  const { raw, txid } = readTronSigned(signTronTransaction(options.privateKey, unsigned));
  await sendHex(http, raw, signal);
  await succeeded(http, txid, signal);
  const contract = createdAddress(txid, owner);
  const chainId = await chainIdOf(http, signal);
  const fault = await tronFault(http, { chainId, contract, creation: txid }, signal);
  if (fault !== null) throw new Error(`after ${txid} the node ${fault}`);
  return { chainId, contract, creation: txid };
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

async function succeeded(http: Http, txid: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    const info = await infoOf(http, txid, 'head', signal);
    if (info?.succeeded) return;
    if (info !== null) throw new Error(`the deployment ${txid} failed: is its fee limit too low?`);
    await sleep(pollMs, undefined, { signal });
  }
}

/** What is wrong with the contract there; null = nothing. */
export async function verifyTron(
  where: Pick<TronDeployOptions, 'url' | 'solidityUrl'>,
  { contract, creation }: Pick<DeployedTron, 'contract' | 'creation'>,
): Promise<string | null> {
  const http = clientOf(where);
  const signal = AbortSignal.timeout(minedLimitMs);
  const chainId = await chainIdOf(http, signal);
  return tronFault(http, { chainId, contract: parseTronAddress(contract), creation }, signal);
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
  const done = await deployTron({ ...where, privateKey, feeLimitSun });
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
