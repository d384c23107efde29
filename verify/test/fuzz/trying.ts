// Drafts of one description tried on one market: each answer is one that the description names, and
// none is a fault of ours. A failure is shrunk by asking again.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Answer, Description, Json, Operation } from './description.ts';
import type { Memory } from './memory.ts';
import { type Draft, draftFor, type Request, written } from './requests.ts';

export type Asked<Caller> = {
  readonly operation: Operation;
  readonly caller: Caller;
  readonly request: Request;
  readonly answer: Answer;
};

type Parts<Caller> = {
  readonly description: Description;
  readonly memory: Memory;
  /** Whether `prepare` can make a body that this operation takes. */
  prepares(operation: Operation): boolean;
  prepare(operation: Operation, caller: Caller): Promise<Json>;
  headersOf(caller: Caller): Promise<Readonly<Record<string, string>>>;
  ask(request: Request): Promise<Answer>;
  /** The faults of an answer to this caller, besides those against the description. */
  faults(asked: Asked<Caller>): string[];
};

export type Trying<Caller> = {
  readonly sent: () => number;
  readonly succeeded: ReadonlySet<Operation>;
  /** How often each status came. */
  summary(): string;
  draftsOf(operation: Operation): fc.Arbitrary<Draft>;
  requestOf(operation: Operation, caller: Caller, draft: Draft): Promise<Request>;
  once(operation: Operation, caller: Caller, seed: number): Promise<void>;
};

export function trying<Caller extends { readonly name: string }>(
  parts: Parts<Caller>,
): Trying<Caller> {
  const { description, memory } = parts;
  const drafts = new Map<Operation, fc.Arbitrary<Draft>>();
  const statuses = new Map<number, number>();
  const succeeded = new Set<Operation>();
  let sent = 0;
  const draftsOf = (operation: Operation) => {
    const shape = { schemaOf: description.schemaOf, prepares: parts.prepares };
    const known = drafts.get(operation) ?? draftFor(operation, shape);
    drafts.set(operation, known);
    return known;
  };
  const requestOf = async (operation: Operation, caller: Caller, draft: Draft) => {
    const plain = await written(draft, memory, () => parts.prepare(operation, caller));
    return { ...plain, headers: { ...plain.headers, ...(await parts.headersOf(caller)) } };
  };
  const tryOut = async (operation: Operation, caller: Caller, draft: Draft) => {
    const request = await requestOf(operation, caller, draft);
    const answer = await parts.ask(request);
    sent += 1;
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    const reached = description.reached(request.method, request.url);
    const asked = reached && { operation: reached, caller, request, answer };
    const faults = [
      ...description.faults(reached, request.url, answer),
      ...(answer.status >= 500 ? ['a fault of ours'] : []),
      ...(asked === null ? [] : parts.faults(asked)),
    ];
    assert.deepEqual(faults, [], shown(request, caller, answer));
    if (answer.status >= 300) return;
    if (reached !== null) succeeded.add(reached);
    memory.learn(request.url, JSON.parse(answer.text));
  };
  return {
    sent: () => sent,
    succeeded,
    summary: () =>
      [...statuses]
        .sort()
        .map(([status, count]) => `${count} x ${status}`)
        .join(),
    draftsOf,
    requestOf,
    once: async (operation, caller, seed) => {
      const property = fc.asyncProperty(draftsOf(operation), (draft) =>
        tryOut(operation, caller, draft),
      );
      await fc.assert(property, { numRuns: 1, seed });
    },
  };
}

export function shown(request: Request, caller: { name: string }, answer: Answer): string {
  const { method, url, headers, body } = request;
  const sentBody = body === null ? '' : `\n${body.toString().slice(0, 2_000)}`;
  return (
    `${caller.name}: ${method} ${url}\n${JSON.stringify(headers)}${sentBody}\n` +
    `-> ${answer.status} ${JSON.stringify(answer.headers)}\n${answer.text.slice(0, 2_000)}`
  );
}
