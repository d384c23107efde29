// Several escrows of the same people in one world, beside a model of them. After each step
// everybody has what the model says, to the lamport, and each escrow's account is the one that it
// says.

import assert from 'node:assert/strict';
import { Rent } from 'litesvm';
import * as instructions from './instructions.ts';
import { bytesOf, encodeTerms, PROGRAM, SYSTEM } from './instructions.ts';
import { AMOUNT, type Asset, type Changes, type Swap, secret, swapIn } from './swaps.ts';
import { dust, patch, tokensOf } from './tokens.ts';
import {
  balanceOf,
  createWorld,
  dataOf,
  give,
  NOW,
  ownerOf,
  type Person,
  type Runtime,
  rentOf,
  SOL,
  send,
  setNow,
} from './vm.ts';

const START = 100n * SOL;
const STATE_BYTES = 184n;
const VAULT_BYTES = 165n;
/** See LEAST_DEPOSIT in fund.rs. */
const LEAST_DEPOSIT = 2_171_520n;
const STATUS = { open: 1, left: 2, claimed: 2, released: 3 } as const;
const wrongSecret = Buffer.alloc(32, 1);

/** `left`: claimed without the funder's account. `gone`: refunded, or closed. */
type Status = 'new' | 'gone' | keyof typeof STATUS;
type Model = {
  readonly swap: Swap;
  status: Status;
  /** Lamports and tokens sent there by nobody in particular. */
  lamports: bigint;
  vault: bigint;
  tokens: bigint;
  /** By the rent of the funding, and of what left a tombstone. */
  deposit: bigint;
  vaultRent: bigint;
  tombstone: bigint;
};
type Gain = { lamports: bigint; tokens: bigint };
export type Scene = {
  readonly models: readonly Model[];
  now: bigint;
  readonly payee: Gain;
  readonly funder: Gain;
};

export async function createScene(
  asset: Asset,
  changes: readonly Changes[] = [{}],
  runtime: Runtime = 'usual',
): Promise<Scene> {
  const world = await createWorld(runtime);
  const models: Model[] = [];
  for (const each of changes) {
    const swap = await swapIn(world, asset, each);
    const strays = { lamports: 0n, vault: 0n, tokens: 0n };
    models.push({ swap, status: 'new', ...strays, deposit: 0n, vaultRent: 0n, tombstone: 0n });
  }
  const { source, funder } = models[0]!.swap;
  if (asset !== 'SOL') patch(world, source, 64, instructions.word(START));
  give(world, funder.address, START - balanceOf(world, funder.address));
  const none = { lamports: 0n, tokens: 0n };
  return { models, now: NOW, payee: { ...none }, funder: { ...none } };
}

const isSol = ({ asset }: Swap): boolean => asset === 'SOL';

/** The lamports of the account besides strays, by its status. */
function ownLamports({ swap, status, deposit, vaultRent, tombstone }: Model): bigint {
  if (status === 'open') return deposit + (isSol(swap) ? AMOUNT : 0n);
  if (status === 'left') return deposit + vaultRent;
  return status === 'claimed' || status === 'released' ? tombstone : 0n;
}

export const verbs = ['fund', 'claim', 'bare', 'false', 'refund', 'release', 'close'] as const;
type Verb = (typeof verbs)[number];

/** Whether the verb works; if so, who has what then. */
function predict(scene: Scene, model: Model, verb: Verb): boolean {
  const { swap, status } = model;
  const { timelock } = swap.terms;
  const isOver = scene.now >= timelock;
  const [sol, tokens] = isSol(swap) ? [AMOUNT, 0n] : [0n, AMOUNT];
  if (verb === 'fund') {
    if (status !== 'new' || timelock < scene.now + 1_800n) return false;
    const state = rentOf(swap.world, STATE_BYTES);
    model.deposit = state > LEAST_DEPOSIT ? state : LEAST_DEPOSIT;
    model.vaultRent = isSol(swap) ? 0n : rentOf(swap.world, VAULT_BYTES);
  }
  const vault = model.vaultRent;
  /** All lamports but what stays go to the funder. */
  const end = (next: Status, out: bigint) => {
    model.status = next;
    if (next === 'claimed' || next === 'released') model.tombstone = rentOf(swap.world, 1n);
    scene.funder.lamports += out - ownLamports(model);
    if (next === 'open' || next === 'left') return;
    scene.funder.lamports += model.lamports;
    model.lamports = 0n;
  };
  const leave = (to: Gain) => {
    to.tokens += tokens + model.tokens;
    model.lamports += model.vault;
    model.tokens = 0n;
    model.vault = 0n;
  };
  if (verb === 'false') return false;
  if (verb === 'fund') {
    scene.funder.tokens -= tokens;
    end('open', 0n);
    scene.funder.lamports -= vault;
    return true;
  }
  if (verb === 'close') {
    if (!isOver || status === 'open' || ownLamports(model) + model.lamports === 0n) return false;
    end('gone', ownLamports(model));
    return true;
  }
  if (verb === 'refund' || verb === 'release') {
    const isWhole = status === 'open';
    const isRelease = verb === 'release';
    if (isWhole ? !isOver && !isRelease : status !== 'left' || isRelease) return false;
    const out = ownLamports(model) + (isWhole ? vault : 0n);
    if (isWhole) leave(scene.funder);
    end(isOver ? 'gone' : isWhole ? 'released' : 'claimed', out);
    return true;
  }
  if (status !== 'open' || isOver) return false;
  const out = ownLamports(model) + vault - sol;
  leave(scene.payee);
  scene.payee.lamports += sol;
  end(verb === 'claim' ? 'claimed' : 'left', out);
  return true;
}

