// Launches on a Solana test chain: mints made by SPL Token's InitializeMint2, an instruction that
// carries its mint as a launchpad's does, and accounts made by a program that calls it.

import {
  AccountRole,
  type Address,
  address,
  getAddressEncoder,
  getBase64EncodedWireTransaction,
  type Instruction,
  type KeyPairSigner,
} from '@solana/kit';
import { SYSTEM, signed, signer, type TestChain } from '../../../devnet/solana/testing/chain.ts';
import type { InstructionSource } from '../../launches.ts';
import { associatedTokenAccount, associatedTokenProgram, tokenProgram } from '../programs.ts';

/** Every mint of SPL Token is a launch. */
export const newMints: InstructionSource = {
  program: tokenProgram,
  discriminator: '14',
  mintAccount: 0,
  account: tokenProgram,
};

/** InitializeAccount3, which the associated token program calls: its second account is the mint. */
export const newHoldings: InstructionSource = {
  program: tokenProgram,
  discriminator: '12',
  mintAccount: 1,
  account: associatedTokenProgram,
};

const token = address(tokenProgram);
const mintBytes = 82n;
const createAccountTag = 0;
const initializeMintTag = 0x14;
const mintToTag = 7;
const setAuthorityTag = 6;

export type Launching = {
  readonly launcher: KeyPairSigner;
  /** A mint with a supply that the launcher holds, and no authority. In a block of its own. */
  launch(name: string): Promise<string>;
};

export async function newLauncher(chain: TestChain): Promise<Launching> {
  const launcher = await signer('launcher');
  await chain.give({ address: launcher.address, token: null, amount: 50_000_000_000n });
  await chain.mine(2);
  const rent = await chain.rpc.getMinimumBalanceForRentExemption(mintBytes).send();
  return {
    launcher,
    launch: async (name) => {
      const mint = await signer(`mint ${name}`);
      await post(chain, launcher, mintOf(launcher, mint, rent));
      return mint.address;
    },
  };
}

async function post(
  chain: TestChain,
  payer: KeyPairSigner,
  instructions: readonly Instruction[],
): Promise<void> {
  const wire = getBase64EncodedWireTransaction(await signed(chain, payer, instructions));
  await chain.rpc.sendTransaction(wire, { encoding: 'base64', preflightCommitment: 'processed' }).send();
  await chain.mine(1);
}

function mintOf(launcher: KeyPairSigner, mint: KeyPairSigner, rent: bigint): Instruction[] {
  const bytes = (of: Address) => getAddressEncoder().encode(of);
  const create = Buffer.alloc(52);
  create.writeUInt32LE(createAccountTag, 0);
  create.writeBigUInt64LE(rent, 4);
  create.writeBigUInt64LE(mintBytes, 12);
  create.set(bytes(token), 20);
  const supply = Buffer.alloc(9, mintToTag);
  supply.writeBigUInt64LE(1_000_000_000_000n, 1);
  const holding = address(associatedTokenAccount(launcher.address, mint.address, tokenProgram));
  const signs = { address: launcher.address, role: AccountRole.WRITABLE_SIGNER };
  const writes = { address: mint.address, role: AccountRole.WRITABLE };
  const reads = (of: Address) => ({ address: of, role: AccountRole.READONLY });
  const ofToken = (accounts: Instruction['accounts'], data: Uint8Array): Instruction => ({
    programAddress: token,
    accounts: accounts ?? [],
    data,
  });
  return [
    {
      programAddress: SYSTEM,
      accounts: [
        signs,
        { address: mint.address, role: AccountRole.WRITABLE_SIGNER, signer: mint } as never,
      ],
      data: create,
    },
    ofToken([writes], Buffer.from([initializeMintTag, 6, ...bytes(launcher.address), 0])),
    {
      programAddress: address(associatedTokenProgram),
      accounts: [
        signs,
        { address: holding, role: AccountRole.WRITABLE },
        ...[launcher.address, mint.address, SYSTEM, token].map(reads),
      ],
      data: Buffer.from([0]),
    },
    ofToken([writes, { address: holding, role: AccountRole.WRITABLE }, signs], supply),
    // Nobody may mint more.
    ofToken([writes, signs], Buffer.from([setAuthorityTag, 0, 0])),
  ];
}
