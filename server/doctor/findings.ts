// What the doctor finds, and how findings are gathered: each is told at once, only so many of one
// kind, and all are counted.

/**
 * `danger`: somebody may lose by it, act now. `differs`: what is stored is not what is so, or a
 * part of the house does not work. `unseen`: it could not be looked at, so nothing is known of it.
 * `notice`: all is as it should be, and somebody should know.
 */
export type Severity = 'danger' | 'differs' | 'unseen' | 'notice';

export type Finding = {
  readonly severity: Severity;
  /** Stable, for programs; docs/operations.md lists them. */
  readonly what: string;
  /** A swap, escrow, chain, node or part of the house. */
  readonly where: string;
  /** One sentence, with the numbers in it. */
  readonly says: string;
  readonly todo: string;
  readonly facts: Readonly<Record<string, string | number | boolean | null>>;
};

export type Counts = Readonly<Record<Severity, number>>;

export type Findings = {
  add(finding: Finding): void;
  counts(): Counts;
  /** Of each kind of which there were too many to tell: how many were not told. */
  untold(): Readonly<Record<string, number>>;
};

/** Of one kind; those beyond are counted and said to be there. */
const mostOfAKind = 100;

export function gather(tell: (finding: Finding) => void): Findings {
  const counts = { danger: 0, differs: 0, unseen: 0, notice: 0 };
  const kinds = new Map<string, number>();
  return {
    add: (finding) => {
      counts[finding.severity] += 1;
      const before = kinds.get(finding.what) ?? 0;
      kinds.set(finding.what, before + 1);
      if (before < mostOfAKind) tell(finding);
      if (before !== mostOfAKind) return;
      const says = `more than ${mostOfAKind} of ${finding.what}: the rest is counted only`;
      tell({ ...finding, where: 'the list', says, facts: {} });
    },
    counts: () => ({ ...counts }),
    untold: () => {
      const many = [...kinds].filter(([, count]) => count > mostOfAKind);
      return Object.fromEntries(many.map(([what, count]) => [what, count - mostOfAKind]));
    },
  };
}

/**
 * 0: all well. 1: something differs. 2: something could not be looked at, and no danger was seen:
 * an outage must not hide one.
 */
export function exitStatus({ danger, differs, unseen }: Counts): number {
  if (danger > 0) return 1;
  if (unseen > 0) return 2;
  return differs > 0 ? 1 : 0;
}

type Told = (
  what: string,
  where: string,
  says: string,
  todo: string,
  facts: Finding['facts'],
) => Finding;

export const danger: Told = (what, where, says, todo, facts) => {
  return { severity: 'danger', what, where, says, todo, facts };
};
export const differs: Told = (what, where, says, todo, facts) => {
  return { severity: 'differs', what, where, says, todo, facts };
};
export const notice: Told = (what, where, says, todo, facts) => {
  return { severity: 'notice', what, where, says, todo, facts };
};
export const unseen: Told = (what, where, says, todo, facts) => {
  return { severity: 'unseen', what, where, says, todo, facts };
};

/** A part that took too long: nothing is known of what was not seen by then. */
export function partTime(where: string, says: string, facts: Finding['facts']): Finding {
  const todo = 'see what holds it up: a node, a lock, or the database; or give it a longer --part';
  return unseen('part_time', where, says, todo, facts);
}

/** What its own limit, or the database's, ended. */
export function isLate(error: unknown): boolean {
  return lateness(error) !== undefined;
}

function lateness(error: unknown): string | undefined {
  return late[(error as { code?: string } | null)?.code ?? ''];
}

/** A connection's that does not answer, or was lost. */
export function isSilence(error: unknown): boolean {
  return (error as { code?: string } | null)?.code === connectionLost;
}

const connectionLost = '08006';
/** By code (PostgreSQL, appendix A); the last one is a connection's that does not answer too. */
const late: Readonly<Record<string, string>> = {
  '57014': 'a statement ran too long',
  '55P03': 'somebody held a lock of it for too long',
  [connectionLost]: 'the database was silent',
};

/** `ended`: not looked at to its end. `silent`: because the database did not answer at all. */
export type Attempted = 'done' | 'ended' | 'silent';

/** A part that cannot be looked at is one finding, and what comes after it is looked at. */
export async function attempt(
  where: string,
  findings: Pick<Findings, 'add'>,
  work: () => Promise<void> | void,
  signal?: AbortSignal,
): Promise<Attempted> {
  const began = performance.now();
  try {
    await work();
    return 'done';
  } catch (error) {
    // Its time is over: that is said once, for all of it.
    if (signal?.aborted) return 'ended';
    const why = lateness(error);
    if (why !== undefined) {
      const ms = Math.round(performance.now() - began);
      findings.add(partTime(where, `${why}: it was left after ${ms} ms`, { ms }));
      return why === late[connectionLost] ? 'silent' : 'ended';
    }
    const words = error instanceof Error ? error.message : String(error);
    const todo = 'see whether the database is still there and this row is as the market writes it';
    findings.add(unseen('ended', where, `looking at it ended half-way: ${words}`, todo, {}));
    return 'ended';
  }
}

/**
 * The same of a row of a part. That the database is silent is for the part to tell: nothing of it
 * is asked any more.
 */
export async function attemptRow(
  where: string,
  findings: Pick<Findings, 'add'>,
  work: () => Promise<void> | void,
): Promise<void> {
  let silence: unknown = null;
  await attempt(where, findings, async () => {
    try {
      await work();
    } catch (error) {
      if (!isSilence(error)) throw error;
      silence = error;
    }
  });
  if (silence !== null) throw silence;
}

/**
 * A finding as lines of a terminal. Reasons and the words of a node are somebody else's: nothing
 * that moves the cursor, turns the direction or begins a line of its own is shown as it is.
 */
export function linesOf({ severity, what, where, says, todo }: Finding): string {
  const [at, said, then] = [where, says, todo].map((text) =>
    text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' '),
  );
  return `${severity.padEnd(8)} ${what}  ${at}: ${said}\n         → ${then}`;
}
