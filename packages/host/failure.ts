// The errors of the dev network and its simulators: why one could not start, and why its control
// server refused.

export class DevnetError extends Error {
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(
    message: string,
    facts: Readonly<Record<string, unknown>> = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'DevnetError';
    this.facts = facts;
  }
}

/** A control request that asks for something impossible; `status` is the HTTP status to answer. */
export class RefusedRequest extends Error {
  readonly status: 400 | 403 | 404 | 405 | 409 | 413;

  constructor(status: 400 | 403 | 404 | 405 | 409 | 413, message: string) {
    super(message);
    this.name = 'RefusedRequest';
    this.status = status;
  }
}
