// What a poll at a chain that ended well has stored: exactly what the node shows. A change that was
// told and lost, an escrow that nobody follows or a fact of yesterday shows itself here.

import { type EscrowFacts, nothingSeen } from '../../core/facts.ts';
import type { Statement } from '../../server/db/database.ts';
import { factsOf, viewOf, withLie } from './facts.ts';
import type { World } from './state.ts';
import { count, nodeOf, seconds, tell, violate } from './world.ts';

type Row = {
  readonly address: string;
  readonly facts: Omit<EscrowFacts, 'balance'> & { readonly balance: string };
  readonly required: number;
};

/** A swap that could not be reconciled is polled again by then. */
const againSeconds = 90;

function digestOf(facts: EscrowFacts | Row['facts']): string {
  const { funded, claimed, refunded, balance, empty } = facts;
  const moves = [funded, claimed, refunded].map((each) => each && [each.txid, each.deep]);
  return JSON.stringify([moves, balance.toString(), empty]);
}

export async function checkStored(world: World, on: string): Promise<void> {
  const node = nodeOf(world, on);
  if (node.down || node.slow) return;
  const { begun } = world;
  const turn = await world.line.take();
  const reading = world.real.rows<Row>({
    name: 'sim_stored',
    text: `select e.address, e.facts, l.required_confirmations as required
      from escrows e
      join swaps s on s.id = e.swap_id
      join legs l on l.swap_id = e.swap_id and l.leg = e.leg
      where e.chain = $1 and not e.done and (s.due_at is null or s.due_at > $2)`,
    values: [on, seconds(world) + againSeconds],
  });
  const rows = await reading.finally(turn.end);
  // The node may have changed while this waited.
  if (world.begun !== begun) return;
  count(world, 'checked facts', rows.length);
  for (const { address, facts, required } of rows) {
    const asked = { escrow: address, required, secret: null };
    const own = factsOf(node.chain, viewOf(node, node.lag), asked);
    const shown = withLie(own, node.lies.get(address), required);
    if (digestOf(shown) === digestOf(facts ?? nothingSeen)) continue;
    tell(world, `stored ${digestOf(facts)}, shown ${digestOf(shown)}`);
    violate(world, 'what was polled is stored', `${address} on ${on}`);
  }
}

/** Since when a swap is closed, which its row does not say: `updatedAt` stays once it has ended. */
export function noteClosed({ closedAt, nowMs }: World, { name, text, values }: Statement): void {
  if (name !== 'swap_update') return;
  const written = (column: string) => {
    const [, place] = new RegExp(`\\b${column} = \\$(\\d+)`).exec(text) ?? [];
    if (place === undefined) throw new Error(`swap_update sets no ${column}`);
    return values[Number(place) - 1];
  };
  const id = written('id') as string;
  if (written('done') === false) closedAt.delete(id);
  else if (!closedAt.has(id)) closedAt.set(id, nowMs);
}

export async function storedEscrows({ real }: World): Promise<ReadonlySet<string>> {
  const rows = await real.rows<{ address: string }>({
    name: '',
    text: 'select address from escrows',
    values: [],
  });
  return new Set(rows.map(({ address }) => address));
}
