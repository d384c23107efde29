// What a run of seeds with a bug planted says of it: which seeds broke, and by which rules. A rule
// that only says that something threw, or that a process ended, is none that the bug broke: any
// bug that crashes would be found by it, and no promise with it.

/** What crew.ts says of a process that ends or hangs, and worker.ts and simulate.ts of a throw. */
export const crashes: readonly string[] = ['a seed comes to its end', 'nothing unheard of happens'];

export type Broke = {
  readonly seed: number;
  /** A promise that it broke; null: it only crashed. */
  readonly rule: string | null;
};

export const isFinding = ({ rule }: Broke): boolean => rule !== null;

/** From what run.ts prints of each seed that broke: `seed 7:`, then its rules, then its story. */
export function brokenIn(errors: string): Broke[] {
  const told = errors.split(/^(?=seed \d+:$)/m).filter((text) => /^seed \d+:$/m.test(text));
  return told.map((text) => {
    const [head = '', ...lines] = text.split('\n');
    const end = lines.findIndex((line) => /^ {2}\S/.test(line));
    const rules = (end === -1 ? lines : lines.slice(0, end)).flatMap((line) => {
      const [, rule] = /^ {3}(\S[^:]*): /.exec(line) ?? [];
      return rule === undefined ? [] : [rule];
    });
    const seed = Number(/\d+/.exec(head)?.[0]);
    return { seed, rule: rules.find((rule) => !crashes.includes(rule)) ?? null };
  });
}
