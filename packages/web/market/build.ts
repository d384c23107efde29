// Which build this is: the hash over all of its files, as the market serves them.

/** 64 hex digits. Throws where nobody answers. */
export async function buildHash(signal: AbortSignal): Promise<string> {
  const response = await fetch('/app/build.json', { signal });
  const answer = (await response.json()) as { hash?: unknown };
  if (typeof answer.hash !== 'string' || !/^[0-9a-f]{64}$/.test(answer.hash)) {
    throw new Error('/app/build.json has no hash');
  }
  return answer.hash;
}
