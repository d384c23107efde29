// Coins for network fees that an own wallet lacks, and the transactions that the market sends for it.
// It is told before it costs, and refuses nothing. A wallet that has enough draws nothing.

import type { UnixSeconds } from '@parley/core/nominal.ts';
import { messageOf } from '@parley/sdk/errors.ts';
import type { GasLook, GasSide } from '@parley/sdk/gas.ts';
import type { Asset } from '@parley/sdk/types.ts';
import { useQuery } from '@tanstack/react-query';
import type { Engine } from '../engine/engine.ts';
import { useAssets, useSends } from '../market/answers.ts';
import { now } from '../market/config.ts';
import { localTime } from '../texts/people.ts';
import { text, type Values } from '../texts/texts.ts';
import { Notice } from './controls.tsx';
import { Fold } from './fold.tsx';
import { enough, type GasNote, lackOf, noteOf } from './gas.ts';
import { assetAmountText, chainName, estimateText } from './words.ts';

type SideOfSwap = GasSide & { readonly chain: string };

type Times = {
  /** Until when this side pays in. */
  readonly fundBy: UnixSeconds;
  /** From when on it may take back what it gave. */
  readonly refundAt: UnixSeconds;
  /** Until when it may collect, once its secret is known. */
  readonly collectBy: UnixSeconds;
};

const lookMs = 10_000;

type GasNotesProps = {
  engine: Engine;
  sides: readonly SideOfSwap[];
  times: Times;
};

export function GasNotes({ sides, ...props }: GasNotesProps) {
  return sides.map((side) => <NotesOf key={side.chain} {...props} side={side} />);
}

type OneProps = Omit<GasNotesProps, 'sides'> & { side: SideOfSwap };

function useLook(engine: Engine, side: SideOfSwap) {
  const { chain, address, amount } = side;
  const { data: listed = [] } = useAssets();
  const look = useQuery({
    queryKey: ['gas', chain, side.side, side.asset.token, `${amount}`, address],
    queryFn: () => engine.gas(chain, side),
    refetchInterval: lookMs,
    networkMode: 'always',
  });
  const assetOf = (token: string | null) =>
    listed.find((each) => each.chain === chain && each.address === token);
  return { look, coin: assetOf(null), given: assetOf(side.asset.token) };
}

function NotesOf({ engine, side, times }: OneProps) {
  const sends = useSends();
  const { look, coin, given } = useLook(engine, side);
  const chain = chainName(side.chain);
  if (look.data === undefined) {
    if (look.error === null) return null;
    return <p className="warn-ink">{text('gas.unread', { chain, why: messageOf(look.error) })}</p>;
  }
  const note = noteOf(side, look.data, sends(side.chain));
  const lack = lackOf(side, look.data);
  const values = {
    chain,
    address: side.address,
    ...shown(note, look.data, coin),
    ...timesShown(times),
  };
  const tokens = {
    holds: assetAmountText(look.data?.holds ?? 0n, given),
    amount: assetAmountText(side.amount, given),
    lacking: assetAmountText(lack, given),
  };
  return (
    <>
      {lack > 0n && (
        <Notice kind="warn" title={text('gas.amount_short', values)}>
          {text('gas.amount_short.why', { ...values, ...tokens })}
        </Notice>
      )}
      <Note kind={note.kind} values={values} />
    </>
  );
}

type NoteProps = Pick<GasNote, 'kind'> & { values: Values };

function Note({ kind, values }: NoteProps) {
  if (kind === 'enough' || kind === 'none') return null;
  const title = text(`gas.${kind}`, values);
  const why = <p>{text(`gas.${kind}.why`, values)}</p>;
  const isSent = kind === 'claim_sent' || kind === 'fund_signed';
  if (!isSent) {
    return (
      <Notice kind="warn" title={title}>
        {why}
      </Notice>
    );
  }
  return (
    <Fold title={title}>
      {why}
      {kind === 'claim_sent' && <p>{text('gas.claim_sent.else', values)}</p>}
    </Fold>
  );
}

function timesShown({ fundBy, refundAt, collectBy }: Times) {
  const at = (time: UnixSeconds) => localTime(time, now());
  return { until: at(fundBy), from: at(refundAt), back: at(collectBy) };
}

function shown({ need, missing }: GasNote, look: GasLook | null, coin: Asset | undefined) {
  const exact = (units: bigint) => (coin === undefined ? `${units}` : estimateText(units, coin));
  const most = (units: bigint) => exact(coin === undefined ? units : enough(units, coin));
  return { has: exact(look?.has ?? 0n), need: most(need), missing: most(missing) };
}
