// A Solana VM with the committed program in it, a clock that stands still, and people with SOL.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Address,
  appendTransactionMessageInstructions,
  compileTransaction,
  createKeyPairFromPrivateKeyBytes,
  createTransactionMessage,
  getAddressFromPublicKey,
  type Instruction,
  lamports,
  pipe,
  setTransactionMessageFeePayer,
  signTransaction,
} from '@solana/kit';
import { FailedTransactionMetadata, FeatureSet, LiteSVM } from 'litesvm';
import { PROGRAM, SYSTEM } from './instructions.ts';

export const NOW = 1_800_000_000n;
export const SOL = 1_000_000_000n;
/** The cost of a transaction with one signature for its sender. */
export const FEE = 5_000n;

export const errors = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', 'layout.json'), 'utf8'),
).errors as Readonly<Record<string, number>>;

type Keys = Awaited<ReturnType<typeof createKeyPairFromPrivateKeyBytes>>;
export type Person = { readonly address: Address; readonly keys: Keys };

export type Outcome = {
  /** Undefined when it worked, a name of layout.json for an error of ours, else the VM's words. */
  readonly error: string | undefined;
  readonly units: bigint;
  readonly logs: readonly string[];
};

export type World = {
  readonly svm: LiteSVM;
  /** Pays for transactions, and has no part in any swap. */
  readonly sender: Person;
};

export const programFile =
  process.env.PARLEY_ESCROW_SO ?? join(import.meta.dirname, '..', 'parley_escrow.so');

export async function person(name: string): Promise<Person> {
  const keys = await createKeyPairFromPrivateKeyBytes(createHash('sha256').update(name).digest());
  return { address: await getAddressFromPublicKey(keys.publicKey), keys };
}

/** Every feature of the runtime switched on, those too that no cluster runs yet. */
function everyFeature(): LiteSVM {
  return LiteSVM.default()
    .withFeatureSet(FeatureSet.allEnabled())
    .withBuiltins()
    .withLamports(1_000_000n * SOL)
    .withSysvars()
    .withDefaultPrograms()
    .withPrecompiles()
    .withSigverify(true)
    .withBlockhashCheck(true);
}

export type Runtime = 'usual' | 'every feature';

export async function createWorld(runtime: Runtime = 'usual'): Promise<World> {
  const svm = runtime === 'usual' ? new LiteSVM() : everyFeature();
  svm.addProgramFromFile(PROGRAM, programFile);
  const sender = await person('sender');
  const world = { svm, sender };
  give(world, sender.address, 100n * SOL);
  setNow(world, NOW);
  return world;
}

export function setNow({ svm }: World, seconds: bigint): void {
  const clock = svm.getClock();
  clock.unixTimestamp = seconds;
  svm.setClock(clock);
}

/** Adds lamports out of nothing. */
export function give({ svm }: World, to: Address, amount: bigint): void {
  const before = svm.getAccount(to);
  setAccount(
    { svm },
    to,
    before.exists ? before.programAddress : SYSTEM,
    before.exists ? before.data : new Uint8Array(),
    (before.exists ? before.lamports : 0n) + amount,
  );
}

export function setAccount(
  { svm }: Pick<World, 'svm'>,
  of: Address,
  owner: Address,
  data: Uint8Array,
  balance: bigint = svm.minimumBalanceForRentExemption(BigInt(data.length)),
  executable = false,
): void {
  svm.setAccount({
    address: of,
    programAddress: owner,
    data,
    lamports: lamports(balance),
    executable,
    space: BigInt(data.length),
  });
}

export const balanceOf = ({ svm }: World, of: Address): bigint => svm.getBalance(of) ?? 0n;
export const rentOf = ({ svm }: World, len: bigint): bigint =>
  svm.minimumBalanceForRentExemption(len);

export function dataOf({ svm }: World, of: Address): Buffer | undefined {
  const account = svm.getAccount(of);
  return account.exists ? Buffer.from(account.data) : undefined;
}

export function ownerOf({ svm }: World, of: Address): Address | undefined {
  const account = svm.getAccount(of);
  return account.exists ? account.programAddress : undefined;
}

/** The same world, in which somebody else sends the transactions and pays for them. */
export const sentBy = (world: World, sender: Person): World => ({ ...world, sender });

/** Sends as the sender, signed by the others too. Never the same transaction twice. */
export async function send(
  world: World,
  instructions: readonly Instruction[],
  signers: readonly Person[] = [],
): Promise<Outcome> {
  const { svm, sender } = world;
  svm.expireBlockhash();
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (tx) => setTransactionMessageFeePayer(sender.address, tx),
    (tx) => appendTransactionMessageInstructions(instructions, tx),
    (tx) => svm.setTransactionMessageLifetimeUsingLatestBlockhash(tx),
  );
  const keys = [sender, ...signers].map((each) => each.keys);
  const result = svm.sendTransaction(await signTransaction(keys, compileTransaction(message)));
  const meta = result instanceof FailedTransactionMetadata ? result.meta() : result;
  return {
    error: result instanceof FailedTransactionMetadata ? nameOf(result) : undefined,
    units: meta.computeUnitsConsumed(),
    logs: meta.logs(),
  };
}

function nameOf(failed: FailedTransactionMetadata): string {
  const words = failed.toString();
  const own = `Program ${PROGRAM} failed: custom program error: 0x`;
  const log = failed
    .meta()
    .logs()
    .find((each) => each.startsWith(own));
  // An error of a program that ours called is reported as ours, after the other's own line.
  const inner =
    failed
      .meta()
      .logs()
      .filter((each) => /failed: /.test(each)).length > 1;
  if (log === undefined || inner) return [words, ...failed.meta().logs()].join('\n');
  const code = Number.parseInt(log.slice(own.length), 16);
  return Object.entries(errors).find(([, each]) => each === code)?.[0] ?? words;
}
