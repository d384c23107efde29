// Requests in each of the last minutes, out of a counter that only grows: a page is asked for now,
// and has to show what was before. Each process counts its own.

/** Minutes that are kept, with the one that runs. */
export const minutesKept = 31;

/** Answers, by class of status: as asked, the asker's fault, ours. */
export type Answers = { readonly ok: number; readonly refused: number; readonly failed: number };
export type Minute = Answers & {
  /** Whole minutes since the epoch. */
  readonly minute: number;
};

const kinds = ['ok', 'refused', 'failed'] as const;
const nothing: Answers = { ok: 0, refused: 0, failed: 0 };

const each = (work: (kind: keyof Answers) => number): Answers => ({
  ok: work('ok'),
  refused: work('refused'),
  failed: work('failed'),
});

export type Traffic = {
  /** The counter's totals at that time, milliseconds. */
  note(totals: Answers, nowMs: number): void;
  /** Every kept minute up to the one that runs, oldest first; a quiet one has zeros. */
  minutes(nowMs: number): readonly Minute[];
};

const minuteOf = (ms: number) => Math.floor(ms / 60_000);

export function createTraffic(): Traffic {
  const kept = new Map<number, Answers>();
  let last: Answers | null = null;
  return {
    note: (totals, nowMs) => {
      const before = last ?? totals;
      last = totals;
      const minute = minuteOf(nowMs);
      const had = kept.get(minute) ?? nothing;
      // A counter that is below its last value began anew.
      kept.set(
        minute,
        each((kind) => had[kind] + Math.max(0, totals[kind] - before[kind])),
      );
      for (const old of kept.keys()) if (old <= minute - minutesKept) kept.delete(old);
    },
    minutes: (nowMs) => {
      const now = minuteOf(nowMs);
      return Array.from({ length: minutesKept }, (_, at) => {
        const minute = now - minutesKept + 1 + at;
        return { minute, ...(kept.get(minute) ?? nothing) };
      });
    },
  };
}

/** The last minute that is over: one that runs would always look quieter. */
export function lastWhole(minutes: readonly Minute[]): Answers {
  return minutes.at(-2) ?? nothing;
}

/** Totals by class of status out of the counter's series. */
export function totalsOf(
  series: readonly { readonly labels: Readonly<Record<string, unknown>>; readonly value: number }[],
): Answers {
  const classes = { ok: /^[123]xx$/, refused: /^4xx$/, failed: /^5xx$/ };
  return each((kind) =>
    series
      .filter(({ labels }) => classes[kind].test(String(labels.code)))
      .reduce((sum, { value }) => sum + value, 0),
  );
}

export const sumOf = (answers: Answers): number =>
  kinds.reduce((sum, kind) => sum + answers[kind], 0);
