// Whether what is deployed at an address is this program, for good: the committed bytes, and no
// authority that could replace them. Runs in a browser too.

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { base58 } from '@scure/base';
import pinned from './deployment.json' with { type: 'json' };

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

/** The code of a program's file. `sha256`: hex. */
export type Code = { readonly sha256: string; readonly bytes: number };

/** null: it has no fault. */
export async function deploymentFault(
  address: string,
  read: ReadAccount,
  committed: Code = pinned,
): Promise<string | null> {
  const account = await read(address);
  if (account === null) return 'there is no account';
  const { owner, isExecutable, data: head } = account;
  const isProgram = head.length === program.length && tagOf(head) === program.tag;
  if (owner !== LOADER || !isExecutable || !isProgram) {
    return 'it is no program of the upgradeable loader';
  }
  const stored = await read(base58.encode(head.subarray(program.dataAddress)));
  if (stored === null) return 'the program was closed';
  const { data } = stored;
  if (stored.owner !== LOADER || data.length < programData.code) return 'its data is not readable';
  if (tagOf(data) !== programData.tag) return 'its data is not readable';
  if (data[programData.authority] !== 0) {
    const start = programData.authority + 1;
    return `${base58.encode(data.subarray(start, start + 32))} can replace it`;
  }
  const code = data.subarray(programData.code);
  const isCommitted = bytesToHex(sha256(code.subarray(0, committed.bytes))) === committed.sha256;
  // The loader may keep room behind the program: zeros.
  if (!isCommitted || code.subarray(committed.bytes).some((byte) => byte !== 0)) {
    return 'it is not the committed program';
  }
  return null;
}

function tagOf(data: Uint8Array): number {
  return new DataView(data.buffer, data.byteOffset, data.byteLength).getUint32(0, true);
}
