// A market that does not start says why to the operator: the setting, and the words of the system.

/** The result of `work`. Its failure begins with the setting that it is of. */
export function naming<Result>(setting: string, work: Promise<Result>): Promise<Result> {
  return work.catch((error: unknown) => {
    throw named(setting, error);
  });
}

/** Some errors of the system have a code and no words. */
export function named(setting: string, cause: unknown): Error {
  const { message = '', code = '' } = (cause ?? {}) as { message?: string; code?: string };
  return new Error(`${setting}: ${message || code || String(cause)}`, { cause });
}
