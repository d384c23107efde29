// The metrics of this process by name and labels, as `/metrics` shows them: the page and Prometheus
// can then never disagree.

import type { Registry } from 'prom-client';

type Labels = Readonly<Record<string, string>>;
export type Series = { readonly labels: Labels; readonly value: number };

/** A value, and the series that it is of, without the deployment's short name. */
export type Figure = { readonly of: string; readonly value: number };

export type Figures = {
  /** Null where the process does not tell it. */
  one(name: string, labels?: Labels): Figure | null;
  /** All series that have these labels together, 0 without any. */
  sum(name: string, labels?: Labels): Figure;
  /** All series of a name. */
  all(name: string): readonly Series[];
};

export async function readFigures(registry: Registry, shortName: string): Promise<Figures> {
  const prefix = `${shortName}_`;
  const named = new Map<string, readonly Series[]>();
  for (const { name, values = [] } of (await registry.getMetricsAsJSON()) as Told[]) {
    const short = name.startsWith(prefix) ? name.slice(prefix.length) : name;
    named.set(
      short,
      values.map(({ labels, value }) => ({
        labels: Object.fromEntries(Object.entries(labels).map(([key, is]) => [key, String(is)])),
        value,
      })),
    );
  }
  return figuresOf(named);
}

type Told = {
  readonly name: string;
  readonly values?: readonly {
    readonly labels: Readonly<Record<string, string | number>>;
    readonly value: number;
  }[];
};

export function figuresOf(named: ReadonlyMap<string, readonly Series[]>): Figures {
  const all = (name: string) => named.get(name) ?? [];
  const having = (name: string, labels: Labels) =>
    all(name).filter((each) =>
      Object.entries(labels).every(([key, value]) => each.labels[key] === value),
    );
  return {
    all,
    one: (name, labels = {}) => {
      const [found] = having(name, labels);
      return found === undefined ? null : { of: seriesOf(name, labels), value: found.value };
    },
    sum: (name, labels = {}) => {
      const value = having(name, labels).reduce((sum, each) => sum + each.value, 0);
      return { of: seriesOf(name, labels), value };
    },
  };
}

/** As Prometheus writes it: `chain_height{chain="bitcoin"}`. */
function seriesOf(name: string, labels: Labels): string {
  const inside = Object.entries(labels).map(([key, value]) => `${key}="${value}"`);
  return inside.length === 0 ? name : `${name}{${inside.join(',')}}`;
}
