// The symbols of assets, as they may stand beside an amount. Pure.

/** The market lists none that is longer. */
const most = 32;

/** Without marks that turn or hide the text around them. */
export function plainSymbol(said: string): string {
  const plain = said.slice(0, most * 4).replace(/[\p{C}\p{Z}]+/gu, '');
  return [...plain].slice(0, most).join('');
}
