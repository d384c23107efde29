// A tool: its input and output, its permissions, and the report of its errors.

import type { McpServer, ServerContext, ToolAnnotations } from '@modelcontextprotocol/server';
import { isoTime } from '@parley/sdk/people.ts';
import { jsonOf } from '@parley/trader/io.ts';
import type { z } from 'zod';
import { type Desk, isAway } from './desk.ts';
import { listedInput, listedOutput } from './listed.ts';
import { type Making, mustBeFor, mustStillBe, type Plan, withMargin } from './plans.ts';
import { errorOf, Refusal } from './refusal.ts';
import type { outcome, planOut } from './schemas.ts';
import type { Call } from './waiting.ts';

export type Tool = {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly annotations: Annotations;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  /** How many objects inside each other the listed output shows. */
  readonly depth: number;
  readonly run: (desk: Desk, args: never, call: Call) => Promise<object>;
  /** For how many seconds a call waits. */
  readonly waits?: (args: never) => number;
};

/** The defaults of the others are as they are here. */
type Annotations = Pick<ToolAnnotations, 'readOnlyHint' | 'destructiveHint' | 'idempotentHint'>;

type Shown<I extends z.ZodObject, O extends z.ZodObject> = {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly input: I;
  readonly output: O;
  /** Default 2; 1 where another tool shows the rest. */
  readonly depth?: number;
};

/** It asks, and changes nothing. */
export function readTool<I extends z.ZodObject, O extends z.ZodObject>(
  of: Shown<I, O> & {
    readonly run: (desk: Desk, args: z.infer<I>, call: Call) => Promise<z.infer<O>>;
    readonly waits?: (args: z.infer<I>) => number;
  },
): Tool {
  // The other hints are of tools that change something.
  const { depth = 2 } = of;
  return { ...(of as unknown as Tool), depth, annotations: { readOnlyHint: true } };
}

export type Prepared = {
  readonly words: readonly string[];
  readonly order: Making['order'];
  readonly most?: Making['most'];
  /** Fields of the order that its own act changes. */
  readonly moves?: readonly string[];
  /** Unix seconds: the plan ends sooner. */
  readonly until?: number | null;
  /** Does exactly the order. The key makes a repeat the same effect. */
  readonly act: (key: string) => Promise<object>;
};

type TradeSpec<I extends z.ZodObject, D extends z.ZodObject> = Omit<
  Shown<I, never>,
  'output' | 'depth'
> & {
  readonly done: D;
  /** Whether it binds or moves coins, or ends something. */
  readonly destructive: boolean;
  readonly output: ReturnType<typeof outcome<D>>;
  readonly prepare: (desk: Desk, args: z.infer<I>) => Promise<Prepared>;
  /** The result of an act whose end was not observed; null: no sign shows that it was done. */
  readonly became?: (desk: Desk, args: z.infer<I>, plan: Plan) => Promise<z.infer<D> | null>;
};

/**
 * The first call gives a plan, the second one names its digest and does it, once. `begun` is on
 * disk before the act: after a crash the same call goes on under the same key.
 */
export function tradeTool<I extends z.ZodObject, D extends z.ZodObject>(of: TradeSpec<I, D>): Tool {
  const { name, title, about, input, output, destructive, prepare } = of;
  const annotations = { readOnlyHint: false, destructiveHint: destructive, idempotentHint: true };
  const run = async (desk: Desk, { digest, ...args }: z.infer<I> & { digest?: string }) => {
    const about = {
      tool: name,
      account: desk.userId,
      market: desk.session.profile.market,
      args: args as Making['args'],
    };
    if (digest === undefined) {
      const { words, order, most = {}, until = null } = await prepare(desk, args as z.infer<I>);
      const plan = await desk.plans.make({ ...about, order, most: withMargin(most), until });
      return { is: 'plan', plan: shown(plan, words), done: null, again: false };
    }
    const prepared = () => prepare(desk, args as z.infer<I>);
    const became = async (plan: Plan) =>
      (await of.became?.(desk, args as z.infer<I>, plan)) ?? null;
    return desk.inTurn(digest, () => done(desk, digest, about, { prepared, became }));
  };
  return { name, title, about, annotations, input, output, depth: 1, run: run as Tool['run'] };
}

function shown(plan: Plan, words: readonly string[]): z.infer<typeof planOut> {
  const { digest, order, most, until } = plan;
  return { words: [...words], sends: order, most, digest, validUntil: isoTime(until) };
}

type About = Pick<Making, 'tool' | 'account' | 'market' | 'args'>;
type Ways = {
  readonly prepared: () => Promise<Prepared>;
  readonly became: (plan: Plan) => Promise<object | null>;
};

async function done(desk: Desk, digest: string, about: About, { prepared, became }: Ways) {
  const plan = await desk.plans.get(digest);
  mustBeFor(plan, about, desk.session.now());
  const answer = (result: object, again: boolean) => ({
    is: 'done',
    plan: null,
    done: result,
    again,
  });
  const end = async (result: object, again: boolean) => {
    const kept = JSON.parse(jsonOf(result)) as Record<string, unknown>;
    await desk.plans.keep({ ...plan, state: 'done', result: kept });
    return answer(kept, again);
  };
  if (plan.state === 'done') return answer(plan.result ?? {}, true);
  // Before what may be refused now, such as a price that has ended since.
  const before = plan.state === 'begun' ? await became(plan) : null;
  if (before !== null) return end(before, true);
  const { order, most = {}, moves = [], act } = await prepared();
  if (plan.state === 'planned') mustStillBe(plan, { order, most });
  // It may be done by now, and a market that gave no answer may show another deal since.
  else mustStillBe(plan, { order, most: {} }, moves);
  await desk.plans.keep({ ...plan, state: 'begun' });
  let result: object;
  try {
    result = await act(digest);
  } catch (error) {
    // Only what is known not to have been done is as it was before.
    if (plan.state === 'planned' && !isAway(error)) await desk.plans.keep(plan);
    throw error;
  }
  return end(result, false);
}

