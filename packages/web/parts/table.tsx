// Rows by key. Where the page is narrow each row is a card whose cells name their column. Roles are
// given by name: a table that is displayed as blocks loses them in some browsers.

import type { ReactNode } from 'react';

export type Column<Row> = {
  readonly key: string;
  readonly label: string;
  readonly cell: (row: Row) => ReactNode;
  /** Numbers stand to the right. */
  readonly number?: boolean;
};

type TableProps<Row> = {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
};

export function Table<Row>({ caption, columns, rows, keyOf }: TableProps<Row>) {
  const looks = (each: Column<Row>) => (each.number ? 'number' : undefined);
  return (
    // biome-ignore-start lint/a11y/noRedundantRoles: `display` takes the implied ones away.
    <table role="table" className="table">
      <caption className="unseen">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((each) => (
            <th key={each.key} role="columnheader" scope="col" className={looks(each)}>
              {each.label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={keyOf(row)} role="row">
            {columns.map((each) => (
              <td key={each.key} role="cell" data-label={each.label} className={looks(each)}>
                <div>{each.cell(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
    // biome-ignore-end lint/a11y/noRedundantRoles: as above.
  );
}
