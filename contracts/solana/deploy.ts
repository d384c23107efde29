// Puts the pinned program on a cluster with no upgrade authority, in one command, and writes down
// what it did. Run again it goes on where it stopped, and does nothing where all is done.
//
//   PARLEY_PAYER_KEY=… node contracts/solana/deploy.ts --rpc URL --network NAME --program-key FILE
//
// The code goes into a buffer first, at an address that follows from payer and code. The program is
// made of it and its authority given up in the same transaction: at no time can anyone replace it.
// A key is what solana-keygen writes, an array of 64 bytes, or the same in base58.

import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { base58 } from '@scure/base';
import {
  address,
  appendTransactionMessageInstructions,
  type Blockhash,
  createKeyPairSignerFromBytes,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  type Instruction,
  type KeyPairSigner,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import { isEntry } from '../evm/entry.ts';
import {
  isNetworkName,
  type Made,
  type Recorded,
  recordIn,
  solanaRecords,
  writeRecord,
} from '../records.ts';
import { codeOf, digestOf, PROGRAM_FILE } from './compile.ts';
import { deploymentFault } from './deployed.ts';
import { readerOf } from './deployment.ts';
import {
  BUFFER_HEAD,
  bufferOf,
  CHUNK_BYTES,
  deployForGood,
  LOADER,
  openBuffer,
  PROGRAM_BYTES,
  PROGRAM_DATA_HEAD,
  writeChunk,
} from './loader.ts';
import { accountAt, type Rpc, rpcTo } from './node-rpc.ts';

const POLL_MS = 400;
const WAIT_MS = 90_000;
const AT_ONCE = 8;
const SIGNATURE_LAMPORTS = 5_000n;

type SolanaRecord = Recorded & {
  readonly family: 'solana';
  readonly genesisHash: string;
};

export type DeployOptions = {
  readonly rpcUrl: string;
  readonly network: string;
  readonly payer: KeyPairSigner;
  readonly program: KeyPairSigner;
  readonly code?: Uint8Array;
  readonly records?: string;
  readonly say?: (sentence: string) => void;
};

/** The key in a text: an array of 64 bytes as JSON, or base58. Throws without showing it. */
export async function keyIn(text: string): Promise<KeyPairSigner> {
  let bytes: Uint8Array;
  try {
    const clean = text.trim();
    bytes = clean.startsWith('[') ? Uint8Array.from(JSON.parse(clean)) : base58.decode(clean);
  } catch {
    throw new Error('a key is an array of 64 bytes, or the same in base58');
  }
  if (bytes.length !== 64) throw new Error(`a key has 64 bytes, not ${bytes.length}`);
  return createKeyPairSignerFromBytes(bytes);
}

/** Deploys unless that is done, and gives the record. Throws with what is in the way. */
export async function deploy(options: DeployOptions): Promise<SolanaRecord> {
  const { rpcUrl, network, payer, program, records = solanaRecords, say = () => {} } = options;
  const code = options.code ?? readFileSync(PROGRAM_FILE);
  const rpc = rpcTo(rpcUrl);
  const genesisHash = await rpc<string>('getGenesisHash', []);
  const known = recordIn<SolanaRecord>(network, records);
  if (known !== null && known.genesisHash !== genesisHash) {
    throw new Error(
      `${network} is recorded with the genesis ${known.genesisHash}: another cluster`,
    );
  }
  const isThere = (await accountAt(rpc, program.address, 'confirmed')) !== null;
  if (isThere) say(`${program.address} is there already`);
  else await putProgram(rpc, { payer, program, code, say });
  await untilVerified(rpcUrl, program.address, code);
  const contract = program.address;
  const transaction = await firstOf(rpc, contract);
  const made = await madeIn(rpc, transaction, contract);
  const about = { network, family: 'solana', genesisHash, contract } as const;
  const record: SolanaRecord = { ...about, ...codeOf(code), transaction, ...made };
  say(`written to ${writeRecord(record, records)}`);
  return record;
}

type Making = Pick<DeployOptions, 'payer' | 'program'> & {
  readonly code: Uint8Array;
  readonly say: (sentence: string) => void;
};

async function putProgram(rpc: Rpc, { payer, program, code, say }: Making): Promise<void> {
  // Half of a digest: a seed has at most 32 characters.
  const seed = digestOf(code).slice(0, 32);
  const buffer = await bufferOf(payer.address, seed);
  const rent = async (bytes: number) =>
    BigInt(await rpc<number>('getMinimumBalanceForRentExemption', [bytes]));
  const ofBuffer = await rent(BUFFER_HEAD + code.length);
  const ofProgram = await rent(PROGRAM_BYTES);
  const ofData = await rent(PROGRAM_DATA_HEAD + code.length);
  const before = await accountAt(rpc, buffer, 'confirmed');
  const chunks = missingChunks(
    before === null ? null : Buffer.from(before.data[0], 'base64'),
    code,
  );
  const { value: has } = await rpc<{ value: number }>('getBalance', [
    payer.address,
    { commitment: 'confirmed' },
  ]);
  // The buffer's lamports pay for the program's data.
  const held = BigInt(before?.lamports ?? 0);
  const fees = SIGNATURE_LAMPORTS * BigInt(chunks.length + 4);
  const need = ofBuffer - held + ofProgram + (ofData - ofBuffer) + fees;
  if (BigInt(has) < need) {
    throw new Error(`${payer.address} has ${has} lamports, and ${need} are needed`);
  }
  if (before === null) {
    const opening = openBuffer({ payer: payer.address, buffer, seed }, ofBuffer, code.length);
    await sendAll(rpc, payer, [opening]);
  } else if (before.owner !== LOADER) {
    throw new Error(`${buffer}, where the code is to wait, is no account of the loader`);
  }
  say(`${chunks.length} parts of the code to write to ${buffer}`);
  await sendAll(
    rpc,
    payer,
    chunks.map(([offset, bytes]) => [writeChunk(buffer, payer.address, offset, bytes)]),
  );
  const written = await accountAt(rpc, buffer, 'confirmed');
  const text = written === null ? null : Buffer.from(written.data[0], 'base64');
  if (missingChunks(text, code).length > 0) {
    throw new Error('the buffer does not hold the code yet: run the command again');
  }
  const names = { payer: payer.address, program: program.address, buffer };
  const making = await deployForGood(names, ofProgram, code.length);
  const [txid] = await sendAll(rpc, payer, [making], [program]);
  say(`${program.address} is made by ${txid}`);
}

type Chunk = readonly [offset: number, bytes: Uint8Array];

/** Parts of the code that a buffer does not hold. */
function missingChunks(buffer: Buffer | null, code: Uint8Array): Chunk[] {
  const chunks: Chunk[] = [];
  for (let offset = 0; offset < code.length; offset += CHUNK_BYTES) {
    const bytes = code.subarray(offset, offset + CHUNK_BYTES);
    const at = BUFFER_HEAD + offset;
    if (buffer?.subarray(at, at + bytes.length).equals(bytes) !== true)
      chunks.push([offset, bytes]);
  }
  return chunks;
}

/** Each a transaction, several at once; all are in blocks when it returns. */
async function sendAll(
  rpc: Rpc,
  payer: KeyPairSigner,
  list: readonly (readonly Instruction[])[],
  signers: readonly KeyPairSigner[] = [],
): Promise<string[]> {
  const txids: string[] = [];
  for (let from = 0; from < list.length; from += AT_ONCE) {
    const part = list.slice(from, from + AT_ONCE);
    txids.push(...(await Promise.all(part.map((each) => sendOne(rpc, payer, each, signers)))));
  }
  return txids;
}

async function sendOne(
  rpc: Rpc,
  payer: KeyPairSigner,
  instructions: readonly Instruction[],
  signers: readonly KeyPairSigner[],
): Promise<string> {
  type Latest = { value: { blockhash: Blockhash; lastValidBlockHeight: number } };
  const { value } = await rpc<Latest>('getLatestBlockhash', [{ commitment: 'confirmed' }]);
  const lifetime = {
    blockhash: value.blockhash,
    lastValidBlockHeight: BigInt(value.lastValidBlockHeight),
  };
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (tx) => setTransactionMessageFeePayerSigner(payer, tx),
    (tx) => setTransactionMessageLifetimeUsingBlockhash(lifetime, tx),
    (tx) => appendTransactionMessageInstructions(withSigners(instructions, signers), tx),
  );
  const signed = await signTransactionMessageWithSigners(message);
  const wire = getBase64EncodedWireTransaction(signed);
  const txid = getSignatureFromTransaction(signed);
  const until = Date.now() + WAIT_MS;
  const config = { encoding: 'base64', preflightCommitment: 'confirmed', maxRetries: 0 };
  let isFirst = true;
  while (Date.now() < until) {
    // A cluster may drop what it is given: the same bytes again change nothing.
    await rpc('sendTransaction', [wire, { ...config, skipPreflight: !isFirst }]);
    isFirst = false;
    await sleep(POLL_MS);
    type Status = { err: unknown; confirmationStatus: string } | null;
    const { value: found } = await rpc<{ value: [Status] }>('getSignatureStatuses', [[txid]]);
    const [status] = found;
    if (status === null || status.confirmationStatus === 'processed') continue;
    if (status.err === null) return txid;
    throw new Error(`${txid} failed: ${JSON.stringify(status.err)}`);
  }
  throw new Error(`${txid} is in no block after ${WAIT_MS / 1_000} s: run the command again`);
}

