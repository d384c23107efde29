// Finds a claim among strangers' transactions without reading all of them. Each says what the
// account held before and after: a stretch after which less is held has taken something out. A few
// of each are read, and again of the parts that lost. SOL given back after the claim hides it; then
// history.ts finds it.

import { lateTransaction } from './late.ts';
import {
  accountsAt,
  type Held,
  heldIn,
  type Signature,
  signaturesOf,
  signaturesPage,
} from './node.ts';
import { vaultAddress } from './plan.ts';
import { tokenProgramOf } from './preflight.ts';
import { type History, type Known, takeOrSkip, type Watch } from './watch.ts';

/** No further list is begun after it; the next pass goes on there. */
const turnMs = 60_000;
const listMs = 10_000;
/** Listed before they are searched. */
const mostListed = 5_000;
const fewAtOnce = 8;
/** So many are read without a choice. */
const mostRead = 24;
/** The tries for one part, of which none could be read. */
const mostTries = 3;

/** Where the money was, what is there now, and how much a claim takes. */
type Ledger = {
  readonly account: string;
  readonly isToken: boolean;
  readonly held: bigint;
  readonly amount: bigint;
};

/** Searches the claim until its secret is known, all was read, or its pass ends. */
export async function hunt(watch: Watch, known: Known): Promise<void> {
  const { history } = known;
  const until = performance.now() + turnMs;
  const soon = () => AbortSignal.any([watch.closed.signal, AbortSignal.timeout(listMs)]);
  const ledger = await ledgerOf(watch, known, soon());
  let before = history.hunt?.before ?? null;
  let held = history.hunt?.held ?? ledger.held;
  let list: readonly Signature[] = [];
  while (isWanted(watch, known) && performance.now() < until) {
    const range = { before, until: null };
    const page = await signaturesOf(watch.rpc, ledger.account, range, soon());
    const last = page.at(-1);
    const isEnd = page.length < signaturesPage || (last?.slot ?? 0) <= history.openAt;
    list = [...list, ...page.filter((each) => isBetween(history, each))];
    before = last?.txid ?? before;
    if (!isEnd && list.length < mostListed) continue;
    const lowest = isEnd ? held + ledger.amount : null;
    const rest = await search(watch, known, ledger, { list, held, lowest, tries: 0 });
    held = rest.held;
    // The part below the last one that could be read is searched with the rest.
    list = rest.list.length < list.length ? rest.list : [];
    history.hunt = isEnd || before === null ? null : { before, held };
    if (isEnd) return;
  }
}

function isWanted({ known, secrets, closed }: Watch, { watched }: Known): boolean {
  const isAsked = known.has(watched.address) && !closed.signal.aborted;
  return isAsked && !secrets.has(watched.terms.hashlock);
}

function isBetween({ openAt, settledAt }: History, { slot }: Signature): boolean {
  return slot > openAt && slot <= settledAt;
}

async function ledgerOf(watch: Watch, { watched: { address, terms } }: Known, signal: AbortSignal) {
  const { amount } = terms;
  const program = await tokenProgramOf(watch, terms, signal);
  if (program !== null) {
    return { account: vaultAddress(address, program), isToken: true, held: 0n, amount };
  }
  const { accounts } = await accountsAt(watch.rpc, [address], 'confirmed', signal);
  const held = BigInt(accounts[0]?.lamports ?? 0);
  return { account: address, isToken: false, held, amount };
}

/** A stretch of a list, newest first. */
type Part = {
  readonly list: readonly Signature[];
  /** Right after it. */
  readonly held: bigint;
  /** Right before it; null: not known. */
  readonly lowest: bigint | null;
  readonly tries: number;
};

/**
 * Reads into what lost something. Resolves to the part below the last that was read and held there.
 */
async function search(watch: Watch, known: Known, ledger: Ledger, whole: Part) {
  let rest: Pick<Part, 'list' | 'held'> = whole;
  const parts = [whole];
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    if (!isWanted(watch, known)) return rest;
    const read = await readFew(watch, ledger, part);
    const { losses, below } = divide(part, read);
    if (part === whole) rest = below;
    const isAll = part.list.length <= mostRead;
    if (!isAll) parts.push(...losses.filter(({ tries }) => tries < mostTries));
  }
  return rest;
}

type Read = { readonly at: number; readonly held: Held };

async function readFew(watch: Watch, ledger: Ledger, { list }: Part): Promise<Read[]> {
  const places = list.length <= mostRead ? [...list.keys()] : spread(list.length);
  const reading = places.map(async (at): Promise<Read[]> => {
    const transaction = await lateTransaction(watch, list[at]?.txid ?? '');
    if (transaction === null || takeOrSkip(watch, transaction) === null) return [];
    if (!('read' in transaction)) return [];
    const held = heldIn(transaction, ledger.account, ledger.isToken);
    return held === null ? [] : [{ at, held }];
  });
  return (await Promise.all(reading)).flat();
}

/** One out of each part of the same length, where nobody can foresee it. */
function spread(length: number): number[] {
  return Array.from({ length: fewAtOnce }, (_, at) => {
    const from = Math.floor((at * length) / fewAtOnce);
    const to = Math.floor(((at + 1) * length) / fewAtOnce);
    return from + Math.floor(Math.random() * (to - from));
  });
}

/** The parts between the read ones that lost something, and the part below the last. */
function divide(part: Part, read: readonly Read[]): { losses: Part[]; below: Part } {
  const { list, lowest } = part;
  const losses: Part[] = [];
  let from = 0;
  let held = part.held;
  for (const { at, held: shown } of read) {
    if (shown.after > held && at > from) {
      losses.push({ list: list.slice(from, at), held, lowest: shown.after, tries: 0 });
    }
    from = at + 1;
    held = shown.before;
  }
  const tries = read.length === 0 ? part.tries + 1 : 0;
  const below = { list: list.slice(from), held, lowest, tries };
  if (lowest !== null && lowest > held && below.list.length > 0) losses.push(below);
  return { losses, below };
}
