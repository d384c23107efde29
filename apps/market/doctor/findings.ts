// The findings of the doctor: each is reported at once, only so many of one kind, and all are
// counted.

/**
 * `danger`: somebody may lose by it, act now. `differs`: the stored state is wrong, or a part does
 * not work. `unseen`: it could not be read. `notice`: all is well, somebody should know.
 */
type Severity = 'danger' | 'differs' | 'unseen' | 'notice';

export type Finding = {
  readonly severity: Severity;
  /** Stable, for programs; docs/doctor.md lists them. */
  readonly what: string;
  /** A swap, escrow, chain, node or part of the house. */
  readonly where: string;
  /** One sentence, with the numbers in it. */
  readonly says: string;
  readonly todo: string;
  readonly facts: Readonly<Record<string, string | number | boolean | null>>;
};

export type Add = (finding: Finding) => void;
export type Counts = Readonly<Record<Severity, number>>;

/** The limit for one kind; those beyond are counted and said to be there. */
const mostOfAKind = 100;

export function gather(emit: Add) {
  const counts = { danger: 0, differs: 0, unseen: 0, notice: 0 };
  const kinds = new Map<string, number>();
  const add: Add = (finding) => {
    counts[finding.severity] += 1;
    const before = kinds.get(finding.what) ?? 0;
    kinds.set(finding.what, before + 1);
    if (before < mostOfAKind) emit(finding);
    if (before !== mostOfAKind) return;
    const says = `more than ${mostOfAKind} of ${finding.what}: the rest is counted only`;
    emit({ ...finding, where: 'the list', says, facts: {} });
  };
  /** The findings beyond the limit of each kind: how many were counted only. */
  const untold = (): Readonly<Record<string, number>> => {
    const many = [...kinds].filter(([, count]) => count > mostOfAKind);
    return Object.fromEntries(many.map(([what, count]) => [what, count - mostOfAKind]));
  };
  return { add, counts: (): Counts => ({ ...counts }), untold };
}

/** 2 where something could not be read and no danger was seen: an outage must not hide one. */
export function exitStatus({ danger, differs, unseen }: Counts): number {
  if (danger > 0) return 1;
  if (unseen > 0) return 2;
  return differs > 0 ? 1 : 0;
}

const of =
  (severity: Severity) =>
  (what: string, where: string, says: string, todo: string, facts: Finding['facts'] = {}) =>
    ({ severity, what, where, says, todo, facts }) satisfies Finding as Finding;
export const danger = of('danger');
export const differs = of('differs');
export const notice = of('notice');
export const unseen = of('unseen');

/**
 * As lines of a terminal. Reasons and the words of a node are somebody else's: a character that
 * moves the cursor, turns the direction or begins a line becomes a space.
 */
export function linesOf({ severity, what, where, says, todo }: Finding): string {
  const [at, said, then] = [where, says, todo].map((text) =>
    text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' '),
  );
  return `${severity.padEnd(8)} ${what}  ${at}: ${said}\n         → ${then}`;
}
