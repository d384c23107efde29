// The one error of the embedded database: a sentence that says what to do, and the facts behind it.

export type EmbeddedPostgresFailure =
  | 'unsupported_platform'
  | 'in_use'
  | 'no_os_user'
  | 'unreachable_folder'
  | 'init_failed'
  | 'start_failed'
  | 'wrong_version'
  | 'password_missing'
  | 'aborted';

export class EmbeddedPostgresError extends Error {
  readonly code: EmbeddedPostgresFailure;
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(
    code: EmbeddedPostgresFailure,
    message: string,
    facts: Readonly<Record<string, unknown>> = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'EmbeddedPostgresError';
    this.code = code;
    this.facts = facts;
  }
}
