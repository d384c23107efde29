// The arguments that a tool does not take, in one sentence of ours: the protocol's library tells it
// by a dump of its own rules.

import type { z } from 'zod';
import { Refusal } from './refusal.ts';

/** The limit of one call; an agent mends these and hears of the rest. */
const mostTold = 3;
const mostShown = 60;

/** The arguments of a tool by its own schema, and no others. Throws Refusal `usage`. */
export function argumentsOf(tool: string, input: z.ZodObject, given: unknown): object {
  // A bound under a wrong name would be no bound: `price` for `asks` sells at any price.
  const read = input.strict().safeParse(given ?? {});
  if (read.success) return read.data;
  const takes = Object.keys(input.shape).join(', ') || 'nothing';
  const told = read.error.issues.slice(0, mostTold).map((issue) => faultOf(issue, given, takes));
  throw new Refusal('usage', 'usage', `${tool}: ${told.join('; ')}`);
}

/** For the library: it tells agents what a tool takes, and leaves it to the tool to look. */
export function unlooked<T extends z.ZodObject>(input: T): T {
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
