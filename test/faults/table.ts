// What a file of fault tests did, as a table at its end: which fault, where, what happened
// meanwhile, and how the swap ended.

export type Row = {
  readonly fault: string;
  readonly where: string;
  readonly meanwhile: string;
  readonly end: string;
};

export type Table = { add(row: Row): void; print(): void };

const heads: Row = { fault: 'fault', where: 'where', meanwhile: 'what happened', end: 'end' };
const columns = ['fault', 'where', 'meanwhile', 'end'] as const;

export function newTable(): Table {
  const rows: Row[] = [];
  return {
    add: (row) => void rows.push(row),
    print: () => {
      const all = [heads, ...rows];
      const widths = columns.map((name) => Math.max(...all.map((row) => row[name].length)));
      for (const row of all) {
        const cells = columns.map((name, at) => row[name].padEnd(widths[at] ?? 0));
        console.log(`| ${cells.join(' | ')} |`);
      }
    },
  };
}
