// A tool: its input and output, its permissions, and the report of its errors.

import type { McpServer, ToolAnnotations } from '@modelcontextprotocol/server';
import { isoTime } from '@parley/sdk/people.ts';
import { jsonOf } from '@parley/trader/io.ts';
import type { z } from 'zod';
import { type Desk, isAway } from './desk.ts';
import { type Making, mustBeFor, mustStillBe, type Plan, withMargin } from './plans.ts';
import { errorOf, Refusal } from './refusal.ts';
import type { outcome, planOut } from './schemas.ts';

export type Tool = {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly annotations: Required<Omit<ToolAnnotations, 'title'>>;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  readonly run: (desk: Desk, args: never) => Promise<object>;
};

type Shown<I extends z.ZodObject, O extends z.ZodObject> = {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly input: I;
  readonly output: O;
};

/** It asks, and changes nothing. */
export function readTool<I extends z.ZodObject, O extends z.ZodObject>(
  of: Shown<I, O> & { readonly run: (desk: Desk, args: z.infer<I>) => Promise<z.infer<O>> },
): Tool {
  const annotations = {
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: true,
  };
  return { ...of, annotations, run: of.run as Tool['run'] };
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

type TradeSpec<I extends z.ZodObject, D extends z.ZodObject> = Omit<Shown<I, never>, 'output'> & {
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
  const annotations = {
    readOnlyHint: false,
    destructiveHint: destructive,
    idempotentHint: true,
    openWorldHint: true,
  };
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
  return { name, title, about, annotations, input, output, run: run as Tool['run'] };
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

/** Counts the calls that run. */
export type Gate = { running: number };

export function register(server: McpServer, desk: Desk, tool: Tool, gate: Gate): void {
  const { name, title, about, annotations, input, output: outputSchema, run } = tool;
  const inputSchema = unlooked(input);
  const config = { title, description: about, inputSchema, outputSchema, annotations };
  server.registerTool(name, config, async (given: unknown) => {
    if (gate.running >= mostCalls) {
      const sentence = `${mostCalls} calls run, as many as may: ask again when one has ended`;
      return failed(new Refusal('needs_you', 'busy', sentence, { mostCalls }));
    }
    gate.running += 1;
    try {
      const args = argumentsOf(name, input, given) as never;
      const answer = JSON.parse(jsonOf(await run(desk, args))) as Record<string, unknown>;
      return {
        content: [{ type: 'text' as const, text: jsonOf(answer) }],
        structuredContent: answer,
      };
    } catch (error) {
      return failed(error);
    } finally {
      gate.running -= 1;
    }
  });
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
  const read = input.strict().safeParse(given ?? {});
  if (read.success) return read.data;
  const takes = Object.keys(input.shape).join(', ') || 'nothing';
  const told = read.error.issues.slice(0, mostTold).map((issue) => faultOf(issue, given, takes));
  throw new Refusal('usage', 'usage', `${tool}: ${told.join('; ')}`);
}

/** For the library: it tells agents what a tool takes, and leaves it to the tool to look. */
function unlooked<T extends z.ZodObject>(input: T): T {
  const standard = { ...input['~standard'], validate: (value: unknown) => ({ value }) };
  return { '~standard': standard } as unknown as T;
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
