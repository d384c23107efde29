// Whether what is deployed at an address is this program, for good: the committed bytes, and no
// authority that could replace them.
//
//   node contracts/solana/deployment.ts --rpc URL --program ADDRESS
//                                                       exit status 1 where it is not

import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { base58 } from '@scure/base';
import { PROGRAM_FILE } from './build.ts';
import { isEntry } from './entry.ts';
import { accountAt, rpcTo } from './node-rpc.ts';

const LOADER = 'BPFLoaderUpgradeab1e11111111111111111111111';
/** The loader's own tags, and where its fields are. */
const program = { tag: 2, length: 36, dataAddress: 4 } as const;
const programData = { tag: 3, authority: 12, code: 45 } as const;

export type Account = {
  readonly owner: string;
  readonly isExecutable: boolean;
  readonly data: Uint8Array;
};

export type ReadAccount = (address: string) => Promise<Account | null>;

export async function deploymentFault(
  address: string,
  read: ReadAccount,
  committed: Uint8Array = readFileSync(PROGRAM_FILE),
): Promise<string | null> {
  const account = await read(address);
  if (account === null) return 'there is no account';
  const head = Buffer.from(account.data);
  const isProgram = head.length === program.length && head.readUInt32LE(0) === program.tag;
  if (account.owner !== LOADER || !account.isExecutable || !isProgram) {
    return 'it is no program of the upgradeable loader';
  }
  const stored = await read(base58.encode(head.subarray(program.dataAddress)));
  if (stored === null) return 'the program was closed';
  const data = Buffer.from(stored.data);
  if (stored.owner !== LOADER || data.length < programData.code) return 'its data is not readable';
  if (data.readUInt32LE(0) !== programData.tag) return 'its data is not readable';
  if (data[programData.authority] !== 0) {
    const start = programData.authority + 1;
    return `${base58.encode(data.subarray(start, start + 32))} can replace it`;
  }
  const code = data.subarray(programData.code);
  // The loader may keep room behind the program: zeros.
  const isCommitted = code.subarray(0, committed.length).equals(committed);
  if (!isCommitted || code.subarray(committed.length).some((byte) => byte !== 0)) {
    return 'it is not the committed program';
  }
  return null;
}

export function readerOf(rpcUrl: string): ReadAccount {
  const rpc = rpcTo(rpcUrl);
  return async (address) => {
    const account = await accountAt(rpc, address, 'finalized');
    if (account === null) return null;
    const { owner, executable, data } = account;
    return { owner, isExecutable: executable, data: Buffer.from(data[0], 'base64') };
  };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { rpc: { type: 'string' }, program: { type: 'string' } },
  });
  if (values.rpc === undefined || values.program === undefined) {
    throw new Error('--rpc URL and --program ADDRESS are needed');
  }
  const fault = await deploymentFault(values.program, readerOf(values.rpc));
  console.log(`${values.program}: ${fault ?? 'the committed program, and nobody can replace it'}`);
  if (fault !== null) process.exitCode = 1;
}

if (isEntry(import.meta.url)) await main();
