// Examples of the API description, recorded from a market on a dev network by
// verify/test/api-soak/record.ts. Where nothing was recorded, examples are put together from those of the
// fields.

import recording from './recorded.json' with { type: 'json' };

export type Answered = {
  readonly request?: {
    readonly path?: Readonly<Record<string, string>>;
    readonly query?: Readonly<Record<string, string>>;
    readonly body?: unknown;
  };
  /** By status, and by the name of the shape where an answer is one of several: `200 Relayed`. */
  readonly answers: Readonly<Record<string, unknown>>;
};

export type Recorded = {
  /** By operationId. */
  readonly operations: Readonly<Record<string, Answered>>;
  /** By status. */
  readonly errors: Readonly<Record<string, unknown>>;
  /** Bodies of webhooks, by type. */
  readonly events: Readonly<Record<string, unknown>>;
};

export const recorded: Recorded = recording;
