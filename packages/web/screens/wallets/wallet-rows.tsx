// The wallets of one family: the rights of each, the swaps that wait for it, and how to stop or
// remove it.

import { has } from '@parley/core/families.ts';
import { account } from '../../market/account.ts';
import { market } from '../../market/client.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Copy } from '../../parts/copy.tsx';
import { useFreshly } from '../../parts/ways/fresh.tsx';
import { When } from '../../parts/when.tsx';
import { text } from '../../texts/texts.ts';
import type { FamilyWallets, WalletRow } from './wallets-view.ts';

/** Called with the change, as a sentence. */
export type Changed = (sentence: string) => Promise<void>;

type OfFamilyProps = { readonly wallets: FamilyWallets; readonly onChanged: Changed };

export function OfFamily({ wallets: { family, rows }, onChanged }: OfFamilyProps) {
  const isPaid = rows.some((each) => each.isPaid);
  return (
    <section className="panel">
      <h2>{text(`family.${family}`)}</h2>
      {!isPaid && (
        <p className="soft">
          {text(has(family, 'coins') ? 'wallets.paid.each_swap' : 'wallets.paid.nowhere')}
        </p>
      )}
      <ul className="entries">
        {rows.map((row) => (
          <WalletEntry key={row.address} row={row} onChanged={onChanged} />
        ))}
      </ul>
    </section>
  );
}

/** Its rights, in words. */
function factsOf({ isPaid, signsIn, receives, isProven }: WalletRow): string[] {
  return [
    ...(isPaid ? [text('wallets.paid')] : []),
    ...(signsIn ? [text('wallets.login')] : []),
    ...(receives && !isPaid ? [text('wallets.receives')] : []),
    ...(isProven && !receives && !isPaid ? [text('wallets.proven')] : []),
  ];
}

function WalletEntry({ row, onChanged }: { readonly row: WalletRow; readonly onChanged: Changed }) {
  const { address, signsIn, isProven, isPaid, waits, leavesAt } = row;
  return (
    <li>
      <div>
        <p>
          <code>{address}</code> <Copy value={address} what={text('wallets.address')} />
        </p>
        <p className="hint">{factsOf(row).join(' · ')}</p>
        {waits !== null && (
          <p className="hint warn-ink">
            {text(waits.paid ? 'wallets.waits.paid' : 'wallets.waits.named')}{' '}
            <When at={waits.fromAt} />
          </p>
        )}
        {leavesAt !== null && (
          <p className="hint warn-ink">
            {text('wallets.leaves')} <When at={leavesAt} />
          </p>
        )}
      </div>
      {(waits !== null || leavesAt !== null) && <Stop row={row} onStopped={onChanged} />}
      {isProven && !signsIn && !isPaid && waits === null && (
        <Remove address={address} onRemoved={onChanged} />
      )}
    </li>
  );
}

type StopProps = { readonly row: WalletRow; readonly onStopped: Changed };

function Stop({ row: { family, address }, onStopped }: StopProps) {
  const freshly = useFreshly();
  const stop = async () => {
    await freshly(() => account.stopPayout({ family, address }));
    await onStopped(text('wallets.stopped'));
  };
  return (
    <Confirm
      label={text('wallets.stop.label', { address })}
      title={text('wallets.stop.title', { address })}
      what={<p>{text('wallets.stop.what')}</p>}
      onConfirm={stop}
    >
      {text('wallets.stop')}
    </Confirm>
  );
}

function Remove({ address, onRemoved }: { readonly address: string; readonly onRemoved: Changed }) {
  const freshly = useFreshly();
  const remove = async () => {
    await freshly(() => market.removeWallet(address));
    await onRemoved(text('logins.removed'));
  };
  return (
    <Confirm
      label={text('wallets.remove.label', { address })}
      title={text('wallets.remove.title', { address })}
      what={<p>{text('wallets.remove.what')}</p>}
      onConfirm={remove}
    >
      {text('wallets.remove')}
    </Confirm>
  );
}
