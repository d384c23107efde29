// CSV for spreadsheets, by RFC 4180. Pure.

/** Spreadsheets take a cell that begins so for a formula, also behind what they trim. */
const formula = /^\s*[=+\-@\t\r|%\uff1d\uff0b\uff0d\uff20]/;
const number = /^-?\d+(?:\.\d+)?$/;

/** An apostrophe before what could be a formula: it is then shown as it is. A number stays one. */
function cell(value: string): string {
  const safe = formula.test(value) && !number.test(value) ? `'${value}` : value;
  return /[",\r\n;]/.test(safe) || safe !== safe.trim() ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Without an end of line after the last row. */
export function csvOf(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => row.map(cell).join(',')).join('\r\n');
}
