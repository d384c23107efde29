// Paying Bitcoin by a wallet of this browser: which ones there are, and what one of them was asked.
// While one may still pay, no other way to pay is the next thing on the screen.

import { has } from '@parley/core/families.ts';
import { messageOf, WalletError } from '@parley/sdk/errors.ts';
import { useQuery } from '@tanstack/react-query';
import type { Engine, SwapView } from '../../engine/types.ts';
import { useLive } from '../../market/use-live.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { chainName } from '../../parts/names.ts';
import { Notice } from '../../parts/notice.tsx';
import { connectWallet } from '../../parts/page-wallets.ts';
import { type Act, useAct } from '../../parts/ways/act.ts';
import { usePrograms } from '../../parts/ways/programs.ts';
import { text } from '../../texts/texts.ts';
import type { FoundWallet } from '../../wallets/types.ts';
import { Tx } from './legs.tsx';
import type { Shown } from './shown.ts';
import { type Seen, sidesOf } from './situation.ts';

const lookMs = 1_000;

/** undefined: not read yet. Other tabs ask too: it is read again and again. */
export function useWalletPayment({ byWallet }: Engine, swap: SwapView) {
  const { id, phase } = swap;
  const { data, isError } = useQuery({
    queryKey: ['by wallet', id],
    queryFn: () => byWallet.of(id),
    enabled: has(sidesOf(swap).own, 'coins') && phase !== 'ended',
    refetchInterval: lookMs,
    networkMode: 'always',
  });
  // A browser that reads nothing asks no wallet either: the code is there all the same.
  return isError ? (data ?? null) : data;
}

export type PayByWallet = {
  readonly act: Act;
  readonly asks: (wallet: FoundWallet) => void;
};

/** Beside the code, so that its refusal is still there when the code comes back. */
export function usePayByWallet(engine: Engine, swapId: string): PayByWallet {
  const act = useAct();
  const asks = ({ id, name }: FoundWallet) =>
    act.run(async () => {
      const link = await connectWallet(id);
      if (!has(link, 'coins')) throw new Error(`${name} is no wallet of Bitcoin`);
      const pay = link.pay.bind(link);
      await engine.byWallet.pay(swapId, { name, pay });
    });
  return { act, asks };
}

type ChooseProps = { readonly by: PayByWallet; readonly seen: Seen };

/** A button for each wallet; null where this browser has none. */
export function ChooseWallet({ by: { act, asks }, seen }: ChooseProps) {
  const programs = usePrograms(['bitcoin']);
  return (
    <>
      {programs.length > 0 && (
        <div className="swap-wallets">
          <p className="soft">{text('settlement.wallet.or')}</p>
          <ul className="programs">
            {programs.map((each) => (
              <li key={each.id}>
                <Button busy={act.busy} onPress={() => asks(each)}>
                  {each.icon !== null && <img src={each.icon} alt="" width={20} height={20} />}
                  {text('settlement.wallet.pay', { name: each.name })}
                </Button>
              </li>
            ))}
          </ul>
        </div>
      )}
      {act.busy && <p role="status">{text('settlement.wallet.look')}</p>}
      {act.error !== null && <Refused error={act.error} chain={sidesOf(seen.swap).own.chain} />}
    </>
  );
}

function Refused({ error, chain }: { readonly error: unknown; readonly chain: string }) {
  const code = error instanceof WalletError ? error.code : null;
  const said = messageOf(error);
  if (code === 'declined') {
    return <Notice kind="info" title={text('settlement.wallet.declined')} />;
  }
  if (code === 'wrong_network') {
    const title = text('settlement.wallet.network', { chain: chainName(chain) });
    return (
      <Notice kind="bad" title={title}>
        {said}
      </Notice>
    );
  }
  return (
    <Notice kind="bad" title={text('settlement.wallet.refused')}>
      {said}
    </Notice>
  );
}

type LeaveProps = { readonly engine: Engine; readonly seen: Seen; readonly said: Shown };

/** The request to the wallet, and the way back to the code. */
export function FromWallet({ engine, seen, said }: LeaveProps) {
  const { swap, wallet } = seen;
  const txid = wallet?.txid ?? null;
  return (
    <>
      {txid !== null && <Sent engine={engine} chain={sidesOf(swap).own.chain} txid={txid} />}
      <div className="actions">
        <Confirm
          title={text('settlement.wallet.leave.title', said.values)}
          what={<p>{text('settlement.wallet.leave.sure', said.values)}</p>}
          onConfirm={() => engine.byWallet.leave(swap.id)}
        >
          {text('settlement.wallet.leave')}
        </Confirm>
      </div>
    </>
  );
}

/** The time to pay is over, and a wallet that was asked in time may still pay. */
export function LateWallet({ seen, said }: Omit<LeaveProps, 'engine'>) {
  if (seen.wallet?.is !== 'asked') return null;
  return (
    <Notice kind="warn" title={text('settlement.wallet.too_late', said.values)}>
      {text('settlement.wallet.too_late.why', said.values)}
    </Notice>
  );
}

type SentProps = { readonly engine: Engine; readonly chain: string; readonly txid: string };

function Sent({ engine, chain, txid }: SentProps) {
  const { chains } = engine.nodes;
  const known = useLive(chains);
  const isKnown = known.some((each) => each.chain === chain && each.isKnown);
  return <Tx txid={txid} chain={chain} isKnown={isKnown} />;
}
