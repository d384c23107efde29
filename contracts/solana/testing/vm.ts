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
import { FailedTransactionMetadata, FeatureSet, LiteSVM, type Rent } from 'litesvm';
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
  /** Addresses that its transactions named or tests wrote to: whether the VM came with them. */
  readonly seen: Map<Address, boolean>;
  /** Pays for transactions, and has no part in any swap. */
  readonly sender: Person;
};

export const programFile =
  process.env.PARLEY_ESCROW_SO ?? join(import.meta.dirname, '..', 'parley_escrow.so');

const people = new Map<string, Person>();

export async function person(name: string): Promise<Person> {
  const known = people.get(name);
  if (known !== undefined) return known;
  const keys = await createKeyPairFromPrivateKeyBytes(createHash('sha256').update(name).digest());
  const made = { address: await getAddressFromPublicKey(keys.publicKey), keys };
  people.set(name, made);
  return made;
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

type Vm = Pick<World, 'svm' | 'seen'>;

function createVm(runtime: Runtime): Vm {
  const svm = runtime === 'usual' ? new LiteSVM() : everyFeature();
  svm.addProgramFromFile(PROGRAM, programFile);
  return { svm, seen: new Map() };
}

async function worldIn({ svm, seen }: Vm): Promise<World> {
  const sender = await person('sender');
  const world = { svm, seen, sender };
  give(world, sender.address, 100n * SOL);
  setNow(world, NOW);
  return world;
}

/** A world whose VM is its own, for a test that puts another program in it. */
export const ownWorld = (): Promise<World> => worldIn(createVm('usual'));

const shared = new Map<Runtime, { readonly vm: Vm; readonly rent: Rent }>();

/**
 * A new VM takes ten milliseconds, more than a swap in it. The worlds of a runtime share one, and a
 * world ends where the next begins, which takes out of it what the last put there.
 */
export async function createWorld(runtime: Runtime = 'usual'): Promise<World> {
  const known = shared.get(runtime);
  if (known === undefined) {
    const vm = createVm(runtime);
    shared.set(runtime, { vm, rent: vm.svm.getRent() });
    return worldIn(vm);
  }
  const { vm, rent } = known;
  for (const [of, isOfVm] of vm.seen) {
    if (!isOfVm) setAccount(vm, of, SYSTEM, new Uint8Array(), 0n);
  }
  vm.seen.clear();
  vm.svm.setRent(rent);
  return worldIn(vm);
}

function see({ svm, seen }: Vm, of: Address): void {
  if (!seen.has(of)) seen.set(of, svm.getAccount(of).exists);
}

export function setNow({ svm }: World, seconds: bigint): void {
  const clock = svm.getClock();
  clock.unixTimestamp = seconds;
  svm.setClock(clock);
}

/** Adds lamports out of nothing. */
export function give(world: World, to: Address, amount: bigint): void {
  const before = world.svm.getAccount(to);
  setAccount(
    world,
    to,
    before.exists ? before.programAddress : SYSTEM,
    before.exists ? before.data : new Uint8Array(),
    (before.exists ? before.lamports : 0n) + amount,
  );
}

export function setAccount(
  vm: Vm,
  of: Address,
  owner: Address,
  data: Uint8Array,
  balance: bigint = vm.svm.minimumBalanceForRentExemption(BigInt(data.length)),
  executable = false,
): void {
  see(vm, of);
  vm.svm.setAccount({
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
  for (const { accounts = [] } of instructions) {
    for (const { address } of accounts) see(world, address);
  }
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
