// Parts that several cards of the operator's page have.

import type { Figure } from './figures.ts';
import { html, type Markup } from './words.ts';

/** A metric: `shown` for people, and its exact value and name for whoever compares it. */
export function figure(of: Figure | null, shown: (value: number) => string): Markup {
  if (of === null) return html`<span class="dim">not known</span>`;
  return html`<data value="${of.value}" data-of="${of.of}" title="${of.of}">${shown(of.value)}</data>`;
}

export function card(id: string, title: string, note: Markup | string, inside: Markup): Markup {
  return html`<section class="card" aria-labelledby="${id}"><div class="head"><h2 id="${id}">${title}</h2><p class="dim">${note}</p></div>${inside}</section>`;
}

export const command = (text: string): Markup => html`<code class="command">${text}</code>`;

export const noDatabase = html`<p class="bad-text">The database did not answer in time, so this is not known.</p>`;
