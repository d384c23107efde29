// The faucet's page: one form, without a script.

import { formatUnits } from 'viem/utils';
import type { Answer } from './give.ts';
import type { Gift } from './settings.ts';

const title = 'Faucet of the test market';
/** An address of no chain is longer. */
export const longestAddress = 128;

export const style = `
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
  body { max-width: 36rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere }
  label { display: block; margin: 1rem 0 .25rem }
  input, select, button { font: inherit; width: 100%; box-sizing: border-box; padding: .5rem }
  button { margin: 1rem 0 }
  .said { border-inline-start: .25rem solid; padding-inline-start: 1rem }`;

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string) => text.replaceAll(/[&<>"']/g, (each) => escapes[each] ?? '');

export type Shown = {
  readonly gifts: readonly { readonly gift: Gift; readonly left: bigint }[];
  /** The result of the request. */
  readonly said: readonly string[];
  readonly address: string;
};

/** How an asset is named in the form: `chain` or `chain/token`. */
export const nameOf = ({ chain, token }: Pick<Gift, 'chain' | 'token'>) =>
  token === null ? chain : `${chain}/${token}`;

const coinsOf = ({ amount, decimals }: Pick<Gift, 'amount' | 'decimals'>) =>
  formatUnits(amount, decimals);

export function saidOf({ symbol, address, txid }: Answer, gift: Gift): string[] {
  return [`${coinsOf(gift)} ${symbol} are on their way to ${address}.`, `Transaction ${txid}`];
}

export function pageOf({ gifts, said, address }: Shown): string {
  const options = gifts.map(({ gift, left }) => {
    const isOut = left < gift.amount;
    const label = `${coinsOf(gift)} ${gift.symbol} (${gift.chain})`;
    const text = isOut ? `${label}: used up for now` : label;
    const value = escaped(nameOf(gift));
    return `<option value="${value}"${isOut ? ' disabled' : ''}>${escaped(text)}</option>`;
  });
  const lines = said.map((each) => `<p>${escaped(each)}</p>`).join('');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="stylesheet" href="style.css">
</head>
<body>
<main>
<h1>${title}</h1>
<p>These coins are of test networks: they are worth nothing, and nobody buys them.</p>
${lines === '' ? '' : `<div class="said" role="status">${lines}</div>`}
<form method="post" action="gifts">
<label for="asset">Coin</label>
<select id="asset" name="asset">${options.join('')}</select>
<label for="address">Your address</label>
<input id="address" name="address" required maxlength="${longestAddress}" autocomplete="off"
 spellcheck="false" value="${escaped(address)}">
<button>Give me coins</button>
</form>
<p>Each address gets each of them once in 24 hours.</p>
</main>
</body>
</html>
`;
}
