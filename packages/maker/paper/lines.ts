// Observations of markets, prices and fees that need no account, one a line: live from `observe.ts`,
// or from a file of JSON lines, so that paper mode and a backtest are one program.

import type { Millis } from '@parley/core/nominal.ts';
import type { Agreement, Rfq } from '@parley/sdk/types.ts';
import { z } from 'zod';
import { linesIn } from '../json-lines.ts';

export type ListedAsset = {
  /** The market's id of it. */
  readonly id: string;
  readonly chain: string;
  readonly token: string | null;
  readonly decimals: number;
};

/** Base units of the chain's own coin, as texts. */
export type CostsLine = Readonly<Record<'fund' | 'claim' | 'refund' | 'deposit', string>> & {
  readonly settlesFromAmount: boolean;
};

type At = { readonly at: Millis };
type OfMarket = At & { readonly market: string };

export type Observed =
  /** The first of a file, and of each market in it. */
  | (OfMarket & { readonly is: 'market'; readonly assets: readonly ListedAsset[] })
  /** An RFQ came. */
  | (OfMarket & { readonly is: 'rfq'; readonly rfq: Rfq })
  | (OfMarket & { readonly is: 'gone'; readonly rfqId: string; readonly why: Gone })
  | (OfMarket & { readonly is: 'feed'; readonly isLive: boolean })
  /** A public agreement that both sides have funded, as `GET /market/pairs/price` has it. */
  | (OfMarket & {
      readonly is: 'agreement';
      readonly baseAssetId: string;
      readonly quoteAssetId: string;
      readonly agreement: Agreement;
    })
  /** As a source of the settings said it, believed or not. */
  | (At & { readonly is: 'price'; readonly source: string; readonly said: string | number })
  | (At & { readonly is: 'costs'; readonly holding: string; readonly costs: CostsLine });

export type Gone = 'cancelled' | 'expired' | 'agreed';

const text = z.string().max(200);
const units = z.string().regex(/^\d{1,78}$/);
const at = z.number().nonnegative();
const ofMarket = { at, market: text };
const direction = z.enum(['sell_base', 'buy_base']);
const instant = text.refine((each) => !Number.isNaN(Date.parse(each)), 'must be an instant');
const listed = z.object({ id: text, chain: text, token: text.nullable(), decimals: z.int() });
const rfq = z.looseObject({
  id: text,
  direction,
  baseAssetId: text,
  quoteAssetId: text,
  baseAmount: units,
  creatorId: text,
  expiresAt: instant,
});
const agreement = z.object({
  direction,
  baseAmount: units,
  quoteAmount: units,
  agreedAt: instant,
});
const costs = z.object({
  fund: units,
  claim: units,
  refund: units,
  deposit: units,
  settlesFromAmount: z.boolean(),
});
const line = z.discriminatedUnion('is', [
  z.object({ ...ofMarket, is: z.literal('market'), assets: z.array(listed).max(1_000) }),
  z.object({ ...ofMarket, is: z.literal('rfq'), rfq }),
  z.object({
    ...ofMarket,
    is: z.literal('gone'),
    rfqId: text,
    why: z.enum(['cancelled', 'expired', 'agreed']),
  }),
  z.object({ ...ofMarket, is: z.literal('feed'), isLive: z.boolean() }),
  z.object({
    ...ofMarket,
    is: z.literal('agreement'),
    baseAssetId: text,
    quoteAssetId: text,
    agreement,
  }),
  z.object({ at, is: z.literal('price'), source: text, said: z.union([text, z.number()]) }),
  z.object({ at, is: z.literal('costs'), holding: text, costs }),
]);

/** Throws where the text is no observation; `place` names it. */
export function parseLine(written: string, place: string): Observed {
  try {
    return line.parse(JSON.parse(written)) as unknown as Observed;
  } catch (error) {
    const why = error instanceof z.ZodError ? error.issues[0]?.message : (error as Error).message;
    throw new Error(`${place} is no line of a recording: ${why}`, { cause: error });
  }
}

/**
 * The lines of files in their order. A last line that was
 * cut, as a killed recorder leaves it, is `cut` and nothing more. Throws for any other fault, with
 * its place, and where a line is older than the one before it.
 */
export async function* linesOf(
  files: readonly string[],
  cut: (file: string) => void,
): AsyncGenerator<Observed> {
  let last = 0;
  for (const file of files) {
    for await (const { text: written, number, isWhole } of linesIn(file)) {
      if (!isWhole) {
        cut(file);
        break;
      }
      const found = parseLine(written, `line ${number} of ${file}`);
      if (found.at < last) {
        throw new Error(`line ${number} of ${file} is older than the one before it`);
      }
      last = found.at;
      yield found;
    }
  }
}