/** The limit of all connections; more are refused, so that nobody waits for what an agent
 * forgot. */
const mostCalls = 16;
/** The limit of those that wait: others find a place, and the market's budget of requests lasts. */
const mostWaiting = 4;

/** Counts the calls that run, and those of them that wait. */
export type Gate = { running: number; waiting: number };

export const openGate = (): Gate => ({ running: 0, waiting: 0 });

export function register(server: McpServer, desk: Desk, tool: Tool, gate: Gate): void {
  const { name, title, about, annotations, input, output, depth } = tool;
  const inputSchema = listedInput(input);
  const outputSchema = listedOutput(output, depth);
  const config = { title, description: about, inputSchema, outputSchema, annotations };
  server.registerTool(name, config, async (given: unknown, context: ServerContext) => {
    try {
      const args = argumentsOf(name, input, given);
      const seconds = tool.waits?.(args as never) ?? 0;
      const call = callOf(context);
      const run = () => tool.run(desk, args as never, call);
      const made = await passing(gate, seconds > 0, run);
      const answer = JSON.parse(jsonOf(made)) as Record<string, unknown>;
      return {
        content: [{ type: 'text' as const, text: jsonOf(answer) }],
        structuredContent: answer,
      };
    } catch (error) {
      return failed(error);
    }
  });
}

/** Throws Refusal `busy`. */
async function passing<T>(gate: Gate, waits: boolean, run: () => Promise<T>): Promise<T> {
  const isFull = gate.running >= mostCalls;
  if (isFull || (waits && gate.waiting >= mostWaiting)) {
    const most = isFull ? mostCalls : mostWaiting;
    const sentence = `${most} calls ${isFull ? 'run' : 'wait'}, as many as may: ask again when one has ended`;
    throw new Refusal('needs_you', 'busy', sentence, { most });
  }
  const waiting = waits ? 1 : 0;
  gate.running += 1;
  gate.waiting += waiting;
  try {
    return await run();
  } finally {
    gate.running -= 1;
    gate.waiting -= waiting;
  }
}

function callOf({ mcpReq }: ServerContext): Call {
  const { signal, notify, _meta } = mcpReq;
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return { signal, progress: null };
  return {
    signal,
    progress: (progress, total, message) =>
      notify({
        method: 'notifications/progress',
        params: { progressToken, progress, total, message },
      }),
  };
}

/**
 * As text alone: a client requires structured content to fit the tool's output schema, also where a
 * tool has failed (the official SDK 1.x throws it away otherwise).
 */
function failed(error: unknown) {
  const text = jsonOf({ error: errorOf(error) });
  return { content: [{ type: 'text' as const, text }], isError: true };
}

/** The limit of one call; an agent mends these and hears of the rest. */
const mostTold = 3;
const mostShown = 60;

/** The arguments of a tool by its own schema, and no others. Throws Refusal `usage`. */
function argumentsOf(tool: string, input: z.ZodObject, given: unknown): object {
  // A bound under a wrong name would be no bound: `price` for `asks` sells at any price.
  const read = input.strict().safeParse(withTexts(given ?? {}));
  if (read.success) return read.data;
  const takes = Object.keys(input.shape).join(', ') || 'nothing';
  const told = read.error.issues.slice(0, mostTold).map((issue) => faultOf(issue, given, takes));
  throw new Refusal('usage', 'usage', `${tool}: ${told.join('; ')}`);
}

const amountNames = ['amount', 'asks', 'atLeast', 'atMost', 'price'];
/** Decimal digits that a number of JSON keeps. */
const mostDigits = 15;

/** Models and command lines write amounts as numbers, which are exact up to so many digits. */
function withTexts(given: unknown): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  const textOf = (name: string, value: unknown) => {
    const text = String(value);
    const isExact = /^\d+(?:\.\d+)?$/.test(text) && text.replace('.', '').length <= mostDigits;
    return typeof value === 'number' && amountNames.includes(name) && isExact ? text : value;
  };
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, textOf(name, value)]),
  );
}

function faultOf(issue: z.core.$ZodIssue, given: unknown, takes: string): string {
  if (issue.code === 'unrecognized_keys') {
    return `${cut(issue.keys.join(', '))} is not known; it takes ${takes}`;
  }
  const value = issue.path.reduce<unknown>((of, key) => Object(of)[key], given);
  const name = issue.path.join('.') || 'the arguments';
  if (value === undefined && issue.path.length > 0) return `${name} is missing`;
  return `${name} must ${ruleOf(issue)}, not ${cut(String(JSON.stringify(value)))}`;
}

const cut = (text: string) => (text.length > mostShown ? `${text.slice(0, mostShown)}…` : text);

function ruleOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_value':
      return `be ${issue.values.join(' or ')}`;
    case 'invalid_type':
      return `be of the type ${issue.expected}`;
    case 'too_big':
      return `${has[issue.origin] ?? 'be'} at most ${issue.maximum}${unit(issue.origin)}`;
    case 'too_small':
      return `${has[issue.origin] ?? 'be'} at least ${issue.minimum}${unit(issue.origin)}`;
    case 'invalid_format':
      return `have the form that the tool describes`;
    default:
      return 'be what the tool describes';
  }
}

const has: Readonly<Record<string, string>> = { string: 'have', array: 'have' };
const unit = (origin: string) =>
  origin === 'string' ? ' characters' : origin === 'array' ? ' entries' : '';
