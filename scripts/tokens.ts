// The weight of the code in tokens of TypeScript: words, literals and signs, without comments. Lines
// can be packed and tokens cannot, so budgets and limits of size count these.

import { readFileSync } from 'node:fs';
import { filesOf } from './sources.ts';

/**
 * Tokens of one package: those of the product, and those of its tests with all that exists for
 * tests.
 */
export type Weight = { product: number; tests: number };

export const kinds = ['product', 'tests'] as const;

const token = /\w+|'[^']*'|`[^`]*`|[^\w\s]/gu;
const generated = /(?:^|\/)(?:vendor|artifacts|generated)\/|generated\.ts$/;
const forTests =
  /\.test\.tsx?$|mutations|(?:^|\/)(?:test|tests|testing|dev|bench|devnet|simulators)\//;

/** For example `const a = 'b c';` has 5. */
export function tokensOf(text: string): number {
  const lines = text.replaceAll(/\/\*[\s\S]*?\*\//g, '').split('\n');
  const code = lines.filter((line) => !line.trim().startsWith('//'));
  return code.reduce((sum, line) => sum + (line.match(token)?.length ?? 0), 0);
}

/** Sources that people write, by their paths from the root, sorted. */
export const sourceFiles = () => filesOf('**/*.{ts,tsx}').filter((file) => !generated.test(file));

/** The package of a file: `packages/core` of `packages/core/status.ts`, `dev` of `dev/demo.ts`. */
export const packageOf = (file: string) => /^(?:(?:packages|apps)\/)?[^/]+/.exec(file)?.[0] ?? '';

/** @param files paths from the root */
export function weigh(root: string, files: readonly string[]): Record<string, Weight> {
  const weights: Record<string, Weight> = {};
  for (const file of files) {
    const name = packageOf(file);
    const before = weights[name] ?? { product: 0, tests: 0 };
    const kind = forTests.test(file) ? 'tests' : 'product';
    const tokens = tokensOf(readFileSync(`${root}/${file}`, 'utf8'));
    weights[name] = { ...before, [kind]: before[kind] + tokens };
  }
  return weights;
}
