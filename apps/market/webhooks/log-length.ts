// How many deliveries of a webhook its owner can look at: those of 7 days, and no more of prices
// and pings than so many. One maker's quotes at its full budget would else leave gigabytes a day.

import type { Tx } from '../db/database.ts';
import { trimDeliveries } from '../db/delivery-log.ts';

/** The newest of a webhook. An older one goes, unless it waits or is of a swap. */
export const mostLogged = 2_000;
/** Looking for what is too much reads as many entries of an index: one delivery in so many pays. */
const trimEvery = 128;
/** More than have come since, so that what is too much becomes less. */
const mostTrimmed = 1_000;

/** Whether this delivery pays, by its id, so that nobody has to remember how many there were. */
export function paysForLook({ id }: { readonly id: string }): boolean {
  return Number.parseInt(id.slice(-4), 16) % trimEvery === 0;
}

export async function trimLog(tx: Tx, webhookId: string): Promise<void> {
  await trimDeliveries(tx, webhookId, mostLogged, mostTrimmed);
}
