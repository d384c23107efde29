// Tests only: tests on chains, which end in time. `limits` are of what is done before and after.

import test from 'node:test';

export const limits = { timeout: 180_000 };

export function timed(name: string, work: () => Promise<void>): void {
  void test(name, limits, work);
}