/** kit signs with the signers that stand in the accounts. */
function withSigners(
  instructions: readonly Instruction[],
  signers: readonly KeyPairSigner[],
): Instruction[] {
  return instructions.map((each) => ({
    ...each,
    accounts: (each.accounts ?? []).map((account) => {
      const signer = signers.find((one) => one.address === account.address);
      return signer === undefined || account.role < 2 ? account : { ...account, signer };
    }),
  }));
}

/** Once the deployment is final. Throws what is wrong with it. */
async function untilVerified(rpcUrl: string, program: string, code: Uint8Array): Promise<void> {
  const until = Date.now() + WAIT_MS;
  for (;;) {
    const fault = await deploymentFault(program, readerOf(rpcUrl), codeOf(code));
    if (fault === null) return;
    const mayCome = fault === 'there is no account' || fault === 'the program was closed';
    if (!mayCome || Date.now() > until) throw new Error(`${program}: ${fault}`);
    await sleep(POLL_MS);
  }
}

/** The oldest transaction of a program that succeeded: the one that made it. */
async function firstOf(rpc: Rpc, program: string): Promise<string> {
  type Listed = { signature: string; err: unknown };
  let oldest: string | undefined;
  for (;;) {
    const config = { commitment: 'finalized', ...(oldest && { before: oldest }) };
    const page = await rpc<Listed[]>('getSignaturesForAddress', [program, config]);
    const last = page.findLast(({ err }) => err === null);
    if (last === undefined) break;
    oldest = last.signature;
  }
  if (oldest === undefined) throw new Error('the node does not list what made the program');
  return oldest;
}

