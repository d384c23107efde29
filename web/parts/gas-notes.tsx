// Coins for network fees: what each own wallet has and may need, and what the market sends for it.
// It is told before it costs, and refuses nothing.

import { useQuery } from '@tanstack/react-query';
import type { UnixSeconds } from '../../core/nominal.ts';
import { messageOf } from '../../sdk/errors.ts';
import type { GasLook, GasSide } from '../../sdk/gas.ts';
import type { Asset } from '../../sdk/types.ts';
import type { Engine } from '../engine/types.ts';
import { useAssets } from '../market/assets.ts';
import { now } from '../market/clock.ts';
import { useSends } from '../market/sends.ts';
import { formatAmount, localTime } from '../texts/people.ts';
import { text } from '../texts/texts.ts';
import { enough, type GasNote, noteOf } from './gas.ts';
import { chainName } from './names.ts';
import { Notice } from './notice.tsx';

export type SideOfSwap = GasSide & { readonly chain: string };

export type Times = {
  /** Until when this side pays in. */
  readonly fundBy: UnixSeconds;
  /** From when on it may take back what it gave. */
  readonly refundAt: UnixSeconds;
  /** Until when it may collect, once its secret is known. */
  readonly collectBy: UnixSeconds;
};

const lookMs = 10_000;

export type GasNotesProps = {
  readonly engine: Engine;
  readonly sides: readonly SideOfSwap[];
  readonly times: Times;
  /** Leaves out what is in order. */
  readonly isShort?: boolean;
};

export function GasNotes({ sides, ...props }: GasNotesProps) {
  return sides.map((side) => <NotesOf key={side.chain} {...props} side={side} />);
}

type OneProps = Omit<GasNotesProps, 'sides'> & { readonly side: SideOfSwap };

function NotesOf({ engine, side, times, isShort = false }: OneProps) {
  const { chain, address, amount } = side;
  const sends = useSends();
  const { data: listed = [] } = useAssets();
  const look = useQuery({
    queryKey: ['gas', chain, side.side, side.asset.token, `${amount}`, address],
    queryFn: () => engine.gas(chain, side),
    refetchInterval: lookMs,
    networkMode: 'always',
  });
  if (look.data === undefined) {
    if (isShort) return null;
    const why = look.error === null ? null : messageOf(look.error);
    if (why === null) return <p role="status">{text('gas.loading')}</p>;
    return <p className="warn-ink">{text('gas.unread', { chain: chainName(chain), why })}</p>;
  }
  const coin = listed.find((each) => each.chain === chain && each.address === null);
  const note = noteOf(side, look.data, sends(chain));
  const values = valuesOf(note, look.data, { side, times, coin });
  if (note.kind === 'enough' || note.kind === 'none') {
    return isShort ? null : <p className="hint">{text(`gas.${note.kind}`, values)}</p>;
  }
  const isSent = note.kind === 'claim_sent' || note.kind === 'fund_signed';
  return (
    <Notice kind={isSent ? 'info' : 'warn'} title={text(`gas.${note.kind}`, values)}>
      {text(`gas.${note.kind}.why`, values)}
    </Notice>
  );
}

type About = {
  readonly side: SideOfSwap;
  readonly times: Times;
  readonly coin: Asset | undefined;
};

function valuesOf({ need, missing }: GasNote, look: GasLook | null, about: About) {
  const { side, times, coin } = about;
  const at = (time: UnixSeconds) => localTime(time, now());
  const shown = (units: bigint) =>
    coin === undefined
      ? `${units}`
      : `${formatAmount(units, coin.decimals, { most: 8 })}\u00a0${coin.symbol}`;
  const most = (units: bigint) => shown(coin === undefined ? units : enough(units, coin));
  return {
    ...{ chain: chainName(side.chain), address: side.address },
    ...{ has: shown(look?.has ?? 0n), need: most(need), missing: most(missing) },
    ...{ until: at(times.fundBy), from: at(times.refundAt), back: at(times.collectBy) },
  };
}
