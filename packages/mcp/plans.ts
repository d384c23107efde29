// Plans: the action of a trade tool, under a digest over exactly that. The second call names the
// digest. A plan is a file: an act that a crash cut off is finished by the same call, once, under
// the same idempotency key.

import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, randomBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { makePrivateFolder } from '@parley/host/private-file.ts';
import { Failure } from '@parley/trader/failures.ts';
import { jsonOf } from '@parley/trader/io.ts';
import { readUpTo, writePrivate } from '@parley/trader/places.ts';
import { Refusal } from './refusal.ts';

/** How long a person may think about it. */
const planSeconds = 300;
/** A caller that asks again within it learns what was done. */
const keptSeconds = 86_400;
const mostPlans = 2_000;
const mostPlanBytes = 262_144;

/** As they are in a file: amounts are decimal strings. */
type Json = Readonly<Record<string, unknown>>;

export type Plan = {
  readonly digest: string;
  readonly nonce: string;
  readonly tool: string;
  readonly account: string;
  readonly market: string;
  readonly args: Json;
  /** Exactly what is sent, or done. */
  readonly order: Json;
  /** The values that may fall and may not rise, such as fees. */
  readonly most: Readonly<Record<string, string>>;
  /** Unix seconds. */
  readonly madeAt: number;
  readonly until: number;
  readonly state: 'planned' | 'begun' | 'done';
  readonly result: Json | null;
};

export type Making = Pick<Plan, 'tool' | 'account' | 'market' | 'args' | 'order' | 'most'> & {
  /** The time at which its subject ends, where that is sooner. */
  readonly until: number | null;
};

export type Plans = {
  make(of: Making): Promise<Plan>;
  /** Throws Refusal `unknown_digest`. */
  get(digest: string): Promise<Plan>;
  keep(plan: Plan): Promise<void>;
  forget(plan: Plan): Promise<void>;
};

const plain = <T>(value: T) => JSON.parse(jsonOf(value)) as T;

/** Keys in one order, so that equal plans are equal texts. */
function canonical(value: unknown): string {
  const text = jsonOf(value) as string | undefined;
  return JSON.stringify(text === undefined ? null : JSON.parse(text), (_, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

export const digestShape = /^[0-9a-f]{64}$/;

function digestOf(plan: Omit<Plan, 'digest' | 'state' | 'result'>): string {
  const { nonce, tool, account, market, args, order, most, madeAt, until } = plan;
  const all = { nonce, tool, account, market, args, order, most, madeAt, until };
  return bytesToHex(sha256(utf8ToBytes(canonical(all))));
}

function parsed(text: string, file: string): Plan {
  try {
    return JSON.parse(text) as Plan;
  } catch (cause) {
    throw new Failure('local', 'bad_plan', `${file} is damaged: make another plan`, { cause });
  }
}

export function openPlans(folder: string, now: () => number): Plans {
  const fileOf = (digest: string) => join(folder, `${digest}.json`);
  const read = async (digest: string): Promise<Plan | null> => {
    const text = digestShape.test(digest) ? await readUpTo(fileOf(digest), mostPlanBytes) : null;
    return text === null ? null : parsed(text, fileOf(digest));
  };
  const sweep = async () => {
    await makePrivateFolder(folder);
    const names = (await readdir(folder)).filter((name) => /^[0-9a-f]{64}\.json$/.test(name));
    const plans: Plan[] = [];
    for (const name of names) {
      // One that is damaged is in the way of no other.
      const plan = await read(name.slice(0, -'.json'.length)).catch(() => null);
      if (plan === null) continue;
      const isOver =
        plan.state === 'planned' ? plan.until < now() : plan.madeAt < now() - keptSeconds;
      if (isOver) await rm(fileOf(plan.digest), { force: true });
      else plans.push(plan);
    }
    if (plans.length < mostPlans) return;
    const sentence = `${plans.length} plans are kept, as many as may be: wait until some end`;
    throw new Refusal('needs_you', 'too_many_plans', sentence, { plans: plans.length, mostPlans });
  };
  let made = 0;
  return {
    make: async ({ until: ends, ...of }) => {
      // Each time would be a read of every file.
      if (made % 50 === 0) await sweep();
      made += 1;
      const madeAt = now();
      const until = Math.min(madeAt + planSeconds, ends ?? Number.POSITIVE_INFINITY);
      const nonce = bytesToHex(randomBytes(16));
      const all = plain({ ...of, nonce, madeAt, until });
      const plan: Plan = { ...all, digest: digestOf(all), state: 'planned', result: null };
      await writePrivate(fileOf(plan.digest), jsonOf(plan));
      return plan;
    },
    get: async (digest) => {
      const plan = await read(digest);
      if (plan !== null && digestOf(plan) === digest) return plan;
      const sentence = 'no plan of this server has this digest: call without a digest to make one';
      throw new Refusal('usage', 'unknown_digest', sentence);
    },
    keep: (plan) => writePrivate(fileOf(plan.digest), jsonOf(plan)),
    forget: (plan) => rm(fileOf(plan.digest), { force: true }),
  };
}

/**
 * Throws Refusal `other_account`, `other_arguments`, `digest_expired` unless it is what this call
 * may do. One that was begun may be finished for a day.
 */
export function mustBeFor(
  plan: Plan,
  of: Pick<Plan, 'tool' | 'account' | 'market' | 'args'>,
  now: number,
): void {
  if (plan.account !== of.account || plan.market !== of.market) {
    const sentence = 'the digest is of another account or market: plan again';
    throw new Refusal('usage', 'other_account', sentence);
  }
  if (plan.tool !== of.tool || canonical(plan.args) !== canonical(of.args)) {
    const sentence = `the digest is of "${plan.tool}" with other arguments: plan again`;
    throw new Refusal('usage', 'other_arguments', sentence, { tool: plan.tool });
  }
  // As long as the market knows its key: after that the act could be a second one.
  const until = plan.state === 'planned' ? plan.until : plan.madeAt + keptSeconds;
  if (now <= until) return;
  const sentence = `the plan ended ${now - until} s ago: plan again`;
  throw new Refusal('usage', 'digest_expired', sentence, { until, now });
}

/** Fees move between two calls: a plan shows half as much again as the most of now. */
const marginOver = 3n;
const marginUnder = 2n;

export const withMargin = (most: Plan['most']): Plan['most'] =>
  Object.fromEntries(
    Object.entries(most).map(([chain, units]) => {
      return [chain, `${(BigInt(units) * marginOver + marginUnder - 1n) / marginUnder}`];
    }),
  );

/** Throws Refusal `facts_changed` with what is another now, `moves` apart. */
export function mustStillBe(
  plan: Plan,
  now: Pick<Plan, 'order' | 'most'>,
  moves: readonly string[] = [],
): void {
  const before = plan.order;
  const after = plain(now.order);
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (moves.includes(name)) continue;
    const was = canonical(before[name]);
    const is = canonical(after[name]);
    if (was !== is) throw changed(name, was, is);
  }
  for (const [name, is] of Object.entries(now.most)) {
    const was = plan.most[name];
    if (was === undefined || BigInt(is) > BigInt(was)) throw changed(name, was ?? 'none', is);
  }
}

const mostShown = 200;

function changed(field: string, was: string, is: string): Refusal {
  const before = was.slice(0, mostShown);
  const after = is.slice(0, mostShown);
  const sentence = `"${field}" is not as it was planned: this server did nothing, plan again`;
  return new Refusal('needs_you', 'facts_changed', sentence, {
    field,
    planned: before,
    now: after,
  });
}