function instructionOf({ swap, status }: Model, verb: Verb) {
  const { escrow } = swap;
  if (verb === 'bare') return instructions.claim(escrow, secret, { refund: false });
  if (verb === 'false') return instructions.claim(escrow, wrongSecret);
  const isShort = verb === 'refund' && status === 'left';
  return isShort ? instructions.refund(escrow) : swap[verb];
}

/** Stray lamports or tokens at the swap's escrow. */
function stray(model: Model, place: string, amount: bigint): void {
  const { world, escrow } = model.swap;
  if (place === 'escrow') {
    give(world, escrow.escrow, amount);
    model.lamports += amount;
  } else if (!isSol(model.swap)) {
    if (place === 'vault') give(world, escrow.vault, amount);
    else dust(world, escrow.vault, amount);
    model[place === 'vault' ? 'vault' : 'tokens'] += amount;
  }
}

/**
 * One step with one of the swaps: a verb, or `verb:Error`; `@seconds` from the timelock;
 * `rent=lamports` for each byte; and `escrow+lamports`, `vault+lamports` or `dust+tokens` out of
 * nothing.
 */
export async function step(scene: Scene, text: string, which = 0): Promise<void> {
  const model = scene.models[which]!;
  const { world, terms, funder, payee } = model.swap;
  const [place, amount] = text.split('+');
  const [, price] = text.split('rent=');
  if (text.startsWith('@')) {
    scene.now = terms.timelock + BigInt(text.slice(1));
    setNow(world, scene.now);
  } else if (price !== undefined) {
    world.svm.setRent(new Rent(BigInt(price), 1, 50));
  } else if (amount !== undefined) {
    stray(model, place!, BigInt(amount));
  } else {
    const [verb, error] = text.split(':') as [Verb, string | undefined];
    const made = instructionOf(model, verb);
    const works = predict(scene, model, verb);
    const signers = { fund: [funder], release: [payee] } as Partial<Record<Verb, Person[]>>;
    const outcome = await send(world, [made], signers[verb]);
    assert.equal(outcome.error === undefined, works, `${text}: ${outcome.error}`);
    if (error !== undefined) assert.equal(outcome.error, error);
  }
  for (const each of scene.models) compareEscrow(each);
  comparePeople(scene);
}

function compareEscrow(model: Model): void {
  const { swap, status } = model;
  const { world, escrow } = swap;
  const has = balanceOf(world, escrow.escrow);
  assert.equal(has, ownLamports(model) + model.lamports, 'lamports of the escrow');
  const isOpen = status === 'open' && !isSol(swap);
  const rent = isOpen ? model.vaultRent : 0n;
  assert.equal(balanceOf(world, escrow.vault), rent + model.vault, 'lamports of the vault');
  if (isOpen) assert.equal(tokensOf(world, escrow.vault), AMOUNT + model.tokens, 'held');
  const data = dataOf(world, escrow.escrow);
  if (status === 'new' || status === 'gone') {
    assert.equal(data?.length ?? 0, 0);
    assert.equal(ownerOf(world, escrow.escrow), has === 0n ? undefined : SYSTEM);
    return;
  }
  assert.equal(ownerOf(world, escrow.escrow), PROGRAM);
  const vault = isSol(swap) ? Buffer.alloc(32) : bytesOf(escrow.vault);
  const head = Buffer.alloc(8);
  head.set([STATUS[status], escrow.bump]);
  const whole = Buffer.concat([head, encodeTerms(swap.terms), vault]);
  const isShort = status === 'claimed' || status === 'released';
  assert.deepEqual(data, isShort ? whole.subarray(0, 1) : whole);
}

function comparePeople({ models, funder, payee }: Scene): void {
  const { world, source, destination, ...people } = models[0]!.swap;
  const [ofFunder, ofPayee] = [people.funder, people.payee].map(({ address }) =>
    balanceOf(world, address),
  );
  assert.equal(ofFunder, START + funder.lamports, 'lamports of the funder');
  assert.equal(ofPayee, 10n * SOL + payee.lamports, 'lamports of the payee');
  if (people.asset === 'SOL') return;
  assert.equal(tokensOf(world, source), START + funder.tokens, 'tokens of the funder');
  assert.equal(tokensOf(world, destination), payee.tokens, 'tokens of the payee');
}