/** Throws where the cluster does not show that it made the program. */
async function madeIn(rpc: Rpc, transaction: string, program: string): Promise<Made> {
  type Shown = {
    slot: number;
    blockTime: number | null;
    meta: { err: unknown };
    transaction: { message: { accountKeys: string[] } };
  };
  const config = { encoding: 'json', commitment: 'finalized', maxSupportedTransactionVersion: 0 };
  const shown = await rpc<Shown | null>('getTransaction', [transaction, config]);
  if (shown === null) throw new Error(`the node knows no transaction ${transaction} in a block`);
  const { accountKeys } = shown.transaction.message;
  if (shown.meta.err !== null || !accountKeys.includes(program)) {
    throw new Error(`${transaction} did not make ${program}`);
  }
  return {
    payer: accountKeys[0] ?? '',
    block: shown.slot,
    deployedAt: new Date((shown.blockTime ?? 0) * 1_000).toISOString(),
  };
}

const usage = `usage: node contracts/solana/deploy.ts --rpc URL --network NAME --program-key FILE
  --network NAME        of the record in contracts/solana/deployments
  --program-key FILE    what solana-keygen wrote: the program's address follows from it
  --payer-key FILE      the same of who pays, in place of PARLEY_PAYER_KEY
  PARLEY_PAYER_KEY      64 bytes as an array or in base58: who pays`;

type Asked = {
  readonly rpcUrl: string;
  readonly network: string;
  readonly programFile: string;
  readonly payerFile: string | null;
};

/** A string: the part that is not understood; null: how to use it is asked for. */
function understand(args: string[]): Asked | string | null {
  const text = { type: 'string' } as const;
  try {
    const options = {
      rpc: text,
      network: text,
      'program-key': text,
      'payer-key': text,
      help: { type: 'boolean', default: false },
    } as const;
    const { values } = parseArgs({ args, options });
    const { rpc, network, help } = values;
    const { 'program-key': programFile, 'payer-key': payerFile = null } = values;
    if (help) return null;
    if (rpc === undefined) return '--rpc is missing';
    if (!URL.canParse(rpc)) return '--rpc is no URL';
    if (network === undefined) return '--network is missing';
    if (!isNetworkName(network)) return '--network is no name of a network';
    if (programFile === undefined) return '--program-key is missing';
    return { rpcUrl: rpc, network, programFile, payerFile };
  } catch (error) {
    const [sentence = ''] = (error as Error).message.split('. To specify ');
    return sentence;
  }
}

async function main(args: string[]): Promise<void> {
  const asked = understand(args);
  if (asked === null || typeof asked === 'string') {
    if (asked === null) console.log(usage);
    else console.error(`${asked}\n${usage}`);
    process.exitCode = asked === null ? 0 : 2;
    return;
  }
  const { rpcUrl, network, programFile, payerFile } = asked;
  const payerText = payerFile ? readFileSync(payerFile, 'utf8') : process.env.PARLEY_PAYER_KEY;
  if (payerText === undefined) throw new Error('PARLEY_PAYER_KEY or --payer-key FILE is needed');
  const program = await keyIn(readFileSync(programFile, 'utf8'));
  const payer = await keyIn(payerText);
  const say = (sentence: string) => console.log(sentence);
  const record = await deploy({ rpcUrl, network, payer, program, say });
  console.log(`${address(record.contract)}: the pinned program, and nobody can replace it`);
}

if (isEntry(import.meta.url)) {
  main(process.argv.slice(2)).catch((error: Error) => {
    const { cause } = error;
    console.error(cause instanceof Error ? `${error.message}: ${cause.message}` : error.message);
    process.exitCode = 1;
  });
}
