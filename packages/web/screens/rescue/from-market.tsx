// The market's list of the account's swaps: a person says of each whether it was agreed so.

import type { RescueSwap } from '@parley/sdk/rescue/file.ts';
import type { Restored } from '@parley/sdk/rescue/restore.ts';
import { useState } from 'react';
import type { Engine } from '../../engine/types.ts';
import { useAssets } from '../../market/assets.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Fault } from '../../parts/fault.tsx';
import { SignedIn } from '../../parts/signed-in.tsx';
import { useAct } from '../../parts/ways/act.ts';
import { localTime } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { faultOf } from './faults.ts';
import { amountsOf, contractsOf, paidAtOf } from './told.ts';

type Answer = { readonly swaps: readonly Restored[]; readonly isWhole: boolean };
type Props = {
  readonly engine: Engine;
  readonly hasPhrase: boolean;
  readonly done: (answer: Answer) => void;
};

type Question = { readonly swap: RescueSwap; readonly answer: (isMine: boolean) => void };

export function FromMarket({ engine, hasPhrase, done }: Props) {
  const { data: listed = [] } = useAssets();
  const [question, setQuestion] = useState<Question | null>(null);
  const { busy: isBusy, error, run } = useAct();
  const ask = (swap: RescueSwap) =>
    new Promise<boolean>((resolve) => {
      const answer = (isMine: boolean) => {
        setQuestion(null);
        resolve(isMine);
      };
      setQuestion({ swap, answer });
    });
  const go = () => run(async () => done(await engine.rescue.fromMarket(ask)));
  const no = () => question?.answer(false);
  return (
    <div>
      <h3>{text('rescue.market')}</h3>
      <p className="soft">{text('rescue.market.why')}</p>
      <SignedIn>
        {() => (
          <Button busy={isBusy} blocked={hasPhrase ? null : text('rescue.go.phrase')} onPress={go}>
            {text('rescue.market.go')}
          </Button>
        )}
      </SignedIn>
      <Fault error={error} words={faultOf} />
      <Dialog
        title={text('rescue.market.ask.title')}
        open={question !== null}
        onClose={no}
        no={text('rescue.market.no')}
        yes={
          <Button kind="main" onPress={() => question?.answer(true)}>
            {text('rescue.market.yes')}
          </Button>
        }
      >
        {question !== null && (
          <>
            <p>
              {text('rescue.market.ask', {
                ...amountsOf(question.swap, listed),
                at: localTime(question.swap.swap.agreedAt, engine.now()),
              })}
            </p>
            <PaidAt engine={engine} swap={question.swap} />
            {contractsOf(question.swap, listed).map(({ id, contract }) => (
              <p key={id} className="warn-ink">
                {text('rescue.market.ask.contract', { contract })}
              </p>
            ))}
          </>
        )}
      </Dialog>
    </div>
  );
}

type PaidAtProps = { readonly engine: Engine; readonly swap: RescueSwap };

function PaidAt({ engine, swap }: PaidAtProps) {
  const paidAt = paidAtOf(swap);
  if (paidAt === null) return null;
  const { chain, address } = paidAt;
  const { title = chain } = engine.nodes.chains.now().find((each) => each.chain === chain) ?? {};
  return (
    <p>
      {text('rescue.market.ask.paid', { chain: title })} <code className="mono">{address}</code>
    </p>
  );
}
